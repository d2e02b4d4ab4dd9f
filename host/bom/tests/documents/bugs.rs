//! Reports that other tools got about their documents, as tests. The numbers are those of the project's reference list.

use std::collections::BTreeSet;

use aibom_bom::{PropertyNames, SpecVersion, Tlp, lint, render};
use aibom_facts::image::{ImageId, ImageReference};
use aibom_facts::inventory::{Class, Confidence, Key, Observed, Origin, Service};
use aibom_facts::model::ModelReference;
use aibom_facts::purl::Purl;
use serde_json::{Value, json};

use crate::sample::{COMMIT, DIGEST, empty, finding, hub, image, model, plum};
use crate::{VALIDATORS, checked, named, options, read, schema_errors, values};

#[test]
fn b66_no_licence_is_invented() {
    let document = read(&plum());
    assert!(!document.to_string().contains("\"licenses\""));
    if VALIDATORS.is_some() {
        let mut wrong = document;
        wrong["components"][0]["licenses"] = json!([{"license": {"id": "unknown"}}]);
        assert_ne!(schema_errors(&wrong), Vec::<String>::new());
    }
}

#[test]
fn b67_owner_and_name_of_a_hub_model_are_joined_by_a_slash() {
    let mut inventory = empty();
    let mut model = model(hub("Plum.Labs", "Plum-7B_Chat"), "/spec/x");
    model.revision = Some(COMMIT.to_ascii_uppercase());
    inventory.models.push(model);
    let document = read(&inventory);
    assert_eq!(named(&document, "Plum-7B_Chat")["purl"], format!("pkg:huggingface/Plum.Labs/Plum-7B_Chat@{COMMIT}"));
    assert_eq!(named(&document, "Plum-7B_Chat")["version"], COMMIT);
}

#[test]
fn b68_what_is_found_twice_is_one_component_and_one_dependency() {
    let mut inventory = plum();
    // The same image again, once as written in the short form, with another container and other evidence.
    inventory.images.push(image("docker.io/library/busybox", "/spec/initContainers/1/image", "fetch-more"));
    inventory.models.push(inventory.models[0].clone());
    let document = read(&inventory);
    let busybox = named(&document, "docker.io/library/busybox");
    assert_eq!(values(busybox, "image.reference"), ["busybox", "docker.io/library/busybox"]);
    assert_eq!(values(busybox, "container.name"), ["fetch", "fetch-more"]);
    assert_eq!(busybox["evidence"]["occurrences"].as_array().unwrap().len(), 2);
    let listed = document["dependencies"].as_array().unwrap().iter().filter(|entry| entry["ref"] == busybox["bom-ref"]).count();
    assert_eq!(listed, 1);
}

#[test]
fn b69_a_url_with_a_space_is_no_link() {
    let mut inventory = empty();
    let mut model = model(ModelReference::Uri("s3://plum weights/chat".to_owned()), "/spec/uri");
    model.sources.insert("https://files.plum.example/a b".to_owned());
    inventory.models.push(model);
    inventory.services.push(Service {
        finding: finding(Class::Service, "pear", Confidence::Inferred, vec![]),
        endpoints: ["https://api.pear.example/v 1".to_owned(), "https://api.pear.example/v1".to_owned()].into(),
    });
    let document = read(&inventory);
    let model = named(&document, "s3://plum weights/chat");
    assert!(model.get("externalReferences").is_none());
    assert_eq!(values(model, "model.source"), ["https://files.plum.example/a b"]);
    assert_eq!(values(model, "aibom.link.omitted"), ["syntax"]);
    assert_eq!(named(&document, "pear")["endpoints"], json!(["https://api.pear.example/v1"]));
    assert_eq!(values(named(&document, "pear"), "service.endpoint"), ["https://api.pear.example/v 1"]);
    if VALIDATORS.is_some() {
        let mut wrong = document.clone();
        wrong["services"][0]["endpoints"] = json!(["https://api.pear.example/v 1"]);
        assert_ne!(schema_errors(&wrong), Vec::<String>::new(), "format checks must be on");
    }
}

#[test]
fn b70_a_document_of_1_6_has_no_member_of_1_7() {
    let mut options = options();
    let old = checked(&plum(), &options).json().to_owned();
    for member in ["citations", "isExternal", "distributionConstraints", "versionRange", "patentAssertions"] {
        assert!(!old.contains(&format!("\"{member}\"")), "{member}");
    }
    options.spec_version = SpecVersion::V1_7;
    let new: Value = serde_json::from_str(checked(&plum(), &options).json()).unwrap();
    assert_eq!(new["$schema"], "http://cyclonedx.org/schema/bom-1.7.schema.json");
    assert_eq!(named(&new, "accel.example/gpu")["isExternal"], true);
    assert_eq!(new["citations"][0]["attributedTo"], "tool:apps-scraper");
    for pointer in new["citations"][0]["pointers"].as_array().unwrap() {
        assert!(new.pointer(pointer.as_str().unwrap()).is_some(), "{pointer}");
    }
    if VALIDATORS.is_some() {
        let mut wrong = new.clone();
        wrong["specVersion"] = json!("1.6");
        assert_ne!(schema_errors(&wrong), Vec::<String>::new());
    }
}

#[test]
fn who_may_see_a_document_stands_in_1_7_only_and_is_content() {
    let mut options = options();
    options.tlp = Some(Tlp::AmberAndStrict);
    let old = checked(&plum(), &options);
    assert!(old.to_value()["metadata"].get("distributionConstraints").is_none());
    options.spec_version = SpecVersion::V1_7;
    let mut hashes = std::collections::BTreeSet::new();
    for tlp in [None, Some(Tlp::Clear), Some(Tlp::Green), Some(Tlp::Amber), Some(Tlp::AmberAndStrict), Some(Tlp::Red)] {
        options.tlp = tlp;
        let document = checked(&plum(), &options);
        let said = document.to_value()["metadata"]["distributionConstraints"]["tlp"].as_str().map(str::to_owned);
        assert_eq!(said.as_deref(), tlp.map(Tlp::as_str));
        hashes.insert(document.content_hash().to_owned());
    }
    assert_eq!(hashes.len(), 6);
}

#[test]
fn both_versions_say_the_same_facts() {
    let mut options = options();
    let old = checked(&plum(), &options).to_value();
    options.spec_version = SpecVersion::V1_7;
    let mut new = checked(&plum(), &options).to_value();
    for member in ["$schema", "specVersion", "serialNumber"] {
        new[member] = old[member].clone();
    }
    new.as_object_mut().unwrap().remove("citations");
    for component in new["components"].as_array_mut().unwrap() {
        component.as_object_mut().unwrap().remove("isExternal");
    }
    assert_eq!(new, old);
}

#[test]
fn b71_purls_are_encoded_once_and_read_back() {
    let mut inventory = empty();
    inventory.images.push(image(&format!("localhost:5000/team/api:v1+x@sha256:{DIGEST}"), "/spec/image", "a"));
    inventory.images.push(image("quay.plum.example/a/b:1.0", "/spec/image2", "b"));
    inventory.models.push(model(hub("plum", "gpt-neo-1.3B"), "/spec/model"));
    let document = checked(&inventory, &options());
    let text = document.json();
    for escape in ["\\u0026", "\\u003c", "\\u003e", "\\/", "pkg:/", "%3A5000"] {
        assert!(!text.contains(escape), "{escape}");
    }
    let value = document.to_value();
    let mut count = 0;
    for component in value["components"].as_array().unwrap() {
        let Some(purl) = component["purl"].as_str() else { continue };
        count += 1;
        assert_eq!(Purl::parse(purl).unwrap().to_string(), purl);
        assert_eq!(component["bom-ref"], purl);
    }
    assert!(count >= 2, "{text}");
    assert!(text.contains("pkg:oci/b?repository_url=quay.plum.example%2Fa%2Fb&tag=1.0"), "{text}");
}

#[test]
fn b72_the_workload_has_no_purl_and_no_purl_has_an_unknown_type() {
    let document = read(&plum());
    assert!(document["metadata"]["component"].get("purl").is_none());
    let mut wrong = document;
    wrong["components"][0]["purl"] = json!("pkg:k8s/deployment/plum");
    assert!(lint::lint(&wrong).iter().any(|violation| violation.rule == "L4"));
}

#[test]
fn b73_the_root_is_named_and_container_names_without_purl_are_short() {
    let mut inventory = plum();
    inventory.images.push(image("${REGISTRY}/a/b/c/${IMAGE}:latest", "/spec/image", "odd"));
    let document = read(&inventory);
    let root = &document["metadata"]["component"];
    assert_eq!((&root["name"], &root["group"], &root["version"]), (&json!("plum"), &json!("orchard"), &json!("gen-4")));
    for component in document["components"].as_array().unwrap().iter().filter(|component| component["type"] == "container") {
        let segments = component["name"].as_str().unwrap().split('/').count();
        assert!(segments <= 3 || component.get("purl").is_some(), "{component:#}");
    }
    assert_eq!(values(named(&document, "b/c/${IMAGE}:latest"), "image.reference"), ["${REGISTRY}/a/b/c/${IMAGE}:latest"]);
}

#[test]
fn b74_a_need_that_nothing_answers_leaves_no_dangling_reference() {
    let mut inventory = plum();
    inventory.runtimes[0].finding.needs.insert(Key::new(Class::Image, "of another workload"));
    let own = inventory.runtimes[0].finding.key.clone();
    inventory.runtimes[0].finding.needs.insert(own);
    let document = read(&inventory);
    let reference = &named(&document, "plumserve")["bom-ref"];
    let entry = document["dependencies"].as_array().unwrap().iter().find(|entry| entry["ref"] == *reference).unwrap();
    assert_eq!(entry["dependsOn"].as_array().unwrap().len(), 3, "{entry:#}");
    assert!(!entry["dependsOn"].as_array().unwrap().contains(reference));
    let mut wrong = document.clone();
    wrong["dependencies"].as_array_mut().unwrap().pop();
    assert!(lint::lint(&wrong).iter().any(|violation| violation.rule == "L3"));
}

#[test]
fn b75_no_purl_has_an_empty_qualifier() {
    let mut inventory = plum();
    inventory.images.push(image("registry.plum.example/untagged", "/spec/image", "u"));
    for component in read(&inventory)["components"].as_array().unwrap() {
        let purl = component["purl"].as_str().unwrap_or_default();
        assert!(!purl.split(['?', '&']).skip(1).any(|qualifier| qualifier.ends_with('=')), "{purl}");
    }
}

#[test]
fn b76_a_workload_keeps_its_serial_number_when_its_content_changes() {
    let mut inventory = plum();
    inventory.origin = Origin::Cluster;
    inventory.objects[0].uid = Some("5d1e6f6e-aaaa-4bbb-8ccc-000000000001".to_owned());
    let mut options = options();
    options.cluster_uid = Some("8f0c1c9e-0000-4000-8000-000000000001".to_owned());
    options.version = 3;
    let before = checked(&inventory, &options);
    inventory.devices.clear();
    options.version = 4;
    let after = checked(&inventory, &options);
    assert_eq!(before.serial_number(), after.serial_number());
    assert_ne!(before.content_hash(), after.content_hash());
    assert_eq!((before.version(), after.version()), (3, 4));

    inventory.objects[0].uid = Some("5d1e6f6e-aaaa-4bbb-8ccc-000000000002".to_owned());
    assert_ne!(checked(&inventory, &options).serial_number(), after.serial_number(), "another workload, another number");
    assert!(after.serial_number().starts_with("urn:uuid:"));
    assert_eq!(after.serial_number(), after.serial_number().to_lowercase());
}

#[test]
fn b76_a_manifest_has_a_serial_number_of_its_content_and_version_1() {
    let mut options = options();
    options.version = 9;
    let first = checked(&plum(), &options);
    options.timestamp = "2027-01-01T00:00:00Z".to_owned();
    let again = checked(&plum(), &options);
    assert_eq!(first.serial_number(), again.serial_number());
    assert_eq!(again.version(), 1);
    let mut changed = plum();
    changed.devices.clear();
    assert_ne!(checked(&changed, &options).serial_number(), again.serial_number());
    assert_eq!(values(&again.to_value()["metadata"]["component"], "aibom.source"), ["manifest"]);
}

#[test]
fn b77_settings_of_a_model_stand_in_the_properties_of_its_card() {
    let document = read(&plum());
    let card = &named(&document, "Plum-7B-Chat")["modelCard"];
    assert_eq!(
        card["properties"],
        json!([
            {"name": "aibom.parameter.tensor-parallel-size", "value": "2"},
            {"name": "cdx:ai-ml:model:hyperparameter:context_length", "value": "8192"}
        ])
    );
    assert_eq!(card["modelParameters"], json!({"task": "text-generation"}));
    if VALIDATORS.is_some() {
        let mut wrong = document.clone();
        wrong["components"].as_array_mut().unwrap().iter_mut().filter(|component| component["name"] == "Plum-7B-Chat").for_each(
            |component| {
                component["modelCard"]["modelParameters"]["properties"] = json!([{"name": "a", "value": "b"}]);
            },
        );
        assert_ne!(schema_errors(&wrong), Vec::<String>::new());
    }
}

#[test]
fn b29_only_a_manifest_digest_becomes_a_hash() {
    let mut inventory = empty();
    inventory.images.push(image(&format!("registry.plum.example/a@sha256:{DIGEST}"), "/spec/image", "a"));
    inventory.images.push(image(&format!("sha256:{DIGEST}"), "/spec/image2", "b"));
    let document = read(&inventory);
    assert_eq!(named(&document, "registry.plum.example/a")["hashes"], json!([{"alg": "SHA-256", "content": DIGEST}]));
    assert_eq!(values(named(&document, "registry.plum.example/a"), "image.digest-kind"), ["unknown"]);
    let hashed = document["components"].as_array().unwrap().iter().filter(|component| component.get("hashes").is_some()).count();
    assert_eq!(hashed, usize::from(ImageReference::parse(&format!("sha256:{DIGEST}")).is_ok_and(|image| image.digest.is_some())) + 1);
}

#[test]
fn b55_a_model_without_owner_has_no_purl() {
    let mut inventory = empty();
    for reference in [ModelReference::Name("plum2".to_owned()), ModelReference::Path("/models/plum".to_owned())] {
        inventory.models.push(model(reference, "/spec/x"));
    }
    let document = read(&inventory);
    for name in ["plum2", "/models/plum"] {
        assert!(named(&document, name).get("purl").is_none(), "{name}");
        assert!(named(&document, name).get("externalReferences").is_none(), "{name}");
    }
}

#[test]
fn names_of_properties_can_be_spelled_with_colons() {
    let mut options = options();
    options.property_names = PropertyNames::Colon;
    let document = render(&plum(), &options).to_value();
    assert_eq!(lint::lint(&document), []);
    assert_eq!(schema_errors(&document), Vec::<String>::new());
    let root = &document["metadata"]["component"];
    assert_eq!(values(root, "k8s-aibom:workload:kind"), ["Deployment"]);
    let mut names = Vec::new();
    collect_property_names(&document, &mut names);
    assert!(names.iter().all(|name| name.contains(':') && !name.contains('.')), "{names:?}");
}

#[test]
fn only_names_differ_between_the_spellings() {
    let mut options = options();
    let dotted = checked(&plum(), &options).to_value();
    options.property_names = PropertyNames::Colon;
    let colon = checked(&plum(), &options).to_value();
    let (mut before, mut after) = (Vec::new(), Vec::new());
    collect_properties(&dotted, &mut before);
    collect_properties(&colon, &mut after);
    assert_eq!(before.len(), after.len(), "no two names meet");
    let expected = |name: &str| match name {
        name if name.contains(':') => name.to_owned(),
        name => format!("k8s-aibom:{}", name.strip_prefix("aibom.").unwrap_or(name).replace('.', ":")),
    };
    let mut respelled: Vec<_> = before.into_iter().map(|(name, value)| (expected(&name), value)).collect();
    respelled.sort();
    after.sort();
    assert_eq!(respelled, after);
}

#[test]
fn a_scraper_cannot_speak_in_the_hosts_name_by_the_other_spelling() {
    let mut inventory = plum();
    for name in ["confidence", "k8s-aibom:confidence", "model.role", "k8s-aibom:model:role"] {
        inventory.models[0].finding.property(name, "forged");
        inventory.properties.insert(name.to_owned(), ["forged".to_owned()].into());
    }
    inventory.properties.insert("k8s-aibom:workload:uid".to_owned(), ["forged".to_owned()].into());
    inventory.properties.insert("workload.uid".to_owned(), ["forged".to_owned()].into());
    for property_names in [PropertyNames::Dotted, PropertyNames::Colon] {
        let document = checked(&inventory, &aibom_bom::Options { property_names, ..options() });
        assert!(!document.json().contains("forged"), "{property_names:?}");
    }
}

fn collect_properties(value: &Value, out: &mut Vec<(String, String)>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                if key == "properties" {
                    let text = |property: &Value, key: &str| property[key].as_str().unwrap_or_default().to_owned();
                    out.extend(member.as_array().into_iter().flatten().map(|property| (text(property, "name"), text(property, "value"))));
                }
                collect_properties(member, out);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_properties(item, out)),
        _ => {}
    }
}

fn collect_property_names(value: &Value, names: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                if key == "properties" {
                    names
                        .extend(member.as_array().into_iter().flatten().filter_map(|property| Some(property["name"].as_str()?.to_owned())));
                }
                collect_property_names(member, names);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_property_names(item, names)),
        _ => {}
    }
}

#[test]
fn digests_of_pods_are_told_apart_by_kind_and_one_that_all_run_is_the_hash_of_the_image() {
    let digest = |byte: &str| format!("sha256:{}", byte.repeat(32));
    let observed = |written: &str, ids: &[String]| {
        let mut inventory = plum();
        let mut image = image(written, "/spec/containers/0/image", "server");
        let running =
            |id: &String| Some(Observed { id: ImageId::parse(id)?, container: "server".to_owned(), pods: 1, revisions: BTreeSet::new() });
        image.observed = ids.iter().filter_map(running).collect();
        inventory.images = vec![image];
        let document = read(&inventory);
        named(&document, "registry.plum.example/a").clone()
    };
    let repository = "docker-pullable://registry.plum.example/a@";
    let one = observed("registry.plum.example/a:1", &[format!("{repository}{}", digest("ab"))]);
    assert_eq!(one["hashes"][0]["content"], "ab".repeat(32));
    assert_eq!(values(&one, "image.digest.observed"), [digest("ab")]);
    assert_eq!(values(&one, "image.digest.pods"), [""; 0], "of what all run the number is no fact");
    // A rollout: both, and no hash that would speak for one of them.
    let two = observed("registry.plum.example/a:1", &[format!("{repository}{}", digest("ab")), format!("{repository}{}", digest("cd"))]);
    assert_eq!((values(&two, "image.digest.observed").len(), &two["hashes"]), (2, &Value::Null));
    let pods = [format!("{} pods=1 container=server", digest("ab")), format!("{} pods=1 container=server", digest("cd"))];
    assert_eq!(values(&two, "image.digest.pods"), pods);
    // Side-loaded: the digest of a configuration is none of an image.
    let loaded = observed("registry.plum.example/a:1", &[digest("ef")]);
    assert_eq!((values(&loaded, "image.id.observed"), &loaded["hashes"]), (vec![&*digest("ef")], &Value::Null));
    // Another repository with the same bytes, and bytes other than those that were declared.
    let pinned = format!("registry.plum.example/a@{}", digest("ab"));
    let drifted = observed(&pinned, &[format!("registry.pear.example/b@{}", digest("cd"))]);
    assert_eq!(values(&drifted, "image.repository.observed"), ["registry.pear.example/b"]);
    assert_eq!(values(&drifted, "image.digest.drift"), ["true"]);
}
