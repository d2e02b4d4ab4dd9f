//! From bytes to a plugin: scan, contract, compile, link, resources, probe, description. Each step takes what the one before made, so
//! none can be left out.

use std::panic::AssertUnwindSafe;
use std::sync::PoisonError;
use std::thread;
use std::time::Duration;

use aibom_facts::hex;
use sha2::{Digest, Sha256};
use wasmtime::Engine;
use wasmtime::component::Component;

use crate::contract::PluginPre;
use crate::description::Description;
use crate::error::{LoadError, Rejection, Step};
use crate::host::Host;
use crate::limits::{MEMORIES, TABLE_ELEMENTS, TABLES};
use crate::plugin::{Instance, Plugin, Size};
use crate::{scan, version};

/// Stack of the compiling thread. The compiler recurses over its input and overflows the two megabytes that threads have by default.
const COMPILER_STACK: usize = 16 << 20;

/// Bytes of a page of linear memory.
const PAGE: u64 = 64 << 10;

pub(crate) fn load(host: &Host, name: &str, bytes: &[u8]) -> Result<Plugin, LoadError> {
    let digest = hex(&Sha256::digest(bytes));
    let started = std::time::Instant::now();
    match steps(host, name, &digest, bytes) {
        Ok(plugin) => {
            let took = started.elapsed();
            tracing::info!(plugin = name, %digest, contract = plugin.contract(), took_ms = millis(took), "plugin loaded");
            Ok(plugin)
        }
        Err(Rejection { step, expected, found }) => Err(LoadError { step, plugin: name.to_owned(), digest, expected, found }),
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn steps(host: &Host, name: &str, digest: &str, bytes: &[u8]) -> Result<Plugin, Rejection> {
    let scan = scan::scan(bytes)?;
    let contract = version::check(&scan)?;
    let component = {
        let _one_at_a_time = host.inner.compiler.lock().unwrap_or_else(PoisonError::into_inner);
        compile(&host.inner.engine, bytes)?
    };
    let pre = link(host, &component)?;
    resources(host, &component)?;
    let size = Size {
        bytes: scan.bytes,
        modules: scan.modules,
        functions: scan.functions,
        largest_function: scan.largest_body,
        native_bytes: component.image_range().end.addr() - component.image_range().start.addr(),
    };
    let instance = Instance::new(host, pre);
    let description = probe(&instance)?;
    description.validate().map_err(|broken| Rejection::new(Step::Description, broken.expected, broken.found))?;
    Ok(Plugin::new(name, digest, contract, scan.imports, size, description, instance))
}

fn compile(engine: &Engine, bytes: &[u8]) -> Result<Component, Rejection> {
    let reject = |found: String| Rejection::new(Step::Compile, "a component that compiles", found);
    thread::scope(|scope| {
        let compiling = thread::Builder::new()
            .name("plugin-compiler".to_owned())
            .stack_size(COMPILER_STACK)
            // Cranelift has panicked on odd input before; nothing is shared with it that a panic could leave half-done.
            .spawn_scoped(scope, || std::panic::catch_unwind(AssertUnwindSafe(|| Component::new(engine, bytes))))
            .map_err(|error| reject(format!("no thread to compile on: {error}")))?;
        match compiling.join() {
            Ok(Ok(Ok(component))) => Ok(component),
            Ok(Ok(Err(error))) => Err(reject(format!("{error:#}"))),
            Ok(Err(_)) | Err(_) => Err(reject("input on which the compiler panics".to_owned())),
        }
    })
}

fn link(host: &Host, component: &Component) -> Result<PluginPre<crate::state::State>, Rejection> {
    let reject = |error: wasmtime::Error| {
        let expected = format!("the interfaces of {} {}", crate::contract::PACKAGE, crate::contract::VERSION);
        Rejection::new(Step::Link, expected, format!("{error:#}"))
    };
    let pre = host.inner.linker.instantiate_pre(component).map_err(reject)?;
    PluginPre::new(pre).map_err(reject)
}

fn resources(host: &Host, component: &Component) -> Result<(), Rejection> {
    let check = |what: &str, limit: u64, found: u64| {
        if found > limit {
            return Err(Rejection::new(Step::Resources, format!("at most {limit} {what}"), found.to_string()));
        }
        Ok(())
    };
    let Some(needed) = component.resources_required() else {
        return Err(Rejection::new(Step::Resources, "a component without imported modules", "one with"));
    };
    check("memories", MEMORIES as u64, u64::from(needed.num_memories))?;
    check("tables", TABLES as u64, u64::from(needed.num_tables))?;
    let pages = (host.inner.config.memory_bytes as u64) / PAGE;
    check("pages of memory at the start", pages, needed.max_initial_memory_size.unwrap_or(0))?;
    check("table elements at the start", TABLE_ELEMENTS as u64, needed.max_initial_table_size.unwrap_or(0))
}

fn probe(instance: &Instance) -> Result<Description, Rejection> {
    instance.describe().map_err(|(instantiated, error)| {
        let expected = if instantiated { "an answer of `describe`" } else { "an instance that fits the contract" };
        Rejection::new(Step::Probe, expected, format!("{}: {error}", error.word()))
    })
}
