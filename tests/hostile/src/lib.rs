//! Boilerplate of the hostile guests.
//!
//! Each example is a scraper of the kind `Widget` in the group `hostile.example` that does one thing it should not do, written against
//! the contract itself and not the SDK: the SDK would stand in the way of most of it.

wit_bindgen::generate!({
    path: "../../wit/v1.0.0",
    world: "plugin",
    pub_export_macro: true,
    export_macro_name: "export_scraper",
    default_bindings_module: "hostile",
});

pub use exports::k8s_aibom::scraper::scraper::Guest;
pub use k8s_aibom::scraper::log::{Level, log};
pub use k8s_aibom::scraper::types::*;
pub use k8s_aibom::scraper::view::Node;

/// Says what every hostile guest says about itself.
pub fn describe(name: &str) -> Description {
    Description {
        name: name.to_string(),
        version: "1.0.0".to_string(),
        kinds: vec![kind("Widget", "widgets")],
        intermediates: vec![],
        related: vec![],
        reads_status: false,
        options_schema: None,
    }
}

/// A kind of the group of the suite.
pub fn kind(kind: &str, plural: &str) -> KindRef {
    KindRef { group: "hostile.example".to_string(), kind: kind.to_string(), plural: plural.to_string(), versions: vec!["v1".to_string()] }
}

/// A report that says nothing.
pub fn empty() -> Report {
    Report { categories: vec![], items: vec![], pod_templates: vec![], containers: vec![], properties: vec![], problems: vec![] }
}

/// A place in the scraped object.
pub fn at(pointer: &str) -> Locator {
    Locator { object: 0, pointer: pointer.to_string() }
}

/// A claim about one place.
pub fn claim(text: impl Into<String>, basis: &str, at: Vec<Locator>) -> Claim {
    Claim { text: text.into(), basis: basis.to_string(), at }
}

/// A model.
pub fn model(name: Claim) -> Item {
    Item {
        id: String::new(),
        class: "model".to_string(),
        role: String::new(),
        name,
        version: None,
        sources: vec![],
        uses: vec![],
        properties: vec![],
    }
}

/// A text that is not UTF-8.
pub fn bad_utf8() -> String {
    // SAFETY: there is none, which is the point: the bytes are only handed to the host, and never read as text here.
    unsafe { String::from_utf8_unchecked(vec![b'm', 0xff, 0xfe, b'o']) }
}

/// Keeps the compiler from seeing what a value is for.
pub fn opaque<T>(value: T) -> T {
    std::hint::black_box(value)
}

/// Makes a guest of a name and what it does when it is asked to scrape.
#[macro_export]
macro_rules! hostile {
    ($name:literal, |$object:ident, $options:ident| $body:expr) => {
        struct Hostile;

        impl $crate::Guest for Hostile {
            fn describe() -> $crate::Description {
                $crate::describe($name)
            }

            fn related(_object: &$crate::Node, _options: String) -> Result<Vec<$crate::Want>, $crate::Failure> {
                Ok(vec![])
            }

            #[allow(unused_variables)]
            fn scrape(
                $object: &$crate::Node,
                _related: Vec<Option<$crate::Node>>,
                $options: String,
            ) -> Result<$crate::Report, $crate::Failure> {
                $body
            }
        }

        $crate::export_scraper!(Hostile with_types_in $crate);
    };
}
