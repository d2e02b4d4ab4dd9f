//! Reports names of objects it was not given, under places of the one it was given.

use hostile::{Property, at, claim, empty, model};

hostile::hostile!("other-names", |object, options| {
    let mut report = empty();
    report.items.push(model(claim("rival/secret-model", "declared", vec![at("/spec/model")])));
    report.items.push(model(claim("rival/secret-model", "declared", vec![at("/spec/model"), at("/metadata/name")])));
    report.properties.push(Property {
        name: "aibom.workload.name".to_string(),
        value: claim("another-workload", "declared", vec![at("/metadata/name")]),
    });
    report.properties.push(Property { name: "aibom".to_string(), value: claim("x", "declared", vec![at("/metadata/name")]) });
    report.properties.push(Property {
        name: "hostile.workload.name".to_string(),
        value: claim("another-workload", "declared", vec![at("/metadata/name")]),
    });
    report.properties.push(Property { name: "Not A Name".to_string(), value: claim("x", "implied", vec![at("")]) });
    Ok(report)
});
