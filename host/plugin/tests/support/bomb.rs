//! Components that are small to send and expensive to compile.
#![allow(dead_code, unreachable_pub)]

use wasm_encoder::{
    BlockType, CodeSection, Component, Function, FunctionSection, InstructionSink, MemArg, MemArgTarget, MemorySection, MemoryType, Module,
    ModuleSection, TypeSection, ValType,
};

/// Adds instructions to a function, and gives how many bytes they take.
pub type Write = fn(&mut InstructionSink<'_>);

/// A: a local is added to itself. Long chains of values.
pub fn add(sink: &mut InstructionSink<'_>) {
    sink.local_get(0).local_get(0).i32_add().local_set(0);
}

/// B: a branch on a loaded value. Many blocks.
pub fn branch(sink: &mut InstructionSink<'_>) {
    sink.local_get(0)
        .i32_load(MemArg { offset: 0, align: 2, target: MemArgTarget::Memory(0), ordering: None })
        .if_(BlockType::Empty)
        .local_get(0)
        .local_set(0)
        .end();
}

/// A module of functions that take an `i32`, each with its body.
pub fn module(bodies: &[Function]) -> Module {
    let mut types = TypeSection::new();
    types.ty().function([ValType::I32], []);
    let mut functions = FunctionSection::new();
    let mut code = CodeSection::new();
    for body in bodies {
        functions.function(0);
        code.function(body);
    }
    let mut memories = MemorySection::new();
    memories.memory(MemoryType { minimum: 1, maximum: None, memory64: false, shared: false, page_size_log2: None });
    let mut module = Module::new();
    module.section(&types).section(&functions).section(&memories).section(&code);
    module
}

/// A function that repeats instructions.
pub fn repeated(write: Write, times: usize) -> Function {
    let mut function = Function::new([]);
    for _ in 0..times {
        write(&mut function.instructions());
    }
    function.instructions().end();
    function
}

/// The longest repetition whose body fits into `bytes`.
pub fn up_to(write: Write, bytes: usize) -> Function {
    let length = |times: usize| repeated(write, times).byte_len();
    let step = length(2) - length(1);
    let times = (bytes - length(0)) / step;
    repeated(write, times)
}

/// A component around a module.
pub fn wrapped(module: &Module) -> Vec<u8> {
    let mut component = Component::new();
    component.section(&ModuleSection(module));
    component.finish()
}

/// A component with one more module at its end, which nothing uses but which is compiled with it.
pub fn with_module(component: &[u8], module: &Module) -> Vec<u8> {
    let empty = Component::new().finish();
    let section = wrapped(module);
    [component, &section[empty.len()..]].concat()
}
