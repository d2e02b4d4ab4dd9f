//! Has the host write the whole object again and again: few calls, much work.

hostile::hostile!("json-flood", |object, options| {
    loop {
        hostile::opaque(object.json().len());
    }
});
