//! The NIMCache that a service mounts, if the host handed it over.

use k8s_aibom_sdk::{Claim, Item, Part, Text};

use crate::{image, storage};

/// What a NIMCache says about its content.
#[derive(Default)]
pub(crate) struct Cache {
    /// The model it holds.
    pub(crate) model: Option<Claim>,
    /// The dataset it holds instead.
    pub(crate) dataset: Option<Claim>,
    /// Revision of either.
    pub(crate) revision: Option<Claim>,
    /// Where it was fetched from.
    pub(crate) source: Option<Claim>,
    /// Text that names an engine.
    pub(crate) engine: Option<Text>,
    /// Volume claim or path that holds it.
    pub(crate) volume: Option<Item>,
}

impl Cache {
    /// Reads a NIMCache; an absent one says nothing.
    pub(crate) fn read(object: &Part<'_>) -> Self {
        let spec = object.required("spec");
        let source = spec.part("source");
        let mut cache = Self { volume: storage::volume(object, &spec.part("storage")), ..Self::default() };
        for hub in ["hf", "dataStore"] {
            cache.read_hub(&source.part(hub), hub);
        }
        cache.read_ngc(&source.part("ngc"));
        cache
    }

    /// A model hub names what it holds in two fields.
    fn read_hub(&mut self, hub: &Part<'_>, kind: &str) {
        let Some(namespace) = hub.text("namespace") else { return };
        let identity = |name: &Text| Claim::joined(&[&namespace, name], '/');
        let model = hub.text("modelName");
        self.model = model.as_ref().map(identity);
        self.dataset = hub.text("datasetName").as_ref().map(identity);
        self.revision = hub.text("revision").map(Claim::declared);
        self.source = match (kind, &self.model) {
            // The scheme says that the id is one of that hub.
            ("hf", Some(id)) => Some(Claim::derived(format!("hf://{}", id.text), id.at.clone())),
            ("hf", None) => None,
            _ => hub.text("endpoint").map(Claim::declared),
        };
    }

    /// NGC content is named by the image that fetches it, by the convention of NIM images, or by an address.
    fn read_ngc(&mut self, ngc: &Part<'_>) {
        let puller = ngc.text("modelPuller");
        let by_path = puller.and_then(|puller| Some(Claim::derived(image::model(puller.as_str())?, [puller.at])));
        self.model = self.model.take().or(by_path);
        self.source = self.source.take().or_else(|| ngc.text("modelEndpoint").map(Claim::declared));
        self.engine = ngc.part("model").text("engine");
    }
}
