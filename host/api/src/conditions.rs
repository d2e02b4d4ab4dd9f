//! Conditions: their types and reasons, and how one is set.
//!
//! The words are those of the Go operator; dashboards and alerts rest on them. Each list of conditions has one entry per type.

use k8s_openapi::apimachinery::pkg::apis::meta::v1::{Condition, Time};

use crate::text::beginning;
use crate::words::words;

/// Longest message of a condition, in bytes (the API machinery counts characters, of which there are never more).
pub const MAX_MESSAGE: usize = 32_768;

words! {
    /// Types of the conditions of an AIBOM.
    pub enum AibomCondition {
        /// The document describes the workload.
        Ready = "Ready",
        /// Every sink has the document.
        Synced = "Synced",
        /// Some sink has not; the opposite of `Synced`, for alerts.
        SinkFailed = "SinkFailed",
        /// The document is kept, but failures in a row say that it may be out of date.
        Stale = "Stale",
    }
}

words! {
    /// Reasons in conditions of an AIBOM.
    pub enum AibomReason {
        /// `Ready` is true, `Stale` is false: the document was made.
        BomGenerated = "BOMGenerated",
        /// `Ready` is false: the workload could not be read.
        ScrapeFailed = "ScrapeFailed",
        /// `Ready` is false: the document could not be made.
        BuildFailed = "BuildFailed",
        /// `Ready` is false: the document is too large for its object, and no sink has it.
        BomTruncated = "BOMTruncated",
        /// `Ready` is false: an object that describes something else has the name of a workload's AIBOM.
        NameTaken = "NameTaken",
        /// `Synced` is true: every sink has it.
        AllSinksOk = "AllSinksOK",
        /// `Synced` is true: there is no sink.
        CrdStatusOnly = "CRDStatusOnly",
        /// `Synced` is false.
        OneOrMoreSinksDown = "OneOrMoreSinksDown",
        /// `Stale` is true.
        ExtractionErrorsPersistent = "ExtractionErrorsPersistent",
    }
}

words! {
    /// Types of the conditions of an AIBOMControllerConfig.
    pub enum ConfigCondition {
        /// The configuration is valid as a whole and in force.
        Ready = "Ready",
        /// The controller works, but not as the configuration asks, or not on everything.
        Degraded = "Degraded",
    }
}

words! {
    /// Reasons in conditions of an AIBOMControllerConfig.
    pub enum ConfigReason {
        /// `Ready` is true, `Degraded` is false.
        ConfigLoaded = "ConfigLoaded",
        /// `Ready` is false: the message names each field.
        ConfigInvalid = "ConfigInvalid",
        /// `Ready` is false: a sink could not be set up.
        SinkConstructionFailed = "SinkConstructionFailed",
        /// `Ready` is false: a Secret that is referred to is not there.
        SecretNotFound = "SecretNotFound",
        /// `Degraded` is true: what is wrong has its default.
        RunningOnDefaults = "RunningOnDefaults",
        /// `Degraded` is true: what is wrong has its last good state.
        RunningOnLastKnownGood = "RunningOnLastKnownGood",
        /// `Degraded` is true: the definitions in the cluster lack fields that the controller knows.
        SchemaPredatesController = "SchemaPredatesController",
        /// `Degraded` is true: the objects of some kind cannot be read.
        ThirdPartyWatchUnhealthy = "ThirdPartyWatchUnhealthy",
    }
}

/// What a condition is to be, without the time.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// Type, of [`AibomCondition`] or [`ConfigCondition`].
    pub type_: &'static str,
    /// True or false; none for unknown.
    pub status: Option<bool>,
    /// Reason, of [`AibomReason`] or [`ConfigReason`].
    pub reason: &'static str,
    /// Details for people; cut at [`MAX_MESSAGE`].
    pub message: String,
    /// Generation of the object that it was derived from.
    pub observed_generation: Option<i64>,
}

/// Puts a condition into a list and says whether anything changed. `lastTransitionTime` moves when the status changes, and only then.
pub fn set(conditions: &mut Vec<Condition>, wanted: &Wanted, now: &Time) -> bool {
    let status = match wanted.status {
        Some(true) => "True",
        Some(false) => "False",
        None => "Unknown",
    };
    let mut next = Condition {
        last_transition_time: now.clone(),
        message: beginning(&wanted.message, MAX_MESSAGE).to_owned(),
        observed_generation: wanted.observed_generation,
        reason: wanted.reason.to_owned(),
        status: status.to_owned(),
        type_: wanted.type_.to_owned(),
    };
    let Some(known) = conditions.iter_mut().find(|condition| condition.type_ == wanted.type_) else {
        conditions.push(next);
        return true;
    };
    if known.status == next.status {
        next.last_transition_time = known.last_transition_time.clone();
    }
    let changed = *known != next;
    *known = next;
    changed
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Time {
        Time(k8s_openapi::jiff::Timestamp::from_second(seconds).unwrap())
    }

    fn ready(status: bool, message: &str) -> Wanted {
        Wanted {
            type_: AibomCondition::Ready.as_str(),
            status: Some(status),
            reason: if status { AibomReason::BomGenerated } else { AibomReason::ScrapeFailed }.as_str(),
            message: message.to_owned(),
            observed_generation: Some(3),
        }
    }

    #[test]
    fn the_time_moves_when_the_status_changes_and_only_then() {
        let mut conditions = Vec::new();
        assert!(set(&mut conditions, &ready(true, "one"), &at(1)));
        assert!(!set(&mut conditions, &ready(true, "one"), &at(2)), "nothing changed");
        assert!(set(&mut conditions, &ready(true, "two"), &at(3)));
        assert_eq!((conditions[0].last_transition_time.clone(), conditions[0].message.as_str()), (at(1), "two"));
        assert!(set(&mut conditions, &ready(false, "two"), &at(4)));
        assert_eq!(conditions[0].last_transition_time, at(4));
        assert_eq!(conditions.len(), 1);
    }

    #[test]
    fn conditions_of_other_types_are_left_alone() {
        let mut conditions = Vec::new();
        set(&mut conditions, &ready(true, ""), &at(1));
        let stale = Wanted { type_: AibomCondition::Stale.as_str(), status: None, ..ready(true, "") };
        set(&mut conditions, &stale, &at(2));
        assert_eq!(conditions.iter().map(|condition| condition.status.as_str()).collect::<Vec<_>>(), ["True", "Unknown"]);
    }

    #[test]
    fn a_message_is_never_longer_than_the_server_takes() {
        let mut conditions = Vec::new();
        set(&mut conditions, &ready(false, &"ü".repeat(MAX_MESSAGE)), &at(1));
        assert_eq!(conditions[0].message.len(), MAX_MESSAGE);
    }
}
