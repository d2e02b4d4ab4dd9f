//! Takes node handles and never gives one back.

hostile::hostile!("handle-leak", |object, options| {
    loop {
        std::mem::forget(object.at("/spec"));
    }
});
