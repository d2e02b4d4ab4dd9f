//! Texts in JSON values, by a path.
//!
//! ```text
//! a.b            the member b of the member a
//! a|b            the member a, or b where there is none
//! *              every member
//! []             every element of a list
//! [name=x].value the member value of the elements whose member name is x
//! ```

use serde_json::Value;

/// Most texts of one value.
const MAX_TEXTS: usize = 256;

/// The texts that stand at a path. An element that is a text itself counts for a member that is asked for.
pub(crate) fn texts(json: &str, path: &str) -> Vec<String> {
    let Ok(value) = serde_json::from_str::<Value>(json) else { return Vec::new() };
    let mut found = vec![&value];
    for step in steps(path) {
        found = found.into_iter().flat_map(|value| follow(value, step)).take(MAX_TEXTS).collect();
    }
    found.into_iter().filter_map(|value| value.as_str()).filter(|text| !text.is_empty()).map(str::to_owned).collect()
}

/// `a.b[].c` as `a`, `b`, `[]`, `c`.
fn steps(path: &str) -> impl Iterator<Item = &str> {
    path.split('.').flat_map(|part| {
        let at = part.find('[').unwrap_or(part.len());
        [&part[..at], &part[at..]].into_iter().filter(|step| !step.is_empty())
    })
}

fn follow<'v>(value: &'v Value, step: &str) -> Vec<&'v Value> {
    if let Some(filter) = step.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let elements = value.as_array().into_iter().flatten();
        return match filter.split_once('=') {
            Some((name, want)) => elements.filter(|element| element.get(name).and_then(Value::as_str) == Some(want)).collect(),
            None => elements.collect(),
        };
    }
    match value {
        Value::Object(members) if step == "*" => members.values().collect(),
        Value::Object(members) => step.split('|').find_map(|name| members.get(name)).into_iter().collect(),
        Value::String(_) => vec![value],
        _ => Vec::new(),
    }
}

#[cfg(test)]
#[path = "json/tests.rs"]
mod tests;
