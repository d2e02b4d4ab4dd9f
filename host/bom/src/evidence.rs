//! Evidence of a finding as `evidence.identity` and `evidence.occurrences`.
//!
//! The numbers are those of [`Source::hundredths`]; a word and a number of one component never contradict each other (lint L8): a word
//! that the best evidence does not carry is lowered, and a number that exceeds its word is capped.

use std::collections::{BTreeMap, BTreeSet};

use aibom_facts::inventory::{Confidence, Evidence, Source};
use aibom_facts::object::ObjectRef;

use crate::cyclonedx::{Identity, Method, Occurrence};

/// From here on a piece of evidence counts as declared (hundredths).
pub(crate) const DECLARED_FROM: u8 = 60;
/// Most that the identity of an inferred finding gets.
pub(crate) const INFERRED_CAP: u8 = 50;
/// Most that the identity of an unresolved finding gets.
pub(crate) const UNRESOLVED_CAP: u8 = 30;
/// How far a losing value stays behind the effective one.
const LOSS: u8 = 10;

/// What the identity of a component rests on.
pub(crate) struct Identified<'a> {
    /// Field that identifies the component: `purl` or `name`.
    pub(crate) field: &'static str,
    /// Value of that field.
    pub(crate) value: String,
    /// Value of an evidence entry that stands for the identity; none when all do.
    pub(crate) id: Option<String>,
    /// Evidence of the effective value, most effective first.
    pub(crate) evidence: &'a [&'a Evidence],
    /// Evidence of values that lost.
    pub(crate) conflicts: &'a [&'a Evidence],
}

/// Confidence word of a finding whose best evidence has this number.
pub(crate) fn settle(word: Confidence, best: Option<u8>) -> Confidence {
    match best {
        Some(number) if number < DECLARED_FROM => word.min(Confidence::Inferred),
        _ => word,
    }
}

/// Word and identity entries. The effective identity comes first, then what else was concluded (strongest first), conflicts included.
pub(crate) fn identity(of: &Identified<'_>, word: Confidence, objects: &[ObjectRef]) -> (Confidence, Vec<Identity>) {
    let mut groups: BTreeMap<(&'static str, String), Vec<&Evidence>> = BTreeMap::new();
    let main = (of.field, of.value.clone());
    for (i, evidence) in of.evidence.iter().enumerate() {
        let key = match conclusion(evidence) {
            Some(key) => key,
            None if i == 0 || evidence.value.is_empty() || of.id.as_ref().is_none_or(|id| *id == evidence.value) => main.clone(),
            None => ("name", evidence.value.clone()),
        };
        groups.entry(key).or_default().push(evidence);
    }
    let strongest = |evidence: &[&Evidence]| evidence.iter().map(|piece| piece.source.hundredths()).max();
    let conflicts: Vec<&Evidence> = of.conflicts.iter().copied().filter(|piece| !piece.value.is_empty()).collect();
    let named = |key: &(&str, String)| matches!(key.0, "purl" | "name");
    // What the word has to answer to: evidence of the identity itself, failing that of other names, failing that of names that lost.
    let others = || groups.iter().filter(|(key, _)| named(key)).filter_map(|(_, pieces)| strongest(pieces)).max();
    let losers = conflicts.iter().filter(|piece| conclusion(piece).is_none()).map(|piece| piece.source.hundredths()).max();
    let won = groups.get(&main).and_then(|pieces| strongest(pieces)).or_else(others);
    let best = won.or(losers.map(|number| number.saturating_sub(LOSS)));
    let word = settle(word, best);
    let cap = match word {
        Confidence::Unresolved => UNRESOLVED_CAP,
        Confidence::Inferred => INFERRED_CAP,
        Confidence::Declared | Confidence::Verified => 100,
    };
    let effective = best.map_or(cap, |number| number.min(cap));
    let below = if won.is_some() { effective.saturating_sub(LOSS) } else { effective };

    let mut first = groups.remove(&main).map(|pieces| (effective, main.clone(), pieces));
    let mut entries: Vec<(u8, (&'static str, String), Vec<&Evidence>)> = Vec::new();
    for (key, pieces) in groups {
        let number = strongest(&pieces).unwrap_or_default();
        // The word is about the name. A digest or version that was read beside it is as sure as its own evidence.
        entries.push((if named(&key) { number.min(cap) } else { number }, key, pieces));
    }
    let mut lost: BTreeMap<(&'static str, String), Vec<&Evidence>> = BTreeMap::new();
    for conflict in conflicts {
        lost.entry(conclusion(conflict).unwrap_or_else(|| ("name", conflict.value.clone()))).or_default().push(conflict);
    }
    for (key, pieces) in lost {
        // What was concluded elsewhere too is no loser there.
        match first.iter_mut().chain(&mut entries).find(|(_, known, _)| *known == key) {
            Some((_, _, known)) => known.extend(pieces),
            None => entries.push((strongest(&pieces).unwrap_or_default().min(below), key, pieces)),
        }
    }
    entries.sort_by(|(a, a_key, _), (b, b_key, _)| b.cmp(a).then_with(|| a_key.cmp(b_key)));
    let identities = first
        .into_iter()
        .chain(entries)
        .filter(|(_, (_, value), _)| !value.is_empty())
        .map(|(number, (field, value), pieces)| Identity {
            field,
            confidence: fraction(number),
            concluded_value: value,
            methods: methods(&pieces, objects),
            // Who found it is no content; it is added with the envelope.
            tools: Vec::new(),
        })
        .collect();
    (word, identities)
}

/// Field and value that evidence of this kind concludes whatever the component is identified by.
fn conclusion(evidence: &Evidence) -> Option<(&'static str, String)> {
    match evidence.source {
        Source::ImageTag => Some(("version", evidence.value.clone())),
        Source::PodStatus => {
            let digest = evidence.value.rsplit_once('@').map_or(evidence.value.as_str(), |(_, digest)| digest);
            digest.starts_with("sha").then(|| ("hash", digest.to_owned()))
        }
        _ => None,
    }
}

fn methods(pieces: &[&Evidence], objects: &[ObjectRef]) -> Vec<Method> {
    let ordered: BTreeSet<(u8, String, &'static str)> =
        pieces.iter().map(|piece| (100 - piece.source.hundredths(), place(piece, objects), technique(piece.source))).collect();
    ordered.into_iter().map(|(lack, value, technique)| Method { technique, confidence: fraction(100 - lack), value }).collect()
}

/// The technique that CycloneDX has for a kind of place. Pod status is no manifest and nothing was executed, hence `other`.
fn technique(source: Source) -> &'static str {
    match source {
        Source::PodStatus => "other",
        Source::WorkloadAnnotation => "attestation",
        Source::CrdField
        | Source::ContainerArg
        | Source::ShellScript
        | Source::EnvVar
        | Source::EnvVarConvention
        | Source::EnvVarNamePresent
        | Source::ImageReference
        | Source::ImagePattern
        | Source::ImageTag
        | Source::VolumeSource
        | Source::ResourceRequest
        | Source::NodeSelector
        | Source::Derived => "manifest-analysis",
    }
}

/// Pointer of a piece of evidence with the flag, variable or pattern that made it count: `/spec/args/1 (--model)`. The whole object is
/// `#`. A place in another object than the workload is written with the object in front.
pub(crate) fn place(evidence: &Evidence, objects: &[ObjectRef]) -> String {
    let mut text = match (evidence.at.object, evidence.at.pointer.as_str()) {
        (0, "") => "#".to_owned(),
        (0, pointer) => pointer.to_owned(),
        _ => location(&evidence.at, objects),
    };
    if !evidence.by.is_empty() {
        text.push_str(" (");
        text.push_str(&evidence.by);
        text.push(')');
    }
    text
}

/// `<apiVersion>/<Kind>/<namespace>/<name>#<pointer>`.
pub(crate) fn location(at: &aibom_facts::object::Locator, objects: &[ObjectRef]) -> String {
    match objects.get(at.object as usize) {
        Some(object) => format!("{object}#{}", at.pointer),
        None => format!("#{}", at.pointer),
    }
}

/// Every place, sorted, each once.
pub(crate) fn occurrences<'a>(pieces: impl Iterator<Item = &'a Evidence>, objects: &[ObjectRef]) -> Vec<Occurrence> {
    let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    pieces
        .map(|piece| Occurrence {
            location: location(&piece.at, objects),
            symbol: text(&piece.container),
            additional_context: text(&piece.by),
        })
        .collect::<BTreeSet<_>>()
        .into_iter()
        .collect()
}

fn fraction(hundredths: u8) -> f64 {
    f64::from(hundredths) / 100.0
}
