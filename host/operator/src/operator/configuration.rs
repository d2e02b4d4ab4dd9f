//! The configuration as it is in force, and what is said about it: conditions, events, status.

use std::collections::BTreeSet;

use aibom_api::conditions::{ConfigCondition, ConfigReason, Wanted};
use aibom_api::effective::{Context, Effective, Loaded, joined, load_object};
use aibom_api::kinds::GroupKind;
use serde_json::Value;

/// What is known of the configuration object.
#[derive(Debug, Default)]
pub struct Configuration {
    effective: Effective,
    state: Phase,
    /// The object as it was read last; read again when the plugins change.
    object: Option<Value>,
    loaded: Option<Loaded>,
    missing_fields: Vec<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Phase {
    #[default]
    Unknown,
    Missing,
    Valid,
    /// Not valid, and it never was.
    Invalid,
    /// Not valid, but it was.
    LastKnownGood,
}

/// What a change means for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Told {
    /// Whether it is good news.
    pub good: bool,
    /// Reason of the event.
    pub reason: &'static str,
    /// Note of the event.
    pub note: String,
    /// Whether the event is about the object; else about the controller.
    pub about_object: bool,
    /// Result in metrics.
    pub result: Option<&'static str>,
}

impl Configuration {
    /// The configuration in force.
    pub fn effective(&self) -> &Effective {
        &self.effective
    }

    /// Whether the object is valid, or there is none.
    pub fn is_valid(&self) -> bool {
        matches!(self.state, Phase::Valid | Phase::Missing)
    }

    /// Whether there is an object.
    pub fn exists(&self) -> bool {
        self.object.is_some()
    }

    /// Generation of the object.
    pub fn generation(&self) -> Option<i64> {
        self.object.as_ref()?.pointer("/metadata/generation")?.as_i64()
    }

    /// UID of the object.
    pub fn uid(&self) -> Option<&str> {
        self.object.as_ref()?.pointer("/metadata/uid")?.as_str()
    }

    /// Status of the object as it was read.
    pub fn stored_status(&self) -> Option<&Value> {
        self.object.as_ref()?.get("status")
    }

    /// What an earlier run left in the status is the last good state of this one: unless it ran on defaults, of which none was ever
    /// good.
    pub fn restore(&mut self, object: &Value) {
        let stored = object.pointer("/status/effectiveConfiguration").and_then(|value| serde_json::from_value(value.clone()).ok());
        if let Some(stored) = stored {
            let conditions = object.pointer("/status/conditions").and_then(Value::as_array);
            let on_defaults = conditions.into_iter().flatten().any(|condition| {
                let is = |field: &str, word: &str| condition.get(field).and_then(Value::as_str) == Some(word);
                is("type", ConfigCondition::Degraded.as_str()) && is("reason", ConfigReason::RunningOnDefaults.as_str())
            });
            self.effective = Effective::restore(&stored);
            self.state = if on_defaults { Phase::Invalid } else { Phase::Valid };
        }
    }

    /// The object as it is now; its specification is the one that was read.
    pub fn set_object(&mut self, object: Option<Value>) {
        self.object = object;
    }

    /// Fields of our definition that the served one lacks.
    pub fn set_missing_fields(&mut self, fields: Vec<String>) {
        self.missing_fields = fields;
    }

    /// The object is this, or gone. Says what to tell, and whether what is in force has changed.
    pub fn put(&mut self, object: Option<Value>, known: &BTreeSet<GroupKind>) -> (Vec<Told>, bool) {
        let before = (self.state, self.effective.clone());
        let Some(object) = object else {
            self.object = None;
            self.loaded = None;
            self.effective = Effective::default();
            self.state = Phase::Missing;
            let told = match before.0 {
                Phase::Missing => Vec::new(),
                Phase::Unknown => vec![told(false, "AIBOMControllerConfigMissing", NO_OBJECT, false, None)],
                _ => vec![told(false, "AIBOMControllerConfigDeleted", NO_OBJECT, false, None)],
            };
            return (told, self.effective != before.1);
        };
        let check = |changes: &aibom_api::config::RuntimeChanges| super::serving::rules(changes, &[]).map(drop);
        let context = Context { known_kinds: Some(known), check_runtimes: Some(&check) };
        let had_good = matches!(before.0, Phase::Valid | Phase::LastKnownGood);
        // Section by section: also of one that was never valid as a whole some were, and the others are in their defaults.
        let had_any = had_good || before.0 == Phase::Invalid;
        let loaded = load_object(&object, &context, had_any.then_some(&self.effective));
        self.effective = loaded.effective.clone();
        self.state = match (loaded.is_valid(), had_good) {
            (true, _) => Phase::Valid,
            (false, true) => Phase::LastKnownGood,
            (false, false) => Phase::Invalid,
        };
        let errors = joined(&loaded.errors);
        let mut tell = Vec::new();
        match (before.0, self.state) {
            (Phase::Invalid | Phase::LastKnownGood, Phase::Valid) => {
                tell.push(told(true, "ConfigRecovered", "the configuration is valid again and in force", true, Some("recovered")));
                tell.push(told(true, "ConfigLoaded", "the configuration is in force", true, Some("loaded")));
            }
            (Phase::Unknown | Phase::Missing, Phase::Valid) => {
                tell.push(told(true, "ConfigLoaded", "the configuration is in force", true, Some("loaded")));
            }
            (before, Phase::Invalid) if before != Phase::Invalid => {
                tell.push(told(false, "ConfigInvalid", &errors, true, Some("invalid_using_defaults")));
            }
            (before, Phase::LastKnownGood) if before != Phase::LastKnownGood => {
                tell.push(told(false, "ConfigInvalidUsingLastKnownGood", &errors, true, Some("invalid_using_lkg")));
            }
            _ => {}
        }
        self.object = Some(object);
        self.loaded = Some(loaded);
        (tell, self.effective != before.1)
    }

    /// Reads the object again, since other kinds are known now.
    pub fn again(&mut self, known: &BTreeSet<GroupKind>) -> (Vec<Told>, bool) {
        match self.object.take() {
            Some(object) => self.put(Some(object), known),
            None => (Vec::new(), false),
        }
    }

    /// Conditions of the object: kinds that are not healthy, and what is configured rightly and has no effect, go into them.
    pub fn conditions(&self, unhealthy: &[String], idle: &[String]) -> Vec<Wanted> {
        let generation = self.generation();
        let wanted = |type_: ConfigCondition, status, reason: ConfigReason, message: String| Wanted {
            type_: type_.as_str(),
            status: Some(status),
            reason: reason.as_str(),
            message,
            observed_generation: generation,
        };
        let Some(loaded) = &self.loaded else { return Vec::new() };
        let unsupported: Vec<String> = loaded.unsupported.iter().map(ToString::to_string).chain(idle.iter().cloned()).collect();
        let unsupported = unsupported.join("; ");
        let ready = if loaded.is_valid() {
            let message = if unsupported.is_empty() {
                "the configuration is in force".to_owned()
            } else {
                format!("in force, except: {unsupported}")
            };
            wanted(ConfigCondition::Ready, true, ConfigReason::ConfigLoaded, message)
        } else {
            let more = if unsupported.is_empty() { String::new() } else { format!("; {unsupported}") };
            wanted(ConfigCondition::Ready, false, ConfigReason::ConfigInvalid, format!("{}{more}", joined(&loaded.errors)))
        };
        let degraded = if !loaded.is_valid() {
            let (reason, state) = if self.state == Phase::LastKnownGood {
                (ConfigReason::RunningOnLastKnownGood, "last good state")
            } else {
                (ConfigReason::RunningOnDefaults, "default")
            };
            let sections: Vec<&str> = loaded.invalid_sections().into_iter().map(aibom_api::effective::Section::as_str).collect();
            wanted(ConfigCondition::Degraded, true, reason, format!("in their {state}: {}", sections.join(", ")))
        } else if !self.missing_fields.is_empty() {
            let message = format!(
                "the definitions in the cluster lack fields that this controller knows; apply those of its version: {}",
                self.missing_fields.join(", ")
            );
            wanted(ConfigCondition::Degraded, true, ConfigReason::SchemaPredatesController, message)
        } else if !unhealthy.is_empty() {
            wanted(ConfigCondition::Degraded, true, ConfigReason::ThirdPartyWatchUnhealthy, unhealthy.join(" | "))
        } else {
            wanted(ConfigCondition::Degraded, false, ConfigReason::ConfigLoaded, "nothing is known to be wrong".to_owned())
        };
        vec![ready, degraded]
    }
}

const NO_OBJECT: &str = "there is no AIBOMControllerConfig `default`; every setting has its default";

fn told(good: bool, reason: &'static str, note: &str, about_object: bool, result: Option<&'static str>) -> Told {
    Told { good, reason, note: note.to_owned(), about_object, result }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn object(spec: &Value) -> Value {
        json!({ "metadata": { "name": "default", "generation": 3 }, "spec": spec })
    }

    fn reasons(told: &[Told]) -> Vec<&str> {
        told.iter().map(|told| told.reason).collect()
    }

    #[test]
    fn transitions_have_the_events_of_the_go_operator() {
        let known = BTreeSet::from([GroupKind::new("apps", "Deployment")]);
        let good = || Some(object(&json!({ "bomGeneration": { "inlineThresholdBytes": 2048 } })));
        let bad = || Some(object(&json!({ "bomGeneration": { "inlineThresholdBytes": 1 } })));
        let mut configuration = Configuration::default();
        assert_eq!(reasons(&configuration.put(None, &known).0), ["AIBOMControllerConfigMissing"]);
        let (told, changed) = configuration.put(good(), &known);
        assert_eq!((reasons(&told), changed), (vec!["ConfigLoaded"], true));
        let (told, changed) = configuration.put(bad(), &known);
        assert_eq!((reasons(&told), changed), (vec!["ConfigInvalidUsingLastKnownGood"], false));
        assert_eq!(configuration.effective().documents.inline_threshold_bytes, 2048, "the last good state is in force");
        assert_eq!(reasons(&configuration.put(bad(), &known).0), [""; 0], "told once");
        assert_eq!(reasons(&configuration.put(good(), &known).0), ["ConfigRecovered", "ConfigLoaded"]);
        assert_eq!(reasons(&configuration.put(None, &known).0), ["AIBOMControllerConfigDeleted"]);
        assert_eq!(reasons(&configuration.put(bad(), &known).0), ["ConfigInvalid"]);
    }

    #[test]
    fn what_an_earlier_run_left_is_a_good_state_only_when_it_was_one() {
        let known = BTreeSet::new();
        let bad = json!({ "bomGeneration": { "inlineThresholdBytes": 1 }, "logging": { "level": "debug" } });
        let left = |reason: &str, threshold: i64| {
            let mut left = object(&bad);
            left["status"] = json!({
                "effectiveConfiguration": { "bomGeneration": { "inlineThresholdBytes": threshold } },
                "conditions": [{ "type": "Degraded", "status": "True", "reason": reason }],
            });
            left
        };
        for (reason, threshold) in [("RunningOnDefaults", 262_144), ("RunningOnLastKnownGood", 2048), ("ConfigLoaded", 2048)] {
            let mut configuration = Configuration::default();
            configuration.restore(&left(reason, threshold));
            let (told, _) = configuration.put(Some(left(reason, threshold)), &known);
            let degraded = &configuration.conditions(&[], &[])[1];
            let expected = if reason == "RunningOnDefaults" { reason } else { "RunningOnLastKnownGood" };
            assert_eq!((degraded.reason, configuration.effective().documents.inline_threshold_bytes), (expected, threshold));
            // A restart with what was wrong before is no news; that it went wrong meanwhile is.
            assert_eq!(told.is_empty(), reason == "RunningOnDefaults", "{reason}: {told:?}");
        }
        // Without anything left behind there was no good state.
        let mut configuration = Configuration::default();
        configuration.put(Some(object(&bad)), &known);
        assert_eq!(configuration.conditions(&[], &[])[1].reason, "RunningOnDefaults");
    }

    #[test]
    fn a_section_that_was_right_while_others_were_wrong_keeps_that_state() {
        let known = BTreeSet::new();
        let mut configuration = Configuration::default();
        let wrong = json!({ "inlineThresholdBytes": 1 });
        configuration.put(Some(object(&json!({ "bomGeneration": wrong, "logging": { "level": "debug" } }))), &known);
        configuration.put(Some(object(&json!({ "bomGeneration": wrong, "logging": { "level": "loud" } }))), &known);
        assert_eq!(configuration.effective().logging.level.as_str(), "debug");
    }

    #[test]
    fn conditions_name_what_is_wrong_and_what_is_not_served() {
        let known = BTreeSet::new();
        let mut configuration = Configuration::default();
        configuration.put(Some(object(&json!({ "discovery": { "workloadKinds": ["apps/Nothing"] } }))), &known);
        let conditions = configuration.conditions(&[], &[]);
        assert_eq!((conditions[0].status, conditions[0].reason), (Some(false), "ConfigInvalid"));
        assert!(conditions[0].message.contains("spec.discovery.workloadKinds"), "{}", conditions[0].message);
        assert_eq!((conditions[1].status, conditions[1].reason), (Some(true), "RunningOnDefaults"));
        let sink = json!({ "name": "siem", "type": "Webhook", "webhook": { "endpoint": "https://bom.example.org/in" } });
        configuration.put(Some(object(&json!({ "sinks": [sink] }))), &known);
        let conditions = configuration.conditions(&["Widget: Conversion".to_owned()], &[]);
        assert!(conditions[0].status == Some(true) && conditions[0].message.contains("siem"), "{}", conditions[0].message);
        assert_eq!(conditions[1].reason, "ThirdPartyWatchUnhealthy");
        configuration.set_missing_fields(vec!["spec.plugins".to_owned()]);
        assert_eq!(configuration.conditions(&[], &[])[1].reason, "SchemaPredatesController");
    }
}
