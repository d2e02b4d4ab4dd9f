//! The neighbour: a scraper as it should be, whose results must not change whatever the others do.

use hostile::{
    Container, Description, Failure, Item, Level, Locator, Node, PodTemplate, Problem, Property, Report, Want, claim, describe, empty,
    kind, log, model,
};

struct Guest;

fn text(node: &Node, pointer: &str) -> Option<(String, Locator)> {
    let found = node.at(pointer)?;
    Some((found.text()?, found.locator()))
}

impl hostile::Guest for Guest {
    fn describe() -> Description {
        let mut description = describe("honest");
        description.related.push(kind("Cache", "caches"));
        description.intermediates.push(kind("Part", "parts"));
        description
    }

    fn related(object: &Node, _options: String) -> Result<Vec<Want>, Failure> {
        let Some((name, at)) = text(object, "/spec/cache") else { return Ok(vec![]) };
        let namespace = text(object, "/metadata/namespace").map(|(namespace, _)| namespace);
        Ok(vec![Want { group: "hostile.example".to_string(), kind: "Cache".to_string(), namespace, name, at }])
    }

    fn scrape(object: &Node, related: Vec<Option<Node>>, options: String) -> Result<Report, Failure> {
        let Some(spec) = object.get("spec") else {
            return Err(Failure::Malformed(Problem { at: object.locator(), message: "spec is missing".to_string() }));
        };
        log(Level::Info, &format!("scraping with {options}"));
        let mut report = empty();
        if let Some((name, at)) = text(&spec, "/model") {
            report.categories.push("inference".to_string());
            let mut item = model(claim(name, "declared", vec![at]));
            item.id = "main".to_string();
            item.uses = vec!["worker".to_string(), "cache".to_string()];
            if let Some(cache) = related.into_iter().next().flatten()
                && let Some((source, at)) = text(&cache, "/spec/source")
            {
                item.sources.push(claim(source, "declared", vec![at]));
            }
            report.items.push(item);
        }
        if let Some((name, at)) = text(&spec, "/cache") {
            report.items.push(Item { id: "cache".to_string(), class: "volume".to_string(), ..model(claim(name, "declared", vec![at])) });
        }
        if let Some(template) = spec.get("template") {
            report.pod_templates.push(PodTemplate {
                at: template.locator(),
                name: "worker".to_string(),
                role: "worker".to_string(),
                duty: "engine".to_string(),
                inherited_env: spec.get("env").map(|env| env.locator()).into_iter().collect(),
                properties: vec![],
            });
        }
        if let (Some((repository, first)), Some((tag, second))) = (text(&spec, "/image/repository"), text(&spec, "/image/tag")) {
            report.containers.push(Container {
                name: "main".to_string(),
                class: "main".to_string(),
                template: "worker".to_string(),
                image: Some(claim(format!("{repository}:{tag}"), "declared", vec![first, second])),
                command: None,
                args: spec.get("args").map(|args| args.locator()).into_iter().collect(),
                env: spec.get("env").map(|env| env.locator()).into_iter().collect(),
                env_from: vec![],
                volume_mounts: None,
                resources: None,
                properties: vec![],
            });
        }
        // Every way to look at a node, so that the whole view is used by some guest.
        for (i, model) in spec.select("/models/*/name").into_iter().enumerate() {
            if let Some(name) = model.text() {
                let mut item = hostile::model(claim(name, "declared", vec![model.locator()]));
                item.role = if i == 0 { "base".to_string() } else { String::new() };
                report.items.push(item);
            }
        }
        if let Some(value) = spec.get("env").and_then(|env| env.find("name", "GREETING")).and_then(|entry| entry.get("value")) {
            let text = value.text().unwrap_or_default();
            report.properties.push(Property { name: "honest.greeting".to_string(), value: claim(text, "declared", vec![value.locator()]) });
        }
        if let Some(replicas) = spec.get("replicas") {
            let (text, basis) = match (replicas.integer(), replicas.boolean()) {
                (Some(number), _) => (number.to_string(), "declared"),
                (None, Some(flag)) => (flag.to_string(), "declared"),
                (None, None) => (format!("{:?} {}", replicas.kind(), replicas.json()), "derived"),
            };
            report.properties.push(Property { name: "honest.replicas".to_string(), value: claim(text, basis, vec![replicas.locator()]) });
        }
        if let Some(labels) = object.at("/metadata/labels") {
            let keys = labels.keys().join(" ");
            report.properties.push(Property { name: "honest.labels".to_string(), value: claim(keys, "derived", vec![labels.locator()]) });
        }
        for item in spec.get("args").map(|args| args.items()).unwrap_or_default() {
            if item.text().is_none() {
                report.problems.push(Problem { at: item.locator(), message: "this argument is no text".to_string() });
            }
        }
        Ok(report)
    }
}

hostile::export_scraper!(Guest with_types_in hostile);
