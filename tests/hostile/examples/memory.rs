//! Tries to remember the object before.

use std::sync::Mutex;

use hostile::{Property, at, claim, empty};

static SEEN: Mutex<Vec<String>> = Mutex::new(Vec::new());

hostile::hostile!("memory", |object, options| {
    let mut seen = SEEN.lock().unwrap();
    seen.push(object.at("/metadata/name").and_then(|name| name.text()).unwrap_or_default());
    let mut report = empty();
    let all = seen.join(",");
    report.properties.push(Property { name: "hostile.seen".to_string(), value: claim(all, "derived", vec![at("/metadata/name")]) });
    Ok(report)
});
