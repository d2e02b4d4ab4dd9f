//! Compile bombs: rejected by their form, before a compiler sees them.

use std::time::{Duration, Instant};

use aibom_plugin::{MAX_ARITY, MAX_BODY, MAX_BYTES, MAX_COMPONENTS, MAX_FUNCTIONS, MAX_LOCALS, MAX_MODULES, Step};
use wasm_encoder::{BlockType, Component, Function, FunctionSection, Module, ModuleSection, NestedComponentSection, TypeSection, ValType};

use crate::support::{component, host};

#[path = "../support/bomb.rs"]
mod bomb;

/// Rejects a component, in less than 50 ms in the best of three attempts: the machine may be busy with other things.
fn rejected(bytes: &[u8]) -> (String, String) {
    let mut fastest = Duration::MAX;
    let mut outcome = None;
    for _ in 0..3 {
        let started = Instant::now();
        let error = host().load("bomb", bytes).unwrap_err();
        fastest = fastest.min(started.elapsed());
        assert_eq!(error.step, Step::Scan, "{error}");
        outcome = Some((error.expected, error.found));
    }
    assert!(fastest < Duration::from_millis(50), "it took {fastest:?} to reject");
    outcome.unwrap()
}

#[test]
fn bomb_a_is_one_function_with_a_long_chain_of_values() {
    let bytes = bomb::wrapped(&bomb::module(&[bomb::repeated(bomb::add, 200_000)]));
    assert!(bytes.len() > 1 << 20);
    let (expected, found) = rejected(&bytes);
    assert_eq!(expected, format!("at most {MAX_BODY} bytes in a function body"));
    assert!(found.parse::<usize>().unwrap() > 1 << 20);
}

#[test]
fn bomb_b_is_one_function_with_many_branches() {
    let bytes = bomb::wrapped(&bomb::module(&[bomb::repeated(bomb::branch, 30_000)]));
    assert_eq!(rejected(&bytes).0, format!("at most {MAX_BODY} bytes in a function body"));
}

#[test]
fn bomb_c_is_many_functions_that_do_nothing() {
    let nothing = bomb::repeated(|_| {}, 0);
    let bytes = bomb::wrapped(&bomb::module(&vec![nothing; 100_000]));
    assert_eq!(rejected(&bytes), (format!("at most {MAX_FUNCTIONS} functions"), "100000".to_owned()));
}

#[test]
fn many_local_variables_in_five_bytes_are_a_bomb_too() {
    let mut function = Function::new([(50_000, ValType::I64)]);
    function.instructions().end();
    let bytes = bomb::wrapped(&bomb::module(&vec![function; 10_000]));
    assert_eq!(rejected(&bytes), (format!("at most {MAX_LOCALS} local variables in a function"), "50000".to_owned()));
    let mut function = Function::new([(4_000, ValType::I64)]);
    function.instructions().end();
    let bytes = bomb::wrapped(&bomb::module(&vec![function; 10_000]));
    assert!(rejected(&bytes).0.ends_with("local variables in all functions"));
}

#[test]
fn blocks_with_many_parameters_are_a_bomb_too() {
    let mut types = TypeSection::new();
    types.ty().function([], []);
    types.ty().function(vec![ValType::I32; 1_000], vec![ValType::I32; 1_000]);
    let mut functions = FunctionSection::new();
    functions.function(1);
    let mut function = Function::new([]);
    for local in 0..1_000 {
        function.instructions().local_get(local);
    }
    for _ in 0..10_000 {
        function.instructions().block(BlockType::FunctionType(1)).end();
    }
    function.instructions().end();
    let mut code = wasm_encoder::CodeSection::new();
    code.function(&function);
    let mut module = Module::new();
    module.section(&types).section(&functions).section(&code);
    let (expected, found) = rejected(&bomb::wrapped(&module));
    assert_eq!((expected, found.as_str()), (format!("at most {MAX_ARITY} parameters and results of a function"), "2000"));
}

#[test]
fn too_many_bytes_modules_and_components_are_rejected() {
    let mut large = component("honest");
    // A custom section of zeros.
    large.push(0);
    large.extend([0x80, 0x80, 0x80, 0x01, 1, b'x']);
    large.resize(large.len() + (2 << 20) - 2, 0);
    assert_eq!(rejected(&large).0, format!("at most {MAX_BYTES} bytes"));

    let mut many = component("honest");
    for _ in 0..2 {
        many = bomb::with_module(&many, &Module::new());
    }
    assert_eq!(rejected(&many).0, format!("at most {MAX_MODULES} core modules"));

    let mut nested = Component::new();
    for _ in 0..=MAX_COMPONENTS {
        nested.section(&NestedComponentSection(&Component::new()));
    }
    assert_eq!(rejected(&nested.finish()).0, format!("at most {MAX_COMPONENTS} nested components"));

    // Caps hold for modules of nested components, too.
    let mut inner = Component::new();
    inner.section(&ModuleSection(&bomb::module(&[bomb::repeated(bomb::add, 200_000)])));
    let mut outer = Component::new();
    outer.section(&NestedComponentSection(&inner));
    assert_eq!(rejected(&outer.finish()).0, format!("at most {MAX_BODY} bytes in a function body"));
}

#[test]
fn a_component_without_bombs_passes_the_same_scan() {
    let harmless = bomb::with_module(&component("honest"), &bomb::module(&[bomb::up_to(bomb::add, MAX_BODY)]));
    let plugin = host().load("harmless", &harmless).unwrap();
    assert!(plugin.size().largest_function > MAX_BODY - 16 && plugin.size().largest_function <= MAX_BODY);
    assert_eq!(plugin.size().modules, MAX_MODULES);
}
