//! The in-memory stand-in for the host's nodes, for native tests. It answers as the contract says the host does.

use std::rc::Rc;

use serde_json::Value;

use crate::{Locator, NodeKind};

/// A place in an object.
#[derive(Clone, Debug)]
pub struct Node {
    object: u32,
    root: Rc<Value>,
    pointer: String,
}

impl Node {
    /// The root of an object; `object` is the index that locators name.
    pub fn new(object: u32, value: Value) -> Self {
        Self { object, root: Rc::new(value), pointer: String::new() }
    }

    fn value(&self) -> &Value {
        self.root.pointer(&self.pointer).unwrap_or(&Value::Null)
    }

    fn below(&self, relative: &str) -> Self {
        Self { object: self.object, root: Rc::clone(&self.root), pointer: format!("{}{relative}", self.pointer) }
    }

    fn child(&self, token: &str) -> Self {
        let mut relative = String::new();
        crate::reader::push_token(&mut relative, token);
        self.below(&relative)
    }

    /// JSON type.
    pub fn kind(&self) -> NodeKind {
        match self.value() {
            Value::Null => NodeKind::Null,
            Value::Bool(_) => NodeKind::Boolean,
            Value::Number(_) => NodeKind::Number,
            Value::String(_) => NodeKind::Text,
            Value::Array(_) => NodeKind::Array,
            Value::Object(_) => NodeKind::Object,
        }
    }

    /// Member of an object; none when absent or null.
    pub fn get(&self, key: &str) -> Option<Self> {
        self.value().as_object()?.get(key).filter(|value| !value.is_null()).map(|_| self.child(key))
    }

    /// Descendant by pointer; none when absent or null.
    pub fn at(&self, pointer: &str) -> Option<Self> {
        self.value().pointer(pointer).filter(|value| !value.is_null()).map(|_| self.below(pointer))
    }

    /// Descendants by a pointer with `*` for every member or element.
    pub fn select(&self, pattern: &str) -> Vec<Self> {
        let mut found = vec![self.clone()];
        for token in pattern.split('/').skip(1) {
            found = if token == "*" {
                found
                    .iter()
                    .flat_map(|node| node.keys().iter().map(|key| node.child(key)).chain(node.items()).collect::<Vec<_>>())
                    .collect()
            } else {
                found.iter().filter_map(|node| node.at(&format!("/{token}"))).collect()
            };
        }
        found.retain(|node| !node.value().is_null());
        found
    }

    /// First element of this list whose member `key` is the text `value`.
    pub fn find(&self, key: &str, value: &str) -> Option<Self> {
        self.items().into_iter().find(|item| item.get(key).and_then(|node| node.text()).as_deref() == Some(value))
    }

    /// Keys of an object, in order.
    pub fn keys(&self) -> Vec<String> {
        self.value().as_object().map(|members| members.keys().cloned().collect()).unwrap_or_default()
    }

    /// Elements of a list, in order.
    pub fn items(&self) -> Vec<Self> {
        let count = self.value().as_array().map_or(0, Vec::len);
        (0..count).map(|index| self.child(&index.to_string())).collect()
    }

    /// Value of a text.
    pub fn text(&self) -> Option<String> {
        self.value().as_str().map(str::to_owned)
    }

    /// Value of a whole number, `1.0` and `1e3` included.
    pub fn integer(&self) -> Option<i64> {
        self.value().as_i64().or_else(|| {
            let number = self.value().as_f64()?;
            #[allow(clippy::cast_possible_truncation, reason = "whole, and within what a double counts exactly")]
            (number.fract() == 0.0 && number.abs() < 9.0e15).then_some(number as i64)
        })
    }

    /// Value of a boolean.
    pub fn boolean(&self) -> Option<bool> {
        self.value().as_bool()
    }

    /// Compact JSON.
    pub fn json(&self) -> String {
        self.value().to_string()
    }

    /// Where it stands.
    pub fn locator(&self) -> Locator {
        Locator { object: self.object, pointer: self.pointer.clone() }
    }
}
