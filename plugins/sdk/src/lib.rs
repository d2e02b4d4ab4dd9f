//! For authors of scrapers: teach the inventory a kind of yours, without touching the operator.
//!
//! A scraper is a WebAssembly component that gets one object and says what it names: models, runtimes, images, volumes, where its pod
//! templates stand. It has no clock, network, files or memory of earlier calls; the host calls it, checks what it says and does the
//! rest (reading command lines, images and variables of pod templates by one set of rules, building documents).
//!
//! # Data model
//!
//! ```text
//!  Node ──Reader──> Part ──text, each, …──> Found<T> ──Claim::declared──> Item, Property  ┐
//!                     │                                                                  ├──> Report
//!                     └──place, list──> Locator ──────> PodTemplate, Container           ┘
//! ```
//!
//! * [`Node`] is a handle to a place in the object, held by the host. A call costs about a microsecond: read the fields you need
//!   rather than walking everything.
//! * [`Reader`] and [`Part`] read fields by name. What is absent or null is `None`; what has the wrong type is `None` and a problem in
//!   the report ("expected a string at /spec/model, found a number"). Nothing fails: one wrong field must not hide the others.
//! * [`Found`] is a value with its place, [`Claim`] a statement with its places. The host checks claims: what [`Claim::declared`] says
//!   must stand at its place ([`Claim::joined`]: at its places, joined by `:`, `/` or `@`). [`Claim::derived`] is computed from what is
//!   there, [`Claim::implied`] follows from its presence; both count less.
//! * [`PodTemplate`] hands a PodTemplateSpec or PodSpec to the host by its place. [`Container`] does it for a container in pieces, such
//!   as an image written as repository and tag.
//!
//! # A scraper
//!
//! ```
//! use k8s_aibom_sdk::*;
//!
//! struct Kitchen;
//!
//! impl Scraper for Kitchen {
//!     fn describe() -> Description {
//!         Description::new("kitchen", "1.0.0", vec![KindRef::new("example.com", "Oven", "ovens", &["v1"])])
//!     }
//!
//!     fn scrape(object: &Node, _related: &[Option<Node>], _options: &Options) -> Result<Report, Failure> {
//!         let reader = Reader::new();
//!         let spec = reader.read(object).required("spec");
//!         let mut report = Report::new().category(Category::Inference);
//!         report.pod_templates.extend(spec.part("template").place().map(PodTemplate::new));
//!         for recipe in spec.each("recipes") {
//!             let Some(name) = recipe.text("model") else { continue };
//!             report.items.push(Item::new(Class::Model, Claim::declared(name)).version(recipe.text("revision").map(Claim::declared)));
//!         }
//!         report.state("kitchen.degrees", spec.integer("degrees").map(Claim::declared));
//!         Ok(reader.finish(report))
//!     }
//! }
//!
//! export_scraper!(Kitchen);
//! ```
//!
//! # Rules that the host enforces
//!
//! * Places must resolve in the objects of the call. A claim whose place does not is dropped.
//! * Item classes are those of [`Class`]. Property names begin with a prefix of your own; names under `aibom.` are dropped.
//! * A call has a deadline (250 ms by default), a memory limit and a limit on the size of its report.
//! * The view holds neither `managedFields` nor annotations outside `aibom.k8saibom.dev/`, and `status` only if you ask for it.
//!
//! # Files of a scraper
//!
//! `Cargo.toml` with `crate-type = ["cdylib", "rlib"]`, `plugin.toml` (name, version, description, kinds as in `describe`), and
//! `fixtures/<kind>/<case>.yaml` with `<case>.expected.json` beside it: the first document is the object, further ones are the related
//! objects. `k8s-aibom plugin test` runs them through the production host.
//!
//! Off WebAssembly the crate carries an in-memory `Node` and the module `testing`, so that `cargo test` needs no host.
#![warn(missing_docs)]

#[doc(hidden)]
pub mod bindings;
mod build;
#[doc(hidden)]
pub mod glue;
pub mod log;
#[cfg(not(target_arch = "wasm32"))]
mod node;
mod reader;
#[cfg(not(target_arch = "wasm32"))]
pub mod testing;

pub use bindings::k8s_aibom::scraper::types::{
    Claim, Container, Description, Failure, Item, KindRef, Locator, PodTemplate, Problem, Property, Report, Want,
};
#[cfg(target_arch = "wasm32")]
pub use bindings::k8s_aibom::scraper::view::Node;
pub use bindings::k8s_aibom::scraper::view::NodeKind;
pub use build::{Category, Class, ContainerClass, Duty};
#[cfg(not(target_arch = "wasm32"))]
pub use node::Node;
pub use reader::{Found, Part, Reader, Text};

/// What an author writes. See the crate's page.
pub trait Scraper {
    /// What the scraper reads. Called once, when the plugin is loaded.
    fn describe() -> Description;

    /// Which other objects to hand to [`Scraper::scrape`]: of kinds named in the description, in the object's namespace or
    /// cluster-scoped, never Secrets.
    ///
    /// # Errors
    /// For objects that cannot be read at all.
    fn related(_object: &Node, _options: &Options) -> Result<Vec<Want>, Failure> {
        Ok(Vec::new())
    }

    /// What the object says. `related` answers the wants in order: `None` for an object that does not exist or may not be read.
    ///
    /// # Errors
    /// For objects that cannot be read at all. Malformed fields are problems of the report instead.
    fn scrape(object: &Node, related: &[Option<Node>], options: &Options) -> Result<Report, Failure>;
}

/// The administrator's options for this scraper.
#[derive(Clone, Debug)]
pub struct Options(String);

impl Options {
    /// Options from JSON text.
    pub fn new(json: impl Into<String>) -> Self {
        Self(json.into())
    }

    /// The JSON text; `{}` when nothing is configured.
    pub fn json(&self) -> &str {
        &self.0
    }
}

/// Makes a [`Scraper`] the component's export. Once per plugin.
#[macro_export]
macro_rules! export_scraper {
    ($scraper:ty) => {
        #[cfg(target_arch = "wasm32")]
        #[allow(unsafe_code, reason = "generated glue between host and guest")]
        const _: () = {
            struct Component;

            impl $crate::bindings::exports::k8s_aibom::scraper::scraper::Guest for Component {
                fn describe() -> $crate::Description {
                    $crate::glue::describe::<$scraper>()
                }

                fn related(object: &$crate::Node, options: String) -> Result<Vec<$crate::Want>, $crate::Failure> {
                    $crate::glue::related::<$scraper>(object, options)
                }

                fn scrape(
                    object: &$crate::Node,
                    related: Vec<Option<$crate::Node>>,
                    options: String,
                ) -> Result<$crate::Report, $crate::Failure> {
                    $crate::glue::scrape::<$scraper>(object, related, options)
                }
            }

    $crate::bindings::export_plugin!(Component with_types_in $crate::bindings);
        };
    };
}
