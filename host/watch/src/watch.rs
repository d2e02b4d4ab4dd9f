//! One watch of one resource: list, then watch from the list's version, and again after every end.

use std::collections::VecDeque;
use std::pin::Pin;
use std::time::Duration;

use futures_util::io::AsyncBufReadExt as _;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::{Instant, sleep_until, timeout_at};

use crate::backoff::Backoff;
use crate::client::{Accept, Client, Lines};
use crate::failure::{Cause, Failure};
use crate::meta::Meta;
use crate::object::Object;
use crate::resource::{Resource, Scope, escaped};

/// Bytes of one event at most. An object of etcd has 1.5 MiB.
const MAX_LINE: usize = 16 << 20;

/// Bytes of one page of a list at most, unless it has one object only. Whoever may create objects may make each of them as large as etcd
/// takes, and a page of 250 such would be most of a gigabyte.
const MAX_PAGE: usize = 4 << 20;

/// A stream that ended sooner than this without an event counts as one that failed, so that a server that closes every watch at once is
/// not asked without pause.
const TOO_SHORT: Duration = Duration::from_secs(1);

/// How a watch works.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Form of the objects.
    pub accept: Accept,
    /// Selector of labels, in the form of the API.
    pub labels: Option<String>,
    /// Selector of fields, in the form of the API.
    pub fields: Option<String>,
    /// Objects of one page of a list at most. Of large ones fewer are asked for at a time.
    pub page: u32,
    /// How long the server keeps a watch open.
    pub life: Duration,
    /// Silence after which a watch counts as broken: a server that is alive ends the watch after `life`.
    pub grace: Duration,
    /// Waiting times after failures: the first, and the longest.
    pub backoff: (Duration, Duration),
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            accept: Accept::Whole,
            labels: None,
            fields: None,
            page: 250,
            life: Duration::from_secs(290),
            grace: Duration::from_secs(10),
            backoff: (Duration::from_secs(5), Duration::from_mins(5)),
        }
    }
}

/// What a watch says.
#[derive(Debug)]
pub enum Event {
    /// A list begins. Objects that were known and are not in it are gone when it is complete.
    Listing,
    /// An object of the list.
    Listed(Box<Object>),
    /// The list is complete.
    Synced,
    /// An object is new or has changed.
    Applied(Box<Object>),
    /// An object is gone; as it was last.
    Deleted(Box<Object>),
    /// A stream was opened again after a failure. It may still say nothing.
    Opened,
    /// An object, or an event of one, could not be read: its name as far as it can be told, and why. Everything else goes on.
    Unreadable(String),
    /// Something could not be read. After a failure the watch goes on by itself, when it has waited.
    Failed(Failure),
}

/// A watch.
#[derive(Debug)]
pub struct Watch {
    client: Client,
    resource: Resource,
    path: String,
    settings: Settings,
    backoff: Backoff,
    wait: Option<Instant>,
    /// Objects that the next page is asked for.
    page: u32,
    state: State,
}

enum State {
    /// Nothing is known, or what is known is too old.
    Start,
    /// Within a list.
    List { page: VecDeque<Box<RawValue>>, next: Next },
    /// The page with this token is on its way. The request is kept, so that whoever gives up waiting does not make it anew.
    Page { text: Pending<Option<String>>, token: Option<String> },
    /// Between two streams.
    Listed { version: String },
    /// A stream is being opened.
    Opening { stream: Pending<Lines>, version: String },
    /// Within a stream.
    Stream { lines: Lines, partial: Vec<u8>, version: String, opened: Instant, silent_since: Instant, events: u64 },
}

/// A request that is under way.
type Pending<T> = Pin<Box<dyn Future<Output = Result<T, Failure>> + Send>>;

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Start => "Start",
            Self::List { .. } => "List",
            Self::Page { .. } => "Page",
            Self::Opening { .. } => "Opening",
            Self::Listed { .. } => "Listed",
            Self::Stream { .. } => "Stream",
        })
    }
}

/// What comes after the objects at hand.
enum Next {
    /// The page with this token; none for the first page.
    Page(Option<String>),
    /// Nothing: the list is complete, as of this version.
    End(String),
}

#[derive(Deserialize)]
struct List<'a> {
    #[serde(default)]
    metadata: ListMeta,
    #[serde(borrow, default)]
    items: Option<Vec<&'a RawValue>>,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ListMeta {
    resource_version: String,
    #[serde(rename = "continue")]
    token: String,
}

#[derive(Deserialize)]
struct Line<'a> {
    #[serde(rename = "type")]
    kind: String,
    #[serde(borrow)]
    object: &'a RawValue,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Status {
    code: u16,
    reason: String,
    message: String,
}

impl Watch {
    /// A watch that has not begun yet.
    pub fn new(client: Client, resource: Resource, scope: &Scope, settings: Settings) -> Self {
        let path = resource.path(scope);
        let backoff = Backoff::new(settings.backoff.0, settings.backoff.1);
        let page = settings.page.max(1);
        Self { client, resource, path, settings, backoff, wait: None, page, state: State::Start }
    }

    /// What is watched.
    pub fn resource(&self) -> &Resource {
        &self.resource
    }

    /// How long it waits before it tries again.
    pub fn waits(&self) -> Duration {
        self.wait.map(|until| until.saturating_duration_since(Instant::now())).unwrap_or_default()
    }

    /// Makes the watch list everything anew.
    pub fn restart(&mut self) {
        self.state = State::Start;
        self.wait = None;
    }

    /// The next event. Safe to cancel: nothing is lost when the future is dropped.
    pub async fn next(&mut self) -> Event {
        loop {
            if let Some(until) = self.wait {
                sleep_until(until).await;
                self.wait = None;
            }
            match self.step().await {
                Ok(Some(event)) => return event,
                Ok(None) => {}
                Err(failure) => {
                    // An event that cannot be read says nothing about the next one.
                    if failure.cause == Cause::Decode && matches!(self.state, State::Stream { .. }) {
                        return Event::Unreadable(failure.message);
                    }
                    self.wait = Some(Instant::now() + self.backoff.next_wait());
                    return Event::Failed(failure);
                }
            }
        }
    }

    async fn step(&mut self) -> Result<Option<Event>, Failure> {
        match &mut self.state {
            State::Start => {
                self.state = State::List { page: VecDeque::new(), next: Next::Page(None) };
                Ok(Some(Event::Listing))
            }
            State::List { page, .. } if !page.is_empty() => Ok(page.pop_front().map(|item| typed(item, &self.resource))),
            State::List { next: Next::Page(token), .. } => {
                let path = list_path(&self.path, &self.settings, self.page, token.as_deref());
                let (client, accept) = (self.client.clone(), self.settings.accept);
                let most = if self.page > 1 { MAX_PAGE } else { MAX_LINE };
                let text = Box::pin(async move { client.page_text(&path, accept, most).await });
                self.state = State::Page { text, token: token.take() };
                Ok(None)
            }
            State::Page { text, token } => {
                let read = match text.await {
                    Ok(Some(text)) => read_page(&text, &self.resource).map(|read| (read, text.len())),
                    Ok(None) if self.page > 1 => {
                        self.page = (self.page / 4).max(1);
                        self.state = State::List { page: VecDeque::new(), next: Next::Page(token.take()) };
                        return Ok(None);
                    }
                    Ok(None) => Err(Failure::new(Cause::TooLarge, format!("an object of a list has more than {} MiB", MAX_LINE >> 20))),
                    Err(failure) => Err(failure),
                };
                match read {
                    Ok(((page, next), size)) => {
                        if size < MAX_PAGE / 4 {
                            self.page = self.page.saturating_mul(2).min(self.settings.page.max(1));
                        }
                        self.state = State::List { page, next };
                        Ok(None)
                    }
                    // What came before is not a list; and a token that has expired is of no use again.
                    Err(failure) => {
                        self.state = State::Start;
                        Err(failure)
                    }
                }
            }
            State::List { next: Next::End(version), .. } => {
                self.state = State::Listed { version: std::mem::take(version) };
                self.backoff.reset();
                Ok(Some(Event::Synced))
            }
            State::Listed { version } => {
                let path = watch_path(&self.path, &self.settings, version);
                let (client, accept, version) = (self.client.clone(), self.settings.accept, std::mem::take(version));
                let stream = Box::pin(async move { client.stream(&path, accept).await });
                self.state = State::Opening { stream, version };
                Ok(None)
            }
            State::Opening { stream, version } => {
                let opened = stream.await;
                let version = std::mem::take(version);
                match opened {
                    Ok(lines) => {
                        let now = Instant::now();
                        self.state = State::Stream { lines, partial: Vec::new(), version, opened: now, silent_since: now, events: 0 };
                        Ok((self.backoff.failures() > 0).then_some(Event::Opened))
                    }
                    Err(failure) if failure.cause == Cause::Gone => {
                        self.state = State::Start;
                        Ok(None)
                    }
                    Err(failure) => {
                        self.state = State::Listed { version };
                        Err(failure)
                    }
                }
            }
            State::Stream { lines, partial, version, opened, silent_since, events } => {
                let silence = self.settings.life + self.settings.grace;
                // From when it was last heard, not from when somebody last asked.
                let (outcome, broken) = match timeout_at(*silent_since + silence, read_line(lines, partial)).await {
                    Err(_) => (Err(Failure::new(Cause::Timeout, format!("a watch was silent for {} s", silence.as_secs()))), true),
                    Ok(Err(error)) => (Err(Failure::new(Cause::Network, format!("a watch broke: {error}"))), true),
                    Ok(Ok(false)) if *events == 0 && opened.elapsed() < TOO_SHORT => {
                        (Err(Failure::new(Cause::Network, "a watch ended as soon as it began")), true)
                    }
                    Ok(Ok(false)) => (Ok(None), true),
                    Ok(Ok(true)) => {
                        let line = std::mem::take(partial);
                        (*events, *silent_since) = (*events + 1, Instant::now());
                        (read_event(&line, version), false)
                    }
                };
                let gone = matches!(&outcome, Err(failure) if failure.cause == Cause::Gone);
                if gone {
                    self.state = State::Start;
                    return Ok(None);
                }
                if broken {
                    self.state = State::Listed { version: std::mem::take(version) };
                }
                if matches!(outcome, Ok(Some(_))) {
                    self.backoff.reset();
                }
                // A broken stream that had lived is opened again at once; only what fails again is waited for.
                match outcome {
                    Err(failure) if broken && self.backoff.failures() == 0 && failure.cause == Cause::Timeout => {
                        tracing::debug!(resource = %self.resource, %failure, "watch opened again");
                        Ok(None)
                    }
                    outcome => outcome,
                }
            }
        }
    }
}

fn list_path(path: &str, settings: &Settings, page: u32, token: Option<&str>) -> String {
    let mut query = format!("{path}?limit={page}");
    selectors(&mut query, settings);
    if let Some(token) = token {
        query.push_str("&continue=");
        query.push_str(&escaped(token));
    }
    query
}

fn watch_path(path: &str, settings: &Settings, version: &str) -> String {
    let mut query = format!(
        "{path}?watch=true&allowWatchBookmarks=true&timeoutSeconds={}&resourceVersion={}",
        settings.life.as_secs(),
        escaped(version)
    );
    selectors(&mut query, settings);
    query
}

fn selectors(query: &mut String, settings: &Settings) {
    for (name, selector) in [("labelSelector", &settings.labels), ("fieldSelector", &settings.fields)] {
        if let Some(selector) = selector.as_deref().filter(|selector| !selector.is_empty()) {
            for part in ["&", name, "=", &escaped(selector)] {
                query.push_str(part);
            }
        }
    }
}

fn read_page(text: &str, resource: &Resource) -> Result<(VecDeque<Box<RawValue>>, Next), Failure> {
    let decode = |error: serde_json::Error| Failure::new(Cause::Decode, format!("a list of {resource} cannot be read: {error}"));
    let list: List<'_> = serde_json::from_str(text).map_err(decode)?;
    let items = list.items.unwrap_or_default();
    let page = items.into_iter().map(ToOwned::to_owned).collect();
    let ListMeta { resource_version, token } = list.metadata;
    Ok((page, if token.is_empty() { Next::End(resource_version) } else { Next::Page(Some(token)) }))
}

/// An item of a list as an event.
fn typed(item: Box<RawValue>, resource: &Resource) -> Event {
    match Object::item(item, resource) {
        Ok(item) => Event::Listed(Box::new(item)),
        Err(error) => Event::Unreadable(format!("an item of a list of {resource} cannot be read: {error}")),
    }
}

/// Appends to `line` up to the end of a line; false at the end of the stream. What was read stays in `line` when it is cancelled.
async fn read_line(lines: &mut Lines, line: &mut Vec<u8>) -> std::io::Result<bool> {
    loop {
        let (used, complete) = {
            let available = lines.fill_buf().await?;
            if available.is_empty() {
                return Ok(false);
            }
            let end = available.iter().position(|byte| *byte == b'\n');
            line.extend_from_slice(&available[..end.unwrap_or(available.len())]);
            (end.map_or(available.len(), |end| end + 1), end.is_some())
        };
        lines.consume_unpin(used);
        if line.len() > MAX_LINE {
            return Err(std::io::Error::other(format!("an event has more than {} MiB", MAX_LINE >> 20)));
        }
        if complete && !line.is_empty() {
            return Ok(true);
        }
    }
}

fn read_event(line: &[u8], version: &mut String) -> Result<Option<Event>, Failure> {
    let decode = |error: &dyn std::fmt::Display| Failure::new(Cause::Decode, format!("an event cannot be read: {error}"));
    let line: Line<'_> = serde_json::from_slice(line).map_err(|error| decode(&error))?;
    // The rest of an object whose metadata is no metadata may still say which one it is.
    let decode = |error: &dyn std::fmt::Display| {
        let name = serde_json::from_str::<serde_json::Value>(line.object.get()).ok();
        let name = name.as_ref().and_then(|object| object.pointer("/metadata/name")?.as_str());
        let named = name.map(|name| format!(" of {}", name.chars().take(253).collect::<String>())).unwrap_or_default();
        Failure::new(Cause::Decode, format!("an event{named} cannot be read: {error}"))
    };
    if line.kind == "ERROR" {
        let Status { code, reason, message } = serde_json::from_str(line.object.get()).unwrap_or_default();
        return Err(Failure::of_status(code, &reason, &message));
    }
    let meta = Meta::of(line.object.get()).map_err(|error| decode(&error))?;
    if !meta.resource_version.is_empty() {
        version.clone_from(&meta.resource_version);
    }
    let object = || Box::new(Object { meta, text: line.object.to_owned() });
    match line.kind.as_str() {
        "ADDED" | "MODIFIED" => Ok(Some(Event::Applied(object()))),
        "DELETED" => Ok(Some(Event::Deleted(object()))),
        "BOOKMARK" => Ok(None),
        other => Err(decode(&format!("its type is `{other}`"))),
    }
}

#[cfg(test)]
mod tests;
