//! Asks the host for the same thing without end.

hostile::hostile!("view-flood", |object, options| {
    loop {
        hostile::opaque(object.integer());
    }
});
