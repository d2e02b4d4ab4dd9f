//! Logs short lines without end.

hostile::hostile!("log-forever", |object, options| {
    loop {
        hostile::log(hostile::Level::Info, "x");
    }
});
