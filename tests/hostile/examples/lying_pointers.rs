//! Points at what is not there, and claims what does not stand where it points.

use hostile::{Container, Locator, PodTemplate, Problem, Property, at, claim, empty, model};

hostile::hostile!("lying-pointers", |object, options| {
    let mut report = empty();
    let elsewhere = |object: u32| Locator { object, pointer: "/spec/model".to_string() };
    // Dropped: nothing there, no pointer at all, not an object of this call.
    for place in [at("/spec/nothing"), at("/spec/null"), at("not a pointer"), at("/spec/list/07"), elsewhere(1), elsewhere(u32::MAX)] {
        report.items.push(model(claim("acme/ghost", "declared", vec![place])));
    }
    report.items.push(model(claim("acme/nowhere", "derived", vec![])));
    // Downgraded: a different text, a part of the text, an object instead of a value.
    report.items.push(model(claim("acme/other", "declared", vec![at("/spec/model")])));
    report.items.push(model(claim("acme", "declared", vec![at("/spec/model")])));
    report.items.push(model(claim("acme/small", "declared", vec![at("/spec")])));
    // True.
    report.items.push(model(claim("acme/small", "declared", vec![at("/spec/model")])));
    report.pod_templates.push(PodTemplate {
        at: at("/spec/model"),
        name: "text".to_string(),
        role: String::new(),
        duty: "engine".to_string(),
        inherited_env: vec![at("/spec/nothing")],
        properties: vec![],
    });
    report.containers.push(Container {
        name: "ghost".to_string(),
        class: "main".to_string(),
        template: "missing".to_string(),
        image: Some(claim("acme/image:1", "declared", vec![at("/spec/image")])),
        command: Some(at("/spec/command")),
        args: vec![],
        env: vec![at("/spec/env")],
        env_from: vec![],
        volume_mounts: None,
        resources: None,
        properties: vec![],
    });
    report.properties.push(Property { name: "hostile.ghost".to_string(), value: claim("x", "implied", vec![at("/spec/nothing")]) });
    report.problems.push(Problem { at: at("/spec/list/99/name"), message: "moved up".to_string() });
    Ok(report)
});
