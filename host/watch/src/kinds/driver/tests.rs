//! The driver on a server in the process, with a clock that is moved by hand.

mod fake;

use std::collections::HashMap;

use tokio::task::JoinHandle;
use tokio::time::sleep;

use super::*;
use crate::kinds::{Reading, Way};
use fake::{Cluster, Fault};

/// Whoever owns a driver: starts and stops watches, and notes what he is told.
struct Owner {
    cluster: Cluster,
    driver: Driver<String>,
    watches: HashMap<(String, u64), JoinHandle<()>>,
    /// Kinds that count, and whether anything was swept.
    tracked: HashSet<String>,
    log: Vec<String>,
}

fn demand(plural: &str, kind: &str, allowed: bool) -> Demand {
    let versions = ["v2", "v1"].map(|version| Resource::new("example.com", version, plural, kind));
    Demand { versions: versions.to_vec(), allowed, rivals: Vec::new() }
}

fn demands(allowed: &[(&str, bool)]) -> BTreeMap<String, Demand> {
    let kind = |plural: &str| format!("{}{}", plural[..1].to_uppercase(), plural[1..].trim_end_matches('s'));
    allowed.iter().map(|(plural, allowed)| ((*plural).to_owned(), demand(plural, &kind(plural), *allowed))).collect()
}

impl Owner {
    fn new(cluster: &Cluster) -> Self {
        let names: Names<String> = Arc::new(|_, _| None);
        let driver = Driver::new(cluster.client(), Timing::default(), names);
        Self { cluster: cluster.clone(), driver, watches: HashMap::new(), tracked: HashSet::new(), log: Vec::new() }
    }

    /// One that wants widgets, which are there and well.
    async fn well(cluster: &Cluster, served: &[&str], storage: &str) -> Self {
        cluster.define("widgets", "Widget", served, storage, true);
        cluster.put("widgets", "a");
        let mut owner = Self::new(cluster);
        owner.driver.want(demands(&[("widgets", true)]));
        owner.pass(5).await;
        assert_eq!(owner.health("widgets"), "Healthy");
        owner.log.clear();
        owner
    }

    /// Lets time pass.
    async fn pass(&mut self, seconds: u64) {
        let end = sleep(Duration::from_secs(seconds));
        tokio::pin!(end);
        loop {
            let said = tokio::select! { biased; said = self.driver.next() => said, () = &mut end => return };
            self.take(said).await;
        }
    }

    async fn take(&mut self, said: Said<String>) {
        let (kind, effect) = match said {
            Said::Kind(kind, effect) => (kind, effect),
            Said::Discovery(told) => {
                self.log.push(format!("discovery {}", word(&told)));
                return;
            }
            Said::Changed | Said::Definition(_) => return,
        };
        match effect {
            Effect::Start { run, resource } => {
                self.log.push(format!("{kind} start {}", resource.version));
                let watch = Watch::new(self.cluster.client(), resource, &Scope::Cluster, Settings::default());
                let task = tokio::spawn(report(watch, self.driver.signals(), kind.clone(), run));
                assert!(self.watches.insert((kind, run), task).is_none());
            }
            Effect::Stop { run } => {
                let task = self.watches.remove(&(kind.clone(), run)).expect("it runs");
                task.abort();
                let _ = task.await;
                self.log.push(format!("{kind} stop"));
                self.driver.signals().stopped(kind, run);
            }
            Effect::Track => assert!(self.tracked.insert(kind)),
            Effect::Untrack => assert!(self.tracked.remove(&kind)),
            Effect::Forget => {
                self.tracked.remove(&kind);
            }
            Effect::Sweep(why) => self.log.push(format!("{kind} sweep {}", why.as_str())),
            Effect::Tell(told) => self.log.push(format!("{kind} {}", word(&told))),
            Effect::Probe { .. } => unreachable!("the driver probes"),
        }
    }

    fn health(&self, kind: &str) -> &'static str {
        let view = self.driver.views().find(|(known, _)| *known == kind).map(|(_, view)| view);
        view.and_then(|view| view.health).map_or("not registered", |health| health.as_str())
    }

    fn way(&self, kind: &str) -> Option<Way> {
        self.driver.views().find(|(known, _)| *known == kind).and_then(|(_, view)| view.choice).map(|choice| choice.way)
    }

    fn told(&mut self) -> Vec<String> {
        std::mem::take(&mut self.log)
    }
}

fn word(told: &Told) -> String {
    match told {
        Told::Started => "WatchStarted".to_owned(),
        Told::Recovered => "WatchRecovered".to_owned(),
        Told::Unhealthy(trouble) => format!("WatchUnhealthy {}", trouble.cause),
        Told::Disabled(why) => format!("WatchDisabled {}", why.as_str()),
    }
}

async fn report(mut watch: Watch, signals: Signals<String>, kind: String, run: u64) {
    loop {
        let signal = match watch.next().await {
            Event::Listing | Event::Deleted(_) | Event::Unreadable(_) => continue,
            Event::Synced => Signal::Synced,
            Event::Listed(_) | Event::Applied(_) => Signal::Object,
            Event::Opened => Signal::Opened,
            Event::Failed(failure) => Signal::Failed(failure),
        };
        signals.signal(kind.clone(), run, signal);
    }
}

#[tokio::test(start_paused = true)]
async fn b01_kinds_that_are_not_there_cost_no_request_and_say_nothing() {
    let cluster = Cluster::default();
    let mut owner = Owner::new(&cluster);
    owner.driver.want(demands(&[("widgets", true), ("gadgets", true), ("gizmos", false)]));
    owner.pass(300).await;
    let requests = cluster.requests();
    assert!(requests.len() <= 3, "a list and a watch of definitions, and the watch once more: {requests:?}");
    assert_eq!((owner.told(), owner.watches.len(), owner.health("widgets")), (Vec::new(), 0, "not registered"));
}

#[tokio::test(start_paused = true)]
async fn b14a_two_kinds_of_one_name_in_two_groups_are_two() {
    let cluster = Cluster::default();
    cluster.define("widgets", "Widget", &["v2"], "v2", false);
    let mut owner = Owner::new(&cluster);
    let mut both = demands(&[("widgets", true)]);
    let elsewhere = Demand { versions: vec![Resource::new("example.org", "v1", "widgets", "Widget")], allowed: true, rivals: Vec::new() };
    both.insert("other widgets".to_owned(), elsewhere);
    owner.driver.want(both);
    owner.pass(5).await;
    assert_eq!((owner.health("widgets"), owner.health("other widgets")), ("Unproven", "not registered"));
    // One that is served in two versions is read in one of them.
    cluster.define("widgets", "Widget", &["v1", "v2"], "v2", false);
    owner.pass(5).await;
    assert_eq!(owner.watches.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn b04_a_kind_that_is_installed_later_removed_and_installed_again_is_watched_each_time() {
    let cluster = Cluster::default();
    let mut owner = Owner::new(&cluster);
    owner.driver.want(demands(&[("widgets", true), ("gadgets", true)]));
    owner.pass(60).await;
    assert_eq!((owner.told(), owner.health("widgets")), (Vec::new(), "not registered"));
    let asked = cluster.requests();
    assert!(asked.len() <= 2, "absent kinds are not asked for: {asked:?}");

    cluster.define("widgets", "Widget", &["v1", "v2"], "v2", false);
    cluster.put("widgets", "a");
    owner.pass(2).await;
    assert_eq!(owner.told(), ["widgets start v2", "widgets WatchStarted"]);
    assert_eq!((owner.health("widgets"), owner.health("gadgets")), ("Healthy", "not registered"));

    cluster.undefine("widgets");
    owner.pass(2).await;
    assert_eq!(owner.told(), ["widgets stop", "widgets WatchDisabled crd-removed", "widgets sweep crd-removed"]);
    assert!(owner.watches.is_empty() && owner.tracked.is_empty());

    cluster.define("widgets", "Widget", &["v1", "v2"], "v2", false);
    owner.pass(2).await;
    assert_eq!(owner.told(), ["widgets start v2", "widgets WatchStarted"]);
    // Quicker than anybody could look: the old one ends before the new one begins.
    cluster.undefine("widgets");
    cluster.define("widgets", "Widget", &["v1"], "v1", false);
    owner.pass(2).await;
    assert_eq!(
        owner.told(),
        ["widgets stop", "widgets WatchDisabled crd-removed", "widgets sweep crd-removed", "widgets start v1", "widgets WatchStarted"]
    );
    assert_eq!(owner.watches.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn b07_b08_a_webhook_that_dies_while_lists_stay_green_is_seen_by_the_next_probe() {
    let cluster = Cluster::default();
    // Objects are stored in a version that the reader does not know.
    let mut owner = Owner::well(&cluster, &["v0", "v1", "v2"], "v0").await;
    assert_eq!(owner.way("widgets"), Some(Way::Webhook));
    cluster.webhook("widgets", false);
    owner.pass(125).await;
    assert_eq!(owner.told(), ["widgets WatchUnhealthy Conversion"]);
    assert_eq!((owner.health("widgets"), owner.watches.len()), ("Unhealthy", 1), "the watch goes on, and what is known stays");
    // Something is written, and lists turn red too.
    cluster.put("widgets", "b");
    owner.pass(300).await;
    assert_eq!(owner.told(), [""; 0], "told once");
    cluster.webhook("widgets", true);
    owner.pass(35).await;
    assert_eq!(owner.told(), ["widgets WatchRecovered"]);
    assert_eq!(owner.health("widgets"), "Healthy");
}

#[tokio::test(start_paused = true)]
async fn b05_b06_a_webhook_that_is_down_at_the_start_is_trouble_of_its_kind_only_and_named() {
    let cluster = Cluster::default();
    cluster.define("widgets", "Widget", &["v0", "v1", "v2"], "v0", true);
    cluster.define("gadgets", "Gadget", &["v2"], "v2", false);
    cluster.put("widgets", "a");
    cluster.put("gadgets", "a");
    cluster.webhook("widgets", false);
    cluster.put("widgets", "b");
    for _ in 0..2 {
        let mut owner = Owner::new(&cluster);
        owner.driver.want(demands(&[("widgets", true), ("gadgets", true)]));
        owner.pass(5).await;
        let mut told = owner.told();
        told.sort_unstable();
        assert_eq!(told, ["gadgets WatchRecovered", "gadgets start v2", "widgets WatchUnhealthy Conversion", "widgets start v2"]);
        assert_eq!((owner.health("gadgets"), owner.health("widgets")), ("Healthy", "Unhealthy"));
        owner.watches.into_values().for_each(|task| task.abort());
    }
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_is_read_as_it_is_stored_does_not_need_its_webhook() {
    let cluster = Cluster::default();
    let mut owner = Owner::well(&cluster, &["v1", "v2"], "v1").await;
    assert_eq!(owner.way("widgets"), Some(Way::Stored));
    cluster.webhook("widgets", false);
    owner.pass(600).await;
    assert_eq!((owner.told(), owner.health("widgets")), (Vec::new(), "Healthy"));
}

#[tokio::test(start_paused = true)]
async fn b14_a_kind_that_gets_a_webhook_or_another_stored_version_while_it_is_watched_is_read_on() {
    let cluster = Cluster::default();
    cluster.define("widgets", "Widget", &["v1", "v2"], "v2", false);
    cluster.put("widgets", "a");
    let mut owner = Owner::new(&cluster);
    owner.driver.want(demands(&[("widgets", true)]));
    owner.pass(5).await;
    assert_eq!(owner.told(), ["widgets start v2", "widgets WatchRecovered"]);
    cluster.define("widgets", "Widget", &["v1", "v2"], "v2", true);
    owner.pass(5).await;
    assert_eq!((owner.told(), owner.way("widgets")), (Vec::new(), Some(Way::Stored)));
    cluster.define("widgets", "Widget", &["v1", "v2"], "v1", true);
    owner.pass(5).await;
    assert_eq!((owner.told(), owner.way("widgets")), (vec!["widgets stop".to_owned(), "widgets start v1".to_owned()], Some(Way::Webhook)));
    // Made unservable, and back.
    cluster.define("widgets", "Widget", &["v3"], "v3", true);
    owner.pass(5).await;
    assert_eq!(owner.told(), ["widgets stop", "widgets WatchUnhealthy Unservable"]);
    cluster.define("widgets", "Widget", &["v1", "v3"], "v3", true);
    owner.pass(5).await;
    assert_eq!(owner.told(), ["widgets start v1", "widgets WatchRecovered"]);
}

#[tokio::test(start_paused = true)]
async fn b10_a_definition_that_may_not_be_read_or_is_slow_keeps_no_other_kind_waiting() {
    let cluster = Cluster::default();
    cluster.define("gadgets", "Gadget", &["v2"], "v2", false);
    cluster.define("gizmos", "Gizmo", &["v2"], "v2", false);
    cluster.fault("customresourcedefinitions/gadgets", Some(Fault::Status(403, "gadgets is forbidden")));
    cluster.fault("customresourcedefinitions/gizmos", Some(Fault::Silent));
    let mut owner = Owner::new(&cluster);
    owner.driver.want(demands(&[("widgets", true), ("gadgets", true), ("gizmos", true)]));
    owner.pass(10).await;
    assert_eq!(owner.told(), ["discovery WatchUnhealthy Forbidden"]);
    cluster.define("widgets", "Widget", &["v2"], "v2", false);
    owner.pass(5).await;
    assert_eq!(owner.told(), ["widgets start v2", "widgets WatchStarted"]);
    owner.pass(120).await;
    let Some((Health::Unhealthy(trouble), _)) = owner.driver.discovery() else { panic!() };
    assert!(trouble.message.contains("gadgets.example.com") && trouble.message.contains("gizmos.example.com"), "{}", trouble.message);
    cluster.fault("customresourcedefinitions/gadgets", None);
    cluster.fault("customresourcedefinitions/gizmos", None);
    owner.pass(600).await;
    let mut told = owner.told();
    told.sort_unstable();
    let expected = ["discovery WatchRecovered", "gadgets WatchStarted", "gadgets start v2", "gizmos WatchStarted", "gizmos start v2"];
    // They were there when the controller started, and only could not be read.
    assert_eq!(told, expected.map(|line| line.replace("WatchStarted", "WatchRecovered")));
}

#[tokio::test(start_paused = true)]
async fn definitions_that_cannot_be_watched_are_one_trouble_of_their_own_and_what_runs_goes_on() {
    let cluster = Cluster::default();
    let mut owner = Owner::well(&cluster, &["v2"], "v2").await;
    cluster.fault("customresourcedefinitions?", Some(Fault::Status(403, "no")));
    cluster.end_streams("customresourcedefinitions", None);
    owner.pass(60).await;
    assert_eq!(owner.told(), ["discovery WatchUnhealthy Forbidden"]);
    // Nothing that is missed meanwhile is taken for a removal, and nothing is missed in the end.
    cluster.define("widgets", "Widget", &["v1", "v2"], "v1", false);
    owner.pass(60).await;
    assert_eq!((owner.told(), owner.health("widgets")), (Vec::new(), "Healthy"));
    cluster.fault("customresourcedefinitions?", None);
    cluster.end_streams("customresourcedefinitions", Some((410, "too old")));
    owner.pass(120).await;
    assert_eq!(owner.told()[0], "discovery WatchRecovered");
}

#[tokio::test(start_paused = true)]
async fn b02_where_definitions_cannot_be_listed_at_the_start_each_is_asked_for_by_its_name() {
    let cluster = Cluster::default();
    cluster.define("widgets", "Widget", &["v2"], "v2", false);
    cluster.fault("customresourcedefinitions?", Some(Fault::Status(403, "no")));
    let mut owner = Owner::new(&cluster);
    owner.driver.want(demands(&[("widgets", true), ("gadgets", true)]));
    owner.pass(10).await;
    assert_eq!(owner.told(), ["discovery WatchUnhealthy Forbidden", "widgets start v2", "widgets WatchRecovered"]);
    cluster.requests();
    owner.pass(300).await;
    let requests = cluster.requests();
    assert!(requests.len() < 40, "{} requests in 5 minutes", requests.len());
}

#[tokio::test(start_paused = true)]
async fn a_kind_that_may_not_be_listed_is_trouble_of_its_own_until_it_may() {
    let cluster = Cluster::default();
    cluster.define("widgets", "Widget", &["v2"], "v2", false);
    cluster.fault("/v2/widgets", Some(Fault::Status(403, "widgets is forbidden")));
    let mut owner = Owner::new(&cluster);
    owner.driver.want(demands(&[("widgets", true)]));
    owner.pass(5).await;
    assert_eq!(owner.told(), ["widgets start v2", "widgets WatchUnhealthy Forbidden"]);
    cluster.fault("/v2/widgets", None);
    owner.pass(130).await;
    assert_eq!(owner.told(), ["widgets WatchRecovered"]);
}

#[tokio::test(start_paused = true)]
async fn an_excluded_kind_has_no_watch_and_an_allowed_one_gets_it_back() {
    let cluster = Cluster::default();
    let mut owner = Owner::well(&cluster, &["v2"], "v2").await;
    owner.driver.want(demands(&[("widgets", false)]));
    owner.pass(5).await;
    assert_eq!(owner.told(), ["widgets stop", "widgets WatchDisabled config", "widgets sweep config"]);
    cluster.requests();
    owner.pass(600).await;
    let requests = cluster.requests();
    assert!(!requests.iter().any(|request| request.contains("/widgets")), "{requests:?}");
    owner.driver.want(demands(&[("widgets", true)]));
    owner.pass(5).await;
    assert_eq!(owner.told(), ["widgets start v2", "widgets WatchRecovered"]);
    owner.driver.want(BTreeMap::new());
    owner.pass(5).await;
    assert_eq!(owner.told(), ["widgets stop"]);
    assert_eq!((owner.driver.views().count(), owner.watches.len()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn probes_take_another_object_each_time_and_pass_over_those_that_are_gone() {
    let cluster = Cluster::default();
    cluster.define("widgets", "Widget", &["v2"], "v2", true);
    for name in ["a", "b", "c"] {
        cluster.put("widgets", name);
    }
    let mut owner = Owner::new(&cluster);
    let names = ["b", "gone", "c"];
    owner.driver.names = Arc::new(move |_, turn| Some(("demo".to_owned(), names[turn as usize % 3].to_owned())));
    owner.driver.want(demands(&[("widgets", true)]));
    owner.pass(700).await;
    let requests = cluster.requests();
    for name in ["b", "gone", "c", "a"] {
        assert!(requests.iter().any(|request| request.ends_with(&format!("/widgets/{name}"))), "{name}: {requests:?}");
    }
    assert_eq!(owner.health("widgets"), "Healthy");
    assert!(requests.iter().all(|request| !request.contains("/widgets/") || !request.contains("resourceVersion")));
    // Without objects nothing is proven.
    for name in ["a", "b", "c"] {
        cluster.fault(&format!("/widgets/{name}"), Some(Fault::Status(404, "gone")));
    }
    owner.pass(130).await;
    assert_eq!(owner.health("widgets"), "Unproven");
}

/// Some objects are stored as they are read, and some go through a webhook that does not answer in time.
#[tokio::test(start_paused = true)]
async fn an_object_that_cannot_be_read_is_asked_for_again_and_not_hidden_by_the_next_one() {
    let cluster = Cluster::default();
    cluster.define("widgets", "Widget", &["v2"], "v2", true);
    for name in ["new", "old"] {
        cluster.put("widgets", name);
    }
    let mut owner = Owner::new(&cluster);
    owner.driver.names = Arc::new(move |_, turn| Some(("demo".to_owned(), ["new", "old"][turn as usize % 2].to_owned())));
    owner.driver.want(demands(&[("widgets", true)]));
    owner.pass(300).await;
    owner.told();
    cluster.fault("/widgets/old", Some(Fault::Status(504, "Timeout: the webhook did not answer")));
    owner.pass(2 * 125 + 35).await;
    assert_eq!(owner.told(), ["widgets WatchUnhealthy Timeout"]);
    owner.pass(600).await;
    assert_eq!((owner.told(), owner.health("widgets")), (Vec::new(), "Unhealthy"));
    cluster.fault("/widgets/old", None);
    owner.pass(35).await;
    assert_eq!(owner.told(), ["widgets WatchRecovered"]);
}

#[tokio::test(start_paused = true)]
async fn a_server_that_restarts_is_told_of_for_no_kind_or_for_all_and_everything_is_well_afterwards() {
    let cluster = Cluster::default();
    let mut owner = Owner::well(&cluster, &["v2"], "v2").await;
    cluster.fault("/", Some(Fault::Status(503, "apiserver not ready")));
    for resource in ["widgets", "customresourcedefinitions"] {
        cluster.end_streams(resource, None);
    }
    owner.pass(1).await;
    assert_eq!(owner.told(), [""; 0], "a hiccup");
    owner.pass(30).await;
    cluster.fault("/", None);
    owner.pass(60).await;
    let told = owner.told();
    assert!(told.iter().all(|line| !line.contains("sweep") && !line.contains("stop")), "{told:?}");
    assert_eq!(owner.health("widgets"), "Healthy", "{told:?}");
    assert_eq!(owner.watches.len(), 1);
}

/// Anonymous memory of this process, in bytes; none where the kernel does not tell.
fn anonymous_bytes() -> Option<i64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    line.split_whitespace().next()?.parse::<i64>().ok().map(|kib| kib << 10)
}

/// Thousands of changes in an order that only the seed knows: the end is that of what is the case, nothing runs twice, and nothing stays,
/// neither tasks nor memory.
#[tokio::test(start_paused = true)]
async fn after_a_thousand_changes_of_definitions_webhooks_and_rights_everything_is_as_it_should_be() {
    let kinds = ["widgets", "gadgets", "gizmos"];
    let names = ["Widget", "Gadget", "Gizmo"];
    let alive = || tokio::runtime::Handle::current().metrics().num_alive_tasks();
    let (tasks, mut memory) = (alive(), Vec::new());
    for seed in 0..80 {
        // It remembers what it was asked for.
        let cluster = Cluster::default();
        let mut random = fastrand::Rng::with_seed(seed);
        let mut owner = Owner::new(&cluster);
        let mut allowed = [true; 3];
        let all = |allowed: &[bool; 3]| demands(&std::array::from_fn::<_, 3, _>(|index| (kinds[index], allowed[index])));
        owner.driver.want(all(&allowed));
        for _ in 0..500 {
            let index = random.usize(..3);
            let plural = kinds[index];
            match random.u8(..10) {
                0 => cluster.undefine(plural),
                1 => cluster.define(plural, names[index], &["v0"], "v0", false),
                2 | 3 => cluster.define(plural, names[index], &["v0", "v1", "v2"], random.choice(["v0", "v1", "v2"]).unwrap(), true),
                4 => cluster.webhook(plural, random.bool()),
                5 => cluster.put(plural, random.choice(["a", "b", "c"]).unwrap()),
                6 => cluster.fault(&format!("/v2/{plural}"), random.bool().then_some(Fault::Status(403, "forbidden"))),
                7 => cluster.end_streams(plural, random.bool().then_some((410, "too old"))),
                8 => {
                    allowed[index] = random.bool();
                    owner.driver.want(all(&allowed));
                }
                _ => cluster.fault("customresourcedefinitions/", random.bool().then_some(Fault::Slow(Duration::from_secs(20)))),
            }
            owner.pass(random.u64(..20)).await;
            assert!(owner.watches.len() <= 3, "{:?}", owner.watches.keys());
        }
        cluster.fault("customresourcedefinitions/", None);
        allowed = [true, true, false];
        for (plural, kind) in kinds.iter().zip(names) {
            cluster.fault(&format!("/v2/{plural}"), None);
            cluster.webhook(plural, true);
            cluster.undefine(plural);
            cluster.define(plural, kind, &["v1", "v2"], "v2", false);
            cluster.put(plural, "a");
        }
        cluster.undefine("gadgets");
        owner.driver.want(all(&allowed));
        owner.pass(900).await;
        assert_eq!([owner.health("widgets"), owner.health("gadgets"), owner.health("gizmos")], ["Healthy", "Disabled", "Disabled"]);
        assert_eq!(owner.watches.keys().map(|(kind, _)| &**kind).collect::<Vec<_>>(), ["widgets"]);
        assert_eq!([cluster.open_streams("widgets"), cluster.open_streams("gadgets"), cluster.open_streams("gizmos")], [1, 0, 0]);
        assert_eq!((owner.driver.work.len(), owner.driver.slots.len()), (0, 3));
        owner.driver.want(BTreeMap::new());
        owner.pass(60).await;
        assert!(owner.watches.is_empty() && owner.driver.slots.is_empty() && owner.driver.work.is_empty() && owner.tracked.is_empty());
        drop((owner, cluster));
        tokio::time::sleep(Duration::from_mins(1)).await;
        assert_eq!(alive(), tasks, "tasks stay");
        memory.extend(anonymous_bytes());
    }
    // Other tests run beside and take some megabytes; 600 bytes kept of each change would be more.
    let grown = memory.last().zip(memory.get(20)).map(|(last, early)| last - early);
    println!("memory after 30,000 more changes: {grown:?} bytes more");
    assert!(grown.is_none_or(|grown| grown < 16 << 20), "{memory:?}");
}

#[tokio::test(start_paused = true)]
async fn a_read_that_fails_changes_nothing() {
    let cluster = Cluster::default();
    let mut owner = Owner::well(&cluster, &["v2"], "v2").await;
    cluster.fault("customresourcedefinitions/widgets", Some(Fault::Status(500, "etcd is away")));
    cluster.undefine("widgets");
    owner.pass(3).await;
    assert_eq!(owner.told(), [""; 0], "that an event says it is gone is no proof");
    cluster.fault("customresourcedefinitions/widgets", None);
    owner.pass(30).await;
    assert!(owner.told().contains(&"widgets sweep crd-removed".to_owned()));
    assert!(matches!(read(&cluster.client(), "widgets.example.com").await, Ok(Reading::Absent)));
}
