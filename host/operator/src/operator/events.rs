//! Events for people: sent from a queue, so that nothing waits for them, and not more than the API server should bear.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use k8s_openapi::api::core::v1::ObjectReference;
use k8s_openapi::api::events::v1::Event;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::api::PostParams;
use kube::core::ObjectMeta;
use kube::{Api, Client};
use prometheus::IntCounter;
use tokio::sync::mpsc;
use tokio::time::{Instant, sleep_until, timeout};

use crate::scan::output::printable;

/// Events that wait to be sent.
const WAITING: usize = 256;
/// Longest note that the API takes.
const MAX_NOTE: usize = 1024;
/// The same event about the same object is not sent again within this time.
const QUIET: Duration = Duration::from_mins(10);
/// Events that may be sent at once, and the time in which one more may be sent.
const BURST: u32 = 25;
const REFILL: Duration = Duration::from_secs(1);
/// Time for one request.
const PATIENCE: Duration = Duration::from_secs(10);

/// Whether an event is good news.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    /// It is as it should be.
    Normal,
    /// Somebody should look.
    Warning,
}

struct Message {
    type_: Type,
    reason: &'static str,
    note: String,
    regarding: ObjectReference,
    related: Option<ObjectReference>,
}

/// Takes events.
#[derive(Clone)]
pub struct Events {
    sender: mpsc::Sender<Message>,
    dropped: IntCounter,
}

impl Events {
    /// A recorder, and the task that sends.
    pub fn new(client: Client, instance: String, dropped: IntCounter) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (sender, receiver) = mpsc::channel(WAITING);
        (Self { sender, dropped: dropped.clone() }, send_all(client, instance, receiver, dropped))
    }

    /// Sends an event about an object. Never waits; what cannot be sent is counted.
    pub fn tell(&self, type_: Type, reason: &'static str, note: &str, regarding: ObjectReference) {
        self.tell_related(type_, reason, note, regarding, None);
    }

    /// The same, with the object that it comes from.
    pub fn tell_related(
        &self,
        type_: Type,
        reason: &'static str,
        note: &str,
        regarding: ObjectReference,
        related: Option<ObjectReference>,
    ) {
        let note = cut(&printable(note)).to_owned();
        if self.sender.try_send(Message { type_, reason, note, regarding, related }).is_err() {
            self.dropped.inc();
        }
    }
}

fn cut(note: &str) -> &str {
    let mut end = note.len().min(MAX_NOTE);
    while !note.is_char_boundary(end) {
        end -= 1;
    }
    &note[..end]
}

async fn send_all(client: Client, instance: String, mut messages: mpsc::Receiver<Message>, dropped: IntCounter) {
    let mut sent: HashMap<(Arc<str>, &'static str, String), Instant> = HashMap::new();
    let mut bucket = (BURST, Instant::now());
    while let Some(message) = messages.recv().await {
        let now = Instant::now();
        sent.retain(|_, when| now.duration_since(*when) < QUIET);
        let regarding = &message.regarding;
        let object = format!("{:?}/{:?}/{:?}/{:?}", regarding.kind, regarding.namespace, regarding.name, regarding.uid);
        let key = (Arc::from(object), message.reason, message.note.clone());
        // What has a related object is told once for each transition of it, and each is news.
        if message.related.is_none() && sent.contains_key(&key) {
            continue;
        }
        sent.insert(key, now);
        let refilled = u32::try_from(now.duration_since(bucket.1).as_secs() / REFILL.as_secs()).unwrap_or(BURST);
        if refilled > 0 {
            bucket = (bucket.0.saturating_add(refilled).min(BURST), now);
        }
        if bucket.0 == 0 {
            sleep_until(bucket.1 + REFILL).await;
            bucket = (1, Instant::now());
        }
        bucket.0 -= 1;
        let namespace = regarding.namespace.clone().filter(|namespace| !namespace.is_empty()).unwrap_or_else(|| "default".to_owned());
        let api: Api<Event> = Api::namespaced(client.clone(), &namespace);
        let event = event(message, &namespace, &instance);
        let outcome = timeout(PATIENCE, api.create(&PostParams::default(), &event)).await;
        if !matches!(outcome, Ok(Ok(_))) {
            dropped.inc();
            tracing::debug!(reason = event.reason, "an event could not be sent");
        }
    }
}

fn event(message: Message, namespace: &str, instance: &str) -> Event {
    let now = Timestamp::now();
    let name = message.regarding.name.clone().unwrap_or_default();
    let type_ = match message.type_ {
        Type::Normal => "Normal",
        Type::Warning => "Warning",
    };
    Event {
        metadata: ObjectMeta {
            // Names of events are names of objects, and those have 253 characters.
            name: Some(format!("{}.{:016x}", &name[..name.len().min(230)], fastrand::u64(..))),
            namespace: Some(namespace.to_owned()),
            ..ObjectMeta::default()
        },
        action: Some(message.reason.to_owned()),
        event_time: Some(MicroTime(now)),
        note: Some(message.note),
        reason: Some(message.reason.to_owned()),
        regarding: Some(message.regarding),
        related: message.related,
        reporting_controller: Some("aibom.k8saibom.dev/controller".to_owned()),
        reporting_instance: Some(instance[..instance.len().min(128)].to_owned()),
        type_: Some(type_.to_owned()),
        ..Event::default()
    }
}
