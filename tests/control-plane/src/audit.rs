//! What the API server was asked, by anyone, read from its audit log.
//!
//! The log is written when a request has been answered, so an entry can be missing for some milliseconds after the client has its answer:
//! [`Audit::wait`] waits for what should be there, and whoever wants to see that *nothing* was written lets some time pass first, which such
//! a test does anyway. A watch is a request that takes as long as it is open; that it was opened is an entry of its own
//! ([`Stage::Started`]), which [`Audit::since`] leaves out and [`Audit::watches_since`] gives.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use serde::Deserialize;

use crate::error::{Error, Result};
use crate::wait::wait_until;

/// Verbs that change something.
const WRITES: [&str; 5] = ["create", "update", "patch", "delete", "deletecollection"];

/// Groups whose resources are asked by creating them.
const QUESTIONS: [&str; 2] = ["authentication.k8s.io", "authorization.k8s.io"];

/// More bytes than a line has at the level that is logged, which is without bodies.
const LONGEST_LINE: u64 = 1 << 18;

/// How far a request was when its entry was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub enum Stage {
    /// The answer has begun and goes on: a watch is open.
    #[serde(rename = "ResponseStarted")]
    Started,
    /// The request is over.
    #[serde(rename = "ResponseComplete")]
    Complete,
    /// The API server panicked over it.
    Panic,
}

/// One request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// How far it was.
    pub stage: Stage,
    /// Verb of Kubernetes, lower case: `get`, `list`, `watch`, `create`, `update`, `patch`, `delete`, `deletecollection`.
    pub verb: String,
    /// Who asked, or whom he pretended to be: `admin`, `system:serviceaccount:<namespace>:<name>`.
    pub user: String,
    /// What the client calls itself.
    pub user_agent: String,
    /// Resource in the plural, such as `deployments`; empty for a path that is none, such as `/readyz`.
    pub resource: String,
    /// Group of the resource, empty for the core group.
    pub api_group: String,
    /// Subresource such as `status`, otherwise empty.
    pub subresource: String,
    /// Namespace, empty for what has none and for lists over all of them.
    pub namespace: String,
    /// Name of the object, empty for lists. For created objects it is the name in the request, so it is empty with `generateName`.
    pub name: String,
    /// Path and query of the request.
    pub uri: String,
    /// Status code of the answer.
    pub code: u16,
    /// When the request came in, to the microsecond.
    pub time: SystemTime,
    /// How long it took until this stage.
    pub took: Duration,
}

impl Entry {
    /// It was to change something: create, update, patch, delete, deletecollection, also when it was refused or changed nothing.
    ///
    /// Questions that are asked by creating an object that is never stored are none: reviews of tokens and rights, tokens of ServiceAccounts,
    /// dry runs.
    pub fn is_write(&self) -> bool {
        let review = QUESTIONS.contains(&self.api_group.as_str()) && self.verb == "create";
        let token = self.resource == "serviceaccounts" && self.subresource == "token";
        let query = self.uri.split_once('?').map_or("", |(_, query)| query);
        let dry_run = query.split('&').any(|part| part.starts_with("dryRun="));
        WRITES.contains(&self.verb.as_str()) && !review && !token && !dry_run
    }
}

/// `verb resource/subresource namespace/name code user (agent)`.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.verb)?;
        match (self.resource.as_str(), self.api_group.as_str()) {
            ("", _) => write!(f, "{}", self.uri)?,
            (resource, "") => write!(f, "{resource}")?,
            (resource, group) => write!(f, "{resource}.{group}")?,
        }
        if !self.subresource.is_empty() {
            write!(f, "/{}", self.subresource)?;
        }
        write!(f, " {}/{} {} {} ({})", self.namespace, self.name, self.code, self.user, self.user_agent)
    }
}

/// A place in the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(u64);

/// The audit log of one API server. It goes on over restarts.
#[derive(Clone, Debug)]
pub struct Audit {
    path: PathBuf,
}

impl Audit {
    /// The log in a file, which need not be there yet.
    pub fn at(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The end of the log as it is now. A line that is being written belongs to what comes after it.
    pub fn mark(&self) -> Mark {
        // A log that cannot be read is reported by whoever reads from the mark on.
        Mark(end_of_lines(&self.path).unwrap_or(0))
    }

    /// The start of the log.
    pub fn start(&self) -> Mark {
        Mark(0)
    }

    /// Requests that were answered since a mark, in the order in which they were. A watch is among them once it is closed.
    pub fn since(&self, mark: Mark) -> Result<Entries> {
        Ok(self.read(mark)?.filter(|entry| entry.stage != Stage::Started))
    }

    /// Watches that were opened since a mark, open or closed by now.
    pub fn watches_since(&self, mark: Mark) -> Result<Entries> {
        Ok(self.read(mark)?.filter(|entry| entry.stage == Stage::Started))
    }

    /// Waits until what was answered since a mark is as `enough` wants it, and gives it.
    ///
    /// # Errors
    /// It is not within `limit`; the error lists the requests that there are.
    pub fn wait(&self, mark: Mark, what: &str, limit: Duration, enough: impl Fn(&Entries) -> bool) -> Result<Entries> {
        wait_until(what, limit, || {
            let entries = self.since(mark)?;
            Ok(if enough(&entries) { Ok(entries) } else { Err(format!("Requests so far:\n{entries}")) })
        })
    }

    fn read(&self, mark: Mark) -> Result<Entries> {
        let file_error = || Error::file("read", &self.path);
        let mut file = match File::open(&self.path) {
            Ok(file) => file,
            // Nothing was asked yet.
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Entries(Vec::new())),
            Err(error) => return Err(file_error()(error)),
        };
        file.seek(SeekFrom::Start(mark.0)).map_err(file_error())?;
        let mut text = Vec::new();
        file.read_to_end(&mut text).map_err(file_error())?;
        parse(&text).map_err(|why| Error::Unexpected { what: format!("a line of {}", self.path.display()), why })
    }
}

/// Requests, to be counted and filtered.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Entries(Vec<Entry>);

impl Entries {
    /// Those that `keep` wants.
    #[must_use]
    pub fn filter(&self, keep: impl Fn(&Entry) -> bool) -> Self {
        Self(self.0.iter().filter(|entry| keep(entry)).cloned().collect())
    }

    /// Those that were to change something; see [`Entry::is_write`].
    #[must_use]
    pub fn writes(&self) -> Self {
        self.filter(Entry::is_write)
    }

    /// Those of a user, by the whole name.
    #[must_use]
    pub fn by_user(&self, user: &str) -> Self {
        self.filter(|entry| entry.user == user)
    }

    /// Those of a ServiceAccount.
    #[must_use]
    pub fn by_service_account(&self, namespace: &str, name: &str) -> Self {
        self.by_user(&format!("system:serviceaccount:{namespace}:{name}"))
    }

    /// Those of clients whose name for themselves begins so.
    #[must_use]
    pub fn by_agent(&self, prefix: &str) -> Self {
        self.filter(|entry| entry.user_agent.starts_with(prefix))
    }

    /// Those on a resource (in the plural), its subresources among them.
    #[must_use]
    pub fn on(&self, resource: &str) -> Self {
        self.filter(|entry| entry.resource == resource)
    }

    /// Those in a namespace.
    #[must_use]
    pub fn in_namespace(&self, namespace: &str) -> Self {
        self.filter(|entry| entry.namespace == namespace)
    }

    /// Those with a verb.
    #[must_use]
    pub fn with_verb(&self, verb: &str) -> Self {
        self.filter(|entry| entry.verb == verb)
    }

    /// How many there are of each verb and resource, `resource/subresource` where there is one.
    pub fn counts(&self) -> BTreeMap<(String, String), usize> {
        let mut counts = BTreeMap::new();
        for entry in &self.0 {
            let resource = match entry.subresource.as_str() {
                "" => entry.resource.clone(),
                subresource => format!("{}/{subresource}", entry.resource),
            };
            *counts.entry((entry.verb.clone(), resource)).or_default() += 1;
        }
        counts
    }
}

impl Deref for Entries {
    type Target = [Entry];

    fn deref(&self) -> &[Entry] {
        &self.0
    }
}

impl<'a> IntoIterator for &'a Entries {
    type Item = &'a Entry;
    type IntoIter = std::slice::Iter<'a, Entry>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

/// One line each, for the message of an assertion.
impl fmt::Display for Entries {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            return writeln!(f, "  (none)");
        }
        self.0.iter().try_for_each(|entry| writeln!(f, "  {entry}"))
    }
}

/// An event of `audit.k8s.io/v1`, as far as it is read here.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line {
    stage: Stage,
    #[serde(rename = "requestURI")]
    request_uri: String,
    verb: String,
    user: User,
    impersonated_user: Option<User>,
    #[serde(default)]
    user_agent: String,
    object_ref: Option<ObjectRef>,
    response_status: Option<ResponseStatus>,
    request_received_timestamp: String,
    stage_timestamp: String,
}

#[derive(Deserialize)]
struct User {
    #[serde(default)]
    username: String,
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", default)]
struct ObjectRef {
    resource: String,
    namespace: String,
    name: String,
    api_group: String,
    subresource: String,
}

#[derive(Deserialize)]
struct ResponseStatus {
    #[serde(default)]
    code: u16,
}

/// Where the last whole line of a file ends.
fn end_of_lines(path: &Path) -> std::io::Result<u64> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let from = length.saturating_sub(LONGEST_LINE);
    file.seek(SeekFrom::Start(from))?;
    let mut end = Vec::new();
    file.take(length - from).read_to_end(&mut end)?;
    Ok(end.iter().rposition(|byte| *byte == b'\n').map_or(from, |position| from + position as u64 + 1))
}

/// Whole lines. A last line without its end is still being written, and belongs to the next look.
fn parse(text: &[u8]) -> Result<Entries, String> {
    let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(&[][..], |end| &text[..end]);
    let lines = whole.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| entry(line).map_err(|why| format!("{why}: {}", String::from_utf8_lossy(line)))).collect::<Result<_, _>>().map(Entries)
}

fn entry(line: &[u8]) -> Result<Entry, String> {
    let line: Line = serde_json::from_slice(line).map_err(|error| error.to_string())?;
    let object = line.object_ref.unwrap_or_default();
    let time = |text: &str| time(text).ok_or_else(|| format!("`{text}` is no time in UTC"));
    let received = time(&line.request_received_timestamp)?;
    let reached = time(&line.stage_timestamp)?;
    Ok(Entry {
        stage: line.stage,
        verb: line.verb,
        user: line.impersonated_user.unwrap_or(line.user).username,
        user_agent: line.user_agent,
        resource: object.resource,
        api_group: object.api_group,
        subresource: object.subresource,
        namespace: object.namespace,
        name: object.name,
        uri: line.request_uri,
        code: line.response_status.map_or(0, |status| status.code),
        time: received,
        // Clocks may be set back meanwhile.
        took: reached.duration_since(received).unwrap_or_default(),
    })
}

/// A time such as `2026-01-31T10:20:30.123456Z`, which is the only form the log has.
fn time(text: &str) -> Option<SystemTime> {
    let (date, clock) = text.strip_suffix('Z')?.split_once('T')?;
    let mut date = date.splitn(3, '-').map(|part| part.parse::<u64>().ok());
    let (year, month, day) = (date.next()??, date.next()??, date.next()??);
    let (clock, fraction) = clock.split_once('.').unwrap_or((clock, "0"));
    let mut clock = clock.splitn(3, ':').map(|part| part.parse::<u64>().ok());
    let (hour, minute, second) = (clock.next()??, clock.next()??, clock.next()??);
    let nanos: u32 = format!("{fraction:0<9}").get(..9)?.parse().ok()?;
    if year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Days since 1970, with years that begin in March, so that the leap day is the last of a year.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = year * 365 + year / 4 - year / 100 + year / 400 + (month * 153 + 2) / 5 + day - 1 - 719_468;
    let seconds = ((days * 24 + hour) * 60 + minute) * 60 + second;
    Some(SystemTime::UNIX_EPOCH + Duration::new(seconds, nanos))
}

#[cfg(test)]
mod tests;
