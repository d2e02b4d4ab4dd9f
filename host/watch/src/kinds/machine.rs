//! The state machine of one kind: tables A1 and A2 of the design of watch isolation, as one pure function.

use std::time::{Duration, SystemTime};

use super::definition::{Choice, Reading, Way};
use super::health::{Health, Signals, Trouble};
use crate::failure::Failure;
use crate::resource::Resource;

/// Who wants a kind read, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Demand {
    /// What its reader understands, most preferred first.
    pub versions: Vec<Resource>,
    /// Whether the configuration allows it.
    pub allowed: bool,
    /// Names of the plugins that claim it, where there are several: nobody reads it then.
    pub rivals: Vec<String>,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Observation {
    /// Configuration or plugins have changed; none: nobody claims the kind any more.
    Wanted(Option<Demand>),
    /// Its definition was read. A read that failed is no observation: it changes nothing.
    Read(Reading),
    /// Its watch said something.
    Watch(u64, Signal),
    /// Its watch has ended, and nothing of it runs any more.
    Stopped(u64),
    /// It was probed: whether an object could be read by its name, or there was none.
    Probed(u64, Result<bool, Failure>),
}

/// What a watch says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Signal {
    /// A list was complete.
    Synced,
    /// An object came.
    Object,
    /// A stream was opened again.
    Opened,
    /// It failed, and goes on when it has waited.
    Failed(Failure),
}

/// Why a kind is not looked at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Why {
    /// The configuration excludes it.
    Config,
    /// Its definition was removed.
    CrdRemoved,
}

impl Why {
    /// The word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Config => "config",
            Self::CrdRemoved => "crd-removed",
        }
    }
}

/// What people are told, once for each transition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Told {
    /// A kind is watched that came after the controller had started.
    Started,
    /// A kind can be read (again).
    Recovered,
    /// A kind cannot be read.
    Unhealthy(Trouble),
    /// A kind is not looked at any more.
    Disabled(Why),
}

/// What is to be done, in this order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Objects of the kind count as owners and workloads from now on.
    Track,
    /// They do so no more: the kind is gone.
    Untrack,
    /// Start a watch.
    Start {
        /// Its number, under which it is to report.
        run: u64,
        /// What it reads.
        resource: Resource,
    },
    /// Stop a watch, keep what it knew, and say when it has ended.
    Stop {
        /// Its number.
        run: u64,
    },
    /// Take away the AIBOMs of the kind. `Why` is the proof.
    Sweep(Why),
    /// Nobody claims the kind any more: forget what is known of it, and leave its AIBOMs.
    Forget,
    /// Tell people.
    Tell(Told),
    /// Probe it soon.
    Probe {
        /// Number of the watch.
        run: u64,
    },
}

/// How a kind is, for people and metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct View {
    /// State of its definition: `Unknown`, `Ready`, `Unservable` or `Removed`.
    pub state: &'static str,
    /// How it is doing; none where it is not registered, since it was never there.
    pub health: Option<Health>,
    /// Since when the health is what it is.
    pub since: Option<SystemTime>,
    /// What is read.
    pub choice: Option<Choice>,
    /// When a list was complete, a stream opened or an object read by a probe.
    pub last_success: Option<SystemTime>,
}

/// Where the definition of a kind stands: table A1.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Definition {
    Unknown,
    Ready { uid: String, choice: Choice },
    Unservable { uid: String, why: String },
    Removed,
}

impl Definition {
    fn uid(&self) -> Option<&str> {
        match self {
            Self::Ready { uid, .. } | Self::Unservable { uid, .. } => Some(uid),
            Self::Unknown | Self::Removed => None,
        }
    }
}

/// What has been done about the kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Absent,
    Running,
    Sick,
    Rivals,
    Disabled,
    Gone,
}

/// What is to be done about it.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Goal {
    Nothing,
    Run(Choice),
    Sick(String),
    Rivals(Vec<String>),
    Disabled,
    Gone,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Runner {
    Idle,
    Running { run: u64, resource: Resource, since: SystemTime },
    Stopping { run: u64 },
}

/// The state of one kind.
#[derive(Clone, Debug)]
pub struct Machine {
    demand: Option<Demand>,
    reading: Option<Reading>,
    definition: Definition,
    mode: Mode,
    runner: Runner,
    runs: u64,
    signals: Signals,
    health: Option<(Health, SystemTime)>,
    /// UID of the definition that is tracked.
    tracked: Option<String>,
    /// The controller has just started, and the kind may have been watched before.
    initial: bool,
    /// What is told when the next list is complete.
    announce: Option<Told>,
    last_success: Option<SystemTime>,
}

impl Machine {
    /// A kind of which nothing is known. `initial`: it is one of those that the controller started with.
    pub fn new(initial: bool) -> Self {
        Self {
            demand: None,
            reading: None,
            definition: Definition::Unknown,
            mode: Mode::Absent,
            runner: Runner::Idle,
            runs: 0,
            signals: Signals::default(),
            health: None,
            tracked: None,
            initial,
            announce: None,
            last_success: None,
        }
    }

    /// Takes an observation, and says what is to be done.
    pub fn step(&mut self, observation: Observation, now: SystemTime) -> Vec<Effect> {
        let mut effects = Vec::new();
        match observation {
            Observation::Wanted(demand) => {
                self.demand = demand;
                self.classify();
            }
            Observation::Read(reading) => {
                // Present when first looked for, or not: that decides what its first list is called.
                let first = self.reading.replace(reading).is_none();
                self.classify();
                self.initial &= !first || matches!(self.definition, Definition::Ready { .. });
            }
            Observation::Watch(run, signal) => {
                if self.is_running(run) {
                    if !matches!(signal, Signal::Failed(_)) {
                        self.last_success = Some(now);
                    }
                    self.signal(signal, &mut effects);
                    self.judge(now, &mut effects);
                }
            }
            Observation::Probed(run, outcome) => {
                if self.is_running(run) {
                    match outcome {
                        Ok(named) => {
                            self.last_success = Some(now);
                            self.signals.probe_clean(named);
                        }
                        Err(failure) => self.signals.probe_failed(failure),
                    }
                    self.judge(now, &mut effects);
                }
            }
            Observation::Stopped(run) => {
                if self.is_running(run) || self.runner == (Runner::Stopping { run }) {
                    self.runner = Runner::Idle;
                }
            }
        }
        self.advance(now, &mut effects);
        effects
    }

    /// How the kind is.
    pub fn view(&self) -> View {
        let state = match self.definition {
            Definition::Unknown => "Unknown",
            Definition::Ready { .. } => "Ready",
            Definition::Unservable { .. } => "Unservable",
            Definition::Removed => "Removed",
        };
        let choice = match &self.definition {
            Definition::Ready { choice, .. } => Some(choice.clone()),
            _ => None,
        };
        let (health, since) = self.health.clone().unzip();
        View { state, health, since, choice, last_success: self.last_success }
    }

    /// Number of the watch that runs, if one does, and what it reads.
    pub fn running(&self) -> Option<(u64, &Resource)> {
        match &self.runner {
            Runner::Running { run, resource, .. } => Some((*run, resource)),
            Runner::Idle | Runner::Stopping { .. } => None,
        }
    }

    /// Whether something runs or is being stopped.
    pub fn is_busy(&self) -> bool {
        self.runner != Runner::Idle
    }

    /// Whether its objects are probed: with Kubernetes' own kinds nothing could be in the way.
    fn is_probed(&self) -> bool {
        !matches!(self.reading, Some(Reading::BuiltIn))
    }

    /// Whether anything is known of its definition.
    pub(super) fn was_read(&self) -> bool {
        self.reading.is_some()
    }

    /// Whether its definition was there when it was last read.
    pub(super) fn was_found(&self) -> bool {
        matches!(self.reading, Some(Reading::Found(_)))
    }

    /// Whether its definition was looked for and is not there.
    pub(super) fn is_absent(&self) -> bool {
        matches!(self.reading, Some(Reading::Absent))
    }

    /// Who claims it, and how.
    pub(super) fn demand(&self) -> Option<&Demand> {
        self.demand.as_ref()
    }

    /// Whether anybody claims it.
    pub(super) fn is_wanted(&self) -> bool {
        self.demand.is_some()
    }

    fn is_running(&self, run: u64) -> bool {
        matches!(self.runner, Runner::Running { run: running, .. } if running == run)
    }

    /// Table A1.
    fn classify(&mut self) {
        let (Some(demand), Some(reading)) = (&self.demand, &self.reading) else { return };
        let was = self.definition.uid();
        let known = was.is_some();
        let lost = |definition: &Definition| if known { Definition::Removed } else { definition.clone() };
        self.definition = match reading {
            Reading::BuiltIn => match demand.versions.first() {
                Some(resource) => Definition::Ready { uid: String::new(), choice: Choice { resource: resource.clone(), way: Way::Plain } },
                None => lost(&self.definition),
            },
            Reading::Absent => lost(&self.definition),
            Reading::Found(facts) if facts.deleting => lost(&self.definition),
            Reading::Found(facts) => match facts.choose(demand) {
                Ok(choice) => Definition::Ready { uid: facts.uid.clone(), choice },
                // The same definition as before cannot be read any more; another one never could.
                Err(why) if was == Some(&facts.uid) => Definition::Unservable { uid: facts.uid.clone(), why },
                Err(_) => lost(&self.definition),
            },
        };
    }

    fn goal(&self) -> Goal {
        let Some(demand) = &self.demand else { return Goal::Nothing };
        match &self.definition {
            Definition::Unknown => Goal::Nothing,
            Definition::Removed => Goal::Gone,
            Definition::Ready { .. } | Definition::Unservable { .. } if !demand.allowed => Goal::Disabled,
            Definition::Ready { .. } | Definition::Unservable { .. } if !demand.rivals.is_empty() => Goal::Rivals(demand.rivals.clone()),
            Definition::Ready { choice, .. } => Goal::Run(choice.clone()),
            Definition::Unservable { why, .. } => Goal::Sick(why.clone()),
        }
    }

    /// Table A2: does what brings the kind to where it should be, up to the point where something has to be waited for.
    fn advance(&mut self, now: SystemTime, effects: &mut Vec<Effect>) {
        let goal = self.goal();
        let replaced = match (&self.tracked, self.definition.uid()) {
            (Some(tracked), Some(uid)) => tracked != uid,
            _ => false,
        };
        match &self.runner {
            Runner::Stopping { .. } => return,
            Runner::Running { run, resource, .. } => {
                let stays = !replaced && matches!(&goal, Goal::Run(choice) if choice.resource == *resource);
                if !stays {
                    let run = *run;
                    self.runner = Runner::Stopping { run };
                    effects.push(Effect::Stop { run });
                }
                return;
            }
            Runner::Idle => {}
        }
        if replaced {
            self.remove(now, effects);
            self.initial = false;
        }
        match goal {
            Goal::Nothing => {
                if self.mode != Mode::Absent {
                    effects.push(Effect::Forget);
                    (self.mode, self.health, self.tracked) = (Mode::Absent, None, None);
                }
                // Whoever claims it next finds it anew.
                if self.demand.is_none() {
                    self.definition = Definition::Unknown;
                }
            }
            Goal::Gone => self.remove(now, effects),
            Goal::Disabled => {
                self.track(effects);
                if self.mode != Mode::Disabled {
                    self.mode = Mode::Disabled;
                    self.set(Health::Disabled(Why::Config), now);
                    if self.is_probed() {
                        effects.push(Effect::Tell(Told::Disabled(Why::Config)));
                    }
                    effects.push(Effect::Sweep(Why::Config));
                }
            }
            Goal::Sick(why) => {
                self.track(effects);
                self.mode = Mode::Sick;
                self.unhealthy(Trouble::new("Unservable", why), now, effects);
            }
            Goal::Rivals(names) => {
                self.track(effects);
                self.mode = Mode::Rivals;
                let message = format!("the plugins {} claim this kind, so none of them reads it", names.join(" and "));
                self.unhealthy(Trouble::new("PluginConflict", message), now, effects);
            }
            Goal::Run(choice) => {
                self.track(effects);
                let (announce, health) = match self.mode {
                    Mode::Absent | Mode::Gone if self.initial => (Some(Told::Recovered), Some(Health::Starting)),
                    Mode::Absent | Mode::Gone => (Some(Told::Started), Some(Health::Starting)),
                    Mode::Disabled => (Some(Told::Recovered), Some(Health::Starting)),
                    // Unhealthy until a list is complete.
                    Mode::Sick | Mode::Rivals => (Some(Told::Recovered), None),
                    Mode::Running => (self.announce.take(), None),
                };
                // That Kubernetes' own kinds are watched, or not, is no news.
                let announce = announce.filter(|_| self.is_probed() || matches!(self.mode, Mode::Sick | Mode::Rivals | Mode::Running));
                (self.announce, self.initial, self.mode) = (announce, false, Mode::Running);
                self.signals = Signals::default();
                if let Some(health) = health {
                    self.set(health, now);
                }
                self.runs += 1;
                let (run, resource) = (self.runs, choice.resource);
                self.runner = Runner::Running { run, resource: resource.clone(), since: now };
                effects.push(Effect::Start { run, resource });
            }
        }
    }

    fn track(&mut self, effects: &mut Vec<Effect>) {
        if self.tracked.is_none() {
            self.tracked = self.definition.uid().map(str::to_owned);
            effects.push(Effect::Track);
        }
    }

    /// The definition is gone: rows 8 and 9. Told and swept once, and not again where it was not looked at anyway.
    fn remove(&mut self, now: SystemTime, effects: &mut Vec<Effect>) {
        if matches!(self.mode, Mode::Gone | Mode::Absent) {
            return;
        }
        let enters = self.mode != Mode::Disabled;
        self.mode = Mode::Gone;
        self.tracked = None;
        self.announce = None;
        self.set(Health::Disabled(Why::CrdRemoved), now);
        effects.push(Effect::Untrack);
        if enters {
            effects.extend([Effect::Tell(Told::Disabled(Why::CrdRemoved)), Effect::Sweep(Why::CrdRemoved)]);
        }
    }

    fn signal(&mut self, signal: Signal, effects: &mut Vec<Effect>) {
        match signal {
            Signal::Synced => {
                self.signals.synced = true;
                self.signals.stream_clean();
            }
            Signal::Object => {
                self.signals.proven = true;
                self.signals.stream_clean();
            }
            Signal::Opened => {
                let probed = self.is_probed();
                self.signals.stream_opened(probed);
                if let Runner::Running { run, .. } = self.runner
                    && probed
                {
                    effects.push(Effect::Probe { run });
                }
            }
            Signal::Failed(failure) => self.signals.stream_failed(failure),
        }
    }

    /// What the signals of a running watch make of its health.
    fn judge(&mut self, now: SystemTime, effects: &mut Vec<Effect>) {
        let Runner::Running { since, .. } = self.runner else { return };
        let age = now.duration_since(since).unwrap_or(Duration::ZERO);
        if let Some(trouble) = self.signals.trouble(age) {
            self.unhealthy(trouble, now, effects);
        } else if self.signals.synced && self.signals.is_clean() {
            let was_ill = matches!(self.health, Some((Health::Unhealthy(_), _)));
            let health = if self.signals.proven { Health::Healthy } else { Health::Unproven };
            self.set(health, now);
            if let Some(told) = self.announce.take().or(was_ill.then_some(Told::Recovered)) {
                effects.push(Effect::Tell(told));
            }
        }
    }

    fn unhealthy(&mut self, trouble: Trouble, now: SystemTime, effects: &mut Vec<Effect>) {
        // The same trouble under another name is no transition.
        if let Some((Health::Unhealthy(known), _)) = &mut self.health {
            *known = trouble;
            return;
        }
        effects.push(Effect::Tell(Told::Unhealthy(trouble.clone())));
        self.set(Health::Unhealthy(trouble), now);
    }

    fn set(&mut self, health: Health, now: SystemTime) {
        match &mut self.health {
            Some((known, since)) => {
                // From proven to unproven and back is a detail of being well.
                if !(known.is_good() && health.is_good()) && *known != health {
                    *since = now;
                }
                *known = health;
            }
            none => *none = Some((health, now)),
        }
    }
}

#[cfg(test)]
mod tests;
