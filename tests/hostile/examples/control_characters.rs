//! Writes names that would move the cursor, reorder the line or forge another log line, and names without end.

use hostile::{Failure, Level, Problem, Property, at, claim, empty, log, model};

hostile::hostile!("control-characters", |object, options| {
    log(Level::Warn, "first\nforged: second \u{1b}[2J");
    if options == "fail" {
        return Err(Failure::Malformed(Problem { at: at("/spec/none"), message: "bad\u{0}\r\nname".to_string() }));
    }
    let mut report = empty();
    report.items.push(model(claim("acme/\u{1b}[31msmall\u{202e}\n", "derived", vec![at("/spec/model")])));
    report.items.push(model(claim("é".repeat(5_000), "derived", vec![at("/spec/model")])));
    report.items.push(model(claim("acme/two\nlines", "declared", vec![at("/spec/lines")])));
    report.properties.push(Property { name: "hostile.\u{7}bell".to_string(), value: claim("x", "implied", vec![at("")]) });
    report.problems.push(Problem { at: at("/spec"), message: "a\u{8}b\u{2028}c".to_string() });
    Ok(report)
});
