//! From the text of an object to what is known of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use aibom_api::config::PodTemplateKind;
use aibom_api::kinds::GroupKind;
use aibom_extract::Subject;
use aibom_facts::inventory::Origin;
use aibom_facts::object::{Locator, ObjectRef};
use aibom_facts::pointer::Pointer;
use aibom_facts::report::{Duty, PodTemplate, Report};
use aibom_facts::tree::{Tree, Visibility};
use aibom_plugin::{CallError, Plugin, Want};
use aibom_watch::{Accept, Cause, Failure, Meta, Object, Resource};

use super::serving::Serving;
use super::shared::Shared;
use super::world::print::Shape;
use super::world::related::{Reference, Used};
use super::world::{Controller, Key, State, Workload};
use crate::packed::Facts;
use crate::parts::{is_copy, is_passing};
use crate::pipeline::{Asked, FAULT, Reading, generation, given_up};

/// Bytes of the text of an object from which on it waits for its turn: reading takes some ten times as much memory for a moment, and the
/// watches of a dozen kinds read at one time. Hardly any object is as large that nobody made so on purpose.
const BULKY: usize = 128 << 10;

/// For so long an object waits for its turn: those of other kinds are no reason to look at none of this one.
const TURN: Duration = Duration::from_secs(10);

/// What became of an object.
#[derive(Debug)]
pub enum Read {
    /// It says nothing new.
    Unchanged,
    /// What is known of it now.
    Workload(Box<Workload>),
}

/// Reads an object. Blocks no thread of the runtime.
pub async fn read(shared: &Shared, serving: &Arc<Serving>, resource: &Resource, key: &Key, object: &Object) -> Read {
    let (meta, text) = (&object.meta, object.text.get());
    let reference = ObjectRef {
        group: resource.group.clone(),
        version: resource.version.clone(),
        kind: resource.kind.clone(),
        namespace: Some(meta.namespace.clone()),
        name: meta.name.clone(),
        uid: Some(meta.uid.clone()),
    };
    let _turn = if text.len() > BULKY { tokio::time::timeout(TURN, shared.bulky_reads.acquire()).await.ok() } else { None };
    let known = shared.world().workload(key).cloned();
    let going = meta.deletion_timestamp.is_some();
    let shape = Shape::of(text);
    let (controller, is_said) = above(shared, meta, key, shape);
    let allowed = serving.effective.allows(&key.kind);
    let plugin = serving.catalogue.plugin_for(&reference).ok().filter(|_| allowed).cloned();
    let templates = serving.templates(&resource.group, &resource.kind).filter(|_| allowed && plugin.is_none());
    if plugin.is_none() && templates.is_none() {
        return Read::Workload(Box::new(unread(resource, meta, controller, serving.round)));
    }
    let same = |view: &[u8; 32]| {
        let same = |known: &Workload| {
            known.view == *view
                && known.round == serving.round
                && *known.uid == *meta.uid
                && known.controller == controller
                && known.print == shape.print
                && !known.stale
        };
        known.as_ref().is_some_and(same)
    };
    let mut workload = Workload {
        api_version: plugin.as_ref().map_or_else(|| Arc::from(resource.api_version()), |plugin| api_version(plugin, &key.kind)),
        going,
        print: shape.print,
        retired: shape.empty && is_copy(&key.kind),
        state: State::Owned,
        ..unread(resource, meta, controller.clone(), serving.round)
    };
    if is_said {
        return if same(&workload.view) && known.is_some_and(|known| known.state == State::Owned && known.going == going) {
            Read::Unchanged
        } else {
            Read::Workload(Box::new(workload))
        };
    }
    let started = Instant::now();
    let mut used = Vec::new();
    let outcome = match Tree::from_json(text.as_bytes()) {
        Ok(tree) => {
            let view = match &plugin {
                Some(plugin) => plugin.view(&tree, tree.root()),
                None => tree.view(tree.root(), Visibility::default()),
            };
            workload.view = view.sha256();
            // A failure is tried again.
            let failed = matches!(known.as_ref().map(|known| &known.state), Some(State::Failed { .. }));
            if let Some(known) = known.as_ref().filter(|_| same(&workload.view) && !failed) {
                return if known.going == going { Read::Unchanged } else { Read::Workload(Box::new(Workload { going, ..known.clone() })) };
            }
            match (&plugin, templates) {
                (Some(plugin), _) => facts(shared, serving, plugin, &reference, &tree, Arc::new(view), &mut used).await,
                (None, Some(kind)) => facts_of_templates(serving, kind, &reference, &tree, &view),
                (None, None) => Ok(None),
            }
        }
        Err(error) => Err(format!("the object cannot be read: {error}")),
    };
    let reader = plugin.as_ref().map_or("", Plugin::name);
    shared.metrics.scrape_seconds.with_label_values(&[reader]).observe(started.elapsed().as_secs_f64());
    workload.related = used.into_boxed_slice();
    tracing::debug!(%reference, plugin = reader, is_ai = matches!(outcome, Ok(Some(_))), "an object was read");
    workload.state = match outcome {
        Ok(Some(facts)) => State::Ai(facts),
        Ok(None) => State::NotAi,
        Err(reason) => {
            tracing::warn!(%reference, plugin = reader, reason, "an object could not be read");
            let last = known.filter(|known| known.uid == workload.uid).and_then(|known| match known.state {
                State::Ai(facts) => Some(facts),
                State::Failed { last, .. } => last,
                State::NotAi | State::Owned | State::Unread => None,
            });
            State::Failed { reason: reason.into(), last }
        }
    };
    Read::Workload(Box::new(workload))
}

/// What is kept of an object that nobody reads: who it is, and to whom it belongs.
pub fn unread(resource: &Resource, meta: &Meta, controller: Controller, round: u64) -> Workload {
    Workload {
        uid: Arc::from(&*meta.uid),
        controller,
        api_version: Arc::from(resource.api_version()),
        view: [0; 32],
        round,
        related: Box::default(),
        stale: false,
        going: meta.deletion_timestamp.is_some(),
        print: None,
        retired: false,
        revision: meta.annotations.revision.as_deref().map(Arc::from),
        state: State::Unread,
    }
}

/// Who controls an object, and whether a workload above says all that it could say.
fn above(shared: &Shared, meta: &Meta, key: &Key, shape: Shape) -> (Controller, bool) {
    let world = shared.world();
    let controller = world.controller_of(meta);
    // What stays has a name of its own in the document above, and is read for its evidence.
    let is_said = is_passing(&key.kind) && world.is_said_above(&controller, &key.namespace, key, shape);
    (controller, is_said)
}

/// Group, and the version that the scraper names first: it stays the same whatever version is read.
fn api_version(plugin: &Plugin, kind: &GroupKind) -> Arc<str> {
    let known = plugin.description().kinds.iter().find(|known| known.group == kind.group && known.kind == kind.kind);
    let version = known.and_then(|known| known.versions.first()).map_or("", String::as_str);
    Arc::from(if kind.group.is_empty() { version.to_owned() } else { format!("{}/{version}", kind.group) })
}

/// The facts of an object; none when it has nothing to do with AI. What it was read with is added to `used`, also when that failed.
async fn facts(
    shared: &Shared,
    serving: &Arc<Serving>,
    plugin: &Plugin,
    reference: &ObjectRef,
    tree: &Tree,
    view: Arc<Tree>,
    used: &mut Vec<Used>,
) -> Result<Option<Facts>, String> {
    if let Some(reason) = given_up(plugin) {
        return Err(reason);
    }
    // One that names no related kinds would not be asked, and no thread has to wake up for that.
    let wants = if plugin.description().related.is_empty() {
        Vec::new()
    } else {
        let view = Arc::clone(&view);
        call(shared, serving, plugin, move |reading| reading.wants(&view)).await?
    };
    let mut found = Vec::with_capacity(wants.len());
    for want in &wants {
        found.push(related(shared, plugin, want, used).await?);
    }
    let generation = generation(tree, tree.root());
    let reference = reference.clone();
    let inventory = call(shared, serving, plugin, move |reading| {
        reading.inventory(&reference, &view, Asked { wants: &wants, found, looked: true }, aibom_extract::extract)
    })
    .await?;
    let problems = inventory.problems.len() as u64;
    if problems > 0 {
        shared.metrics.extraction_errors.with_label_values(&[plugin.name(), "crd_field"]).inc_by(problems);
    }
    if !inventory.is_ai() {
        return Ok(None);
    }
    let inventory = aibom_facts::inventory::Inventory { generation, ..inventory };
    Facts::pack(&inventory).map(Some).ok_or_else(|| FAULT.to_owned())
}

/// The facts of an object of a kind of which only is known where its pod templates are.
fn facts_of_templates(
    serving: &Serving,
    kind: &PodTemplateKind,
    reference: &ObjectRef,
    tree: &Tree,
    view: &Tree,
) -> Result<Option<Facts>, String> {
    let mut report = Report::default();
    for pointer in &kind.pod_templates {
        // A component that is not there has no template.
        let Ok(pointer) = Pointer::parse(pointer) else { continue };
        if view.at(view.root(), pointer.as_str()).is_some() {
            report.pod_templates.push(PodTemplate {
                name: if kind.pod_templates.len() > 1 { pointer.as_str().to_owned() } else { String::new() },
                at: Locator::scraped(pointer),
                role: String::new(),
                duty: Duty::Unknown,
                inherited_env: Vec::new(),
                properties: Vec::new(),
            });
        }
    }
    let (objects, trees) = ([reference.clone()], [Some(view)]);
    let subject = Subject { objects: &objects, trees: &trees, sought: &[], report: &report, origin: Origin::Cluster };
    let mut inventory = aibom_extract::extract(serving.rules(), &subject);
    inventory.generation = generation(tree, tree.root());
    if !inventory.is_ai() {
        return Ok(None);
    }
    Facts::pack(&inventory).map(Some).ok_or_else(|| FAULT.to_owned())
}

/// A call of a plugin on a thread for blocking work, within the slots that there are.
async fn call<T: Send + 'static>(
    shared: &Shared,
    serving: &Arc<Serving>,
    plugin: &Plugin,
    work: impl FnOnce(Reading<'_>) -> Result<T, CallError> + Send + 'static,
) -> Result<T, String> {
    let Ok(permit) = Arc::clone(&shared.calls).acquire_owned().await else { return Err("the operator is shutting down".to_owned()) };
    let (serving, own) = (Arc::clone(serving), plugin.clone());
    let done = tokio::task::spawn_blocking(move || {
        let _permit = permit;
        let options = serving.options(&own.description().name);
        work(Reading { plugin: &own, options, rules: serving.rules(), origin: Origin::Cluster })
    });
    let (result, outcome) = match done.await {
        Ok(Ok(answer)) => (Ok(answer), "ok"),
        Ok(Err(error)) => (Err(error.to_string()), error.word()),
        // A fault of ours on one object is that object's; the others go on.
        Err(_) => (Err(FAULT.to_owned()), "host"),
    };
    shared.metrics.plugin_calls.with_label_values(&[plugin.name(), outcome]).inc();
    result
}

/// An object that a scraper asked for; none when there is none, or it must not be read.
async fn related(shared: &Shared, plugin: &Plugin, want: &Want, used: &mut Vec<Used>) -> Result<Option<(ObjectRef, Arc<Tree>)>, String> {
    if want.refused.is_some() {
        return Ok(None);
    }
    let kind = plugin.description().related.iter().find(|kind| kind.group == want.group && kind.kind == want.kind);
    let Some(kind) = kind else { return Ok(None) };
    // ConfigMaps may hold secrets, whatever their name says.
    if want.group.is_empty() && want.kind == "ConfigMap" {
        return Ok(None);
    }
    let resources: Arc<[Resource]> =
        kind.versions.iter().map(|version| Resource::new(&kind.group, version, &kind.plural, &kind.kind)).collect();
    let reference = Reference {
        kind: Arc::new(GroupKind::new(&kind.group, &kind.kind)),
        namespace: want.namespace.as_deref().map(Arc::from),
        name: Arc::from(&*want.name),
    };
    let index = used.len();
    used.push(Used { reference, version: None, resources: Arc::clone(&resources) });
    for resource in resources.iter() {
        let path = resource.object_path(want.namespace.as_deref(), &want.name);
        match shared.client.get_text(&path, Accept::Whole).await {
            Ok(text) => {
                // Without a version it counts as missing, and is read again when the watch tells of it.
                used[index].version = Meta::of(&text).ok().map(|meta| meta.resource_version.into());
                let tree = Tree::from_json(text.as_bytes()).map_err(|error| format!("{resource} {} cannot be read: {error}", want.name))?;
                return Ok(ObjectRef::of(&tree).map(|reference| (reference, Arc::new(tree))));
            }
            Err(Failure { cause: Cause::NotFound, .. }) => {}
            Err(failure) if failure.cause == Cause::Forbidden => {
                tracing::debug!(%resource, name = want.name, "a related object may not be read");
                // Nor watched, then.
                used.truncate(index);
                return Ok(None);
            }
            Err(failure) => return Err(format!("{resource} {} could not be read: {failure}", want.name)),
        }
    }
    Ok(None)
}
