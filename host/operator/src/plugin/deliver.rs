//! `plugin pack` and `plugin rbac`: what an administrator applies to use a scraper in a cluster.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use aibom_api::kinds::GroupKind;
use aibom_api::text::{is_dns_label, is_dns_subdomain};
use aibom_artifact::compressed::gzip;
use aibom_artifact::configmap::{LABEL, MANIFEST};
use aibom_artifact::directory;
use aibom_artifact::manifest::Manifest;
use aibom_plugin::{Host, HostConfig, KindRef, Plugin};
use anyhow::Context as _;
use clap::Args;
use k8s_openapi::ByteString;
use k8s_openapi::api::core::v1::ConfigMap;
use k8s_openapi::api::rbac::v1::{ClusterRole, PolicyRule};
use kube::core::ObjectMeta;
use serde::Serialize;

/// Label that gives a ClusterRole to the controller.
const AGGREGATE: &str = "aibom.k8saibom.dev/aggregate-to-controller";

/// Bytes that a ConfigMap can hold, less some for its other parts; etcd takes objects of 1.5 MiB, the API server ConfigMaps of 1 MiB.
const MAX_CONFIGMAP: usize = 1_000_000;

/// A name of an object; for people where it is none.
fn object_name(text: &str) -> Result<String, String> {
    let why = "a name is of lower-case letters, digits, `-` and `.`, with a letter or digit at both ends of each part, at most 63 in a part and 253 in all";
    is_dns_subdomain(text).then(|| text.to_owned()).ok_or_else(|| why.to_owned())
}

/// A name of a namespace; for people where it is none.
fn namespace(text: &str) -> Result<String, String> {
    let why = "a namespace is of lower-case letters, digits and `-`, with a letter or digit at both ends, at most 63";
    is_dns_label(text).then(|| text.to_owned()).ok_or_else(|| why.to_owned())
}

/// Print the ConfigMap with which a cluster uses a scraper
///
/// The ConfigMap goes into the namespace of the controller, which loads it while it runs. The component is checked by the production
/// host first. It needs the rights that `plugin rbac` prints.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  k8s-aibom plugin pack widgets.wasm --namespace k8s-aibom-system | kubectl apply --server-side -f -\n  \
                        k8s-aibom plugin rbac widgets.wasm | kubectl apply -f -"
)]
pub struct Pack {
    /// Component
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Namespace of the controller
    #[arg(long, value_name = "NAMESPACE", default_value = "k8s-aibom-system", value_parser = namespace)]
    namespace: String,
    /// Name of the ConfigMap [default: `aibom-scraper-` and the name of the scraper]
    #[arg(long, value_name = "NAME", value_parser = object_name)]
    name: Option<String>,
    /// Only these kinds of those that the scraper reads, as `group/Kind`, `core/Kind` in the core group [default: all]
    #[arg(long, value_name = "KIND", value_delimiter = ',')]
    kinds: Vec<String>,
}

/// Print the ClusterRole that the controller needs for a scraper's kinds
///
/// It has the label by which the controller's own ClusterRole takes its rules over, so it is applied and needs no binding.
#[derive(Debug, Args)]
pub struct Rbac {
    /// Component
    #[arg(value_name = "FILE")]
    file: PathBuf,
    /// Name of the ClusterRole [default: `aibom-scraper-` and the name of the scraper]
    #[arg(long, value_name = "NAME", value_parser = object_name)]
    name: Option<String>,
}

/// Runs `plugin pack`.
///
/// # Errors
/// The component cannot be used, or does not fit into a ConfigMap.
#[allow(clippy::print_stdout, reason = "this is what the command is for")]
pub fn pack(pack: &Pack) -> anyhow::Result<()> {
    let (plugin, bytes) = load(&pack.file)?;
    let description = plugin.description();
    let own: BTreeSet<String> = description.kinds.iter().map(|kind| GroupKind::new(&kind.group, &kind.kind).to_string()).collect();
    let kinds: BTreeSet<String> =
        if pack.kinds.is_empty() { own.clone() } else { pack.kinds.iter().map(|kind| kind.trim().to_owned()).collect() };
    if let Some(unknown) = kinds.iter().find(|kind| !own.contains(*kind)) {
        anyhow::bail!("the scraper does not read {unknown}; it reads {}", own.into_iter().collect::<Vec<_>>().join(", "));
    }
    let packed = gzip(&bytes).context("the component cannot be compressed")?;
    anyhow::ensure!(
        packed.len() * 4 / 3 < MAX_CONFIGMAP,
        "{} has {} bytes when compressed, too many for a ConfigMap; build it with opt-level \"s\" and link-time optimisation",
        pack.file.display(),
        packed.len()
    );
    let manifest = Manifest { name: description.name.clone(), sha256: plugin.digest().to_owned(), kinds: kinds.into_iter().collect() };
    let map = ConfigMap {
        metadata: ObjectMeta {
            name: Some(pack.name.clone().unwrap_or_else(|| format!("aibom-scraper-{}", description.name))),
            namespace: Some(pack.namespace.clone()),
            labels: Some([(LABEL.to_owned(), "true".to_owned())].into()),
            ..ObjectMeta::default()
        },
        data: Some([(MANIFEST.to_owned(), yaml(&manifest)?)].into()),
        binary_data: Some([(format!("{}.wasm.gz", description.name), ByteString(packed))].into()),
        ..ConfigMap::default()
    };
    print!("{}", yaml(&map)?);
    Ok(())
}

/// Runs `plugin rbac`.
///
/// # Errors
/// The component cannot be used.
#[allow(clippy::print_stdout, reason = "this is what the command is for")]
pub fn rbac(rbac: &Rbac) -> anyhow::Result<()> {
    let (plugin, _) = load(&rbac.file)?;
    let description = plugin.description();
    let role = ClusterRole {
        metadata: ObjectMeta {
            name: Some(rbac.name.clone().unwrap_or_else(|| format!("aibom-scraper-{}", description.name))),
            labels: Some([(AGGREGATE.to_owned(), "true".to_owned())].into()),
            ..ObjectMeta::default()
        },
        rules: Some(
            [&description.kinds, &description.intermediates, &description.related]
                .into_iter()
                .flat_map(|kinds| rules(kinds, &["get", "list", "watch"]))
                .collect(),
        ),
        ..ClusterRole::default()
    };
    print!("{}", yaml(&role)?);
    Ok(())
}

/// One rule for each group.
fn rules(kinds: &[KindRef], verbs: &[&str]) -> Vec<PolicyRule> {
    let groups: BTreeSet<&str> = kinds.iter().map(|kind| kind.group.as_str()).collect();
    groups
        .into_iter()
        .map(|group| {
            let resources: BTreeSet<&str> = kinds.iter().filter(|kind| kind.group == group).map(|kind| kind.plural.as_str()).collect();
            PolicyRule {
                api_groups: Some(vec![group.to_owned()]),
                resources: Some(resources.into_iter().map(str::to_owned).collect()),
                verbs: verbs.iter().map(|verb| (*verb).to_owned()).collect(),
                ..PolicyRule::default()
            }
        })
        .collect()
}

fn load(file: &Path) -> anyhow::Result<(Plugin, Vec<u8>)> {
    let artifact = directory::read_file(file)?;
    let plugin = Host::new(HostConfig::default())?.load(&artifact.name, &artifact.bytes)?;
    Ok((plugin, artifact.bytes))
}

fn yaml(value: &impl Serialize) -> anyhow::Result<String> {
    serde_saphyr::to_string(value).context("YAML cannot be written")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_kubernetes_would_refuse_are_refused_here() {
        for good in ["a", "aibom-scraper-widgets", "x.y-1.z"] {
            assert!(object_name(good).is_ok(), "{good}");
        }
        for bad in ["", "Bad Name", "a-", "-a", "a..b", "a_b", &"a".repeat(254)] {
            assert!(object_name(bad).is_err(), "{bad}");
        }
        assert!(namespace("team-a").is_ok() && namespace("team.a").is_err() && namespace(&"a".repeat(64)).is_err());
    }
}
