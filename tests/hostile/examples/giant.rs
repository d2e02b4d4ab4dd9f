//! Answers with one text of 16 MiB.

use hostile::{at, claim, empty, model};

hostile::hostile!("giant", |object, options| {
    let mut report = empty();
    report.items.push(model(claim("m".repeat(16 << 20), "derived", vec![at("")])));
    Ok(report)
});
