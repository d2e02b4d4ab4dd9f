//! A document as the lint sees it: its values in the order of the text, one after the other in one list, with texts borrowed from it. So
//! looking at a document that was just written costs little more than reading its bytes once.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value as Json;

/// Bytes of a document for one value, at least, as most are.
const BYTES_PER_VALUE: usize = 20;

/// All values of a document, outermost first.
#[derive(Debug, PartialEq)]
pub(super) struct Values<'a>(Vec<Item<'a>>);

#[derive(Debug, PartialEq)]
struct Item<'a> {
    /// The list or object that it stands in; its own index for the whole document.
    parent: u32,
    /// Index behind everything that stands in it.
    end: u32,
    key: Key<'a>,
    value: Value<'a>,
}

/// Where in its list or object a value stands.
#[derive(Debug, PartialEq)]
pub(super) enum Key<'a> {
    Member(Cow<'a, str>),
    Item(u32),
}

/// A JSON value without what stands in it.
#[derive(Debug, PartialEq)]
pub(super) enum Value<'a> {
    Null,
    Bool,
    Number(f64),
    Text(Cow<'a, str>),
    List,
    Members,
}

/// A value in its place.
#[derive(Clone, Copy)]
pub(super) struct Node<'d> {
    values: &'d [Item<'d>],
    at: u32,
}

impl<'a> Values<'a> {
    /// Reads JSON.
    pub(super) fn parse(text: &'a str) -> Result<Self, serde_json::Error> {
        let mut values = Vec::with_capacity(text.len() / BYTES_PER_VALUE);
        let mut json = serde_json::Deserializer::from_str(text);
        Reader { values: &mut values, parent: 0, key: Key::Item(0) }.deserialize(&mut json)?;
        json.end()?;
        Ok(Self(values))
    }

    fn add(&mut self, parent: u32, key: Key<'a>, value: &'a Json) {
        let own = self.0.len() as u32;
        let shallow = match value {
            Json::Null => Value::Null,
            Json::Bool(_) => Value::Bool,
            Json::Number(number) => Value::Number(number.as_f64().unwrap_or(f64::NAN)),
            Json::String(text) => Value::Text(Cow::Borrowed(text)),
            Json::Array(_) => Value::List,
            Json::Object(_) => Value::Members,
        };
        self.0.push(Item { parent, end: own + 1, key, value: shallow });
        match value {
            Json::Array(items) => {
                for (i, item) in items.iter().enumerate() {
                    self.add(own, Key::Item(i as u32), item);
                }
            }
            Json::Object(members) => {
                for (key, member) in members {
                    self.add(own, Key::Member(Cow::Borrowed(key)), member);
                }
            }
            _ => return,
        }
        self.0[own as usize].end = self.0.len() as u32;
    }

    /// The whole document.
    pub(super) fn root(&self) -> Node<'_> {
        Node { values: &self.0, at: 0 }
    }

    /// Every value, outermost first.
    pub(super) fn iter(&self) -> impl Iterator<Item = Node<'_>> {
        (0..self.0.len() as u32).map(|at| Node { values: &self.0, at })
    }
}

impl<'a> From<&'a Json> for Values<'a> {
    fn from(value: &'a Json) -> Self {
        let mut values = Self(Vec::new());
        values.add(0, Key::Item(0), value);
        values
    }
}

impl<'d> Node<'d> {
    fn item(self) -> &'d Item<'d> {
        &self.values[self.at as usize]
    }

    pub(super) fn value(self) -> &'d Value<'d> {
        &self.item().value
    }

    /// The list or object that it stands in; none for the whole document.
    pub(super) fn parent(self) -> Option<Self> {
        (self.at != 0).then(|| Node { values: self.values, at: self.item().parent })
    }

    /// Where it stands in its parent.
    pub(super) fn key(self) -> &'d Key<'d> {
        &self.item().key
    }

    /// Its name in the object that it stands in, if it stands in one.
    pub(super) fn name(self) -> Option<&'d str> {
        match self.key() {
            Key::Member(name) => Some(name),
            Key::Item(_) => None,
        }
    }

    /// What stands in it, in the order of the text.
    pub(super) fn children(self) -> impl Iterator<Item = Self> {
        let Node { values, at } = self;
        let end = self.item().end;
        let node = move |at: u32| (at < end).then_some(Node { values, at });
        std::iter::successors(node(at + 1), move |child| node(child.item().end))
    }

    /// Whether nothing stands in it.
    pub(super) fn is_empty(self) -> bool {
        self.item().end == self.at + 1
    }

    /// A member.
    pub(super) fn get(self, key: &str) -> Option<Self> {
        match self.value() {
            Value::Members => self.children().find(|child| child.name() == Some(key)),
            _ => None,
        }
    }

    /// A member of a member and so on.
    pub(super) fn down(self, keys: &[&str]) -> Option<Self> {
        keys.iter().try_fold(self, |node, key| node.get(key))
    }

    /// The text, if it is one.
    pub(super) fn as_str(self) -> Option<&'d str> {
        match self.value() {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// The number, if it is one.
    pub(super) fn as_f64(self) -> Option<f64> {
        match self.value() {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// A member that is a text.
    pub(super) fn text(self, key: &str) -> Option<&'d str> {
        self.get(key).and_then(Self::as_str)
    }

    /// Items of a member that is a list; nothing when there is no list.
    pub(super) fn items(self, key: &str) -> impl Iterator<Item = Self> {
        self.get(key).filter(|list| *list.value() == Value::List).into_iter().flat_map(Self::children)
    }
}

/// Reads one value and what stands in it.
struct Reader<'r, 'a> {
    values: &'r mut Vec<Item<'a>>,
    parent: u32,
    key: Key<'a>,
}

impl<'r, 'a> Reader<'r, 'a> {
    /// Its index, and the list that it was put into.
    fn put(self, value: Value<'a>) -> (u32, &'r mut Vec<Item<'a>>) {
        let own = self.values.len() as u32;
        self.values.push(Item { parent: self.parent, end: own + 1, key: self.key, value });
        (own, self.values)
    }
}

impl<'de> DeserializeSeed<'de> for Reader<'_, 'de> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Reader<'_, 'de> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E: Error>(self) -> Result<(), E> {
        self.put(Value::Null);
        Ok(())
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<(), E> {
        self.put(Value::Bool);
        Ok(())
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<(), E> {
        self.put(Value::Number(number as f64));
        Ok(())
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<(), E> {
        self.put(Value::Number(number as f64));
        Ok(())
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<(), E> {
        self.put(Value::Number(number));
        Ok(())
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<(), E> {
        self.put(Value::Text(Cow::Borrowed(text)));
        Ok(())
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<(), E> {
        self.put(Value::Text(Cow::Owned(text.to_owned())));
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        let (own, values) = self.put(Value::List);
        let mut index = 0;
        while items.next_element_seed(Reader { values: &mut *values, parent: own, key: Key::Item(index) })?.is_some() {
            index += 1;
        }
        values[own as usize].end = values.len() as u32;
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let (own, values) = self.put(Value::Members);
        while let Some(name) = members.next_key_seed(Name)? {
            members.next_value_seed(Reader { values: &mut *values, parent: own, key: Key::Member(name) })?;
        }
        values[own as usize].end = values.len() as u32;
        Ok(())
    }
}

/// Reads the name of a member, borrowed where nothing in it is escaped.
struct Name;

impl<'de> DeserializeSeed<'de> for Name {
    type Value = Cow<'de, str>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Cow<'de, str>, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl<'de> Visitor<'de> for Name {
    type Value = Cow<'de, str>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of a member")
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Borrowed(text))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Cow<'de, str>, E> {
        Ok(Cow::Owned(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_and_value_give_the_same_values() {
        let value = json!({"a": [1, -2, 0.5, null, true, [], {}], "b": {"c": "plain", "d\n": "with \"quotes\""}});
        let text = value.to_string();
        let values = Values::parse(&text).unwrap();
        assert_eq!(values, Values::from(&value));
        let root = values.root();
        assert_eq!(root.down(&["b", "c"]).and_then(Node::as_str), Some("plain"));
        assert_eq!(root.items("a").count(), 7);
        assert_eq!(root.children().map(Node::name).collect::<Vec<_>>(), [Some("a"), Some("b")]);
        assert!(root.items("a").skip(5).all(Node::is_empty));
        assert_eq!(values.iter().count(), 12);
    }
}
