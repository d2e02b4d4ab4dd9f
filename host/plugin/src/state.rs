//! The host's side of one call: the objects, what is left of the budgets, and the functions a guest may call.
//!
//! A node handle is a number, not an entry of a table: the nodes of all objects of a call are numbered one after the other, so making,
//! using and dropping a handle costs nothing here and a guest cannot make one up (wasmtime maps its handles to our numbers).

use std::sync::Arc;

use aibom_facts::tree::{Kind, NodeId, Tree};
use wasmtime::component::Resource;

use crate::config::HostConfig;
use crate::contract::{log, types, view};
use crate::error::HostLimit;
use crate::limits::Limits;
use crate::text;
use crate::walk::{self, OutOfSteps, Steps};

/// Type of node handles.
#[derive(Debug)]
#[allow(unreachable_pub, reason = "the generated bindings re-export it")]
pub struct Handle;

/// Severity of a log line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// For authors.
    Debug,
    /// For the curious.
    Info,
    /// Something is odd.
    Warn,
    /// Something is wrong.
    Error,
}

/// A line that a guest logged, with control characters replaced and at most 1,024 characters long.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogLine {
    /// Severity.
    pub level: Level,
    /// Text.
    pub message: String,
}

/// The objects of a call, in order of their first node's number.
#[derive(Default)]
struct Objects(Vec<Object>);

struct Object {
    /// Number in locators.
    number: u32,
    /// Number of its first node.
    first: u32,
    tree: Arc<Tree>,
}

/// A node that a guest has a handle of.
struct Place<'a> {
    object: &'a Object,
    tree: &'a Tree,
    node: NodeId,
}

impl Objects {
    /// Adds an object and returns the number of its root.
    fn add(&mut self, number: u32, tree: Arc<Tree>) -> Result<u32, HostLimit> {
        let nodes = |tree: &Tree| u32::try_from(tree.len()).ok();
        let first = self.0.last().map_or(Some(0), |last| last.first.checked_add(nodes(&last.tree)?));
        let first = first.ok_or(HostLimit::Objects)?;
        nodes(&tree).and_then(|len| first.checked_add(len)).ok_or(HostLimit::Objects)?;
        let root = first + tree.root().index();
        self.0.push(Object { number, first, tree });
        Ok(root)
    }

    /// The node of a handle; a use of it is one host call.
    fn open(&self, handle: &Resource<Handle>, meter: &mut Meter) -> wasmtime::Result<Place<'_>> {
        meter.call(1)?;
        let number = handle.rep();
        let object = self.0.partition_point(|object| object.first <= number).checked_sub(1).map(|index| &self.0[index]);
        let place = object.and_then(|object| Some(Place { object, tree: &object.tree, node: object.tree.node(number - object.first)? }));
        place.ok_or_else(|| HostLimit::Instance(format!("handle {number} names no node")).into())
    }
}

/// What is left of the budgets of a call.
struct Meter {
    steps: Steps,
    /// Steps at the start.
    budget: u64,
    /// Host calls made.
    calls: u64,
    /// Node handles that the guest holds.
    handles: usize,
    max_handles: usize,
    /// Bytes of an answer.
    answer: usize,
}

impl Meter {
    fn call(&mut self, steps: u64) -> wasmtime::Result<()> {
        self.calls += 1;
        self.take(steps)
    }

    fn take(&mut self, steps: u64) -> wasmtime::Result<()> {
        let taken = self.steps.take(steps);
        self.paid(taken)
    }

    /// What a walk found, unless it ran out of steps.
    fn paid<T>(&self, outcome: Result<T, OutOfSteps>) -> wasmtime::Result<T> {
        outcome.map_err(|OutOfSteps| HostLimit::Work(self.budget).into())
    }

    fn fits(&self, bytes: usize) -> wasmtime::Result<()> {
        if bytes > self.answer { Err(HostLimit::Answer(self.answer).into()) } else { Ok(()) }
    }

    fn lend(&mut self, handles: usize) -> Result<(), HostLimit> {
        self.handles = self.handles.saturating_add(handles);
        if self.handles > self.max_handles { Err(HostLimit::Handles(self.max_handles)) } else { Ok(()) }
    }

    fn give(&mut self, place: &Place<'_>, found: Result<Option<NodeId>, OutOfSteps>) -> wasmtime::Result<Option<Resource<Handle>>> {
        let Some(node) = self.paid(found)? else { return Ok(None) };
        self.lend(1)?;
        Ok(Some(Resource::new_own(place.object.first + node.index())))
    }

    fn give_all(&mut self, place: &Place<'_>, found: Result<Vec<NodeId>, OutOfSteps>) -> wasmtime::Result<Vec<Resource<Handle>>> {
        let nodes = self.paid(found)?;
        self.fits(nodes.len().saturating_mul(size_of::<u32>()))?;
        self.lend(nodes.len())?;
        Ok(nodes.into_iter().map(|node| Resource::new_own(place.object.first + node.index())).collect())
    }

    /// Hands text to the guest; long ones cost as much as walking a few nodes.
    fn say(&mut self, text: &str) -> wasmtime::Result<String> {
        self.fits(text.len())?;
        self.take(text.len() as u64 / 64)?;
        Ok(text.to_owned())
    }
}

/// State of one store.
pub(crate) struct State {
    pub(crate) limits: Limits,
    objects: Objects,
    meter: Meter,
    log_left: usize,
    pub(crate) logs: Vec<LogLine>,
    pub(crate) log_dropped: u64,
}

impl State {
    pub(crate) fn new(config: &HostConfig) -> Self {
        let meter = Meter {
            steps: Steps::new(config.view_calls),
            budget: config.view_calls,
            calls: 0,
            handles: 0,
            max_handles: config.handles,
            answer: config.result_bytes,
        };
        Self {
            limits: Limits::new(config.memory_bytes),
            objects: Objects::default(),
            meter,
            log_left: config.log_bytes,
            logs: Vec::new(),
            log_dropped: 0,
        }
    }

    /// Adds the object that locators call `number` and returns the handle of its root.
    pub(crate) fn add(&mut self, number: u32, tree: Arc<Tree>) -> Result<u32, HostLimit> {
        self.objects.add(number, tree)
    }

    /// Counts handles that are given to the guest.
    pub(crate) fn lend(&mut self, handles: usize) -> Result<(), HostLimit> {
        self.meter.lend(handles)
    }

    /// Host calls made.
    pub(crate) fn calls(&self) -> u64 {
        self.meter.calls
    }

    /// Steps of work done for the guest.
    pub(crate) fn work(&self) -> u64 {
        self.meter.steps.taken()
    }

    /// Last line on the error level, where a guest's panic hook leaves its message.
    pub(crate) fn last_error(&self) -> Option<&str> {
        self.logs.iter().rev().find(|line| line.level == Level::Error).map(|line| line.message.as_str())
    }
}

impl types::Host for State {}

impl view::Host for State {}

impl view::HostNode for State {
    fn kind(&mut self, this: Resource<Handle>) -> wasmtime::Result<view::NodeKind> {
        let at = self.objects.open(&this, &mut self.meter)?;
        Ok(match at.tree.kind(at.node) {
            Kind::Null => view::NodeKind::Null,
            Kind::Boolean => view::NodeKind::Boolean,
            Kind::Number => view::NodeKind::Number,
            Kind::Text => view::NodeKind::Text,
            Kind::Array => view::NodeKind::Array,
            Kind::Object => view::NodeKind::Object,
        })
    }

    fn get(&mut self, this: Resource<Handle>, key: String) -> wasmtime::Result<Option<Resource<Handle>>> {
        let at = self.objects.open(&this, &mut self.meter)?;
        let found = walk::get(at.tree, at.node, &key, &mut self.meter.steps);
        self.meter.give(&at, found)
    }

    fn at(&mut self, this: Resource<Handle>, pointer: String) -> wasmtime::Result<Option<Resource<Handle>>> {
        let at = self.objects.open(&this, &mut self.meter)?;
        let found = walk::resolve(at.tree, at.node, &pointer, &mut self.meter.steps);
        self.meter.give(&at, found.map(|found| found.filter(|node| !at.tree.is_null(*node))))
    }

    fn select(&mut self, this: Resource<Handle>, pattern: String) -> wasmtime::Result<Vec<Resource<Handle>>> {
        let at = self.objects.open(&this, &mut self.meter)?;
        let found = walk::select(at.tree, at.node, &pattern, &mut self.meter.steps);
        self.meter.give_all(&at, found)
    }

    fn find(&mut self, this: Resource<Handle>, key: String, value: String) -> wasmtime::Result<Option<Resource<Handle>>> {
        let at = self.objects.open(&this, &mut self.meter)?;
        let found = walk::find(at.tree, at.node, &key, &value, &mut self.meter.steps);
        self.meter.give(&at, found)
    }

    fn keys(&mut self, this: Resource<Handle>) -> wasmtime::Result<Vec<String>> {
        let at = self.objects.open(&this, &mut self.meter)?;
        let mut keys = Vec::new();
        let mut bytes = 0usize;
        for (key, _) in at.tree.members(at.node) {
            self.meter.take(1 + key.len() as u64 / 64)?;
            // What a list of texts takes in the guest's memory.
            bytes = bytes.saturating_add(key.len() + 8);
            self.meter.fits(bytes)?;
            keys.push(key.to_owned());
        }
        Ok(keys)
    }

    fn items(&mut self, this: Resource<Handle>) -> wasmtime::Result<Vec<Resource<Handle>>> {
        let at = self.objects.open(&this, &mut self.meter)?;
        let mut nodes = Vec::new();
        for item in at.tree.items(at.node) {
            self.meter.take(1)?;
            nodes.push(item);
        }
        self.meter.give_all(&at, Ok(nodes))
    }

    fn text(&mut self, this: Resource<Handle>) -> wasmtime::Result<Option<String>> {
        let at = self.objects.open(&this, &mut self.meter)?;
        at.tree.text(at.node).map(|text| self.meter.say(text)).transpose()
    }

    fn integer(&mut self, this: Resource<Handle>) -> wasmtime::Result<Option<i64>> {
        let at = self.objects.open(&this, &mut self.meter)?;
        Ok(at.tree.integer(at.node))
    }

    fn boolean(&mut self, this: Resource<Handle>) -> wasmtime::Result<Option<bool>> {
        let at = self.objects.open(&this, &mut self.meter)?;
        Ok(at.tree.boolean(at.node))
    }

    fn json(&mut self, this: Resource<Handle>) -> wasmtime::Result<String> {
        let at = self.objects.open(&this, &mut self.meter)?;
        let measured = walk::measure(at.tree, at.node, &mut self.meter.steps);
        let at_least = self.meter.paid(measured)?;
        self.meter.fits(at_least)?;
        let json = at.tree.json(at.node);
        self.meter.fits(json.len())?;
        self.meter.take(json.len() as u64 / 64)?;
        Ok(json)
    }

    fn locator(&mut self, this: Resource<Handle>) -> wasmtime::Result<types::Locator> {
        let at = self.objects.open(&this, &mut self.meter)?;
        let pointer = at.tree.pointer(at.node);
        Ok(types::Locator { object: at.object.number, pointer: self.meter.say(pointer.as_str())? })
    }

    fn drop(&mut self, _handle: Resource<Handle>) -> wasmtime::Result<()> {
        self.meter.handles = self.meter.handles.saturating_sub(1);
        Ok(())
    }
}

impl log::Host for State {
    fn log(&mut self, level: log::Level, message: String) -> wasmtime::Result<()> {
        self.meter.call(1 + message.len() as u64 / 64)?;
        let (line, _) = text::clean(&message);
        // A line counts at least as much as it takes here, so that empty ones are not free.
        let cost = line.len() + size_of::<LogLine>();
        if cost > self.log_left {
            self.log_dropped += message.len() as u64;
            return Ok(());
        }
        self.log_left -= cost;
        self.log_dropped += message.len().saturating_sub(line.len()) as u64;
        let level = match level {
            log::Level::Debug => Level::Debug,
            log::Level::Info => Level::Info,
            log::Level::Warn => Level::Warn,
            log::Level::Error => Level::Error,
        };
        self.logs.push(LogLine { level, message: line.into_owned() });
        Ok(())
    }
}
