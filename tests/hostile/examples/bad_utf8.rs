//! Names a model with bytes that are no text; with the option `log`, logs them instead.

use hostile::{Level, at, bad_utf8, claim, empty, log, model};

hostile::hostile!("bad-utf8", |object, options| {
    let mut report = empty();
    if options == "log" {
        log(Level::Info, &bad_utf8());
    } else {
        report.items.push(model(claim(bad_utf8(), "declared", vec![at("/spec/model")])));
    }
    Ok(report)
});
