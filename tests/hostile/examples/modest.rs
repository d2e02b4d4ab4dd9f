//! Asks for more memory than there is and can live without it.

use hostile::{Property, at, claim, empty};

hostile::hostile!("modest", |object, options| {
    let mut huge: Vec<u8> = Vec::new();
    let answer = if huge.try_reserve_exact(hostile::opaque(1 << 30)).is_err() { "refused" } else { "given" };
    let mut report = empty();
    report.properties.push(Property { name: "hostile.memory".to_string(), value: claim(answer, "implied", vec![at("")]) });
    Ok(report)
});
