use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::image::ImageReference;

const COMMIT: &str = "797174552AE47F449AB70B684CABCB6603E5E85E";

fn oci(image: &str) -> String {
    Purl::oci(&ImageReference::parse(image).unwrap()).unwrap().to_string()
}

#[test]
fn an_image_is_named_by_its_last_segment_and_versioned_by_its_digest() {
    let hex = "0123456789abcdef".repeat(4);
    assert_eq!(
        oci(&format!("debian:latest@sha256:{hex}")),
        format!("pkg:oci/debian@sha256:{hex}?repository_url=docker.io%2Flibrary%2Fdebian&tag=latest")
    );
    assert_eq!(oci("localhost:5000/team/app"), "pkg:oci/app?repository_url=localhost:5000%2Fteam%2Fapp");
    assert_eq!(oci("[::1]:5000/app"), "pkg:oci/app?repository_url=%5B::1%5D:5000%2Fapp");
}

#[test]
fn a_tag_is_never_a_version() {
    assert_eq!(oci("r.io/app:v1"), "pkg:oci/app?repository_url=r.io%2Fapp&tag=v1");
}

// B67
#[test]
fn owner_and_name_of_a_hub_model_are_joined_by_a_slash_and_keep_their_case() {
    let text = Purl::hugging_face("EleutherAI", "gpt-neo-1.3B", Some(COMMIT)).unwrap().to_string();
    assert_eq!(text, format!("pkg:huggingface/EleutherAI/gpt-neo-1.3B@{}", COMMIT.to_lowercase()));
}

#[test]
fn a_branch_of_a_hub_model_is_no_version() {
    for revision in [None, Some("main"), Some("refs/pr/1"), Some("v1.0"), Some(""), Some(&COMMIT[..39])] {
        assert_eq!(Purl::hugging_face("a", "b", revision).unwrap().to_string(), "pkg:huggingface/a/b", "{revision:?}");
    }
}

// B55
#[test]
fn a_hub_model_without_owner_has_no_package_url() {
    for (owner, name) in [("", "gpt2"), ("a", ""), ("a/b", "c"), ("a", "b/c"), ("..", "x")] {
        assert_eq!(Purl::hugging_face(owner, name, None), None, "{owner}/{name}");
    }
}

// B71
#[test]
fn what_has_a_meaning_in_a_package_url_is_encoded() {
    let purl = Purl::parts("generic", Some("n s/ä"), "a/b+c", Some("1.0+x/y@z?#%"), &[("k", "a&b=c,d e")], Some("p q/r#s")).unwrap();
    let text = purl.to_string();
    assert_eq!(text, "pkg:generic/n%20s/%C3%A4/a%2Fb%2Bc@1.0%2Bx%2Fy%40z%3F%23%25?k=a%26b%3Dc%2Cd%20e#p%20q/r%23s");
    assert_eq!(Purl::parse(&text), Ok(purl));
    for broken in ["", "pkg:", "pkg:/", "pkg:/@", "pkg:oci", "pkg:oci/", "pkg:oci/@1", "pkg:generic/%FF", "oci/x", "pkg:oci/n/x"] {
        assert!(Purl::parse(broken).is_err(), "{broken}");
    }
}

// B72
#[test]
fn only_types_that_consumers_know_are_made() {
    assert!(oci("a/b").starts_with("pkg:oci/"));
    assert!(Purl::hugging_face("a", "b", None).unwrap().to_string().starts_with("pkg:huggingface/"));
}

// B75
#[test]
fn an_empty_qualifier_is_dropped() {
    let purl = Purl::parts("oci", None, "x", None, &[("arch", ""), ("tag", "1")], None).unwrap();
    assert_eq!(purl.to_string(), "pkg:oci/x?tag=1");
    assert_eq!(Purl::parse("pkg:oci/x?arch=&tag=1"), Ok(purl));
}

#[test]
fn a_subpath_names_a_file_of_a_repository() {
    let purl = Purl::parts("huggingface", Some("a"), "b", None, &[], Some("Q4_K_M/model.gguf")).unwrap();
    assert_eq!(purl.to_string(), "pkg:huggingface/a/b#Q4_K_M/model.gguf");
}

fn vectors(name: &str) -> Option<Vec<Value>> {
    let file: PathBuf = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/schemas/purl").join(format!("{name}-test.json"));
    let Ok(text) = std::fs::read_to_string(&file) else {
        eprintln!("SKIPPED: vectors of {name}, because ../shared is absent");
        return None;
    };
    let vectors: Value = serde_json::from_str(&text).unwrap();
    Some(vectors["tests"].as_array().unwrap().clone())
}

fn build(parts: &Value) -> Result<Purl, InvalidPurl> {
    let text = |key: &str| parts[key].as_str();
    let qualifiers: Vec<(&str, &str)> = parts["qualifiers"]
        .as_object()
        .map(|map| map.iter().map(|(key, value)| (key.as_str(), value.as_str().unwrap())).collect())
        .unwrap_or_default();
    Purl::parts(
        text("type").unwrap_or_default(),
        text("namespace"),
        text("name").unwrap_or_default(),
        text("version"),
        &qualifiers,
        text("subpath"),
    )
}

fn parts_of(purl: &Purl) -> Value {
    serde_json::json!({
        "type": purl.ty,
        "namespace": purl.namespace,
        "name": purl.name,
        "version": purl.version,
        "qualifiers": if purl.qualifiers.is_empty() { Value::Null } else { serde_json::json!(purl.qualifiers) },
        "subpath": purl.subpath,
    })
}

/// No case is left out.
#[test]
fn every_vector_of_the_specification_for_the_types_used_here_passes() {
    for name in ["specification", "oci", "huggingface", "docker", "generic", "github", "pypi", "mlflow"] {
        let Some(vectors) = vectors(name) else { continue };
        assert!(vectors.len() >= 9, "{name}");
        for vector in vectors {
            let kind = vector["test_type"].as_str().unwrap();
            let result = match kind {
                "build" => build(&vector["input"]),
                "parse" | "validate" => Purl::parse(vector["input"].as_str().unwrap()),
                other => panic!("a kind of vector that this test does not know: {other}"),
            };
            let place = format!("{name} {kind} {}", vector["input"]);
            if vector["expected_failure"] == true {
                assert!(result.is_err(), "{place} is read as {result:?}");
                continue;
            }
            let purl = result.unwrap_or_else(|error| panic!("{place}: {error}"));
            let found = if kind == "parse" { parts_of(&purl) } else { Value::from(purl.to_string()) };
            assert_eq!(found, vector["expected_output"], "{place}");
        }
    }
}

proptest! {
    // B71
    #[test]
    fn reading_undoes_writing(
        ty in "generic|oci|docker|pypi|github|huggingface|mlflow|[a-z][a-z0-9.-]{0,6}",
        namespace in prop::option::of(".{0,12}"),
        name in ".{1,12}",
        version in prop::option::of(".{0,12}"),
        qualifiers in prop::collection::btree_map("[a-z_][a-zA-Z0-9._-]{0,4}", ".{0,8}", 0..3),
        subpath in prop::option::of(".{0,12}"),
    ) {
        // Readers discard such segments of a path, which may leave none.
        let dots = |text: &Option<String>| text.iter().flat_map(|text| text.split('/')).any(|segment| matches!(segment, "." | ".."));
        prop_assume!(!dots(&namespace) && !dots(&subpath));
        let qualifiers: Vec<(&str, &str)> = qualifiers.iter().map(|(key, value)| (key.as_str(), value.as_str())).collect();
        if let Ok(purl) = Purl::parts(&ty, namespace.as_deref(), &name, version.as_deref(), &qualifiers, subpath.as_deref()) {
            prop_assert_eq!(Purl::parse(&purl.to_string()), Ok(purl));
        }
    }

    #[test]
    fn generic_names_of_any_text_survive(name in "\\PC{1,20}", version in "\\PC{1,20}") {
        let purl = Purl::parts("generic", None, &name, Some(&version), &[], None);
        prop_assert!(purl.is_ok(), "{:?}", purl);
        let purl = purl.unwrap();
        prop_assert_eq!((&purl.name, purl.version.as_ref()), (&name, Some(&version)));
    }

    #[test]
    fn no_text_makes_the_parser_panic_and_reading_is_stable(text in "(pkg:)?[a-z%0-9/@?#=&.:A-Z \\PC]{0,40}") {
        if let Ok(purl) = Purl::parse(&text) {
            prop_assert_eq!(Purl::parse(&purl.to_string()), Ok(purl));
        }
    }
}
