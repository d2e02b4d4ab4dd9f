//! Table A2 row by row, and what holds whatever happens in whatever order.

use proptest::prelude::*;

use super::*;
use crate::failure::Cause;
use crate::kinds::Facts;

fn at(seconds: u64) -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
}

fn demand(allowed: bool) -> Demand {
    let versions = ["v2", "v1"].map(|version| Resource::new("example.com", version, "widgets", "Widget"));
    Demand { versions: versions.to_vec(), allowed, rivals: Vec::new() }
}

fn facts(uid: &str) -> Facts {
    Facts {
        uid: uid.to_owned(),
        deleting: false,
        established: true,
        kind: "Widget".to_owned(),
        namespaced: true,
        served: vec!["v1".to_owned(), "v2".to_owned()],
        storage: "v2".to_owned(),
        stored: vec!["v2".to_owned()],
        webhook: false,
    }
}

fn ready(uid: &str) -> Observation {
    Observation::Read(Reading::Found(facts(uid)))
}

fn unserved(uid: &str) -> Observation {
    Observation::Read(Reading::Found(Facts { served: vec!["v0".to_owned()], ..facts(uid) }))
}

fn absent() -> Observation {
    Observation::Read(Reading::Absent)
}

fn failure(cause: Cause) -> Failure {
    Failure::new(cause, "no")
}

fn said(effect: &Effect) -> String {
    match effect {
        Effect::Track => "track".to_owned(),
        Effect::Untrack => "untrack".to_owned(),
        Effect::Start { resource, .. } => format!("start {}", resource.version),
        Effect::Stop { .. } => "stop".to_owned(),
        Effect::Sweep(why) => format!("sweep {}", why.as_str()),
        Effect::Forget => "forget".to_owned(),
        Effect::Tell(Told::Started) => "WatchStarted".to_owned(),
        Effect::Tell(Told::Recovered) => "WatchRecovered".to_owned(),
        Effect::Tell(Told::Unhealthy(trouble)) => format!("WatchUnhealthy {}", trouble.cause),
        Effect::Tell(Told::Disabled(why)) => format!("WatchDisabled {}", why.as_str()),
        Effect::Probe { .. } => "probe".to_owned(),
    }
}

/// A machine and its owner, who stops watches at once unless told otherwise.
struct Owner {
    machine: Machine,
    run: u64,
    stops: bool,
    seconds: u64,
}

impl Owner {
    fn new(initial: bool) -> Self {
        Self { machine: Machine::new(initial), run: 0, stops: true, seconds: 0 }
    }

    fn step(&mut self, observation: Observation) -> Vec<String> {
        self.seconds += 1;
        let mut all = Vec::new();
        let mut next = vec![observation];
        while let Some(observation) = next.pop() {
            for effect in self.machine.step(observation, at(self.seconds)) {
                if let Effect::Start { run, .. } = &effect {
                    self.run = *run;
                }
                if let (Effect::Stop { run }, true) = (&effect, self.stops) {
                    next.push(Observation::Stopped(*run));
                }
                all.push(said(&effect));
            }
        }
        all
    }

    fn steps(&mut self, observations: impl IntoIterator<Item = Observation>) -> Vec<String> {
        observations.into_iter().flat_map(|observation| self.step(observation)).collect()
    }

    fn signal(&mut self, signal: Signal) -> Vec<String> {
        self.step(Observation::Watch(self.run, signal))
    }

    fn probed(&mut self, outcome: Result<bool, Failure>) -> Vec<String> {
        self.step(Observation::Probed(self.run, outcome))
    }

    /// One that is watched, and well.
    fn well() -> Self {
        let mut owner = Self::new(true);
        owner.steps([Observation::Wanted(Some(demand(true))), ready("a")]);
        owner.steps([Observation::Watch(owner.run, Signal::Synced), Observation::Watch(owner.run, Signal::Object)]);
        assert_eq!(owner.health(), "Healthy");
        owner
    }

    fn health(&self) -> &'static str {
        self.machine.view().health.map_or("not registered", |health| health.as_str())
    }

    fn runs(&self) -> bool {
        self.machine.running().is_some()
    }
}

#[test]
fn row_1_a_kind_that_was_never_there_is_not_mentioned() {
    for allowed in [true, false] {
        let mut owner = Owner::new(true);
        let effects =
            owner.steps([Observation::Wanted(Some(demand(allowed))), absent(), Observation::Wanted(Some(demand(!allowed))), absent()]);
        assert_eq!((effects, owner.health(), owner.runs()), (Vec::new(), "not registered", false));
        // There, but never ready.
        let effects = owner.steps([unserved("a"), Observation::Read(Reading::Found(Facts { established: false, ..facts("a") }))]);
        assert_eq!((effects, owner.health(), owner.machine.view().state), (Vec::new(), "not registered", "Unknown"));
    }
}

#[test]
fn row_2_a_kind_that_becomes_ready_is_tracked_then_watched_and_told_of_when_its_list_is_complete() {
    // Present when the controller starts.
    let mut owner = Owner::new(true);
    assert_eq!(owner.steps([Observation::Wanted(Some(demand(true))), ready("a")]), ["track", "start v2"]);
    assert_eq!(owner.health(), "Starting");
    assert_eq!(owner.signal(Signal::Synced), ["WatchRecovered"]);
    assert_eq!(owner.health(), "Unproven");
    assert_eq!(owner.signal(Signal::Object), [""; 0]);
    assert_eq!(owner.health(), "Healthy");
    // Installed later; also one that was not established at first.
    for first in [absent(), Observation::Read(Reading::Found(Facts { established: false, ..facts("a") }))] {
        let mut owner = Owner::new(true);
        owner.steps([Observation::Wanted(Some(demand(true))), first]);
        assert_eq!(owner.step(ready("a")), ["track", "start v2"]);
        assert_eq!(owner.signal(Signal::Synced), ["WatchStarted"]);
    }
    // A plugin that came later.
    let mut owner = Owner::new(false);
    owner.steps([Observation::Wanted(Some(demand(true))), ready("a")]);
    assert_eq!(owner.signal(Signal::Synced), ["WatchStarted"]);
    // Removed, and back.
    let mut owner = Owner::well();
    owner.step(absent());
    assert_eq!(owner.step(ready("b")), ["track", "start v2"]);
    assert_eq!(owner.signal(Signal::Synced), ["WatchStarted"]);
}

#[test]
fn row_2_a_watch_that_ends_before_its_list_is_complete_is_not_told_of() {
    let mut owner = Owner::new(true);
    owner.steps([Observation::Wanted(Some(demand(true))), absent(), ready("a")]);
    assert_eq!(owner.step(absent()), ["stop", "untrack", "WatchDisabled crd-removed", "sweep crd-removed"]);
}

#[test]
fn row_3_a_kind_that_becomes_ready_while_it_is_excluded_is_tracked_and_swept_once() {
    let mut owner = Owner::new(true);
    let effects = owner.steps([Observation::Wanted(Some(demand(false))), absent(), ready("a"), ready("a")]);
    assert_eq!(effects, ["track", "WatchDisabled config", "sweep config"]);
    assert_eq!(owner.machine.view().health, Some(Health::Disabled(Why::Config)));
    // Removed, there is nothing more to be told or swept; back, it is row 3 again.
    assert_eq!(owner.step(absent()), ["untrack"]);
    assert_eq!(owner.machine.view().health, Some(Health::Disabled(Why::CrdRemoved)));
    assert_eq!(owner.step(ready("b")), ["track", "WatchDisabled config", "sweep config"]);
}

#[test]
fn row_4_a_change_of_a_definition_that_stays_ready_changes_nothing() {
    let mut owner = Owner::well();
    let webhook = Observation::Read(Reading::Found(Facts { webhook: true, ..facts("a") }));
    assert_eq!(owner.steps([ready("a"), webhook, ready("a")]), [""; 0]);
    assert!(owner.runs());
}

#[test]
fn rows_5_and_6_a_kind_that_cannot_be_served_is_stopped_and_kept_and_comes_back() {
    let mut owner = Owner::well();
    assert_eq!(owner.step(unserved("a")), ["stop", "WatchUnhealthy Unservable"]);
    assert_eq!((owner.health(), owner.machine.view().state), ("Unhealthy", "Unservable"));
    let not_established = Observation::Read(Reading::Found(Facts { established: false, ..facts("a") }));
    assert_eq!(owner.steps([not_established, unserved("a")]), [""; 0], "told once");
    assert_eq!(owner.step(ready("a")), ["start v2"]);
    assert_eq!(owner.health(), "Unhealthy", "until a list is complete");
    assert_eq!(owner.signal(Signal::Synced), ["WatchRecovered"]);
    assert_eq!(owner.health(), "Unproven");
}

#[test]
fn row_7_a_kind_that_is_excluded_is_stopped_and_swept_once() {
    let exclude = || Observation::Wanted(Some(demand(false)));
    let mut owner = Owner::well();
    assert_eq!(owner.steps([exclude(), exclude()]), ["stop", "WatchDisabled config", "sweep config"]);
    let mut owner = Owner::well();
    owner.step(unserved("a"));
    assert_eq!(owner.steps([exclude(), exclude()]), ["WatchDisabled config", "sweep config"]);
}

#[test]
fn row_8_a_kind_whose_definition_is_gone_is_stopped_told_of_and_swept_once() {
    for gone in [absent(), Observation::Read(Reading::Found(Facts { deleting: true, ..facts("a") }))] {
        let mut owner = Owner::well();
        let effects = owner.steps([gone.clone(), gone.clone(), absent()]);
        assert_eq!(effects, ["stop", "untrack", "WatchDisabled crd-removed", "sweep crd-removed"]);
        assert_eq!((owner.machine.view().state, owner.health()), ("Removed", "Disabled"));
        let mut owner = Owner::well();
        owner.step(unserved("a"));
        assert_eq!(owner.step(gone), ["untrack", "WatchDisabled crd-removed", "sweep crd-removed"]);
    }
}

#[test]
fn row_9_a_definition_with_another_uid_is_the_end_of_the_old_one_before_the_new_one_begins() {
    let mut owner = Owner::well();
    owner.stops = false;
    assert_eq!(owner.step(ready("b")), ["stop"], "nothing else happens before the old watch has ended");
    assert_eq!(owner.steps([ready("b"), Observation::Wanted(Some(demand(true)))]), [""; 0]);
    let ended = Observation::Stopped(owner.run);
    assert_eq!(owner.step(ended), ["untrack", "WatchDisabled crd-removed", "sweep crd-removed", "track", "start v2"]);
    assert_eq!(owner.signal(Signal::Synced), ["WatchStarted"]);
    // Excluded: rows 8 and 3.
    let mut owner = Owner::well();
    owner.step(Observation::Wanted(Some(demand(false))));
    assert_eq!(owner.step(ready("b")), ["untrack", "track", "WatchDisabled config", "sweep config"]);
    // Another one that cannot be served was never there.
    let mut owner = Owner::well();
    assert_eq!(owner.step(unserved("b")), ["stop", "untrack", "WatchDisabled crd-removed", "sweep crd-removed"]);
}

#[test]
fn row_10_a_kind_that_is_allowed_again_is_watched_again() {
    let mut owner = Owner::well();
    owner.step(Observation::Wanted(Some(demand(false))));
    assert_eq!(owner.step(Observation::Wanted(Some(demand(true)))), ["start v2"]);
    assert_eq!(owner.signal(Signal::Synced), ["WatchRecovered"]);
    // While it cannot be served.
    let mut owner = Owner::well();
    owner.steps([Observation::Wanted(Some(demand(false))), unserved("a")]);
    assert_eq!(owner.step(Observation::Wanted(Some(demand(true)))), ["WatchUnhealthy Unservable"]);
}

#[test]
fn row_11_an_outage_is_told_of_once_each_way_and_stops_nothing() {
    let mut owner = Owner::well();
    assert_eq!(owner.probed(Err(failure(Cause::Conversion))), ["WatchUnhealthy Conversion"]);
    assert_eq!(owner.probed(Err(failure(Cause::Conversion))), [""; 0]);
    assert_eq!(owner.signal(Signal::Object), [""; 0], "an object that came in does not make a read good");
    assert!(owner.runs());
    assert_eq!(owner.health(), "Unhealthy");
    assert_eq!(owner.probed(Ok(true)), ["WatchRecovered"]);
    assert_eq!(owner.health(), "Healthy");
}

#[test]
fn a_kind_is_well_again_only_when_stream_and_probe_are() {
    let mut owner = Owner::well();
    assert_eq!(owner.signal(Signal::Failed(failure(Cause::Conversion))), ["WatchUnhealthy Conversion"]);
    assert_eq!(owner.probed(Ok(true)), [""; 0], "the stream still fails");
    assert_eq!(owner.signal(Signal::Opened), ["probe"], "an open stream alone says nothing");
    assert_eq!(owner.health(), "Unhealthy");
    assert_eq!(owner.probed(Ok(true)), ["WatchRecovered"]);
    // Kubernetes' own kinds are not probed.
    let mut owner = Owner::new(true);
    assert_eq!(owner.steps([Observation::Wanted(Some(demand(true))), Observation::Read(Reading::BuiltIn)]), ["track", "start v2"]);
    assert_eq!(owner.signal(Signal::Synced), [""; 0], "that they are watched is no news");
    owner.signal(Signal::Failed(failure(Cause::Forbidden)));
    assert_eq!(owner.health(), "Unhealthy");
    assert_eq!(owner.signal(Signal::Opened), ["WatchRecovered"]);
}

#[test]
fn a_hiccup_of_the_server_is_no_trouble_and_a_second_one_is() {
    for cause in [Cause::Network, Cause::Timeout, Cause::Throttled, Cause::Server] {
        let mut owner = Owner::well();
        assert_eq!(owner.signal(Signal::Failed(failure(cause))), [""; 0], "{cause:?}");
        assert_eq!(owner.signal(Signal::Failed(failure(cause))), [format!("WatchUnhealthy {}", cause.as_str())]);
    }
}

#[test]
fn right_after_a_definition_became_ready_an_unknown_kind_is_the_server_catching_up() {
    let mut owner = Owner::new(true);
    owner.steps([Observation::Wanted(Some(demand(true))), absent(), ready("a")]);
    assert_eq!(owner.signal(Signal::Failed(failure(Cause::NotFound))), [""; 0]);
    assert_eq!(owner.health(), "Starting");
    owner.seconds += 130;
    assert_eq!(owner.signal(Signal::Failed(failure(Cause::NotFound))), ["WatchUnhealthy NotFound"]);
    assert_eq!(owner.signal(Signal::Synced), ["WatchStarted"]);
}

#[test]
fn another_stored_version_is_read_without_a_word_where_the_reader_knows_it() {
    let mut owner = Owner::well();
    let flipped = Facts { storage: "v1".to_owned(), stored: vec!["v2".to_owned(), "v1".to_owned()], webhook: true, ..facts("a") };
    assert_eq!(owner.step(Observation::Read(Reading::Found(flipped.clone()))), ["stop", "start v1"]);
    assert_eq!(owner.machine.view().choice.map(|choice| choice.way), Some(Way::Webhook), "old objects still need the webhook");
    assert_eq!(owner.health(), "Healthy", "what was known stays known");
    assert_eq!(owner.signal(Signal::Synced), [""; 0]);
    let migrated = Facts { stored: vec!["v1".to_owned()], ..flipped };
    assert_eq!(owner.step(Observation::Read(Reading::Found(migrated))), [""; 0]);
    assert_eq!(owner.machine.view().choice.map(|choice| choice.way), Some(Way::Stored));
}

#[test]
fn another_plugin_with_other_versions_takes_over_and_what_it_cannot_read_is_unservable() {
    let only = |version: &str| {
        let versions = vec![Resource::new("example.com", version, "widgets", "Widget")];
        Observation::Wanted(Some(Demand { versions, allowed: true, rivals: Vec::new() }))
    };
    let mut owner = Owner::well();
    assert_eq!(owner.step(only("v1")), ["stop", "start v1"]);
    assert_eq!(owner.step(only("v9")), ["stop", "WatchUnhealthy Unservable"]);
    assert_eq!(owner.step(only("v2")), ["start v2"]);
}

#[test]
fn of_two_plugins_that_claim_a_kind_none_reads_it_and_nothing_is_swept() {
    let rivals = || Observation::Wanted(Some(Demand { rivals: vec!["one".to_owned(), "two".to_owned()], ..demand(true) }));
    let mut owner = Owner::well();
    assert_eq!(owner.steps([rivals(), rivals()]), ["stop", "WatchUnhealthy PluginConflict"]);
    assert_eq!(owner.step(Observation::Wanted(Some(demand(true)))), ["start v2"]);
    assert_eq!(owner.signal(Signal::Synced), ["WatchRecovered"]);
}

#[test]
fn a_kind_that_nobody_claims_any_more_is_forgotten_and_nothing_is_swept() {
    let mut owner = Owner::well();
    assert_eq!(owner.step(Observation::Wanted(None)), ["stop", "forget"]);
    assert_eq!(owner.health(), "not registered");
    // Wanted again before the old watch has ended: it goes on with a new one, and nothing was forgotten.
    let mut owner = Owner::well();
    owner.stops = false;
    assert_eq!(owner.steps([Observation::Wanted(None), Observation::Wanted(Some(demand(true)))]), ["stop"]);
    let ended = Observation::Stopped(owner.run);
    assert_eq!(owner.step(ended), ["start v2"]);
}

#[test]
fn what_an_earlier_watch_says_late_is_not_heard() {
    let mut owner = Owner::well();
    let old = owner.run;
    owner.steps([unserved("a"), ready("a")]);
    assert_eq!(
        owner.steps([Observation::Watch(old, Signal::Synced), Observation::Probed(old, Ok(true)), Observation::Stopped(old)]),
        [""; 0]
    );
    assert_eq!(owner.health(), "Unhealthy");
}

#[test]
fn a_watch_that_ends_by_itself_is_started_again() {
    let mut owner = Owner::well();
    let ended = Observation::Stopped(owner.run);
    assert_eq!(owner.step(ended), ["start v2"]);
}

fn any_definition() -> impl Strategy<Value = Reading> {
    let found = (0..3u8, any::<[bool; 4]>()).prop_map(|(uid, [established, served, deleting, storage])| {
        let versions = if served { vec!["v1".to_owned(), "v2".to_owned()] } else { vec!["v0".to_owned()] };
        let storage = if storage { "v1" } else { "v2" };
        Reading::Found(Facts {
            established,
            deleting: deleting && uid == 0,
            served: versions,
            storage: storage.to_owned(),
            ..facts(&format!("uid-{uid}"))
        })
    });
    prop_oneof![1 => Just(Reading::Absent), 4 => found]
}

fn any_observation() -> impl Strategy<Value = Option<Observation>> {
    let cause = prop_oneof![Just(Cause::Conversion), Just(Cause::Network), Just(Cause::Forbidden), Just(Cause::NotFound)];
    let signal = prop_oneof![
        Just(Signal::Synced),
        Just(Signal::Object),
        Just(Signal::Opened),
        cause.clone().prop_map(|cause| Signal::Failed(failure(cause)))
    ];
    let wanted = (any::<bool>(), any::<bool>(), 0..8u8).prop_map(|(allowed, rivals, none)| {
        let rivals = if rivals { vec!["one".to_owned(), "two".to_owned()] } else { Vec::new() };
        (none > 0).then(|| Demand { rivals, ..demand(allowed) })
    });
    prop_oneof![
        2 => wanted.prop_map(|wanted| Some(Observation::Wanted(wanted))),
        3 => any_definition().prop_map(|reading| Some(Observation::Read(reading))),
        3 => signal.prop_map(|signal| Some(Observation::Watch(0, signal))),
        1 => any::<bool>().prop_map(|named| Some(Observation::Probed(0, Ok(named)))),
        1 => cause.prop_map(|cause| Some(Observation::Probed(0, Err(failure(cause))))),
        // The owner gets around to what he was asked for.
        2 => Just(None),
    ]
}

/// An owner who does what he is asked for when he gets around to it, and notes what must never happen.
struct Slow {
    machine: Machine,
    running: Option<u64>,
    stopping: Vec<u64>,
    tracked: bool,
    /// Everything that was a reason to take something away, since the last time that it was there.
    demand: Option<Demand>,
    reading: Option<Reading>,
    seconds: u64,
}

impl Slow {
    fn new() -> Self {
        Self { machine: Machine::new(true), running: None, stopping: Vec::new(), tracked: false, demand: None, reading: None, seconds: 0 }
    }

    fn step(&mut self, observation: Observation) {
        match &observation {
            Observation::Wanted(wanted) => self.demand.clone_from(wanted),
            Observation::Read(reading) => self.reading = Some(reading.clone()),
            _ => {}
        }
        self.seconds += 1;
        for effect in self.machine.step(observation, at(self.seconds)) {
            match effect {
                Effect::Start { run, .. } => {
                    assert_eq!((self.running, self.stopping.len()), (None, 0), "two watches of one kind");
                    assert!(self.tracked, "a watch of a kind that is not tracked");
                    self.running = Some(run);
                }
                Effect::Stop { run } => {
                    assert_eq!(self.running.take(), Some(run));
                    self.stopping.push(run);
                }
                Effect::Track => assert!(!std::mem::replace(&mut self.tracked, true)),
                Effect::Untrack => assert!(std::mem::replace(&mut self.tracked, false)),
                Effect::Forget => self.tracked = false,
                Effect::Sweep(why) => {
                    assert_eq!((self.running, self.stopping.len()), (None, 0), "swept under a running watch");
                    match why {
                        Why::Config => assert!(self.demand.as_ref().is_some_and(|demand| !demand.allowed)),
                        // Gone, or replaced by another.
                        Why::CrdRemoved => assert!(self.reading.is_some()),
                    }
                }
                Effect::Tell(_) | Effect::Probe { .. } => {}
            }
        }
    }

    fn take(&mut self, observation: Option<Observation>) {
        match observation {
            None => {
                if let Some(run) = self.stopping.pop() {
                    self.step(Observation::Stopped(run));
                }
            }
            Some(Observation::Watch(_, signal)) => {
                if let Some(run) = self.running {
                    self.step(Observation::Watch(run, signal));
                }
            }
            Some(Observation::Probed(_, outcome)) => {
                if let Some(run) = self.running {
                    self.step(Observation::Probed(run, outcome));
                }
            }
            Some(other) => self.step(other),
        }
    }

    fn settle(&mut self) {
        while let Some(run) = self.stopping.pop() {
            self.step(Observation::Stopped(run));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// No watch is leaked or doubled, nothing is swept without its reason, and where it ends depends on what is the case last.
    #[test]
    fn whatever_happens_the_end_is_that_of_what_is_the_case(observations in prop::collection::vec(any_observation(), 0..60), last in any_definition(), allowed in any::<bool>()) {
        let mut owner = Slow::new();
        for observation in observations {
            owner.take(observation);
        }
        owner.take(Some(Observation::Wanted(Some(demand(allowed)))));
        owner.take(Some(Observation::Read(last.clone())));
        owner.settle();
        let readable = matches!(&last, Reading::Found(facts) if !facts.deleting && facts.choose(&demand(true)).is_ok());
        prop_assert_eq!(owner.running.is_some(), readable && allowed);
        prop_assert_eq!(owner.running, owner.machine.running().map(|(run, _)| run));
        if let Some((_, resource)) = owner.machine.running() {
            let Reading::Found(facts) = &last else { panic!() };
            prop_assert_eq!(&resource.version, &facts.storage);
        }
        if readable {
            prop_assert!(owner.tracked);
        }
        if matches!(last, Reading::Absent) {
            prop_assert!(!owner.tracked);
        }
        owner.take(Some(Observation::Wanted(None)));
        owner.settle();
        prop_assert!(!owner.machine.is_busy() && !owner.tracked && owner.machine.view().health.is_none());
    }

    /// Kinds know nothing of each other, and two whose events come in between each other end as each alone.
    #[test]
    fn the_order_between_kinds_does_not_matter(first in prop::collection::vec(any_observation(), 0..20), second in prop::collection::vec(any_observation(), 0..20), turns in prop::collection::vec(any::<bool>(), 40)) {
        let alone = |observations: &[Option<Observation>]| {
            let mut owner = Slow::new();
            for observation in observations {
                owner.take(observation.clone());
            }
            owner.settle();
            owner.machine.view()
        };
        let (mut one, mut two) = (Slow::new(), Slow::new());
        let (mut left, mut right) = (first.iter(), second.iter());
        for turn in turns {
            let (owner, queue) = if turn { (&mut one, &mut left) } else { (&mut two, &mut right) };
            if let Some(observation) = queue.next() {
                owner.take(observation.clone());
            }
        }
        left.for_each(|observation| one.take(observation.clone()));
        right.for_each(|observation| two.take(observation.clone()));
        one.settle();
        two.settle();
        prop_assert_eq!(one.machine.view(), alone(&first));
        prop_assert_eq!(two.machine.view(), alone(&second));
    }
}
