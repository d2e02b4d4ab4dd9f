//! Secrets without a shape of their own.

use super::super::Redactor;
use super::redact;
use super::secrets::{NAMES, in_context, tokens};

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
