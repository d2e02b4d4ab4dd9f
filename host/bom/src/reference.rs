//! bom-refs. They are made from identity and never from position, so that one more container renames nothing.
//!
//! | What | bom-ref |
//! |---|---|
//! | the workload | `k8s:<cluster UID or "manifest">/<group>/<Kind>/<namespace>/<name>` |
//! | what has a purl | the purl |
//! | the rest | `<workload>#<class>/<name>` |
//! | tools | `tool:<name>` |
//!
//! Two findings with one bom-ref are one component: their evidence, properties and needs are joined. Only findings of one class can
//! meet, since models have `pkg:huggingface` purls, images `pkg:oci` ones, and all others carry their class.

use aibom_facts::hex;
use aibom_facts::inventory::{Inventory, Key, Origin, Tool};
use sha2::{Digest, Sha256};

use crate::scrub::Scrubber;

/// Most characters of a bom-ref, less than the text limit so that the last filter has nothing to cut.
const LIMIT: usize = 900;
/// Most characters of the workload's bom-ref, which all others are made from.
const ROOT_LIMIT: usize = 600;

/// bom-ref of the workload.
pub(crate) fn root(inventory: &Inventory, cluster_uid: Option<&str>, scrubber: &mut Scrubber) -> String {
    let cluster = match inventory.origin {
        Origin::Manifest => "manifest",
        Origin::Cluster => cluster_uid.unwrap_or("cluster"),
    };
    let text = match inventory.subject() {
        Some(subject) => format!(
            "k8s:{cluster}/{}/{}/{}/{}",
            subject.group,
            subject.kind,
            subject.namespace.as_deref().unwrap_or_default(),
            subject.name
        ),
        None => format!("k8s:{cluster}////"),
    };
    safe(&text, ROOT_LIMIT, scrubber)
}

/// bom-ref of a finding without purl.
pub(crate) fn local(root: &str, key: &Key, scrubber: &mut Scrubber) -> String {
    safe(&format!("{root}#{}/{}", key.class.as_str(), key.name), LIMIT, scrubber)
}

/// bom-ref of a tool. Without its version, so that an upgrade changes no reference; tools that share a name are told apart by version
/// and digest.
pub(crate) fn tool(tool: &Tool, taken: impl Fn(&str) -> bool, scrubber: &mut Scrubber) -> String {
    let plain = safe(&format!("tool:{}", tool.name), LIMIT, scrubber);
    if !taken(&plain) {
        return plain;
    }
    let digest = Sha256::digest(format!("{}\n{}", tool.version, tool.sha256.as_deref().unwrap_or_default()));
    format!("{plain}~{}", hex(&digest[..8]))
}

/// A reference without secrets and hidden characters. What is too long keeps its beginning and gets a hash of the whole; the hash is
/// taken after secrets are gone, so it tells nothing about them.
fn safe(text: &str, limit: usize, scrubber: &mut Scrubber) -> String {
    let masked = scrubber.mask(text).into_owned();
    let Some((at, _)) = masked.char_indices().nth(limit) else { return masked };
    let cut = format!("{}~{}", &masked[..at], hex(&Sha256::digest(&masked)[..8]));
    scrubber.mask(&cut).into_owned()
}
