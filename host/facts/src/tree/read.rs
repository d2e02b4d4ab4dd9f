//! Reading a tree from anything that `serde` reads.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasher, RandomState};

use serde::de::{Deserialize, DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};

use crate::redact::Redactor;

use super::{Builder, Chain, MAX_DEPTH, MAX_NODES, Span, Tree, Value};

struct Seed<'b> {
    builder: &'b mut Builder,
    parent: u32,
    key: Span,
    depth: usize,
}

impl Seed<'_> {
    #[allow(clippy::unnecessary_wraps, reason = "the result of a visitor's method as it is")]
    fn put<E>(self, value: impl FnOnce(&mut Builder) -> Value) -> Result<u32, E> {
        let value = value(self.builder);
        Ok(self.builder.push(self.parent, self.key, value))
    }

    fn open<E: serde::de::Error>(&mut self) -> Result<u32, E> {
        if self.depth >= MAX_DEPTH {
            return Err(E::custom(format_args!("nested deeper than {MAX_DEPTH} levels")));
        }
        Ok(self.builder.push(self.parent, self.key, Value::Null))
    }
}

fn room<E: serde::de::Error>(builder: &Builder, text: usize) -> Result<(), E> {
    if builder.nodes.len() >= MAX_NODES || builder.text.len() + text > u32::MAX as usize / 2 {
        return Err(E::custom(format_args!("larger than {MAX_NODES} nodes")));
    }
    Ok(())
}

impl<'de> DeserializeSeed<'de> for Seed<'_> {
    type Value = u32;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<u32, D::Error> {
        room::<D::Error>(self.builder, 0)?;
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Seed<'_> {
    type Value = u32;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON or YAML value")
    }

    fn visit_unit<E>(self) -> Result<u32, E> {
        self.put(|_| Value::Null)
    }

    fn visit_none<E>(self) -> Result<u32, E> {
        self.put(|_| Value::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<u32, D::Error> {
        self.deserialize(deserializer)
    }

    fn visit_bool<E>(self, value: bool) -> Result<u32, E> {
        self.put(|_| Value::Boolean(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<u32, E> {
        self.put(|b| Value::Number(b.intern(&value.to_string())))
    }

    fn visit_u64<E>(self, value: u64) -> Result<u32, E> {
        self.put(|b| Value::Number(b.intern(&value.to_string())))
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<u32, E> {
        self.put(|b| b.fraction(value))
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<u32, E> {
        room::<E>(self.builder, value.len())?;
        self.put(|b| Value::Text(b.intern(value)))
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut access: A) -> Result<u32, A::Error> {
        let own = self.open()?;
        let mut chain = Chain::default();
        let mut index = 0;
        while let Some(child) = access.next_element_seed(Seed {
            builder: self.builder,
            parent: own,
            key: Span { start: index, len: 0 },
            depth: self.depth + 1,
        })? {
            chain.add(child, self.builder);
            index += 1;
        }
        self.builder.nodes[own as usize].value = Value::Array { first: chain.first };
        Ok(own)
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut access: A) -> Result<u32, A::Error> {
        let own = self.open()?;
        let mut chain = Chain::default();
        let mut keys = Keys::default();
        while let Some(span) = access.next_key_seed(KeySeed(self.builder))? {
            if !keys.insert(span, &chain, self.builder) {
                let key = &self.builder.text[span.start as usize..];
                return Err(A::Error::custom(format_args!("key `{}` is given twice", shorten(key))));
            }
            let child = access.next_value_seed(Seed { builder: self.builder, parent: own, key: span, depth: self.depth + 1 })?;
            chain.add(child, self.builder);
        }
        self.builder.nodes[own as usize].value = Value::Object { first: chain.first };
        Ok(own)
    }
}

/// A key for a message. Secrets go before the cut: what it leaves of one no rule may know.
fn shorten(text: &str) -> String {
    let (text, _) = Redactor::standard().redact(text);
    text.chars().take(80).flat_map(char::escape_debug).collect()
}

/// Keys of one map seen so far. A few are found again in the tree, where comparing them is cheaper than hashing, and nearly all maps are
/// small.
#[derive(Default)]
pub(super) struct Keys {
    count: usize,
    many: Option<Box<Many>>,
}

/// Keys as spans of the tree's text, by their hash.
#[derive(Default)]
struct Many {
    spans: HashMap<u64, Vec<Span>>,
    hashes: RandomState,
}

/// How many keys are compared one by one.
pub(super) const FEW_KEYS: usize = 32;

impl Keys {
    /// Adds a key that the tree's text ends with and whose value is not in the tree yet; those before it are in the chain. False when it
    /// is there already.
    pub(super) fn insert(&mut self, span: Span, chain: &Chain, builder: &Builder) -> bool {
        let of = |span: Span| &builder.text[span.start as usize..(span.start + span.len) as usize];
        let key = of(span);
        self.count += 1;
        if self.count <= FEW_KEYS {
            return chain.keys(builder).all(|other| of(other) != key);
        }
        let many = self.many.get_or_insert_with(|| {
            let mut many = Many::default();
            for other in chain.keys(builder) {
                many.spans.entry(many.hashes.hash_one(of(other))).or_default().push(other);
            }
            Box::new(many)
        });
        let same = many.spans.entry(many.hashes.hash_one(key)).or_default();
        if same.iter().any(|other| of(*other) == key) {
            return false;
        }
        same.push(span);
        true
    }
}

/// A map key as text, put straight into the tree; YAML allows numbers and booleans there.
struct KeySeed<'b>(&'b mut Builder);

impl KeySeed<'_> {
    fn put<E: serde::de::Error>(self, key: &str) -> Result<Span, E> {
        room::<E>(self.0, key.len())?;
        Ok(self.0.intern(key))
    }
}

impl<'de> DeserializeSeed<'de> for KeySeed<'_> {
    type Value = Span;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Span, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl Visitor<'_> for KeySeed<'_> {
    type Value = Span;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a scalar key")
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<Span, E> {
        self.put(value)
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<Span, E> {
        self.put(if value { "true" } else { "false" })
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<Span, E> {
        self.put(&value.to_string())
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<Span, E> {
        self.put(&value.to_string())
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<Span, E> {
        self.put(&value.to_string())
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<Span, E> {
        self.put("null")
    }
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut builder = Builder::default();
        Seed { builder: &mut builder, parent: 0, key: Span::default(), depth: 0 }.deserialize(deserializer)?;
        Ok(builder.finish())
    }
}
