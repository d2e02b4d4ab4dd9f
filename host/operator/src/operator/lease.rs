//! Who writes: the holder of a lease, for as long as it can prove that it holds it.
//!
//! A process may write until a moment that it computes from *before* its last successful renewal was sent ([`Term`]); others take the
//! lease over only when they have seen no renewal for longer than that. So no clock of another machine is read, and a process that is
//! cut off stops by itself.

use std::time::Duration;

use aibom_watch::{Cause, Failure};
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use k8s_openapi::jiff::Timestamp;
use kube::Api;
use kube::api::PostParams;
use kube::core::ObjectMeta;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

/// Name of the lease, as the Go operator calls it.
pub const NAME: &str = "k8s-aibom.aibom.k8saibom.dev";

/// After this time without a renewal another process takes over.
const DURATION: Duration = Duration::from_secs(15);

/// For this time after a renewal was sent its sender may write.
const MAY_ACT: Duration = Duration::from_secs(10);

/// Time between two tries to get the lease, or to renew it when the last one failed.
const RETRY: Duration = Duration::from_secs(2);

/// Time between two renewals. Each is one request.
const RENEW: Duration = Duration::from_secs(5);

/// For ever.
const A_CENTURY: Duration = Duration::from_hours(24 * 365 * 100);

/// Until when this process may write.
#[derive(Clone, Debug)]
pub struct Term(watch::Receiver<Option<Instant>>);

impl Term {
    /// A term without end, where there is no election.
    pub fn unlimited() -> Self {
        let (sender, receiver) = watch::channel(Some(Instant::now() + A_CENTURY));
        // The receiver keeps the last value when the sender is gone.
        drop(sender);
        Self(receiver)
    }

    /// How long this process may still write; none when it may not.
    pub fn left(&self) -> Option<Duration> {
        let until = (*self.0.borrow())?;
        until.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
    }

    /// Waits until this process may write.
    pub async fn begun(&mut self) {
        // An error means that the elector is gone, and the process ends with it.
        let _ = self.0.wait_for(Option::is_some).await;
    }
}

/// Tries to hold the lease.
pub struct Elector {
    leases: Api<Lease>,
    identity: String,
    term: watch::Sender<Option<Instant>>,
    /// What the lease said when it was last seen to change, and when that was on our clock.
    seen: Option<(LeaseSpec, Instant)>,
    /// The lease as it was last written, while it is held.
    written: Option<Lease>,
    /// Set when another process is known to hold the lease.
    stands_by: watch::Sender<bool>,
}

/// How one try went.
#[derive(Debug, PartialEq, Eq)]
enum Try {
    Held,
    Others,
}

impl Elector {
    /// An elector, and the term that it fills.
    pub fn new(leases: Api<Lease>, identity: String) -> (Self, Term) {
        let (term, receiver) = watch::channel(None);
        (Self { leases, identity, term, seen: None, written: None, stands_by: watch::channel(false).0 }, Term(receiver))
    }

    /// Whether another process is known to hold the lease.
    pub fn stands_by(&self) -> watch::Receiver<bool> {
        self.stands_by.subscribe()
    }

    /// Holds the lease for as long as it can. Returns when the lease was lost or, after it was given back, when `stop` is cancelled.
    pub async fn run(mut self, stop: CancellationToken) {
        loop {
            let started = Instant::now();
            let tried = tokio::select! {
                tried = timeout(RETRY, self.attempt()) => tried,
                () = stop.cancelled() => break,
            };
            let held = matches!(tried, Ok(Ok(Try::Held)));
            match tried {
                Ok(Ok(Try::Held)) => {
                    if self.term.borrow().is_none() {
                        tracing::info!(identity = self.identity, lease = NAME, "this process writes from now on");
                    }
                    self.term.send_replace(Some(started + MAY_ACT));
                }
                Ok(Ok(Try::Others)) if self.term.borrow().is_some() => {
                    tracing::error!(lease = NAME, "the lease was taken over by another process");
                    self.term.send_replace(None);
                    return;
                }
                Ok(Ok(Try::Others)) => {
                    self.stands_by.send_replace(true);
                }
                Ok(Err(failure)) => tracing::warn!(lease = NAME, %failure, "the lease could not be renewed"),
                Err(_) => tracing::warn!(lease = NAME, "no answer to the renewal of the lease"),
            }
            let until = *self.term.borrow();
            if until.is_some_and(|until| until <= Instant::now()) {
                tracing::error!(lease = NAME, "the lease could not be renewed in time; this process writes no more");
                self.term.send_replace(None);
                return;
            }
            let next = if held { RENEW } else { RETRY };
            let pause = until.map_or(next, |until| next.min(until.saturating_duration_since(Instant::now())));
            tokio::select! { () = sleep(pause) => {}, () = stop.cancelled() => break }
        }
        if self.term.send_replace(None).is_some() {
            if let Ok(Ok(())) = timeout(RETRY, self.release()).await {
                tracing::info!(lease = NAME, "the lease was given back");
            } else {
                tracing::warn!(lease = NAME, "the lease could not be given back; it runs out by itself");
            }
        }
    }

    async fn attempt(&mut self) -> Result<Try, Failure> {
        let now = MicroTime(Timestamp::now());
        // Who holds it need not ask: if anybody else has written it meanwhile, the server refuses.
        if let Some(mut lease) = self.written.take() {
            lease.spec = Some(self.spec(&now, lease.spec.as_ref()));
            return self.write(lease).await;
        }
        let Some(mut lease) = self.leases.get_opt(NAME).await? else {
            let lease =
                Lease { metadata: ObjectMeta { name: Some(NAME.to_owned()), ..ObjectMeta::default() }, spec: Some(self.spec(&now, None)) };
            let created = self.leases.create(&PostParams::default(), &lease).await;
            return self.written(created);
        };
        let spec = lease.spec.take().unwrap_or_default();
        let holder = spec.holder_identity.clone().unwrap_or_default();
        if holder != self.identity && !holder.is_empty() {
            let unchanged = self.seen.as_ref().filter(|(seen, _)| *seen == spec).map(|(_, since)| *since);
            let since = unchanged.unwrap_or_else(|| {
                self.seen = Some((spec.clone(), Instant::now()));
                Instant::now()
            });
            let theirs = spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok()).map_or(DURATION, Duration::from_secs);
            if since.elapsed() < theirs {
                return Ok(Try::Others);
            }
        }
        // The version that was read goes with it: if anybody wrote meanwhile, the server refuses.
        lease.spec = Some(self.spec(&now, Some(&spec)));
        self.write(lease).await
    }

    async fn write(&mut self, lease: Lease) -> Result<Try, Failure> {
        let replaced = self.leases.replace(NAME, &PostParams::default(), &lease).await;
        self.written(replaced)
    }

    /// What became of a write. A conflict says that somebody else wrote; who, the next look at the lease tells.
    fn written(&mut self, outcome: kube::Result<Lease>) -> Result<Try, Failure> {
        match outcome.map_err(Failure::from) {
            Ok(lease) => {
                self.written = Some(lease);
                Ok(Try::Held)
            }
            Err(failure) if failure.cause == Cause::Conflict && self.term.borrow().is_none() => Ok(Try::Others),
            Err(failure) => Err(failure),
        }
    }

    fn spec(&self, now: &MicroTime, before: Option<&LeaseSpec>) -> LeaseSpec {
        let ours = before.is_some_and(|before| before.holder_identity.as_deref() == Some(&self.identity));
        let transitions = before.and_then(|before| before.lease_transitions).unwrap_or(0);
        LeaseSpec {
            holder_identity: Some(self.identity.clone()),
            lease_duration_seconds: i32::try_from(DURATION.as_secs()).ok(),
            acquire_time: before.filter(|_| ours).and_then(|before| before.acquire_time.clone()).or_else(|| Some(now.clone())),
            renew_time: Some(now.clone()),
            lease_transitions: Some(if ours { transitions } else { transitions.saturating_add(1) }),
            ..LeaseSpec::default()
        }
    }

    async fn release(&self) -> Result<(), Failure> {
        let mut lease = self.leases.get(NAME).await?;
        let spec = lease.spec.get_or_insert_default();
        if spec.holder_identity.as_deref() == Some(&self.identity) {
            spec.holder_identity = Some(String::new());
            spec.lease_duration_seconds = Some(1);
            spec.renew_time = Some(MicroTime(Timestamp::now()));
            self.leases.replace(NAME, &PostParams::default(), &lease).await?;
        }
        Ok(())
    }
}
