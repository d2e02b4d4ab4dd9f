//! What the test binaries of this crate share. Each uses a part of it.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use aibom_facts::tree::Tree;
use aibom_plugin::{Host, HostConfig, Plugin};

/// Bytes of a guest of `tests/hostile`.
pub fn component(name: &str) -> Vec<u8> {
    let folder = std::env::var_os("K8S_AIBOM_HOSTILE")
        .map_or_else(|| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/hostile")), PathBuf::from);
    let path = folder.join(format!("{name}.wasm"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}: run `cargo xtask build-plugins` first", path.display()))
}

/// The host that tests share. Its deadline is far away, so that on a busy machine no guest reaches it before the limit that it is made for;
/// all else is as in production.
pub fn host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| Host::new(HostConfig { deadline: Duration::from_mins(1), ..HostConfig::default() }).unwrap())
}

/// A host with the settings of production, for guests that would never end by themselves.
pub fn hasty_host() -> &'static Host {
    static HOST: OnceLock<Host> = OnceLock::new();
    HOST.get_or_init(|| Host::new(HostConfig::default()).unwrap())
}

/// A guest of `tests/hostile` on a host.
pub fn load(host: &Host, name: &str) -> Plugin {
    host.load(name, &component(name)).unwrap_or_else(|error| panic!("{error}"))
}

/// A guest of `tests/hostile` on the shared host; the one that spins on the one that ends it soon.
pub fn plugin(name: &str) -> Plugin {
    load(if name == "spin" { hasty_host() } else { host() }, name)
}

/// An object.
pub fn object(json: &str) -> Arc<Tree> {
    Arc::new(Tree::from_json(json.as_bytes()).unwrap())
}

/// The object that the hostile guests point into.
pub fn widget() -> Arc<Tree> {
    object(
        r#"{
            "apiVersion": "hostile.example/v1", "kind": "Widget",
            "metadata": {"name": "first", "namespace": "team", "labels": {"app": "w", "tier": "gold"}},
            "spec": {
                "model": "acme/small", "cache": "weights", "lines": "acme/two\nlines", "null": null, "replicas": 3,
                "image": {"repository": "registry.example/acme/server", "tag": "1.4"},
                "args": ["--model", "acme/small", 7],
                "env": [{"name": "GREETING", "value": "hello"}],
                "models": [{"name": "acme/base"}, {"name": "acme/tuned"}],
                "list": [{"name": "a"}, {"name": "b"}],
                "template": {"spec": {"containers": [{"name": "main", "image": "x"}]}}
            }
        }"#,
    )
}

/// What the honest guest makes of [`widget`], as JSON: whatever its neighbours do, this stays.
pub fn honest_report(plugin: &Plugin) -> String {
    let scraped = plugin.scrape(&widget(), &[], "{}").unwrap();
    assert!(scraped.grounding.is_empty(), "{:?}", scraped.grounding);
    serde_json::to_string(&scraped.report).unwrap()
}

/// A number of a line of `/proc/self/status`, in KiB.
pub fn proc_status(field: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with(field)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}
