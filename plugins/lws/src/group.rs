//! One `LeaderWorkerSetSpec`: its pod templates and how many pods run them.

use k8s_aibom_sdk::{Claim, Class, Item, Part, PodTemplate, Property, Report, Text};

const RESTARTS: [&str; 4] = ["RecreateGroupOnPodRestart", "RecreateGroupAfterStart", "None", "Default"];
const STARTS: [&str; 2] = ["LeaderCreated", "LeaderReady"];
const SUBDOMAINS: [&str; 2] = ["Shared", "UniquePerReplica"];
const SUB_GROUPS: [&str; 2] = ["LeaderWorker", "LeaderExcluded"];

/// The role that a group plays in a set of several.
pub(crate) struct Role {
    /// Its name, unique in the set.
    pub(crate) name: Claim,
    /// Whether something else than the object decides how many groups there are.
    pub(crate) scaled_elsewhere: bool,
}

/// A template and the part of a group that runs it.
struct Template<'a> {
    part: Part<'a>,
    name: String,
    /// Role in the group; empty where the leader runs what the workers run.
    role: &'static str,
}

/// Reports one specification. Templates of a role carry its name.
pub(crate) fn report(spec: &Part<'_>, role: Option<&Role>, report: &mut Report) {
    let group = spec.required("leaderWorkerTemplate");
    let size = group.integer("size");
    // The API fills in 1. A group of one is its leader.
    let has_workers = size.as_ref().is_some_and(|size| size.value > 1);
    let templates = templates(&group, role);
    report.items.extend(claims(&group, &templates));
    for template in &templates {
        report.pod_templates.extend(template.report(role, has_workers));
    }

    let mut state = |name: &str, value: Option<Claim>| {
        let prefix = role.map_or_else(|| "lws".to_owned(), |role| format!("disaggregatedset.role.{}", role.name.text));
        report.state(format!("{prefix}.{name}"), value);
    };
    let replicas = spec.integer("replicas").filter(|_| role.is_none_or(|role| !role.scaled_elsewhere));
    state("replicas", replicas.map(Claim::declared));
    state("size", size.map(Claim::declared));
    state("restartPolicy", group.one_of("restartPolicy", &RESTARTS).map(Claim::declared));
    state("startupPolicy", spec.one_of("startupPolicy", &STARTS).map(Claim::declared));
    state("subdomainPolicy", spec.part("networkConfig").one_of("subdomainPolicy", &SUBDOMAINS).map(Claim::declared));
    let sub_groups = group.part("subGroupPolicy");
    state("subGroupSize", sub_groups.integer("subGroupSize").map(Claim::declared));
    state("subGroupPolicyType", sub_groups.one_of("subGroupPolicyType", &SUB_GROUPS).map(Claim::declared));
    // While a rollout is held back, groups below this number run an older revision of the templates.
    let rollout = spec.part("rolloutStrategy").part("rollingUpdateConfiguration");
    state("rolloutPartition", rollout.integer("partition").filter(|partition| partition.value > 0).map(Claim::declared));
}

fn templates<'a>(group: &Part<'a>, role: Option<&Role>) -> Vec<Template<'a>> {
    let name = |own: &str| role.map_or_else(|| own.to_owned(), |role| format!("{}/{own}", role.name.text));
    // One that cannot be read is no absent one.
    let has_leader = group.has("leaderTemplate");
    let leader = Template { part: group.part("leaderTemplate"), name: name("leader"), role: "leader" };
    let worker = Template { part: group.required("workerTemplate"), name: name("worker"), role: if has_leader { "worker" } else { "" } };
    [leader, worker].into_iter().filter(|template| template.part.exists()).collect()
}

impl Template<'_> {
    fn report(&self, role: Option<&Role>, has_workers: bool) -> Option<PodTemplate> {
        let at = self.part.place()?;
        let mut template = PodTemplate::new(at.clone()).name(&self.name);
        template = template.role(role.map_or(self.role, |role| role.name.text.as_str()));
        let runs: &[&str] = match (self.role, has_workers) {
            ("leader", _) | ("", false) => &["leader"],
            ("", true) => &["leader", "worker"],
            _ => &["worker"],
        };
        template.properties.extend(runs.iter().map(|part| Property::new("lws.role", Claim::implied(*part, at.clone()))));
        Some(template.property("disaggregatedset.role", role.map(|role| role.name.clone())))
    }

    /// Paths at which the containers mount something, by its name.
    fn mounts(&self) -> Vec<(String, Text)> {
        let all = |member: &str| {
            let lists = ["containers", "initContainers"].map(|list| self.part.texts(&format!("/spec/{list}/*/volumeMounts/*/{member}")));
            lists.into_iter().flatten()
        };
        let paths: Vec<Text> = all("mountPath").collect();
        let of_same = |name: &Text| {
            let mount = name.at.pointer.strip_suffix("/name")?;
            paths.iter().find(|path| path.at.pointer.strip_suffix("/mountPath") == Some(mount)).cloned()
        };
        all("name").filter_map(|name| of_same(&name).map(|path| (name.value, path))).collect()
    }
}

/// Claims that every pod gets for itself.
fn claims(group: &Part<'_>, templates: &[Template<'_>]) -> Vec<Item> {
    let claims = group.each("volumeClaimTemplates");
    if claims.is_empty() {
        return Vec::new();
    }
    let mounts: Vec<(&Template<'_>, Vec<(String, Text)>)> = templates.iter().map(|template| (template, template.mounts())).collect();
    let items = claims.iter().filter_map(|claim| {
        let name = claim.part("metadata").text("name")?;
        let spec = claim.part("spec");
        let mut item = Item::new(Class::Volume, Claim::declared(name.clone())).role("volumeClaimTemplate");
        item = item.property("volume.storageClass", spec.text("storageClassName").map(Claim::declared));
        item = item.property("volume.size", spec.part("resources").part("requests").quantity("storage").map(Claim::declared));
        for (template, mounts) in &mounts {
            let mut here = mounts.iter().filter(|(volume, _)| *volume == name.value).peekable();
            if here.peek().is_some() {
                item = item.uses([template.name.as_str()]);
            }
            for (_, path) in here {
                item = item.property("volume.mountPath", Claim::declared(path.clone()));
            }
        }
        Some(item)
    });
    items.collect()
}
