//! Files that are no component.

use aibom_plugin::Step;

use crate::support::{component, host};

fn rejected(bytes: &[u8]) -> String {
    let error = host().load("file", bytes).unwrap_err();
    assert_eq!(error.step, Step::Scan, "{error}");
    error.found
}

#[test]
fn native_code_is_named_for_what_it_is() {
    let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    let found = rejected(&own);
    assert!(found.contains("native code (ELF)") && found.contains(".cwasm"), "{found}");
}

#[test]
fn a_core_module_is_told_how_to_become_a_component() {
    let found = rejected(b"\0asm\x01\0\0\0");
    assert!(found.contains("core module") && found.contains("wasm-tools component new"), "{found}");
}

#[test]
fn other_files_are_named_as_well_as_can_be() {
    assert_eq!(rejected(b""), "no bytes");
    assert_eq!(rejected(&[0x1f, 0x8b, 8, 0]), "gzip-compressed data");
    assert_eq!(rejected(&[0x28, 0xb5, 0x2f, 0xfd, 0]), "zstd-compressed data");
    assert!(rejected(b"apiVersion: v1").starts_with("data that starts with"));
    assert!(rejected(b"\0asm\x0d\0\x02\0").contains("unknown WebAssembly version"));
}

#[test]
fn a_component_cut_anywhere_is_an_error_and_never_a_panic() {
    let whole = component("honest");
    for end in (0..whole.len()).step_by(37) {
        assert!(host().load("cut", &whole[..end]).is_err(), "cut at {end}");
    }
}

#[test]
fn a_component_with_a_flipped_byte_never_takes_the_host_down() {
    let whole = component("panic");
    for at in (8..whole.len()).step_by(whole.len() / 60) {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x55;
        let _ = host().load("flipped", &flipped);
    }
    assert!(host().load("panic", &whole).is_ok());
}
