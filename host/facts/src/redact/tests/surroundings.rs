//! Secrets without a shape of their own.

use super::super::Redactor;
use super::secrets::{NAMES, in_context, tokens};
use super::{HEX, assert_rows, body, redact};

#[test]
fn a_secret_that_only_its_surroundings_tell_is_found() {
    for (text, secret) in in_context() {
        assert!(text.contains(&secret) && !redact(&text).contains(&secret), "{text}");
    }
    for name in NAMES {
        assert!(Redactor::is_secret_name(name), "{name}");
    }
}

#[test]
fn the_escapes_of_pointers_and_urls_hide_no_secret() {
    for token in tokens() {
        let pointer = format!("/spec/services/{}/image", token.replace('~', "~0").replace('/', "~1"));
        // Where a `/` may belong to the secret, the rest of the pointer goes with it.
        let ends = ["/spec/services/[REDACTED:token]/image", "/spec/services/[REDACTED:token]"];
        assert!(ends.contains(&redact(&pointer).as_str()), "{token}: {}", redact(&pointer));
        let encoded: String =
            token.chars().map(|c| if c.is_ascii_alphanumeric() { c.to_string() } else { format!("%{:02X}", u32::from(c)) }).collect();
        assert_eq!(redact(&format!("pkg:generic/acme@{encoded}?x=y")), "pkg:generic/acme@[REDACTED:token]?x=y", "{token}");
    }
    let address = "pkg:generic/acme?download_url=https:%2F%2Freader:q7Wagtail2Plum@hub.example%2Fw";
    assert!(!redact(address).contains("Wagtail"), "{}", redact(address));
}

#[test]
fn escapes_of_what_is_no_secret_stay() {
    for text in [
        "/metadata/annotations/nvidia.com~1gpu",
        "100%, ~10 % and ~/x",
        "pkg:oci/a@sha256%3Aab?repository_url=ghcr.io%2Fa%2Fb",
        "%E4%BD%A0 %zz %",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn a_user_and_password_before_the_name_of_a_server_next_door_are_cut() {
    assert_rows(&[
        ("keeper:hunter2@db", "[REDACTED:uri-userinfo]@db"),
        ("keeper:hunter2@db:5432/birds", "[REDACTED:uri-userinfo]@db:5432/birds"),
        ("--dsn2 keeper:hunter2@queue/x -y", "--dsn2 [REDACTED:uri-userinfo]@queue/x -y"),
        ("STORE=keeper:hunter2@store-rw:80", "STORE=[REDACTED:uri-userinfo]@store-rw:80"),
        ("//keeper:hunter2@store.acme.org/x", "//[REDACTED:uri-userinfo]@store.acme.org/x"),
    ]);
}

#[test]
fn a_tag_a_revision_and_an_address_are_no_user_and_password() {
    let digest = format!("name:tag@sha256:{}", body(64, HEX));
    let commit = format!("name:tag@{}", body(40, HEX));
    let short = format!("name:tag@{}", body(7, HEX));
    for text in [
        digest.as_str(),
        commit.as_str(),
        short.as_str(),
        "name:7b@main",
        "name:7b@v2",
        "name:7b@r1",
        "name:7b@2024",
        "npm:name@next",
        "pkg:name@acme",
        "owner/name:7b@heron",
        "hf://owner/name:7b@heron",
        "contact:keeper@acme",
        "keeper@acme",
        "git@forge:owner/name",
        "http://shop:80/v1/@x",
    ] {
        assert_eq!(redact(text), text);
    }
}
