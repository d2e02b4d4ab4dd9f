//! The engine, the thread that makes time pass for guests, and the slots.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use tokio::sync::Semaphore;
use wasmtime::component::{HasSelf, Linker};
use wasmtime::{
    Config, Engine, Instance, InstanceAllocationStrategy, Module, OptLevel, PoolingAllocationConfig, Store, WasmBacktraceDetails,
};

use crate::config::{Allocation, AllocationChoice, HostConfig, TICK};
use crate::contract;
use crate::error::{HostError, LoadError};
use crate::limits::{CORE_INSTANCES, MEMORIES, TABLE_ELEMENTS, TABLES};
use crate::plugin::Plugin;
use crate::state::State;

/// A module with one page of memory: if this can be had, so can an instance of a plugin.
const SMALLEST: &[u8] = b"\0asm\x01\0\0\0\x05\x03\x01\0\x01";

/// Stack of a guest. Recursion without end is over within a millisecond.
const GUEST_STACK: usize = 512 << 10;

/// Runs plugins. One for a process: the pool, the compiler and the ticking thread are shared by all plugins. Clones are the same host.
#[derive(Clone)]
pub struct Host {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) config: HostConfig,
    pub(crate) engine: Engine,
    pub(crate) linker: Linker<State>,
    pub(crate) slots: Arc<Semaphore>,
    /// Held while a plugin is compiled: compiling is the most expensive thing that a plugin can ask for.
    pub(crate) compiler: Mutex<()>,
    pub(crate) ticker: Arc<Ticker>,
    allocation: Allocation,
    fallback_reason: Option<String>,
}

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Host").field("config", &self.inner.config).field("allocation", &self.inner.allocation).finish_non_exhaustive()
    }
}

impl Host {
    /// Makes a host. Where the pool cannot be had (limits on address space, small address spaces), memory is mapped for each call and
    /// the reason is logged and kept.
    ///
    /// # Errors
    /// Settings that make no sense, an engine that does not start on this machine, no thread.
    pub fn new(config: HostConfig) -> Result<Self, HostError> {
        validate(&config)?;
        let (engine, allocation, fallback_reason) = match config.allocation {
            AllocationChoice::OnDemand => (start(&config, Allocation::OnDemand)?, Allocation::OnDemand, None),
            AllocationChoice::Auto => match start(&config, Allocation::Pooling) {
                Ok(engine) => (engine, Allocation::Pooling, None),
                Err(error) => {
                    tracing::warn!(%error, slots = config.slots, "no pool for plugin instances: memory is mapped for each call instead");
                    (start(&config, Allocation::Fallback)?, Allocation::Fallback, Some(error.to_string()))
                }
            },
        };
        let ticker = Arc::new(Ticker::default());
        if !config.measure_fuel {
            tick(&engine, &ticker)?;
        }
        let mut linker = Linker::new(&engine);
        contract::Plugin::add_to_linker::<State, HasSelf<State>>(&mut linker, |state| state)
            .map_err(|error| HostError::Engine(format!("{error:#}")))?;
        let inner = Inner {
            slots: Arc::new(Semaphore::new(config.slots)),
            config,
            engine,
            linker,
            compiler: Mutex::new(()),
            ticker,
            allocation,
            fallback_reason,
        };
        Ok(Self { inner: Arc::new(inner) })
    }

    /// The settings.
    pub fn config(&self) -> &HostConfig {
        &self.inner.config
    }

    /// The allocator in use.
    pub fn allocation(&self) -> Allocation {
        self.inner.allocation
    }

    /// Why the pool could not be had, when it was wanted.
    pub fn fallback_reason(&self) -> Option<&str> {
        self.inner.fallback_reason.as_deref()
    }

    /// Slots that no asynchronous call holds at the moment.
    pub fn free_slots(&self) -> usize {
        self.inner.slots.available_permits()
    }

    /// Loads a plugin: scan, contract, compile, link, resources, probe. Blocks for the time of a compilation, about 200 ms for a
    /// component of 300 KB, and for compilations that are under way. Compiling runs on a thread of its own.
    ///
    /// # Errors
    /// The step that failed, with what it expected and found.
    pub fn load(&self, name: &str, bytes: &[u8]) -> Result<Plugin, LoadError> {
        crate::load::load(self, name, bytes)
    }
}

fn validate(config: &HostConfig) -> Result<(), HostError> {
    let checks = [
        ("slots", (1..=1_000).contains(&config.slots), "1 to 1,000"),
        ("deadline", config.deadline >= TICK, "at least 10 ms"),
        ("memory_bytes", (1 << 20..=1 << 31).contains(&config.memory_bytes), "1 MiB to 2 GiB"),
        ("result_bytes", config.result_bytes > 0, "more than nothing"),
        ("view_calls", config.view_calls > 0, "more than nothing"),
        ("handles", (1..=1 << 20).contains(&config.handles), "1 to 1,048,576"),
    ];
    match checks.into_iter().find(|(_, holds, _)| !holds) {
        Some((setting, _, expected)) => Err(HostError::Setting { setting, expected }),
        None => Ok(()),
    }
}

/// An engine that has proven that it can make an instance.
fn start(config: &HostConfig, allocation: Allocation) -> Result<Engine, HostError> {
    let try_it = || {
        let engine = Engine::new(&settings(config, allocation))?;
        let module = Module::new(&engine, SMALLEST)?;
        let mut store = Store::new(&engine, ());
        Instance::new(&mut store, &module, &[])?;
        Ok(engine)
    };
    try_it().map_err(|error: wasmtime::Error| HostError::Engine(format!("{error:#}")))
}

fn settings(host: &HostConfig, allocation: Allocation) -> Config {
    let mut config = Config::new();
    if allocation == Allocation::Pooling {
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pool(host)));
    } else {
        config.allocation_strategy(InstanceAllocationStrategy::OnDemand);
    }
    config
        .epoch_interruption(!host.measure_fuel)
        .consume_fuel(host.measure_fuel)
        // The contract has no asynchronous functions.
        .concurrency_support(false)
        .max_wasm_stack(GUEST_STACK)
        // Guests come optimised; doing it again makes no scrape faster and lets a bomb compile for seconds.
        .cranelift_opt_level(OptLevel::None)
        .memory_init_cow(true)
        .wasm_memory64(false)
        .wasm_multi_memory(false)
        .wasm_relaxed_simd(false)
        .wasm_tail_call(false)
        // Registering every function with the unwinder makes dropping a plugin quadratic on some C libraries.
        .native_unwind_info(false)
        .wasm_backtrace_details(WasmBacktraceDetails::Disable);
    config
}

/// One slot more than calls may use, so that a plugin can be loaded while all of them are taken.
fn pool(host: &HostConfig) -> PoolingAllocationConfig {
    let slots = u32::try_from(host.slots + 1).unwrap_or(u32::MAX);
    let (instances, tables, memories) = (CORE_INSTANCES as u32, TABLES as u32, MEMORIES as u32);
    let mut pool = PoolingAllocationConfig::new();
    pool.total_component_instances(slots)
        .total_core_instances(slots.saturating_mul(instances))
        .max_core_instances_per_component(instances)
        .total_memories(slots.saturating_mul(memories))
        .max_memories_per_component(memories)
        .total_tables(slots.saturating_mul(tables))
        .max_tables_per_component(tables)
        .max_tables_per_module(2)
        .table_elements(TABLE_ELEMENTS)
        .max_memory_size(host.memory_bytes)
        .max_unused_warm_slots(slots)
        // Resetting what stays resident costs less than mapping it anew, and does not take the lock that all threads share.
        .linear_memory_keep_resident(2 << 20)
        .table_keep_resident(64 << 10);
    pool
}

/// Makes epochs pass. A thread and not a task: a runtime whose workers are all busy is exactly when deadlines matter. It sleeps while no
/// guest runs, and ends with the engine.
fn tick(engine: &Engine, ticker: &Arc<Ticker>) -> Result<(), HostError> {
    let (engine, ticker) = (engine.weak(), Arc::clone(ticker));
    thread::Builder::new().name("plugin-epochs".to_owned()).spawn(move || {
        while ticker.wait_for_work() {
            thread::sleep(TICK);
            match engine.upgrade() {
                Some(engine) => engine.increment_epoch(),
                None => break,
            }
        }
    })?;
    Ok(())
}

/// Counts the guests that run, for the thread that makes time pass for them.
#[derive(Default)]
pub(crate) struct Ticker {
    state: Mutex<Running>,
    changed: Condvar,
}

#[derive(Default)]
struct Running {
    guests: usize,
    over: bool,
}

/// A guest that runs, until it is dropped.
pub(crate) struct Guest<'a>(&'a Ticker);

impl Ticker {
    fn state(&self) -> MutexGuard<'_, Running> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A guest runs from now on.
    pub(crate) fn guest(&self) -> Guest<'_> {
        let mut state = self.state();
        state.guests += 1;
        if state.guests == 1 {
            self.changed.notify_one();
        }
        Guest(self)
    }

    /// Waits for a guest; false when there will be none any more.
    fn wait_for_work(&self) -> bool {
        let state = self.changed.wait_while(self.state(), |state| state.guests == 0 && !state.over);
        !state.unwrap_or_else(PoisonError::into_inner).over
    }
}

impl Drop for Guest<'_> {
    fn drop(&mut self) {
        self.0.state().guests -= 1;
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.ticker.state().over = true;
        self.ticker.changed.notify_one();
    }
}
