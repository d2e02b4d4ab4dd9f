//! Documents that were written earlier, read back as far as a writer needs to: whether they hold together, and what they say of
//! themselves.

use std::borrow::Cow;
use std::fmt;
use std::io::Write as _;

use aibom_facts::hex;
use serde::de::{DeserializeSeed, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use sha2::{Digest, Sha256};

/// Deepest nesting of our documents, and some more.
const MAX_DEPTH: usize = 32;

/// What a document says of itself, and the hash of what it says about its subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// [`crate::Document::content_hash`] of the bytes.
    pub content_hash: String,
    /// `serialNumber`; empty when there is none.
    pub serial_number: String,
    /// `version`.
    pub version: u32,
    /// `metadata.timestamp`; empty when there is none.
    pub timestamp: String,
}

/// Bytes that are no document of ours.
#[derive(Debug, thiserror::Error)]
#[error("not a document of this program: {0}")]
pub struct NotOurs(serde_json::Error);

impl Written {
    /// Reads a document. Whatever was changed in it, a text of another program included, gives another hash or an error.
    ///
    /// # Errors
    /// The bytes are no JSON object, or nested deeper than any document of ours.
    pub fn read(bytes: &[u8]) -> Result<Self, NotOurs> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Said {
            #[serde(default)]
            serial_number: String,
            version: u32,
            #[serde(default)]
            metadata: Metadata,
        }
        #[derive(Default, Deserialize)]
        struct Metadata {
            #[serde(default)]
            timestamp: String,
        }
        let said: Said = serde_json::from_slice(bytes).map_err(NotOurs)?;
        let mut content = Vec::with_capacity(bytes.len());
        let mut json = serde_json::Deserializer::from_slice(bytes);
        let copier = Copier { out: &mut content, place: Place::Root, depth: 0 };
        copier.deserialize(&mut json).and_then(|()| json.end()).map_err(NotOurs)?;
        Ok(Self {
            content_hash: hex(&Sha256::digest(&content)),
            serial_number: said.serial_number,
            version: said.version,
            timestamp: said.metadata.timestamp,
        })
    }
}

/// Where in a document a copy is, as far as something may have to be left out.
#[derive(Clone, Copy)]
enum Place {
    Root,
    Metadata,
    Subject,
    Components,
    Evidence,
    Identity,
    Other,
}

impl Place {
    /// The place of a member; none when it is not content.
    fn enter(self, key: &str) -> Option<Self> {
        Some(match (self, key) {
            (Self::Root, "serialNumber" | "version" | "citations")
            | (Self::Metadata, "timestamp" | "tools" | "properties")
            | (Self::Subject, "version")
            | (Self::Identity, "tools") => return None,
            (Self::Root, "metadata") => Self::Metadata,
            (Self::Root, "components") => Self::Components,
            (Self::Metadata, "component") => Self::Subject,
            (Self::Components, "evidence") => Self::Evidence,
            (Self::Evidence, "identity") => Self::Identity,
            _ => Self::Other,
        })
    }
}

/// Writes what it reads in the compact form, in the same order.
struct Copier<'o> {
    out: &'o mut Vec<u8>,
    place: Place,
    depth: usize,
}

impl Copier<'_> {
    fn scalar<E: serde::de::Error>(self, value: impl serde::Serialize) -> Result<(), E> {
        serde_json::to_writer(self.out, &value).map_err(E::custom)
    }

    fn byte(&mut self, byte: u8) {
        self.out.push(byte);
    }
}

impl<'de> DeserializeSeed<'de> for Copier<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        if self.depth > MAX_DEPTH {
            return Err(D::Error::custom("nested too deeply"));
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Copier<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_bool<E: serde::de::Error>(self, value: bool) -> Result<(), E> {
        self.scalar(value)
    }

    fn visit_i64<E: serde::de::Error>(self, value: i64) -> Result<(), E> {
        self.scalar(value)
    }

    fn visit_u64<E: serde::de::Error>(self, value: u64) -> Result<(), E> {
        self.scalar(value)
    }

    fn visit_f64<E: serde::de::Error>(self, value: f64) -> Result<(), E> {
        self.scalar(value)
    }

    fn visit_str<E: serde::de::Error>(self, value: &str) -> Result<(), E> {
        self.scalar(value)
    }

    fn visit_unit<E: serde::de::Error>(self) -> Result<(), E> {
        self.scalar(())
    }

    fn visit_seq<A: SeqAccess<'de>>(mut self, mut items: A) -> Result<(), A::Error> {
        self.byte(b'[');
        let empty = self.out.len();
        loop {
            let before = self.out.len();
            if before > empty {
                self.byte(b',');
            }
            let item = Copier { out: self.out, place: self.place, depth: self.depth + 1 };
            if items.next_element_seed(item)?.is_none() {
                self.out.truncate(before);
                break;
            }
        }
        self.byte(b']');
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(mut self, mut members: A) -> Result<(), A::Error> {
        self.byte(b'{');
        let empty = self.out.len();
        while let Some(key) = members.next_key::<Cow<'de, str>>()? {
            let Some(place) = self.place.enter(&key) else {
                members.next_value::<IgnoredAny>()?;
                continue;
            };
            if self.out.len() > empty {
                self.byte(b',');
            }
            serde_json::to_writer(&mut *self.out, &key).map_err(A::Error::custom)?;
            self.out.write_all(b":").map_err(A::Error::custom)?;
            members.next_value_seed(Copier { out: self.out, place, depth: self.depth + 1 })?;
        }
        self.byte(b'}');
        Ok(())
    }
}
