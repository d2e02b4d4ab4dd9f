//! Whatever an inventory holds, its document is valid, clean, and the same on every rendering.

use std::collections::{BTreeMap, BTreeSet};

use aibom_bom::{Options, PropertyNames, SpecVersion, lint, render};
use aibom_facts::image::{ImageId, ImageReference};
use aibom_facts::inventory::{
    Category, Class, Confidence, ContainerUse, Data, DataKind, Device, Evidence, Finding, Image, Inventory, Key, Model, Observed, Origin,
    Role, Runtime, Service, Source, Tool, Unresolved,
};
use aibom_facts::model::ModelReference;
use aibom_facts::object::{Locator, ObjectRef};
use aibom_facts::pointer::Pointer;
use aibom_facts::report::{ContainerClass, Duty, Problem};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::identity::read_elsewhere;
use crate::sample::{COMMIT, DIGEST};
use crate::{options, schema_errors};

const WORDS: &[&str] = &[
    "a",
    "b",
    "plum/chat",
    "",
    " ",
    "aibom.confidence",
    "x#/y",
    "a/b/c/d/e",
    "s3://w/x",
    "https://me:pw@h.example/x",
    "https://h.example/a b",
    "10.0.0.1:80",
    "${IMAGE}",
    "sha256:zz",
    "~",
    "\u{202E}gnp",
    "\u{0}\u{7}\n",
    "urn:cdx:x",
    "glpat-AbCdEfGhIjKlMnOpQrSt",
    "ghp_0123456789012345678901234567890123456789",
    "sk-abcdefghijklmnopqrstuvwx",
    "Bearer abcdefghijklmnopqrstuvwxyz",
    "bear\ner abcdefghijklmnopqrstuvwxyz",
    "https://h.example/x?token=abcdefghijkl&y=1",
    "--api-key=abcdefghijkl",
    "AKIA0123456789ABCDEF",
    "hf_abcdefghijklmnopqrstuvwxyzABCDEF",
    COMMIT,
    "registry.plum.example:5000/team/app:v1",
];

const CONFIDENCES: &[Confidence] = &[Confidence::Unresolved, Confidence::Inferred, Confidence::Declared, Confidence::Verified];
const CLASSES: &[Class] = &[Class::Runtime, Class::Image, Class::Data, Class::Device, Class::Model, Class::Service];
const CONTAINERS: &[ContainerClass] = &[ContainerClass::Main, ContainerClass::Init, ContainerClass::Sidecar];
const DUTIES: &[Duty] = &[Duty::Unknown, Duty::Engine, Duty::Infrastructure];
const DATA: &[DataKind] = &[DataKind::Dataset, DataKind::Volume, DataKind::Configuration];
const ORIGINS: &[Origin] = &[Origin::Manifest, Origin::Cluster];

const SOURCES: &[Source] = &[
    Source::CrdField,
    Source::ContainerArg,
    Source::ShellScript,
    Source::EnvVar,
    Source::EnvVarConvention,
    Source::EnvVarNamePresent,
    Source::ImageReference,
    Source::ImagePattern,
    Source::ImageTag,
    Source::VolumeSource,
    Source::ResourceRequest,
    Source::NodeSelector,
    Source::WorkloadAnnotation,
    Source::PodStatus,
    Source::Derived,
];

/// A few words that recur, so that findings meet, and text that nobody should write.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        6 => select(WORDS).prop_map(str::to_owned),
        3 => vec(select(WORDS), 1..4).prop_map(|parts| parts.concat()),
        3 => any::<String>(),
        1 => (select(WORDS), 1_000_usize..3_000).prop_map(|(word, times)| word.repeat(times / word.len().max(1))),
        1 => (select(WORDS), 1_000_usize..1_030).prop_map(|(word, pad)| format!("{}{word}", "p".repeat(pad))),
        1 => Just(format!("registry.plum.example/app@sha256:{DIGEST}")),
    ]
}

fn words() -> impl Strategy<Value = BTreeSet<String>> {
    btree_set(text(), 0..3)
}

fn properties() -> impl Strategy<Value = BTreeMap<String, BTreeSet<String>>> {
    let name = prop_oneof![2 => text(), 1 => text().prop_map(|rest| format!("aibom.parameter.{rest}"))];
    btree_map(name, words(), 0..3)
}

fn locator() -> impl Strategy<Value = Locator> {
    let pointer = vec(text(), 0..3).prop_map(|tokens| tokens.iter().fold(Pointer::root(), |pointer, token| pointer.child(token)));
    (0_u32..3, pointer).prop_map(|(object, pointer)| Locator { object, pointer })
}

fn pieces() -> impl Strategy<Value = Vec<Evidence>> {
    let piece = (locator(), select(SOURCES), text(), text(), text()).prop_map(|(at, source, value, by, container)| Evidence {
        at,
        source,
        value,
        by,
        container,
    });
    vec(piece, 0..3)
}

fn key() -> impl Strategy<Value = Key> {
    (select(CLASSES), text()).prop_map(|(class, name)| Key { class, name })
}

fn finding(class: Class) -> impl Strategy<Value = Finding> {
    (text(), select(CONFIDENCES), pieces(), pieces(), properties(), btree_set(key(), 0..3)).prop_map(
        move |(name, confidence, evidence, conflicts, properties, needs)| Finding {
            key: Key { class, name },
            confidence,
            evidence,
            conflicts,
            properties,
            needs,
        },
    )
}

fn model() -> impl Strategy<Value = Model> {
    let reference = prop_oneof![
        (text(), text()).prop_map(|(owner, name)| ModelReference::Hub { owner, name }),
        Just(ModelReference::Hub { owner: "plum-labs".to_owned(), name: "Plum-7B".to_owned() }),
        text().prop_map(ModelReference::Uri),
        text().prop_map(ModelReference::Path),
        text().prop_map(ModelReference::Name),
    ];
    (finding(Class::Model), reference, select(Role::ALL.to_vec()), option::of(text()), words(), words())
        .prop_map(|(finding, reference, role, revision, served, sources)| Model { finding, reference, role, revision, served, sources })
}

fn image() -> impl Strategy<Value = Image> {
    let container = (text(), select(CONTAINERS), text(), select(DUTIES)).prop_map(|(name, class, template, duty)| ContainerUse {
        name,
        class,
        template,
        duty,
    });
    let observed = vec("(docker-pullable://[a-z]{1,5}(/[a-z]{1,5})?@)?sha256:[0-9a-f]{64}", 0..3);
    (finding(Class::Image), text(), vec(container, 0..3), observed).prop_map(|(finding, written, containers, observed)| Image {
        finding,
        reference: ImageReference::parse(&written).ok(),
        written,
        containers,
        observed: observed
            .iter()
            .filter_map(|id| {
                Some(Observed { id: ImageId::parse(id)?, container: "server".to_owned(), pods: 2, revisions: ["7".to_owned()].into() })
            })
            .collect(),
    })
}

fn object() -> impl Strategy<Value = ObjectRef> {
    (text(), text(), text(), option::of(text()), text(), option::of(text()))
        .prop_map(|(group, version, kind, namespace, name, uid)| ObjectRef { group, version, kind, namespace, name, uid })
}

fn tool() -> impl Strategy<Value = Tool> {
    let digest = prop_oneof![Just(DIGEST.to_owned()), text()];
    (text(), text(), option::of(digest)).prop_map(|(name, version, sha256)| Tool { name, version, sha256 })
}

fn inventory() -> impl Strategy<Value = Inventory> {
    let runtime = (finding(Class::Runtime), option::of(text()), any::<bool>()).prop_map(|(finding, version, framework)| Runtime {
        finding,
        version,
        framework,
    });
    let data = (finding(Class::Data), select(DATA), text()).prop_map(|(finding, kind, name)| Data { finding, kind, name });
    let device = (finding(Class::Device), vec(text(), 0..3)).prop_map(|(finding, quantities)| Device { finding, quantities });
    let service = (finding(Class::Service), words()).prop_map(|(finding, endpoints)| Service { finding, endpoints });
    let unresolved = (text(), locator(), text(), text()).prop_map(|(what, at, why, reference)| Unresolved { what, at, why, reference });
    let problem = (locator(), text()).prop_map(|(at, message)| Problem { at, message });
    (
        vec(object(), 0..3),
        select(ORIGINS),
        (option::of(any::<i64>()), btree_map(select(Category::ALL.to_vec()), pieces(), 0..3), properties()),
        (vec(model(), 0..4), vec(image(), 0..4), vec(runtime, 0..3)),
        (vec(data, 0..3), vec(device, 0..2), vec(service, 0..2)),
        (btree_set(unresolved, 0..3), btree_set(problem, 0..2), btree_set(tool(), 0..3)),
    )
        .prop_map(|(objects, origin, about, main, rest, other)| {
            let mut inventory = Inventory::new(objects, origin);
            (inventory.generation, inventory.categories, inventory.properties) = about;
            (inventory.models, inventory.images, inventory.runtimes) = main;
            (inventory.data, inventory.devices, inventory.services) = rest;
            (inventory.unresolved, inventory.problems, inventory.tools) = other;
            inventory
        })
}

fn any_options() -> impl Strategy<Value = Options> {
    (any::<bool>(), any::<bool>(), option::of(text()), any::<u32>(), tool()).prop_map(|(new, colon, cluster_uid, version, producer)| {
        Options {
            spec_version: if new { SpecVersion::V1_7 } else { SpecVersion::V1_6 },
            property_names: if colon { PropertyNames::Colon } else { PropertyNames::Dotted },
            cluster_uid,
            version,
            producer,
            ..options()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_inventory_becomes_a_valid_and_clean_document(inventory in inventory(), options in any_options()) {
        let document = render(&inventory, &options);
        let value = document.to_value();
        prop_assert_eq!(schema_errors(&value), Vec::<String>::new());
        prop_assert_eq!(lint::lint(&value), vec![]);
        let again = render(&inventory, &options);
        prop_assert_eq!(again.json(), document.json());
        if options.spec_version == SpecVersion::V1_6 {
            prop_assert_eq!(read_elsewhere(&document), value);
        }
    }

    #[test]
    fn any_order_of_findings_gives_the_same_bytes(inventory in inventory(), turn in 0_usize..4) {
        let mut turned = inventory.clone();
        let by = |length: usize| if length == 0 { 0 } else { turn % length };
        turned.models.rotate_left(by(inventory.models.len()));
        turned.images.rotate_left(by(inventory.images.len()));
        turned.runtimes.reverse();
        turned.data.reverse();
        turned.devices.reverse();
        turned.services.reverse();
        for image in &mut turned.images {
            image.containers.reverse();
        }
        for property_names in [PropertyNames::Dotted, PropertyNames::Colon] {
            let options = Options { property_names, ..options() };
            let (first, second) = (render(&turned, &options), render(&inventory, &options));
            prop_assert_eq!(first.content_hash(), second.content_hash());
            prop_assert_eq!(first.json(), second.json());
        }
    }

    #[test]
    fn the_hash_of_any_inventory_ignores_time_version_and_producer(inventory in inventory(), version in any::<u32>(), producer in tool()) {
        let other = Options { version, producer, timestamp: "2031-01-01T00:00:00Z".to_owned(), ..options() };
        let (first, second) = (render(&inventory, &options()), render(&inventory, &other));
        prop_assert_eq!(first.content_hash(), second.content_hash());
    }
}
