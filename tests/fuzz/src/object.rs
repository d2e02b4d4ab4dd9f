//! Whole objects: text in, through a scraper in its sandbox, document out, by the code that `k8s-aibom scan` runs.
#![no_main]

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use aibom_bom::Options;
use aibom_extract::Rules;
use aibom_facts::inventory::Origin;
use aibom_facts::object::ObjectRef;
use aibom_facts::tree::Tree;
use aibom_plugin::{Host, HostConfig, Want};
use k8s_aibom::catalogue::Catalogue;
use k8s_aibom::pipeline::{Outcome, Pipeline, Related};
use k8s_aibom::scan::documents::{self, Content};
use libfuzzer_sys::fuzz_target;
use serde_json::Value;

/// Folder of the scrapers.
const PLUGINS: &str = "K8S_AIBOM_PLUGINS";

struct Nothing;

impl Related for Nothing {
    fn find(&self, _: &Want) -> Option<(ObjectRef, Arc<Tree>)> {
        None
    }
}

fn catalogue() -> &'static (Host, Catalogue) {
    static CATALOGUE: OnceLock<(Host, Catalogue)> = OnceLock::new();
    CATALOGUE.get_or_init(|| {
        let folder = std::env::var_os(PLUGINS).map(PathBuf::from).expect("K8S_AIBOM_PLUGINS names the folder of the scrapers");
        let host = Host::new(HostConfig::default()).expect("an engine");
        let (catalogue, errors) = Catalogue::load(&host, &folder).expect("a folder of scrapers");
        assert!(errors.is_empty(), "{errors:?}");
        (host, catalogue)
    })
}

// Loaded at the start: on a busy machine the first input would take the time for it.
fuzz_target!(init: {
    catalogue();
}, |text: &str| {
    let (_, catalogue) = catalogue();
    let options = Options::new(k8s_aibom::cli::producer(), aibom_bom::format_timestamp(0));
    let pipeline = Pipeline { catalogue, rules: Rules::builtin(), origin: Origin::Manifest, options: &options };
    for document in documents::read(text) {
        let Ok(Content::Objects { objects, .. }) = document.content else { continue };
        for object in objects {
            let outcome = pipeline.run(&object.reference, &object.tree, object.root, &Nothing);
            if let Outcome::Documented { document, .. } = outcome {
                let document: Value = serde_json::from_str(document.json()).expect("a document is JSON");
                let violations = aibom_bom::lint::lint(&document);
                assert!(violations.is_empty(), "{violations:?}");
            }
        }
    }
});
