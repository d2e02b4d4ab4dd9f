use k8s_aibom_sdk::{Failure, Item, Report, testing};

use super::Lws;

fn fixture(path: &str) -> Report {
    let text = std::fs::read_to_string(format!("{}/fixtures/{path}.yaml", env!("CARGO_MANIFEST_DIR"))).unwrap();
    testing::scrape::<Lws>(&testing::documents(&text)).unwrap()
}

fn groups(name: &str) -> Report {
    fixture(&format!("leaderworkerset/{name}"))
}

fn roles(name: &str) -> Report {
    fixture(&format!("disaggregatedset/{name}"))
}

fn properties(report: &Report) -> Vec<(&str, &str)> {
    report.properties.iter().map(|property| (property.name.as_str(), property.value.text.as_str())).collect()
}

/// Name, role and place of each template, and the parts of a group that run it.
fn templates(report: &Report) -> Vec<(&str, &str, &str, String)> {
    let runs = |template: &k8s_aibom_sdk::PodTemplate| {
        let parts = template.properties.iter().filter(|property| property.name == "lws.role");
        parts.map(|property| property.value.text.as_str()).collect::<Vec<_>>().join("+")
    };
    let templates = report.pod_templates.iter();
    templates.map(|t| (t.name.as_str(), t.role.as_str(), t.at.pointer.as_str(), runs(t))).collect()
}

fn messages(report: &Report) -> Vec<&str> {
    report.problems.iter().map(|problem| problem.message.as_str()).collect()
}

fn facts_of(item: &Item) -> Vec<(&str, &str)> {
    item.properties.iter().map(|property| (property.name.as_str(), property.value.text.as_str())).collect()
}

#[test]
fn leader_and_workers_have_a_template_each() {
    let report = groups("leader-and-workers");
    assert_eq!(
        templates(&report),
        [
            ("leader", "leader", "/spec/leaderWorkerTemplate/leaderTemplate", "leader".to_owned()),
            ("worker", "worker", "/spec/leaderWorkerTemplate/workerTemplate", "worker".to_owned()),
        ]
    );
    assert!(report.problems.is_empty() && report.items.is_empty());
    assert!(report.categories.is_empty(), "the kind proves nothing");
}

#[test]
fn without_a_leader_template_the_leader_runs_the_worker_template() {
    assert_eq!(
        templates(&groups("one-template")),
        [("worker", "", "/spec/leaderWorkerTemplate/workerTemplate", "leader+worker".to_owned())]
    );
    assert_eq!(templates(&groups("group-of-one")), [("worker", "", "/spec/leaderWorkerTemplate/workerTemplate", "leader".to_owned())]);
}

#[test]
fn sizes_and_policies_are_properties() {
    assert_eq!(
        properties(&groups("leader-and-workers")),
        [
            ("lws.replicas", "2"),
            ("lws.size", "4"),
            ("lws.restartPolicy", "RecreateGroupOnPodRestart"),
            ("lws.startupPolicy", "LeaderCreated"),
            ("lws.subdomainPolicy", "UniquePerReplica"),
            ("lws.subGroupSize", "2"),
            ("lws.subGroupPolicyType", "LeaderExcluded"),
            ("lws.rolloutPartition", "1"),
        ]
    );
    assert!(properties(&groups("group-of-one")).is_empty(), "nothing is made up");
}

#[test]
fn claim_templates_are_volumes_of_the_templates_that_mount_them() {
    let report = groups("claim-templates");
    let [weights, spare] = &report.items[..] else { panic!("{:#?}", report.items) };
    assert_eq!((weights.name.text.as_str(), weights.role.as_str()), ("weights", "volumeClaimTemplate"));
    assert_eq!(weights.uses, ["leader", "worker"]);
    assert_eq!(
        facts_of(weights),
        [
            ("volume.storageClass", "fast"),
            ("volume.size", "200Gi"),
            ("volume.mountPath", "/models"),
            ("volume.mountPath", "/fetched"),
            ("volume.mountPath", "/models"),
        ]
    );
    assert!(spare.uses.is_empty());
    assert_eq!(facts_of(spare), [("volume.size", "1Gi")]);
}

#[test]
fn wrong_types_are_problems_and_hide_nothing_else() {
    let report = groups("wrong-types");
    // A leader template that cannot be read is no absent one, so nobody says that the leader runs the other.
    assert_eq!(templates(&report), [("worker", "worker", "/spec/leaderWorkerTemplate/workerTemplate", "worker".to_owned())]);
    assert_eq!(report.items.iter().map(|item| item.name.text.as_str()).collect::<Vec<_>>(), ["weights"]);
    assert_eq!(properties(&report), [("lws.startupPolicy", "LeaderAsleep")]);
    let messages = messages(&report);
    for expected in [
        "expected a whole number at /spec/replicas, found a string",
        "`LeaderAsleep` is none of LeaderCreated, LeaderReady",
        "expected an object at /spec/networkConfig, found a list",
        "expected a whole number at /spec/rolloutStrategy/rollingUpdateConfiguration/partition, found a string",
        "expected a whole number at /spec/leaderWorkerTemplate/size, found a string",
        "expected a string at /spec/leaderWorkerTemplate/restartPolicy, found a number",
        "expected a whole number at /spec/leaderWorkerTemplate/subGroupPolicy/subGroupSize, found a number",
        "expected a string at /spec/leaderWorkerTemplate/subGroupPolicy/subGroupPolicyType, found an object",
        "expected an object at /spec/leaderWorkerTemplate/volumeClaimTemplates/0, found null",
        "expected a string at /spec/leaderWorkerTemplate/volumeClaimTemplates/1/metadata/name, found a number",
        "expected a string at /spec/leaderWorkerTemplate/volumeClaimTemplates/2/spec/storageClassName, found a boolean",
        "expected an object at /spec/leaderWorkerTemplate/volumeClaimTemplates/2/spec/resources, found a list",
        "expected an object at /spec/leaderWorkerTemplate/leaderTemplate, found a list",
    ] {
        assert!(messages.contains(&expected), "{expected} is missing from {messages:#?}");
    }
    assert_eq!(messages.len(), 13, "{messages:#?}");
}

#[test]
fn what_is_missing_is_a_problem_at_its_place() {
    for (name, problem) in [
        ("no-spec", "expected an object at /spec, found nothing"),
        ("empty-spec", "expected an object at /spec/leaderWorkerTemplate, found nothing"),
        ("null-templates", "expected an object at /spec/leaderWorkerTemplate/workerTemplate, found nothing"),
    ] {
        let report = groups(name);
        assert_eq!(messages(&report), [problem], "{name}");
        assert!(report.pod_templates.is_empty() && report.properties.is_empty(), "{name}");
    }
    assert_eq!(messages(&roles("no-spec")), ["expected an object at /spec, found nothing"]);
    assert_eq!(messages(&roles("empty-spec")), ["there are no roles"]);
    assert_eq!(messages(&roles("roles-no-list")), ["expected a list at /spec/roles, found an object"]);
}

#[test]
fn each_role_of_a_set_has_templates_and_facts_of_its_own() {
    let report = roles("roles");
    assert_eq!(
        templates(&report),
        [
            ("prefill/leader", "prefill", "/spec/roles/0/spec/leaderWorkerTemplate/leaderTemplate", "leader".to_owned()),
            ("prefill/worker", "prefill", "/spec/roles/0/spec/leaderWorkerTemplate/workerTemplate", "worker".to_owned()),
            ("decode/worker", "decode", "/spec/roles/1/spec/leaderWorkerTemplate/workerTemplate", "leader".to_owned()),
        ]
    );
    assert_eq!(
        properties(&report),
        [
            ("disaggregatedset.role.prefill.replicas", "2"),
            ("disaggregatedset.role.prefill.size", "2"),
            ("disaggregatedset.role.decode.scaling", "External"),
            ("disaggregatedset.role.decode.size", "1"),
            ("disaggregatedset.role.decode.startupPolicy", "LeaderReady"),
            ("disaggregatedset.slices", "3"),
            ("disaggregatedset.placement.type", "ExclusiveSlice"),
            ("disaggregatedset.placement.topology", "topology.example.com/rack"),
        ],
        "replicas that an autoscaler sets elsewhere are not those of the object"
    );
    assert_eq!(report.items[0].uses, ["decode/worker"]);
    assert!(report.categories.is_empty() && report.problems.is_empty());
}

#[test]
fn older_shapes_of_the_roles_give_the_same_facts() {
    let now = roles("roles-v1alpha1");
    assert_eq!(now.pod_templates[1].at.pointer, "/spec/roles/1/leaderWorkerTemplate/workerTemplate");
    for name in ["phases-v1alpha1", "sides-v1alpha1"] {
        let before = roles(name);
        assert_eq!(properties(&before), properties(&now), "{name}");
        let names = |report: &Report| report.pod_templates.iter().map(|t| (t.name.clone(), t.role.clone())).collect::<Vec<_>>();
        assert_eq!(names(&before), names(&now), "{name}");
        assert!(before.problems.is_empty(), "{name}");
    }
}

#[test]
fn wrong_roles_are_problems_and_hide_no_others() {
    let report = roles("wrong-types");
    let names: Vec<_> = report.pod_templates.iter().map(|template| template.name.as_str()).collect();
    assert_eq!(names, ["twin/worker", "twin/worker"], "the host gives the second one another name");
    let messages = messages(&report);
    for expected in [
        "expected an object at /spec/roles/0, found null",
        "expected an object at /spec/roles/1, found a string",
        "expected a string at /spec/roles/2/name, found a number",
        "the role has no name",
        "expected an object at /spec/roles/2/scaling, found a string",
        "expected an object at /spec/roles/2/spec/leaderWorkerTemplate, found a list",
        "`Elastic` is none of Static, External",
        "expected an object at /spec/roles/3/spec, found a number",
        "a second role is called `twin`",
        "expected an object at /spec/roles/6/spec, found nothing",
        "expected a whole number at /spec/slices, found a string",
        "`Nearby` is none of None, ExclusiveSlice, ExclusiveTopology",
        "expected a string at /spec/placementPolicy/topology, found a list",
    ] {
        assert!(messages.contains(&expected), "{expected} is missing from {messages:#?}");
    }
}

#[test]
fn another_version_is_not_read() {
    for (object, version) in [
        ("{apiVersion: leaderworkerset.x-k8s.io/v1alpha1, kind: LeaderWorkerSet, spec: {}}", "v1alpha1"),
        ("{apiVersion: disaggregatedset.x-k8s.io/v2, kind: DisaggregatedSet, spec: {}}", "v2"),
    ] {
        let failure = testing::scrape::<Lws>(&testing::documents(object)).unwrap_err();
        assert!(matches!(&failure, Failure::Unsupported(text) if text.contains(version)), "{failure:?}");
    }
}

#[test]
fn no_change_of_a_field_stops_the_scraper() {
    testing::survives_mutations::<Lws>(concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures"));
}
