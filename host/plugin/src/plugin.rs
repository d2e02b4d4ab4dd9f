//! A loaded plugin and its calls.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use aibom_facts::object::Locator;
use aibom_facts::pointer::Pointer;
use aibom_facts::report::{Problem, Report};
use aibom_facts::tree::{NodeId, Tree, Visibility};
use wasmtime::component::Resource;
use wasmtime::{Error, PoolConcurrencyLimitError, Store, Trap};

use crate::config::FUEL;
use crate::contract::{self, PluginPre, types};
use crate::counters::{Counters, Usage};
use crate::description::Description;
use crate::error::{CallError, HostLimit};
use crate::grounding::{self, Grounding};
use crate::host::Host;
use crate::state::{Handle, LogLine, State};
use crate::text;
use crate::walk::Steps;
use crate::want::{self, MAX_WANTS, Want};

/// Work for checking the places of one report. A report of a thousand places in an object of ordinary size takes some ten thousand.
const GROUNDING_STEPS: u64 = 4_000_000;

/// Sizes of a plugin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Bytes of the component.
    pub bytes: usize,
    /// Core modules in it.
    pub modules: usize,
    /// Functions in it.
    pub functions: usize,
    /// Bytes of the largest function.
    pub largest_function: usize,
    /// Bytes of the native code and its tables.
    pub native_bytes: usize,
}

/// What a scrape gave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scraped {
    /// The grounded report.
    pub report: Report,
    /// What grounding changed.
    pub grounding: Grounding,
    /// What the call used.
    pub usage: Usage,
    /// Log lines of the guest.
    pub logs: Vec<LogLine>,
}

/// A loaded plugin. Clones are the same plugin; its code is freed with the last one.
#[derive(Clone)]
pub struct Plugin {
    inner: Arc<Inner>,
}

struct Inner {
    name: String,
    digest: String,
    contract: String,
    imports: Vec<String>,
    size: Size,
    description: Description,
    instance: Instance,
    counters: Mutex<Counters>,
}

impl std::fmt::Debug for Plugin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plugin").field("name", &self.inner.name).field("digest", &self.inner.digest).finish_non_exhaustive()
    }
}

impl Plugin {
    pub(crate) fn new(
        name: &str,
        digest: &str,
        contract: String,
        imports: Vec<String>,
        size: Size,
        description: Description,
        instance: Instance,
    ) -> Self {
        let (name, digest) = (name.to_owned(), digest.to_owned());
        let counters = Mutex::new(Counters::default());
        Self { inner: Arc::new(Inner { name, digest, contract, imports, size, description, instance, counters }) }
    }

    /// Name under which it was loaded.
    pub fn name(&self) -> &str {
        &self.inner.name
    }

    /// SHA-256 of its bytes, lower-case hex.
    pub fn digest(&self) -> &str {
        &self.inner.digest
    }

    /// What it says about itself.
    pub fn description(&self) -> &Description {
        &self.inner.description
    }

    /// Version of the contract it was built for.
    pub fn contract(&self) -> &str {
        &self.inner.contract
    }

    /// Names of the interfaces it imports.
    pub fn imports(&self) -> &[String] {
        &self.inner.imports
    }

    /// Sizes.
    pub fn size(&self) -> Size {
        self.inner.size
    }

    /// Sums over its calls up to now.
    pub fn counters(&self) -> Counters {
        self.counters_mut().clone()
    }

    fn counters_mut(&self) -> MutexGuard<'_, Counters> {
        self.inner.counters.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The part of an object that this plugin sees. Its hash decides whether a new call can say anything new.
    pub fn view(&self, object: &Tree, root: NodeId) -> Tree {
        object.view(root, Visibility { status: self.inner.description.reads_status })
    }

    /// The objects that the scraper wants to see besides `object`, which is a view. A scraper that names no related kinds is not asked.
    /// Blocks for the length of the call.
    ///
    /// # Errors
    /// How the call ended when it did not end well.
    pub fn related(&self, object: &Arc<Tree>, options: &str) -> Result<Vec<Want>, CallError> {
        if self.inner.description.related.is_empty() {
            return Ok(Vec::new());
        }
        let (outcome, call) = self.inner.instance.call(|store, instance| {
            let object = lend(store, 0, object)?;
            Ok(instance.k8s_aibom_scraper_scraper().call_related(&mut *store, object, options))
        });
        let wants = outcome.and_then(|answer| {
            let wants = answer.map_err(|failure| failed(failure, &[Some(object)]))?;
            if wants.len() > MAX_WANTS {
                return Err(CallError::Output(format!("{} wants, more than {MAX_WANTS}", wants.len())));
            }
            let mut steps = Steps::new(GROUNDING_STEPS);
            Ok(wants.iter().map(|want| want::check(want, &self.inner.description, object, &mut steps)).collect::<Vec<_>>())
        });
        self.finish("related", wants.as_ref().err(), &call);
        if let Ok(wants) = &wants {
            let mut counters = self.counters_mut();
            for refusal in wants.iter().filter_map(|want| want.refused) {
                *counters.refused_wants.entry(refusal.as_str()).or_default() += 1;
            }
        }
        wants
    }

    /// Scrapes an object. `object` and `related` are views; `related` answers the wants of [`Plugin::related`] in order, with none for
    /// an object that does not exist or may not be read. Blocks for the length of the call.
    ///
    /// # Errors
    /// How the call ended when it did not end well.
    pub fn scrape(&self, object: &Arc<Tree>, related: &[Option<Arc<Tree>>], options: &str) -> Result<Scraped, CallError> {
        let (outcome, call) = self.inner.instance.call(|store, instance| {
            let object = lend(store, 0, object)?;
            let mut handles = Vec::with_capacity(related.len());
            for (number, tree) in (1..).zip(related) {
                handles.push(match tree {
                    Some(tree) => {
                        let root = store.data_mut().add(number, Arc::clone(tree))?;
                        store.data_mut().lend(1)?;
                        Some(Resource::new_own(root))
                    }
                    None => None,
                });
            }
            Ok(instance.k8s_aibom_scraper_scraper().call_scrape(&mut *store, object, &handles, options))
        });
        let objects: Vec<Option<&Tree>> = std::iter::once(Some(&**object)).chain(related.iter().map(Option::as_deref)).collect();
        let scraped = outcome.and_then(|answer| {
            let raw = answer.map_err(|failure| {
                let objects: Vec<_> = std::iter::once(Some(object)).chain(related.iter().map(Option::as_ref)).collect();
                failed(failure, &objects)
            })?;
            let (report, grounding) = grounding::ground(raw, &objects, GROUNDING_STEPS);
            Ok((report, grounding))
        });
        self.finish("scrape", scraped.as_ref().err(), &call);
        let (report, grounding) = scraped?;
        let mut counters = self.counters_mut();
        counters.grounding.add(&grounding);
        counters.facts += (report.items.len() + report.pod_templates.len() + report.containers.len()) as u64;
        drop(counters);
        Ok(Scraped { report, grounding, usage: call.usage, logs: call.logs })
    }

    /// [`Plugin::related`] on a thread for blocking work, as soon as there is a free slot.
    ///
    /// # Errors
    /// How the call ended when it did not end well.
    pub async fn related_async(&self, object: Arc<Tree>, options: Arc<str>) -> Result<Vec<Want>, CallError> {
        if self.inner.description.related.is_empty() {
            return Ok(Vec::new());
        }
        self.in_slot(move |plugin| plugin.related(&object, &options)).await
    }

    /// [`Plugin::scrape`] on a thread for blocking work, as soon as there is a free slot.
    ///
    /// # Errors
    /// How the call ended when it did not end well.
    pub async fn scrape_async(&self, object: Arc<Tree>, related: Vec<Option<Arc<Tree>>>, options: Arc<str>) -> Result<Scraped, CallError> {
        self.in_slot(move |plugin| plugin.scrape(&object, &related, &options)).await
    }

    /// The permit goes with the work: a caller that stops waiting does not free a slot that is still in use.
    async fn in_slot<T: Send + 'static>(&self, work: impl FnOnce(&Self) -> Result<T, CallError> + Send + 'static) -> Result<T, CallError> {
        let slots = Arc::clone(&self.inner.instance.host.inner.slots);
        let Ok(permit) = slots.acquire_owned().await else { return Err(CallError::Pool) };
        let plugin = self.clone();
        let done = tokio::task::spawn_blocking(move || {
            let _permit = permit;
            work(&plugin)
        });
        done.await.unwrap_or_else(|error| Err(CallError::Host(HostLimit::Instance(error.to_string()))))
    }

    fn finish(&self, function: &'static str, error: Option<&CallError>, call: &Call) {
        self.counters_mut().record(error.map_or("ok", CallError::word), &call.usage);
        if let Some(error) = error.filter(|error| !error.is_answer()) {
            tracing::warn!(plugin = self.name(), function, outcome = error.word(), "plugin call ended badly");
        }
    }
}

fn lend(store: &mut Store<State>, number: u32, tree: &Arc<Tree>) -> Result<Resource<Handle>, HostLimit> {
    Ok(Resource::new_borrow(store.data_mut().add(number, Arc::clone(tree))?))
}

/// A failure that the guest answered.
fn failed(failure: types::Failure, objects: &[Option<&Arc<Tree>>]) -> CallError {
    let short = |text: &str| text::clean(text).0.into_owned();
    match failure {
        types::Failure::Unsupported(reason) => CallError::Unsupported(short(&reason)),
        types::Failure::Other(reason) => CallError::Failed(short(&reason)),
        types::Failure::Malformed(problem) => {
            let object = objects.get(problem.at.object as usize).copied().flatten();
            let at = match object {
                Some(tree) => Locator {
                    object: problem.at.object,
                    pointer: crate::walk::nearest(tree, &problem.at.pointer, &mut Steps::new(GROUNDING_STEPS)).unwrap_or_default(),
                },
                None => Locator::scraped(Pointer::root()),
            };
            CallError::Malformed(Problem { at, message: short(&problem.message) })
        }
    }
}

/// What a call leaves besides its answer.
struct Call {
    usage: Usage,
    logs: Vec<LogLine>,
}

/// What it takes to make instances of a plugin.
pub(crate) struct Instance {
    host: Host,
    pre: PluginPre<State>,
}

impl Instance {
    pub(crate) fn new(host: &Host, pre: PluginPre<State>) -> Self {
        Self { host: host.clone(), pre }
    }

    /// A store with every limit set. Code of the guest runs as soon as it is instantiated, so nothing may be set later.
    fn store(&self) -> Store<State> {
        let config = &self.host.inner.config;
        let mut store = Store::new(&self.host.inner.engine, State::new(config));
        store.limiter(|state| &mut state.limits);
        if config.measure_fuel {
            // Cannot fail: the engine was made to count fuel by the same setting.
            let _ = store.set_fuel(FUEL);
        } else {
            store.set_epoch_deadline(config.ticks());
        }
        store.set_hostcall_fuel(config.result_bytes);
        // Ours is reached first and is typed; this one also counts handles that are not nodes.
        store.set_max_component_handles(config.handles.saturating_add(64));
        store
    }

    /// Calls `describe`; the error says whether there was an instance.
    pub(crate) fn describe(&self) -> Result<Description, (bool, CallError)> {
        let _guest = self.host.inner.ticker.guest();
        let mut store = self.store();
        let instance = self.pre.instantiate(&mut store).map_err(|error| (false, self.classify(&error, &store, false)))?;
        let description = instance.k8s_aibom_scraper_scraper().call_describe(&mut store);
        description.map(Description::from).map_err(|error| (true, self.classify(&error, &store, true)))
    }

    /// A new instance, one call, and the end of the instance: nothing of one object is left when the next one comes.
    fn call<T>(
        &self,
        call: impl FnOnce(&mut Store<State>, &contract::Plugin) -> Result<wasmtime::Result<T>, HostLimit>,
    ) -> (Result<T, CallError>, Call) {
        let started = Instant::now();
        let _guest = self.host.inner.ticker.guest();
        let mut store = self.store();
        let outcome = match self.pre.instantiate(&mut store) {
            Err(error) => Err(self.classify(&error, &store, false)),
            Ok(instance) => match call(&mut store, &instance) {
                Ok(Ok(answer)) => Ok(answer),
                Ok(Err(error)) => Err(self.classify(&error, &store, true)),
                Err(limit) => Err(CallError::Host(limit)),
            },
        };
        // Asking an engine that counts none costs an error with its text.
        let fuel = self.host.inner.config.measure_fuel.then(|| store.get_fuel().ok()).flatten().map(|left| FUEL.saturating_sub(left));
        let state = store.into_data();
        let usage = Usage {
            memory_peak: state.limits.peak(),
            memory_denied: state.limits.denied(),
            view_calls: state.calls(),
            work: state.work(),
            log_bytes_dropped: state.log_dropped,
            fuel,
            elapsed: started.elapsed(),
        };
        (outcome, Call { usage, logs: state.logs })
    }

    /// What an error of the engine means. By type, never by text.
    fn classify(&self, error: &Error, store: &Store<State>, instantiated: bool) -> CallError {
        let config = &self.host.inner.config;
        let state = store.data();
        if let Some(limit) = error.downcast_ref::<HostLimit>() {
            return CallError::Host(limit.clone());
        }
        if error.is::<PoolConcurrencyLimitError>() {
            return CallError::Pool;
        }
        let trap = error.downcast_ref::<Trap>();
        match trap {
            Some(Trap::Interrupt | Trap::OutOfFuel) => return CallError::Deadline(config.deadline),
            Some(Trap::StackOverflow) => return CallError::Stack,
            _ => {}
        }
        if state.limits.denied() {
            return CallError::Memory(config.memory_bytes);
        }
        match trap {
            // What the guest hands over does not lie in its memory or is no value of its type.
            Some(
                trap @ (Trap::StringOutOfBounds
                | Trap::ListOutOfBounds
                | Trap::InvalidDiscriminant
                | Trap::InvalidChar
                | Trap::UnalignedPointer),
            ) => CallError::Output(trap.to_string()),
            Some(trap) => CallError::Panic(state.last_error().map_or_else(|| trap.to_string(), str::to_owned)),
            // The engine gives no type to what it cannot read of a guest, nor to a lack of room for an instance.
            None if instantiated => CallError::Output(text::clean(&error.root_cause().to_string()).0.into_owned()),
            None => CallError::Host(HostLimit::Instance(text::clean(&format!("{error:#}")).0.into_owned())),
        }
    }
}
