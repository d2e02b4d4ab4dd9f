//! Logs ten megabytes in lines of all sizes.

use hostile::{Level, empty, log};

hostile::hostile!("log-flood", |object, options| {
    let line = "flood \u{1b}[31m\n".repeat(800);
    for _ in 0..1_000 {
        log(Level::Debug, &line);
        log(Level::Info, "");
    }
    Ok(empty())
});
