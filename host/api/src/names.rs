//! Names of AIBOM objects.

use crate::text::{beginning, short_hash};

/// Longest name of an object in Kubernetes.
const MAX_NAME: usize = 253;

/// Hexadecimal digits that make a name that was cut unique.
const HASH_DIGITS: usize = 12;

/// Name of the AIBOM of a workload: `<group>-<kind>-<name>` in lower case, the dots of the group as hyphens, and no group for the core
/// group (empty, or spelled `core`).
///
/// A name of more than 240 bytes keeps its first 240 without `-` and `.` at their end, and a hyphen and 12 digits of
/// `sha256("<group>/<kind>/<name>")` follow. This is how the Go operator builds names, so that its objects are found again. The mapping is not one to
/// one in principle (`a.b`/`C` and `a`/`B-c`), so a caller compares `spec.workloadRef` before it writes.
///
/// The parts are taken from an object that an API server accepted: valid as they are.
///
/// ```
/// use aibom_api::names::object_name;
/// assert_eq!(object_name("apps", "StatefulSet", "embed"), "apps-statefulset-embed");
/// assert_eq!(object_name("", "Pod", "one"), "pod-one");
/// ```
pub fn object_name(group: &str, kind: &str, name: &str) -> String {
    let mut full = String::with_capacity(group.len() + kind.len() + name.len() + 2);
    if !group.is_empty() && group != "core" {
        full.push_str(&group.to_lowercase().replace('.', "-"));
        full.push('-');
    }
    full.push_str(&kind.to_lowercase());
    full.push('-');
    full.push_str(name);
    let kept = MAX_NAME - 1 - HASH_DIGITS;
    if full.len() <= kept {
        return full;
    }
    let start = beginning(&full, kept).trim_end_matches(['-', '.']);
    format!("{start}-{}", short_hash(&format!("{group}/{kind}/{name}"), HASH_DIGITS))
}

/// [`object_name`] for a workload that is given by its `apiVersion`: what stands before the slash is the group.
pub fn object_name_for(api_version: &str, kind: &str, name: &str) -> String {
    let group = api_version.split_once('/').map_or("", |(group, _)| group);
    object_name(group, kind, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_go_operator() {
        let cases = [
            ("apps", "Deployment", "web", "apps-deployment-web"),
            ("batch", "Job", "train-1", "batch-job-train-1"),
            ("ml.acme.example", "LlmService", "x", "ml-acme-example-llmservice-x"),
            ("", "Pod", "one.two", "pod-one.two"),
            ("core", "Pod", "one", "pod-one"),
            ("Acme.Example", "KIND", "n", "acme-example-kind-n"),
        ];
        for (group, kind, name, expected) in cases {
            assert_eq!(object_name(group, kind, name), expected);
        }
        assert_eq!(object_name_for("apps/v1", "Deployment", "web"), "apps-deployment-web");
        assert_eq!(object_name_for("v1", "Pod", "one"), "pod-one");
    }

    #[test]
    fn a_name_of_240_bytes_stays_and_a_longer_one_gets_a_hash() {
        let prefix = "apps-deployment-".len();
        let longest = "a".repeat(240 - prefix);
        assert_eq!(object_name("apps", "Deployment", &longest), format!("apps-deployment-{longest}"));
        let longer = "a".repeat(241 - prefix);
        let name = object_name("apps", "Deployment", &longer);
        // printf 'apps/Deployment/aaa…' | sha256sum, with 225 times the letter a.
        assert_eq!(name, format!("apps-deployment-{longest}-cea383ddde69"));
        assert_eq!(name.len(), 253);
    }

    #[test]
    fn what_would_end_in_a_dot_or_hyphen_is_trimmed_before_the_hash() {
        let name = format!("{}.-.{}", "a".repeat(221), "b".repeat(20));
        let cut = object_name("apps", "Deployment", &name);
        assert!(cut.starts_with(&format!("apps-deployment-{}-", "a".repeat(221))), "{cut}");
        assert_eq!(cut.len(), "apps-deployment-".len() + 221 + 1 + 12);
    }

    #[test]
    fn long_names_that_differ_in_what_is_cut_have_names_of_their_own() {
        let (one, two) = (format!("{}1", "a".repeat(252)), format!("{}2", "a".repeat(252)));
        assert_ne!(object_name("apps", "Deployment", &one), object_name("apps", "Deployment", &two));
        assert_ne!(object_name("apps", "Deployment", &one), object_name("apps", "DaemonSet", &one));
    }
}
