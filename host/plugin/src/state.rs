//! The host's side of one call: the objects, what is left of the budgets, and the functions a guest may call.
//!
//! A node handle is a number, not an entry of a table: the nodes of all objects of a call are numbered one after the other, so making,
//! using and dropping a handle costs nothing here and a guest cannot make one up (wasmtime maps its handles to our numbers).

use std::sync::Arc;

use aibom_facts::tree::{Kind, NodeId, Tree};
use wasmtime::component::Resource;
use wasmtime::{Error, Result};

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

struct Object {
    /// Number in locators.
    number: u32,
    /// Number of its first node.
    first: u32,
    tree: Arc<Tree>,
}

/// State of one store.
pub(crate) struct State {
    pub(crate) limits: Limits,
    objects: Vec<Object>,
    steps: Steps,
    budget: u64,
    calls: u64,
    handles: usize,
    max_handles: usize,
    answer: usize,
    log_left: usize,
    pub(crate) logs: Vec<LogLine>,
    pub(crate) log_dropped: u64,
}

impl State {
    pub(crate) fn new(config: &HostConfig) -> Self {
        Self {
            limits: Limits::new(config.memory_bytes),
            objects: Vec::new(),
            steps: Steps::new(config.view_calls),
            budget: config.view_calls,
            calls: 0,
            handles: 0,
            max_handles: config.handles,
            answer: config.result_bytes,
            log_left: config.log_bytes,
            logs: Vec::new(),
            log_dropped: 0,
        }
    }

    /// Adds the object that locators call `number` and returns the handle of its root.
    pub(crate) fn add(&mut self, number: u32, tree: Arc<Tree>) -> std::result::Result<u32, HostLimit> {
        let first = self.objects.last().map_or(Some(0), |last| last.first.checked_add(u32::try_from(last.tree.len()).ok()?));
        let first = first.ok_or(HostLimit::Objects)?;
        u32::try_from(tree.len()).ok().and_then(|len| first.checked_add(len)).ok_or(HostLimit::Objects)?;
        let root = first + tree.root().index();
        self.objects.push(Object { number, first, tree });
        Ok(root)
    }

    /// Counts a handle that the host gives away.
    pub(crate) fn lend(&mut self, handles: usize) -> std::result::Result<(), HostLimit> {
        self.handles = self.handles.saturating_add(handles);
        if self.handles > self.max_handles { Err(HostLimit::Handles(self.max_handles)) } else { Ok(()) }
    }

    /// Host calls made.
    pub(crate) fn calls(&self) -> u64 {
        self.calls
    }

    /// Steps of work done for the guest.
    pub(crate) fn work(&self) -> u64 {
        self.steps.taken()
    }

    /// Last line on the error level, where a guest's panic hook leaves its message.
    pub(crate) fn last_error(&self) -> Option<&str> {
        self.logs.iter().rev().find(|line| line.level == Level::Error).map(|line| line.message.as_str())
    }

    fn exhausted(&self) -> Error {
        HostLimit::Work(self.budget).into()
    }

    fn pay<T>(&mut self, outcome: std::result::Result<T, OutOfSteps>) -> Result<T> {
        outcome.map_err(|OutOfSteps| self.exhausted())
    }

    fn open(&mut self, handle: &Resource<Handle>) -> Result<Place> {
        self.calls += 1;
        let paid = self.steps.take(1);
        self.pay(paid)?;
        let number = handle.rep();
        let object = self.objects.partition_point(|object| object.first <= number).checked_sub(1);
        let place = object.and_then(|object| {
            let Object { first, ref tree, .. } = self.objects[object];
            Some(Place { object, tree: Arc::clone(tree), node: tree.node(number - first)? })
        });
        place.ok_or_else(|| HostLimit::Instance(format!("handle {number} names no node")).into())
    }

    fn give(&mut self, place: &Place, node: NodeId) -> Result<Resource<Handle>> {
        self.lend(1)?;
        Ok(Resource::new_own(self.objects[place.object].first + node.index()))
    }

    fn give_some(&mut self, place: &Place, found: std::result::Result<Option<NodeId>, OutOfSteps>) -> Result<Option<Resource<Handle>>> {
        self.pay(found)?.map(|node| self.give(place, node)).transpose()
    }

    fn give_all(&mut self, place: &Place, found: std::result::Result<Vec<NodeId>, OutOfSteps>) -> Result<Vec<Resource<Handle>>> {
        let nodes = self.pay(found)?;
        self.fits(nodes.len().saturating_mul(size_of::<u32>()))?;
        self.lend(nodes.len())?;
        let first = self.objects[place.object].first;
        Ok(nodes.into_iter().map(|node| Resource::new_own(first + node.index())).collect())
    }

    fn fits(&self, bytes: usize) -> Result<()> {
        if bytes > self.answer { Err(HostLimit::Answer(self.answer).into()) } else { Ok(()) }
    }

    /// Hands text to the guest; long ones cost as much as walking a few nodes.
    fn say(&mut self, text: &str) -> Result<String> {
        self.fits(text.len())?;
        let paid = self.steps.take(text.len() as u64 / 64);
        self.pay(paid)?;
        Ok(text.to_owned())
    }
}

struct Place {
    object: usize,
    tree: Arc<Tree>,
    node: NodeId,
}

impl types::Host for State {}

impl view::Host for State {}

impl view::HostNode for State {
    fn kind(&mut self, this: Resource<Handle>) -> Result<view::NodeKind> {
        let at = self.open(&this)?;
        Ok(match at.tree.kind(at.node) {
            Kind::Null => view::NodeKind::Null,
            Kind::Boolean => view::NodeKind::Boolean,
            Kind::Number => view::NodeKind::Number,
            Kind::Text => view::NodeKind::Text,
            Kind::Array => view::NodeKind::Array,
            Kind::Object => view::NodeKind::Object,
        })
    }

    fn get(&mut self, this: Resource<Handle>, key: String) -> Result<Option<Resource<Handle>>> {
        let at = self.open(&this)?;
        let found = walk::get(&at.tree, at.node, &key, &mut self.steps);
        self.give_some(&at, found)
    }

    fn at(&mut self, this: Resource<Handle>, pointer: String) -> Result<Option<Resource<Handle>>> {
        let at = self.open(&this)?;
        let found = walk::resolve(&at.tree, at.node, &pointer, &mut self.steps);
        self.give_some(&at, found.map(|found| found.filter(|node| !at.tree.is_null(*node))))
    }

    fn select(&mut self, this: Resource<Handle>, pattern: String) -> Result<Vec<Resource<Handle>>> {
        let at = self.open(&this)?;
        let found = walk::select(&at.tree, at.node, &pattern, &mut self.steps);
        self.give_all(&at, found)
    }

    fn find(&mut self, this: Resource<Handle>, key: String, value: String) -> Result<Option<Resource<Handle>>> {
        let at = self.open(&this)?;
        let found = walk::find(&at.tree, at.node, &key, &value, &mut self.steps);
        self.give_some(&at, found)
    }

    fn keys(&mut self, this: Resource<Handle>) -> Result<Vec<String>> {
        let at = self.open(&this)?;
        let mut keys = Vec::new();
        let mut bytes = 0usize;
        for (key, _) in at.tree.members(at.node) {
            let paid = self.steps.take(1 + key.len() as u64 / 64);
            self.pay(paid)?;
            // What a list of texts takes in the guest's memory.
            bytes = bytes.saturating_add(key.len() + 8);
            self.fits(bytes)?;
            keys.push(key.to_owned());
        }
        Ok(keys)
    }

    fn items(&mut self, this: Resource<Handle>) -> Result<Vec<Resource<Handle>>> {
        let at = self.open(&this)?;
        let mut nodes = Vec::new();
        for item in at.tree.items(at.node) {
            let paid = self.steps.take(1);
            self.pay(paid)?;
            nodes.push(item);
        }
        self.give_all(&at, Ok(nodes))
    }

    fn text(&mut self, this: Resource<Handle>) -> Result<Option<String>> {
        let at = self.open(&this)?;
        at.tree.text(at.node).map(|text| self.say(text)).transpose()
    }

    fn integer(&mut self, this: Resource<Handle>) -> Result<Option<i64>> {
        let at = self.open(&this)?;
        Ok(at.tree.integer(at.node))
    }

    fn boolean(&mut self, this: Resource<Handle>) -> Result<Option<bool>> {
        let at = self.open(&this)?;
        Ok(at.tree.boolean(at.node))
    }

    fn json(&mut self, this: Resource<Handle>) -> Result<String> {
        let at = self.open(&this)?;
        let measured = walk::measure(&at.tree, at.node, &mut self.steps);
        let at_least = self.pay(measured)?;
        self.fits(at_least)?;
        self.say(&at.tree.json(at.node))
    }

    fn locator(&mut self, this: Resource<Handle>) -> Result<types::Locator> {
        let at = self.open(&this)?;
        let pointer = at.tree.pointer(at.node);
        Ok(types::Locator { object: self.objects[at.object].number, pointer: self.say(pointer.as_str())? })
    }

    fn drop(&mut self, _handle: Resource<Handle>) -> Result<()> {
        self.handles = self.handles.saturating_sub(1);
        Ok(())
    }
}

impl log::Host for State {
    fn log(&mut self, level: log::Level, message: String) -> Result<()> {
        self.calls += 1;
        let paid = self.steps.take(1 + message.len() as u64 / 64);
        self.pay(paid)?;
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
