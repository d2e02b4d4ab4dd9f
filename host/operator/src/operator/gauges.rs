//! Gauges that are counted when somebody asks: nothing is kept up to date that nobody reads.

use std::collections::HashMap;

use aibom_api::names::object_name;

use super::shared::Shared;
use super::world::State;

/// Counts anew.
pub fn refresh(shared: &Shared) {
    let metrics = &shared.metrics;
    metrics.leader.set(i64::from(shared.term.left().is_some()));
    metrics.queue_depth.set(i64::try_from(shared.queue.len()).unwrap_or(i64::MAX));
    let mut documents: HashMap<(String, String), i64> = HashMap::new();
    let mut skipped: HashMap<&'static str, i64> = HashMap::new();
    let mut model_bearing = 0;
    {
        let world = shared.world();
        for (key, workload) in world.workloads() {
            let reason = match &workload.state {
                State::NotAi => Some("unmatched"),
                State::Owned => Some("rolled_up"),
                State::Unread => Some("kind_not_served"),
                State::Failed { .. } => Some("failed"),
                State::Ai(_) => match world.stored(&key.namespace, &object_name(&key.kind.group, &key.kind.kind, &key.name)) {
                    Some(stored) if stored.workload.as_ref() == Some(key) && stored.status.is_some() => {
                        let (category, runtime, models) = &*stored.inventory;
                        *documents.entry((category.clone(), runtime.clone())).or_default() += 1;
                        model_bearing += i64::from(*models);
                        None
                    }
                    Some(stored) if stored.workload.as_ref() != Some(key) => Some("name_taken"),
                    _ => Some("waiting"),
                },
            };
            if let Some(reason) = reason {
                *skipped.entry(reason).or_default() += 1;
            }
        }
    }
    metrics.workloads.reset();
    for ((category, runtime), count) in documents {
        metrics.workloads.with_label_values(&[&category, &runtime]).set(count);
    }
    metrics.model_bearing.set(model_bearing);
    metrics.skipped.reset();
    for (reason, count) in skipped {
        metrics.skipped.with_label_values(&[reason]).set(count);
    }
}
