//! Running a scraper natively, without a host: quick, and with the debugger's and the compiler's help. It checks nothing of what the
//! host checks except that places resolve; `k8s-aibom plugin test` is the real thing.

use serde_json::Value;

use crate::{Claim, Failure, Locator, Node, Options, Report, Scraper, Want};

/// The documents of a YAML text, as values. Empty documents are left out.
///
/// # Panics
/// When the text is no YAML: a fixture that cannot be read is a broken test.
pub fn documents(yaml: &str) -> Vec<Value> {
    let values: Vec<Value> = serde_saphyr::from_multiple(yaml).unwrap_or_else(|error| panic!("fixture is no YAML: {error}"));
    values.into_iter().filter(|value| !value.is_null()).collect()
}

/// Runs `related` and `scrape` on the first document and answers the wants from the others.
///
/// # Errors
/// What the scraper answers.
///
/// # Panics
/// When there is no document, or a place of the report does not resolve in its object.
pub fn scrape<S: Scraper>(documents: &[Value]) -> Result<Report, Failure> {
    let options = Options::new("{}");
    let object = Node::new(0, documents.first().expect("at least one document").clone());
    let wants = S::related(&object, &options)?;
    let answers: Vec<Option<Value>> =
        wants.iter().map(|want| documents[1..].iter().find(|value| answers_want(value, want)).cloned()).collect();
    let related: Vec<Option<Node>> = (1..).zip(&answers).map(|(index, value)| value.clone().map(|value| Node::new(index, value))).collect();
    let report = S::scrape(&object, &related, &options)?;
    for at in places(&report) {
        let object = if at.object == 0 { documents.first() } else { answers[at.object as usize - 1].as_ref() };
        assert!(object.and_then(|object| object.pointer(&at.pointer)).is_some(), "{at:?} does not resolve");
    }
    Ok(report)
}

fn answers_want(value: &Value, want: &Want) -> bool {
    let group = value["apiVersion"].as_str().and_then(|version| version.split_once('/')).map_or("", |(group, _)| group);
    group == want.group
        && value["kind"] == want.kind.as_str()
        && value["metadata"]["name"] == want.name.as_str()
        && value["metadata"]["namespace"].as_str() == want.namespace.as_deref()
}

fn places(report: &Report) -> Vec<&Locator> {
    let mut claims: Vec<&Claim> = report.properties.iter().map(|property| &property.value).collect();
    let mut places: Vec<&Locator> = report.problems.iter().map(|problem| &problem.at).collect();
    for item in &report.items {
        claims.extend([&item.name].into_iter().chain(&item.version).chain(&item.sources));
        claims.extend(item.properties.iter().map(|property| &property.value));
    }
    for template in &report.pod_templates {
        places.extend([&template.at].into_iter().chain(&template.inherited_env));
        claims.extend(template.properties.iter().map(|property| &property.value));
    }
    for container in &report.containers {
        claims.extend(container.image.iter().chain(container.properties.iter().map(|property| &property.value)));
        places.extend(container.command.iter().chain(&container.volume_mounts).chain(&container.resources));
        places.extend(container.args.iter().chain(&container.env).chain(&container.env_from));
    }
    for claim in claims {
        assert!(!claim.at.is_empty(), "{claim:?} has no place");
        places.extend(&claim.at);
    }
    places
}

/// The object with one place changed, for every place and each of: null, a number, a text, a list, an object, nothing. With the
/// pointer of the place.
pub fn mutations(object: &Value) -> impl Iterator<Item = (String, Value)> {
    let mut pointers = Vec::new();
    collect_pointers(object, &mut String::new(), &mut pointers);
    let replacements = [
        Value::Null,
        Value::from(7),
        Value::from("seven"),
        Value::from(true),
        Value::Array(vec![Value::Null, Value::from(7)]),
        Value::Object(serde_json::Map::from_iter([("seven".to_owned(), Value::Null)])),
    ];
    let object = object.clone();
    pointers.into_iter().flat_map(move |pointer| {
        let mut changed: Vec<(String, Value)> = Vec::new();
        for replacement in &replacements {
            let mut copy = object.clone();
            if let Some(place) = copy.pointer_mut(&pointer) {
                *place = replacement.clone();
            }
            changed.push((pointer.clone(), copy));
        }
        if let Some((parent, token)) = pointer.rsplit_once('/') {
            let mut copy = object.clone();
            match copy.pointer_mut(parent) {
                Some(Value::Object(members)) => drop(members.remove(&token.replace("~1", "/").replace("~0", "~"))),
                Some(Value::Array(items)) => drop(token.parse().map(|index: usize| items.remove(index))),
                _ => {}
            }
            changed.push((pointer.clone(), copy));
        }
        changed
    })
}

fn collect_pointers(value: &Value, pointer: &mut String, pointers: &mut Vec<String>) {
    pointers.push(pointer.clone());
    let length = pointer.len();
    let mut below = |token: &str, child: &Value| {
        crate::reader::push_token(pointer, token);
        collect_pointers(child, pointer, pointers);
        pointer.truncate(length);
    };
    match value {
        Value::Object(members) => members.iter().for_each(|(key, child)| below(key, child)),
        Value::Array(items) => items.iter().enumerate().for_each(|(index, child)| below(&index.to_string(), child)),
        _ => {}
    }
}

/// Scrapes every fixture below a folder, then every changed copy ([`mutations`]) of its object and its related objects; the scraper must
/// answer each with a report, or say that it does not read the object. Returns how many it scraped.
///
/// # Panics
/// When a file cannot be read, or the scraper fails or panics.
pub fn survives_mutations<S: Scraper>(folder: &str) -> usize {
    let mut count = 0;
    for path in fixtures(folder.as_ref()) {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let documents = documents(&text);
        scrape::<S>(&documents).unwrap_or_else(|failure| panic!("{}: {failure:?}", path.display()));
        for index in 0..documents.len() {
            for (pointer, changed) in mutations(&documents[index]) {
                let mut copy = documents.clone();
                copy[index] = changed;
                match scrape::<S>(&copy) {
                    Ok(_) | Err(Failure::Unsupported(_)) => count += 1,
                    Err(failure) => panic!("{}, document {index}, changed at `{pointer}`: {failure:?}", path.display()),
                }
            }
        }
    }
    assert!(count > 0, "{folder} holds no fixtures");
    count
}

fn fixtures(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    let below = paths.into_iter().flat_map(|path| if path.is_dir() { fixtures(&path) } else { vec![path] });
    below.filter(|path| path.extension().is_some_and(|extension| extension == "yaml")).collect()
}
