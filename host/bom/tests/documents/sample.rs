//! An inventory made by hand. All names are invented.

use aibom_facts::image::ImageReference;
use aibom_facts::inventory::{
    Category, Class, Confidence, ContainerUse, Data, DataKind, Device, Evidence, Finding, Image, Inventory, Key, Model, Origin, Role,
    Runtime, Service, Source, Tool, Unresolved,
};
use aibom_facts::model::ModelReference;
use aibom_facts::object::{Locator, ObjectRef};
use aibom_facts::pointer::Pointer;
use aibom_facts::report::{ContainerClass, Duty, Problem};

pub(crate) const DIGEST: &str = "1f2e3d4c5b6a798800112233445566778899aabbccddeeff0011223344556677";
pub(crate) const COMMIT: &str = "00112233445566778899aabbccddeeff00112233";

pub(crate) fn object(kind: &str, name: &str) -> ObjectRef {
    ObjectRef {
        group: "apps".to_owned(),
        version: "v1".to_owned(),
        kind: kind.to_owned(),
        namespace: Some("orchard".to_owned()),
        name: name.to_owned(),
        uid: None,
    }
}

pub(crate) fn at(pointer: &str) -> Locator {
    Locator::scraped(Pointer::parse(pointer).expect("a pointer"))
}

pub(crate) fn evidence(pointer: &str, source: Source, value: &str, by: &str, container: &str) -> Evidence {
    Evidence { at: at(pointer), source, value: value.to_owned(), by: by.to_owned(), container: container.to_owned() }
}

pub(crate) fn finding(class: Class, name: &str, confidence: Confidence, evidence: Vec<Evidence>) -> Finding {
    Finding { evidence, ..Finding::new(class, name, confidence) }
}

pub(crate) fn hub(owner: &str, name: &str) -> ModelReference {
    ModelReference::Hub { owner: owner.to_owned(), name: name.to_owned() }
}

pub(crate) fn model(reference: ModelReference, pointer: &str) -> Model {
    let id = reference.id();
    Model {
        finding: finding(Class::Model, &id, Confidence::Declared, vec![evidence(pointer, Source::ContainerArg, &id, "--model", "server")]),
        reference,
        role: Role::Main,
        revision: None,
        served: [].into(),
        sources: [].into(),
    }
}

pub(crate) fn image(written: &str, pointer: &str, container: &str) -> Image {
    let reference = ImageReference::parse(written).ok();
    let key = reference.as_ref().map_or_else(|| written.to_owned(), ToString::to_string);
    Image {
        finding: finding(Class::Image, &key, Confidence::Declared, vec![evidence(pointer, Source::ImageReference, written, "", container)]),
        written: written.to_owned(),
        reference,
        containers: vec![ContainerUse {
            name: container.to_owned(),
            class: ContainerClass::Main,
            template: String::new(),
            duty: Duty::Engine,
        }],
        observed: std::collections::BTreeSet::new(),
    }
}

pub(crate) fn empty() -> Inventory {
    Inventory::new(vec![object("Deployment", "plum")], Origin::Manifest)
}

/// One of everything.
pub(crate) fn plum() -> Inventory {
    let mut inventory = empty();
    inventory.objects.push(object("Cache", "plum-cache"));
    inventory
        .does(Category::Inference, evidence("/spec/containers/0/command/0", Source::ContainerArg, "inference", "plum-serve", "server"));
    inventory.generation = Some(4);
    inventory.tools.insert(Tool { name: "apps-scraper".to_owned(), version: "1.0.0".to_owned(), sha256: Some(DIGEST.to_owned()) });
    inventory.properties.insert("apps.replicas".to_owned(), ["2".to_owned()].into());

    let mut server = image(&format!("registry.plum.example:5000/serve/engine:v1.2@sha256:{DIGEST}"), "/spec/containers/0/image", "server");
    server.containers.push(ContainerUse {
        name: "warm-up".to_owned(),
        class: ContainerClass::Init,
        template: "prefill".to_owned(),
        duty: Duty::Engine,
    });
    let server_key = server.finding.key.clone();
    inventory.images.push(server);
    inventory.images.push(image("busybox", "/spec/initContainers/0/image", "fetch"));

    let mut main = model(hub("plum-labs", "Plum-7B-Chat"), "/spec/containers/0/args/1");
    main.revision = Some(COMMIT.to_owned());
    main.served = ["plum".to_owned(), "plum-chat".to_owned()].into();
    main.sources = ["s3://plum-weights/chat?versionId=3".to_owned(), "/mnt/plum".to_owned()].into();
    main.finding.evidence.push(Evidence {
        at: Locator { object: 1, pointer: Pointer::parse("/spec/source").expect("a pointer") },
        source: Source::CrdField,
        value: "/mnt/plum".to_owned(),
        by: String::new(),
        container: String::new(),
    });
    main.finding.conflicts.push(evidence("/spec/containers/0/env/2/value", Source::EnvVar, "plum-labs/Plum-3B", "PLUM_MODEL", "server"));
    main.finding.property("aibom.parameter.context-length", "8192");
    main.finding.property("aibom.parameter.tensor-parallel-size", "2");
    main.finding.property("model.task", "text-generation");
    main.finding.needs.insert(Key::new(Class::Data, "volume/weights"));
    let main_key = main.finding.key.clone();
    inventory.models.push(main);
    let mut adapter = model(ModelReference::Path("/adapters/stone".to_owned()), "/spec/containers/0/args/3");
    adapter.role = Role::Adapter;
    adapter.finding.needs.insert(main_key.clone());
    inventory.models.push(adapter);

    let mut engine = finding(
        Class::Runtime,
        "plumserve",
        Confidence::Inferred,
        vec![
            evidence("/spec/containers/0/image", Source::ImagePattern, "plumserve", "serve/engine", "server"),
            evidence("/spec/containers/0/image", Source::ImageTag, "v1.2", "", "server"),
        ],
    );
    engine.needs = [server_key, main_key, Key::new(Class::Model, "/adapters/stone"), Key::new(Class::Model, "of nobody")].into();
    inventory.runtimes.push(Runtime { finding: engine, version: Some("v1.2".to_owned()), framework: false });

    let mut volume = finding(
        Class::Data,
        "volume/weights",
        Confidence::Declared,
        vec![evidence("/spec/volumes/0", Source::VolumeSource, "weights", "", "")],
    );
    volume.property("volume.source", "persistentVolumeClaim");
    volume.property("volume.mountPath", "/mnt/plum");
    inventory.data.push(Data { finding: volume, kind: DataKind::Volume, name: "weights".to_owned() });
    inventory.devices.push(Device {
        finding: finding(
            Class::Device,
            "accel.example/gpu",
            Confidence::Declared,
            vec![evidence("/spec/containers/0/resources/limits/accel.example~1gpu", Source::ResourceRequest, "2", "", "server")],
        ),
        quantities: vec!["2".to_owned(), "1".to_owned()],
    });
    inventory.services.push(Service {
        finding: finding(
            Class::Service,
            "pearcloud",
            Confidence::Inferred,
            vec![evidence("/spec/containers/0/env/0", Source::EnvVarNamePresent, "pearcloud", "PEARCLOUD_KEY", "server")],
        ),
        endpoints: ["https://api.pearcloud.example/v1".to_owned()].into(),
    });
    inventory.unresolved.insert(Unresolved {
        what: "draft".to_owned(),
        at: at("/spec/containers/0/env/1/valueFrom"),
        why: "secret".to_owned(),
        reference: "plum-settings/draft".to_owned(),
    });
    inventory.problems.insert(Problem { at: at("/spec/containers/2"), message: "a container is no object".to_owned() });
    inventory
}
