//! Which watches run: those of the kinds that the state machines want watched, in each scope, and those of pods and replica sets, which
//! tell what runs.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::time::Duration;

use aibom_api::kinds::GroupKind;
use aibom_watch::kinds::Signals;
use aibom_watch::{Resource, Scope};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use super::lane::{Order, Report, Subject, run};
use super::shared::Shared;
use crate::parts::is_copy;

/// A watch that ended by itself is not started again sooner: whatever made it end may do so again.
const REST: Duration = Duration::from_secs(5);

/// Kinds that are watched in any case: they tell what runs, and to whom it belongs. There are many of their objects, so they are watched in
/// the namespaces that are looked at only.
const COPIES: [(&str, &str, &str); 2] = [("", "pods", "Pod"), ("apps", "replicasets", "ReplicaSet")];

/// What is to run of a kind.
#[derive(Clone, Debug)]
pub struct Run {
    /// Kind.
    pub kind: Arc<GroupKind>,
    /// Number under which its watches report.
    pub run: u64,
    /// What is read.
    pub resource: Resource,
    /// Whether a scraper reads it, or it is followed for its owners only.
    pub scraped: bool,
}

/// Running watches.
pub struct Lanes {
    running: HashMap<Subject, Running>,
    signals: Signals<Arc<GroupKind>>,
    /// Up to so many namespaces pods are watched in each of them, beyond it in the whole cluster.
    per_namespace: usize,
}

struct Running {
    orders: mpsc::UnboundedSender<Order>,
    stop: CancellationToken,
    task: JoinHandle<()>,
}

impl Lanes {
    /// None run.
    pub fn new(per_namespace: usize, signals: Signals<Arc<GroupKind>>) -> Self {
        Self { running: HashMap::new(), signals, per_namespace }
    }

    /// Starts and stops watches, so that these kinds are watched, in the scopes that are looked at.
    pub async fn fit(&mut self, shared: &Arc<Shared>, runs: &[Run]) {
        let wanted = self.wanted(shared, runs);
        let gone: Vec<Subject> = self.running.keys().filter(|subject| !wanted.contains_key(*subject)).cloned().collect();
        // New ones first: where a kind only changes its scope, it is looked at all the time.
        for (subject, run) in wanted {
            if !self.running.contains_key(&subject) {
                self.start(shared, subject, run);
            }
        }
        for subject in gone {
            let Some(running) = self.running.remove(&subject) else { continue };
            running.stop.cancel();
            let _ = running.task.await;
            tracing::info!(resource = %subject.resource, scope = ?subject.scope, "a watch was ended");
            self.forget(shared, &subject.kind, &subject.scope);
        }
    }

    fn start(&mut self, shared: &Arc<Shared>, subject: Subject, number: Option<u64>) {
        let (orders, receiver) = mpsc::unbounded_channel();
        let stop = CancellationToken::new();
        tracing::info!(resource = %subject.resource, version = subject.resource.version, scope = ?subject.scope, "a watch begins");
        let report = number.map(|number| Report { signals: self.signals.clone(), run: number });
        let watched = tokio::spawn(run(Arc::clone(shared), subject.clone(), report, receiver, stop.clone()));
        let task = match number {
            None => watched,
            Some(number) => {
                let (stop, signals, kind) = (stop.clone(), self.signals.clone(), Arc::clone(&subject.kind));
                tokio::spawn(async move {
                    if let Err(error) = watched.await {
                        tracing::error!(%kind, %error, "a watch ended badly");
                    }
                    if !stop.is_cancelled() {
                        tokio::time::sleep(REST).await;
                        signals.stopped(kind, number);
                    }
                })
            }
        };
        self.running.insert(subject, Running { orders, stop, task });
    }

    /// Stops the watches of a kind, and says so when the last of them has ended. What is known of the kind stays, and proves nothing.
    pub fn stop(&mut self, shared: &Shared, kind: &Arc<GroupKind>, number: u64) {
        let subjects: Vec<Subject> =
            self.running.keys().filter(|subject| subject.kind == *kind && (subject.scraped || !is_copy(kind))).cloned().collect();
        let mut ending = Vec::new();
        for subject in subjects {
            if let Some(running) = self.running.remove(&subject) {
                running.stop.cancel();
                ending.push(running.task);
            }
        }
        shared.world().rest(kind);
        let (signals, kind) = (self.signals.clone(), Arc::clone(kind));
        tokio::spawn(async move {
            for task in ending {
                let _ = task.await;
            }
            tracing::info!(%kind, "a kind is not watched any more");
            signals.stopped(kind, number);
        });
    }

    /// What was known of a kind is known no more, but where other watches tell of it.
    pub fn forget_kind(&self, shared: &Shared, kind: &Arc<GroupKind>) {
        let scopes = shared.world().scopes(kind);
        for scope in scopes {
            self.forget(shared, kind, &scope);
        }
    }

    fn forget(&self, shared: &Shared, kind: &Arc<GroupKind>, scope: &Scope) {
        let others: Vec<Scope> = self.running.keys().filter(|other| other.kind == *kind).map(|other| other.scope.clone()).collect();
        let touched = shared.world().end_lane(kind, scope, &others);
        shared.look_at(touched);
    }

    /// Stops all watches, and what is known of their kinds stays.
    pub async fn stop_all(&mut self) {
        for (_, running) in self.running.drain() {
            running.stop.cancel();
            let _ = running.task.await;
        }
    }

    /// Tells all watches something.
    pub fn tell(&self, order: &Order) {
        for running in self.running.values() {
            // One that has ended has nothing to be told.
            let _ = running.orders.send(order.clone());
        }
    }

    fn wanted(&self, shared: &Shared, runs: &[Run]) -> BTreeMap<Subject, Option<u64>> {
        let namespaces: BTreeSet<String> = shared.world().namespaces().map(ToString::to_string).collect();
        let scopes = |kind: &GroupKind| {
            if is_copy(kind) && namespaces.len() <= self.per_namespace {
                namespaces.iter().cloned().map(Scope::Namespace).collect()
            } else {
                vec![Scope::Cluster]
            }
        };
        let mut wanted = BTreeMap::new();
        for Run { kind, run, resource, scraped } in runs {
            for scope in scopes(kind) {
                let subject = Subject { kind: Arc::clone(kind), resource: resource.clone(), scope, scraped: *scraped };
                wanted.insert(subject, Some(*run));
            }
        }
        for (group, plural, name) in COPIES {
            let kind = Arc::new(GroupKind::new(group, name));
            if !runs.iter().any(|run| run.kind == kind) {
                for scope in scopes(&kind) {
                    let resource = Resource::new(group, "v1", plural, name);
                    wanted.insert(Subject { kind: Arc::clone(&kind), resource, scope, scraped: false }, None);
                }
            }
        }
        wanted
    }
}
