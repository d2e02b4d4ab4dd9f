//! Values with one form, whatever features the JSON library was built with: maps sorted by key, whole numbers without a point.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

/// A value whose maps are sorted.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Canonical {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text(String),
    List(Vec<Self>),
    Map(BTreeMap<String, Self>),
}

impl From<Value> for Canonical {
    fn from(value: Value) -> Self {
        match value {
            Value::Null => Self::Null,
            Value::Bool(value) => Self::Bool(value),
            Value::Number(number) => match (number.as_i64(), number.as_f64()) {
                (Some(integer), _) => Self::Integer(integer),
                (None, Some(float)) => whole(float).map_or(Self::Float(float), Self::Integer),
                (None, None) => Self::Text(number.to_string()),
            },
            Value::String(text) => Self::Text(text),
            Value::Array(list) => Self::List(list.into_iter().map(Self::from).collect()),
            Value::Object(map) => Self::Map(map.into_iter().map(|(key, value)| (key, Self::from(value))).collect()),
        }
    }
}

/// Limits of numbers are floats in the types of Kubernetes; people write them as integers.
fn whole(float: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    (float.fract() == 0.0 && float.abs() < EXACT).then_some(float as i64)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn maps_are_sorted_and_whole_numbers_have_no_point() {
        let value = json!({ "b": 1024.0, "a": [{ "z": null, "y": true }], "c": 0.5, "d": -1 });
        let text = serde_json::to_string(&Canonical::from(value)).unwrap();
        assert_eq!(text, r#"{"a":[{"y":true,"z":null}],"b":1024,"c":0.5,"d":-1}"#);
    }
}
