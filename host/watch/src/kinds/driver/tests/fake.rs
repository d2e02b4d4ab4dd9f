//! An API server in the process: definitions, objects, watches, and every way to be out of order that a real one cannot be told.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use bytes::Bytes;
use futures_util::stream::{self, StreamExt as _};
use http::{Request, Response};
use http_body::Frame;
use http_body_util::StreamBody;
use kube::client::Body;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::client::Client;

type Chunks = Pin<Box<dyn futures_util::Stream<Item = Result<Frame<Bytes>, Infallible>> + Send>>;

/// A cluster.
#[derive(Clone, Default)]
pub(super) struct Cluster(Arc<Mutex<Inner>>);

#[derive(Default)]
struct Inner {
    version: u64,
    uids: u64,
    /// By name, such as `widgets.example.com`.
    definitions: BTreeMap<String, Value>,
    /// By plural, namespace and name.
    objects: BTreeMap<(String, String, String), Value>,
    /// Streams that are open, by what they watch.
    streams: Vec<(String, mpsc::UnboundedSender<String>)>,
    /// What happens to requests whose path, with its query, has this in it.
    faults: Vec<(String, Fault)>,
    /// Kinds whose conversion webhook is down, and whether something was written since.
    webhooks: BTreeMap<String, bool>,
    requests: Vec<String>,
}

/// What happens to a request.
#[derive(Clone)]
pub(super) enum Fault {
    /// It is answered with this status.
    Status(u16, &'static str),
    /// It is answered after a while.
    Slow(Duration),
    /// It is never answered.
    Silent,
}

impl Cluster {
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.0.lock().unwrap()
    }

    /// A client of it.
    pub(super) fn client(&self) -> Client {
        let cluster = self.clone();
        let service = tower::service_fn(move |request: Request<Body>| {
            let cluster = cluster.clone();
            async move { Ok::<_, Infallible>(cluster.answer(&request.uri().to_string()).await) }
        });
        Client::new(kube::Client::new(service, "default"), Duration::from_secs(30))
    }

    /// Makes or changes a definition. Its UID stays unless it is new.
    pub(super) fn define(&self, plural: &str, kind: &str, served: &[&str], storage: &str, webhook: bool) {
        let name = format!("{plural}.example.com");
        let mut inner = self.lock();
        let uid = inner.definitions.get(&name).map(|known| known["metadata"]["uid"].as_str().unwrap().to_owned());
        let mut stored: Vec<String> = match inner.definitions.get(&name) {
            Some(known) => serde_json::from_value(known["status"]["storedVersions"].clone()).unwrap(),
            None => Vec::new(),
        };
        if !stored.iter().any(|version| version == storage) {
            stored.push(storage.to_owned());
        }
        let uid = uid.unwrap_or_else(|| {
            inner.uids += 1;
            format!("uid-{}", inner.uids)
        });
        let mut versions: Vec<Value> =
            served.iter().map(|version| json!({ "name": version, "served": true, "storage": *version == storage })).collect();
        if !served.contains(&storage) {
            versions.push(json!({ "name": storage, "served": false, "storage": true }));
        }
        let strategy = if webhook { "Webhook" } else { "None" };
        let definition = json!({
            "metadata": { "name": name, "uid": uid },
            "spec": { "scope": "Namespaced", "names": { "kind": kind }, "conversion": { "strategy": strategy }, "versions": versions },
            "status": { "conditions": [{ "type": "Established", "status": "True" }], "storedVersions": stored },
        });
        inner.definitions.insert(name.clone(), definition.clone());
        inner.tell("customresourcedefinitions", "MODIFIED", definition);
    }

    /// Takes a definition away, and its objects with it.
    pub(super) fn undefine(&self, plural: &str) {
        let mut inner = self.lock();
        let Some(definition) = inner.definitions.remove(&format!("{plural}.example.com")) else { return };
        inner.objects.retain(|(own, ..), _| own != plural);
        inner.streams.retain(|(watched, _)| watched != plural);
        inner.tell("customresourcedefinitions", "DELETED", definition);
    }

    /// Makes an object.
    pub(super) fn put(&self, plural: &str, name: &str) {
        let mut inner = self.lock();
        inner.uids += 1;
        let object = json!({ "metadata": { "namespace": "demo", "name": name, "uid": format!("uid-{}", inner.uids) } });
        inner.objects.insert((plural.to_owned(), "demo".to_owned(), name.to_owned()), object.clone());
        // Of a kind whose webhook is down nothing comes out of the watch cache any more.
        if let Some(written) = inner.webhooks.get_mut(plural) {
            *written = true;
        } else {
            inner.tell(plural, "ADDED", object);
        }
    }

    /// The conversion webhook of a kind dies, or comes back.
    pub(super) fn webhook(&self, plural: &str, up: bool) {
        let mut inner = self.lock();
        if !up {
            inner.webhooks.entry(plural.to_owned()).or_insert(false);
        } else if inner.webhooks.remove(plural) == Some(true) {
            let late: Vec<Value> = inner.objects.iter().filter(|((own, ..), _)| own == plural).map(|(_, object)| object.clone()).collect();
            for object in late {
                inner.tell(plural, "MODIFIED", object);
            }
        }
    }

    /// From now on this happens to requests whose path has the text in it.
    pub(super) fn fault(&self, path: &str, fault: Option<Fault>) {
        let mut inner = self.lock();
        inner.faults.retain(|(known, _)| known != path);
        inner.faults.extend(fault.map(|fault| (path.to_owned(), fault)));
    }

    /// Every open stream of a resource ends; with an error in it, if there is one.
    pub(super) fn end_streams(&self, plural: &str, error: Option<(u16, &str)>) {
        let mut inner = self.lock();
        if let Some((code, message)) = error {
            inner.tell_line(plural, &json!({ "type": "ERROR", "object": status(code, message) }).to_string());
        }
        inner.streams.retain(|(watched, _)| watched != plural);
    }

    /// Requests since the last time somebody asked.
    pub(super) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.lock().requests)
    }

    /// Streams of a resource that are open.
    pub(super) fn open_streams(&self, plural: &str) -> usize {
        let mut inner = self.lock();
        inner.streams.retain(|(_, stream)| !stream.is_closed());
        inner.streams.iter().filter(|(watched, _)| watched == plural).count()
    }

    async fn answer(&self, uri: &str) -> Response<StreamBody<Chunks>> {
        let fault = {
            let mut inner = self.lock();
            inner.requests.push(uri.to_owned());
            inner.faults.iter().find(|(path, _)| uri.contains(path.as_str())).map(|(_, fault)| fault.clone())
        };
        match fault {
            Some(Fault::Status(code, message)) => return whole(code, &status(code, message)),
            Some(Fault::Slow(time)) => tokio::time::sleep(time).await,
            Some(Fault::Silent) => std::future::pending().await,
            None => {}
        }
        let (path, query) = uri.split_once('?').unwrap_or((uri, ""));
        // /apis/<group>/<version>[/namespaces/<namespace>]/<plural>[/<name>]
        let parts: Vec<&str> = path.trim_start_matches('/').split('/').collect();
        let (version, rest) = (parts[2], &parts[3..]);
        let (plural, name) = match rest {
            ["namespaces", _, plural, name] | [plural, name] => (*plural, Some(*name)),
            [plural] | ["namespaces", _, plural] => (*plural, None),
            _ => return whole(404, &status(404, "page not found")),
        };
        if plural == "customresourcedefinitions" {
            return self.lock().definitions(name, query);
        }
        self.lock().objects(plural, version, name, query)
    }
}

impl Inner {
    fn tell(&mut self, plural: &str, kind: &str, mut object: Value) {
        self.version += 1;
        object["metadata"]["resourceVersion"] = json!(self.version.to_string());
        self.tell_line(plural, &json!({ "type": kind, "object": object }).to_string());
    }

    fn tell_line(&mut self, plural: &str, line: &str) {
        self.streams.retain(|(watched, stream)| watched != plural || stream.send(format!("{line}\n")).is_ok());
    }

    fn stream(&mut self, plural: &str) -> Response<StreamBody<Chunks>> {
        let (sender, receiver) = mpsc::unbounded_channel();
        self.streams.push((plural.to_owned(), sender));
        let lines = stream::unfold(receiver, |mut receiver| async move {
            let line: String = receiver.recv().await?;
            Some((Ok(Frame::data(Bytes::from(line))), receiver))
        });
        Response::builder().status(200).body(StreamBody::new(Box::pin(lines) as Chunks)).unwrap()
    }

    fn list(&self, items: &[Value]) -> Response<StreamBody<Chunks>> {
        whole(200, &json!({ "metadata": { "resourceVersion": self.version.to_string() }, "items": items }))
    }

    fn definitions(&mut self, name: Option<&str>, query: &str) -> Response<StreamBody<Chunks>> {
        match name {
            Some(name) => match self.definitions.get(name) {
                Some(definition) => whole(200, definition),
                None => whole(404, &status(404, "not found")),
            },
            None if query.contains("watch=true") => self.stream("customresourcedefinitions"),
            None => self.list(&self.definitions.values().cloned().collect::<Vec<_>>()),
        }
    }

    fn objects(&mut self, plural: &str, version: &str, name: Option<&str>, query: &str) -> Response<StreamBody<Chunks>> {
        let served = self.definitions.get(&format!("{plural}.example.com")).map(|definition| definition["spec"]["versions"].clone());
        let versions = served.as_ref().and_then(Value::as_array).cloned().unwrap_or_default();
        let Some(found) = versions.iter().find(|known| known["name"] == version && known["served"] == true) else {
            return whole(404, &status(404, "the server could not find the requested resource"));
        };
        // Reads of the version that is stored ask no webhook.
        let converted = found["storage"] != true;
        let down = self.webhooks.get(plural).copied().filter(|_| converted);
        let broken = || whole(500, &status(500, "conversion webhook for example.com/v1, Kind=Widget failed: connection refused"));
        let items = || self.objects.iter().filter(|((own, ..), _)| own == plural);
        match name {
            Some(_) if down.is_some() => broken(),
            Some(name) => match items().find(|((_, _, own), _)| own == name) {
                Some((_, object)) => whole(200, object),
                None => whole(404, &status(404, "not found")),
            },
            None if query.contains("watch=true") => self.stream(plural),
            // As long as nothing was written, lists come out of the watch cache.
            None if down == Some(true) => broken(),
            None => self.list(&items().map(|(_, object)| object.clone()).collect::<Vec<_>>()),
        }
    }
}

fn status(code: u16, message: &str) -> Value {
    json!({ "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": message, "reason": "X", "code": code })
}

fn whole(code: u16, body: &Value) -> Response<StreamBody<Chunks>> {
    let chunks = stream::iter([Ok(Frame::data(Bytes::from(body.to_string())))]).boxed();
    Response::builder().status(code).body(StreamBody::new(chunks as Chunks)).unwrap()
}
