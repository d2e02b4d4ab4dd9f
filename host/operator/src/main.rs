//! The binary `k8s-aibom`. See the library for what it does.

use std::process::ExitCode;

fn main() -> ExitCode {
    k8s_aibom::cli::main()
}
