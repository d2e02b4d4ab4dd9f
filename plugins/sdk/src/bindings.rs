//! What wit-bindgen makes of the contract. Everything an author needs is re-exported from the crate's root.
#![allow(
    missing_docs,
    unsafe_code,
    unreachable_pub,
    clippy::all,
    clippy::pedantic,
    reason = "generated; its documentation is the comments of the contract"
)]

wit_bindgen::generate!({
    path: "../../wit/v1.0.0",
    world: "plugin",
    pub_export_macro: true,
    export_macro_name: "export_plugin",
    default_bindings_module: "k8s_aibom_sdk::bindings",
    additional_derives: [PartialEq, Eq],
});
