//! Closed vocabularies: an enum in Rust, a string with `enum` in the schema.

/// Declares an enum of words with its serde names, `as_str`, `Display` and its schema.
///
/// The derive of schemars would make `oneOf` of documented variants, which a structural schema may not have in place of `enum`.
macro_rules! words {
    ($(#[$meta:meta])* pub enum $name:ident { $($(#[$variant_meta:meta])* $variant:ident = $word:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $($(#[$variant_meta])* #[serde(rename = $word)] $variant,)+
        }

        impl $name {
            /// Every word.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The word as it stands in objects.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word),+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "enum": [$($word),+] })
            }
        }
    };
}

/// Lets a type be read where the field that holds it is absent or null: it is then the default.
///
/// The derive of kube asks for `spec` in every object, but the schema does not, and an object without it is valid: every section has its
/// default. The type carries `#[serde(remote = "Self")]`, so that what serde derives are functions of the type, and this macro builds
/// the traits on them.
macro_rules! absent_is_default {
    ($name:ident) => {
        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                $name::serialize(self, serializer)
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Optional;
                impl<'de> serde::de::Visitor<'de> for Optional {
                    type Value = $name;

                    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                        f.write_str("an object")
                    }

                    fn visit_none<E>(self) -> Result<$name, E> {
                        Ok($name::default())
                    }

                    fn visit_unit<E>(self) -> Result<$name, E> {
                        Ok($name::default())
                    }

                    fn visit_some<D: serde::Deserializer<'de>>(self, deserializer: D) -> Result<$name, D::Error> {
                        $name::deserialize(deserializer)
                    }
                }
                deserializer.deserialize_option(Optional)
            }
        }
    };
}

pub(crate) use {absent_is_default, words};
