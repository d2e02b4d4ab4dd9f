//! A set of groups, one per role. The kind grew up outside its present home; older shapes of its specification are still in use.

use k8s_aibom_sdk::{Claim, Part, Report};

use crate::group::{self, Role};

const SCALING: [&str; 2] = ["Static", "External"];
const PLACEMENTS: [&str; 3] = ["None", "ExclusiveSlice", "ExclusiveTopology"];

/// Reports every role.
pub(crate) fn report(spec: &Part<'_>, report: &mut Report) {
    let mut names: Vec<String> = Vec::new();
    for (name, part) in roles(spec) {
        if names.contains(&name.text) {
            part.problem("", format_args!("a second role is called `{}`", name.text));
        }
        names.push(name.text.clone());
        let mode = part.part("scaling").one_of("mode", &SCALING);
        let role = Role { name, scaled_elsewhere: mode.as_ref().is_some_and(|mode| mode.as_str() == "External") };
        report.state(format!("disaggregatedset.role.{}.scaling", role.name.text), mode.map(Claim::declared));
        // v1alpha1 had the specification of a group inline.
        let inline = part.has("leaderWorkerTemplate") && !part.has("spec");
        let groups = if inline { part } else { part.required("spec") };
        group::report(&groups, Some(&role), report);
    }
    report.state("disaggregatedset.slices", spec.integer("slices").map(Claim::declared));
    let placement = spec.part("placementPolicy");
    report.state("disaggregatedset.placement.type", placement.one_of("type", &PLACEMENTS).map(Claim::declared));
    report.state("disaggregatedset.placement.topology", placement.text("topology").map(Claim::declared));
}

/// Roles by name. First they were two members, then a list of phases, and are a list of roles now.
fn roles<'a>(spec: &Part<'a>) -> Vec<(Claim, Part<'a>)> {
    if let Some(list) = ["roles", "phases"].into_iter().find(|list| spec.has(list)) {
        return spec.each(list).into_iter().enumerate().map(|(index, part)| (name(index, &part), part)).collect();
    }
    let members = ["prefill", "decode"].into_iter().filter_map(|member| {
        let part = spec.part(member);
        Some((Claim::implied(member, part.place()?), part))
    });
    let members: Vec<_> = members.collect();
    if members.is_empty() && spec.exists() {
        spec.problem("", "there are no roles");
    }
    members
}

fn name(index: usize, part: &Part<'_>) -> Claim {
    part.text("name").map_or_else(
        || {
            part.problem("", "the role has no name");
            Claim::derived(index.to_string(), part.place())
        },
        Claim::declared,
    )
}
