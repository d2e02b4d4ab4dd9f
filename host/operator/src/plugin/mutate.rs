//! Every field of an object, wrong in every way: what a scraper must survive.

use serde_json::{Value, json};

/// One changed copy of an object.
pub struct Mutation {
    /// Pointer of the changed field.
    pub pointer: String,
    /// What was put there.
    pub what: &'static str,
    /// The changed object.
    pub object: Value,
}

/// Changed copies of an object: each value below the root replaced by one of every JSON type, by extremes, or removed. `apiVersion`,
/// `kind` and `metadata` are left alone: the host hands over only objects that have them.
pub fn mutations(object: &Value) -> impl Iterator<Item = Mutation> + '_ {
    let mut pointers = Vec::new();
    collect(object, String::new(), &mut pointers);
    pointers.into_iter().flat_map(move |pointer| {
        replacements().into_iter().filter_map(move |(what, replacement)| {
            let mut copy = object.clone();
            match replacement {
                Some(replacement) => {
                    let place = copy.pointer_mut(&pointer)?;
                    if *place == replacement {
                        return None;
                    }
                    *place = replacement;
                }
                None => remove(&mut copy, &pointer)?,
            }
            Some(Mutation { pointer: pointer.clone(), what, object: copy })
        })
    })
}

fn replacements() -> Vec<(&'static str, Option<Value>)> {
    vec![
        ("nothing", None),
        ("null", Some(Value::Null)),
        ("a boolean", Some(json!(true))),
        ("a number", Some(json!(-7))),
        ("a fraction", Some(json!(0.5))),
        ("an empty text", Some(json!(""))),
        ("a strange text", Some(json!("\u{0}\u{202e}/~1*\n$(X) ${Y} \u{fffd}"))),
        ("an empty list", Some(json!([]))),
        ("a mixed list", Some(json!([null, 1, "x", {}, []]))),
        ("an empty map", Some(json!({}))),
        ("a strange map", Some(json!({"": {"~": [{"name": {}}]}, "name": [], "*": null}))),
    ]
}

fn collect(value: &Value, pointer: String, pointers: &mut Vec<String>) {
    let at_root = pointer.is_empty();
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                if at_root && matches!(key.as_str(), "apiVersion" | "kind" | "metadata") {
                    continue;
                }
                collect(member, format!("{pointer}/{}", key.replace('~', "~0").replace('/', "~1")), pointers);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect(item, format!("{pointer}/{index}"), pointers);
            }
        }
        _ => {}
    }
    if !at_root {
        pointers.push(pointer);
    }
}

fn remove(object: &mut Value, pointer: &str) -> Option<()> {
    let (parent, key) = pointer.rsplit_once('/')?;
    match object.pointer_mut(parent)? {
        Value::Object(members) => members.remove(&key.replace("~1", "/").replace("~0", "~")).map(|_| ()),
        Value::Array(items) => {
            let index: usize = key.parse().ok()?;
            (index < items.len()).then(|| {
                items.remove(index);
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_field_is_changed_in_every_way_and_names_are_left_alone() {
        let object = json!({"kind": "A", "metadata": {"name": "a"}, "spec": {"x/y": [{"z": 1}]}});
        let found: Vec<_> = mutations(&object).collect();
        let mut pointers: Vec<_> = found.iter().map(|mutation| mutation.pointer.as_str()).collect();
        pointers.dedup();
        assert_eq!(pointers, ["/spec/x~1y/0/z", "/spec/x~1y/0", "/spec/x~1y", "/spec"]);
        assert_eq!(found.len(), 4 * 11);
        assert!(found.iter().all(|mutation| mutation.object != object && mutation.object["metadata"]["name"] == "a"));
    }
}
