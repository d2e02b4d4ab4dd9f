//! Shell scripts.
#![no_main]

mod pod;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|script: &str| {
    let _ = aibom_extract::shell::parse(script);
    pod::read("vllm/vllm-openai:v0.8.5", &["/bin/bash", "-c"], &[script], &[("MODEL", "acme/small")]);
});
