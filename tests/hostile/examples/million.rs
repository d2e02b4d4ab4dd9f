//! Answers with a million items that all hold, or with as many as the options say.

use hostile::{at, claim, empty, model};

hostile::hostile!("million", |object, options| {
    let mut report = empty();
    let count = options.parse().unwrap_or(1_000_000);
    report.items.reserve(count);
    for _ in 0..count {
        report.items.push(model(claim("m", "derived", vec![at("")])));
    }
    Ok(report)
});
