//! How graphs are converted between their map form (v1alpha1) and their list form (v1beta1), as their operator does it: the list form is
//! the hub, live fields always come from the source, and what the target cannot hold is kept in an annotation.

use serde_json::{Map, Value, json};

/// What the list form cannot hold is kept here.
const SAVED: &str = "nvidia.com/dgd-spec";

/// Fields of a component that have the same name in both forms.
const SAME: [&str; 9] = [
    "modelRef",
    "multinode",
    "replicas",
    "minAvailable",
    "runtimeVersionOverride",
    "globalDynamoNamespace",
    "eppConfig",
    "topologyConstraint",
    "scalingAdapter",
];

/// Converts a graph to a version, `group/version`.
pub fn convert(object: &Value, desired: &str) -> Value {
    let mut converted = object.clone();
    if object["apiVersion"] == desired {
        return converted;
    }
    converted["apiVersion"] = json!(desired);
    if desired.ends_with("/v1alpha1") {
        converted["spec"] = to_map(&object["spec"]);
        let saved = object["metadata"]["annotations"][SAVED].as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
        if let Some(pvcs) = saved.as_ref().and_then(|saved| saved.get("pvcs")) {
            converted["spec"]["pvcs"] = pvcs.clone();
        }
    } else {
        converted["spec"] = to_list(&object["spec"]);
        if let Some(pvcs) = object["spec"].get("pvcs") {
            converted["metadata"]["annotations"][SAVED] = json!(json!({ "pvcs": pvcs }).to_string());
        }
    }
    converted
}

fn to_list(spec: &Value) -> Value {
    let mut out = shared(spec);
    put(&mut out, "env", spec.get("envs").cloned());
    let services = spec["services"].as_object().cloned().unwrap_or_default();
    let mut names: Vec<&String> = services.keys().filter(|name| !services[*name].is_null()).collect();
    names.sort();
    out.insert("components".to_owned(), names.into_iter().map(|name| component(name, &services[name])).collect());
    Value::Object(out)
}

fn component(name: &str, service: &Value) -> Value {
    let mut out = Map::from_iter([("name".to_owned(), json!(name))]);
    for field in SAME {
        put(&mut out, field, service.get(field).cloned());
    }
    let role = match (service["componentType"].as_str(), service["subComponentType"].as_str()) {
        (Some("worker"), Some(part @ ("prefill" | "decode"))) => Some(part),
        (role, _) => role,
    };
    put(&mut out, "type", role.map(|role| json!(role)));
    let mut pod = service["extraPodSpec"].as_object().cloned().unwrap_or_default();
    let mut main = pod.remove("mainContainer").and_then(|main| main.as_object().cloned()).unwrap_or_default();
    main.insert("name".to_owned(), json!("main"));
    merge_env(&mut main, service["envs"].as_array());
    if let Some(secret) = service["envFromSecret"].as_str() {
        append(&mut main, "envFrom", [json!({ "secretRef": { "name": secret } })]);
    }
    let mounts = service["volumeMounts"].as_array().into_iter().flatten();
    append(&mut main, "volumeMounts", mounts.map(|mount| json!({ "name": mount["name"], "mountPath": mount["mountPoint"] })));
    for probe in ["livenessProbe", "readinessProbe"] {
        put(&mut main, probe, service.get(probe).cloned());
    }
    if let Some(resources) = service["resources"].as_object() {
        let sides = resources.iter().filter(|(side, _)| ["requests", "limits"].contains(&side.as_str()));
        let sides = sides.map(|(side, amounts)| (side.clone(), quantities(amounts)));
        main.insert("resources".to_owned(), Value::Object(sides.collect()));
    }
    let others = pod.remove("containers").and_then(|others| others.as_array().cloned()).unwrap_or_default();
    let containers: Vec<Value> = std::iter::once(Value::Object(main)).chain(others).collect();
    pod.insert("containers".to_owned(), Value::Array(containers));
    let mut template = json!({ "spec": pod });
    if let Some(metadata) = service.get("extraPodMetadata") {
        template["metadata"] = metadata.clone();
    }
    out.insert("podTemplate".to_owned(), template);
    Value::Object(out)
}

fn to_map(spec: &Value) -> Value {
    let mut out = shared(spec);
    put(&mut out, "envs", spec.get("env").cloned());
    let components = spec["components"].as_array().into_iter().flatten();
    let services = components.filter_map(|component| Some((component["name"].as_str()?.to_owned(), service(component))));
    out.insert("services".to_owned(), Value::Object(services.collect()));
    Value::Object(out)
}

fn service(component: &Value) -> Value {
    let mut out = Map::new();
    for field in SAME {
        put(&mut out, field, component.get(field).cloned());
    }
    match component["type"].as_str() {
        Some(part @ ("prefill" | "decode")) => {
            out.insert("componentType".to_owned(), json!("worker"));
            out.insert("subComponentType".to_owned(), json!(part));
        }
        role => put(&mut out, "componentType", role.map(|role| json!(role))),
    }
    let template = &component["podTemplate"];
    put(&mut out, "extraPodMetadata", template.get("metadata").cloned());
    let mut pod = template["spec"].as_object().cloned().unwrap_or_default();
    let containers = pod.remove("containers").and_then(|containers| containers.as_array().cloned()).unwrap_or_default();
    let (main, others): (Vec<Value>, Vec<Value>) = containers.into_iter().partition(|container| container["name"] == "main");
    put(&mut pod, "mainContainer", main.into_iter().next());
    if !others.is_empty() {
        pod.insert("containers".to_owned(), Value::Array(others));
    }
    out.insert("extraPodSpec".to_owned(), Value::Object(pod));
    Value::Object(out)
}

/// Fields of a graph that have the same name in both forms.
fn shared(spec: &Value) -> Map<String, Value> {
    let names = ["annotations", "labels", "backendFramework", "priorityClassName", "restart"];
    names.iter().filter_map(|name| Some(((*name).to_owned(), spec.get(*name)?.clone()))).collect()
}

fn put(map: &mut Map<String, Value>, name: &str, value: Option<Value>) {
    if let Some(value) = value.filter(|value| !value.is_null()) {
        map.insert(name.to_owned(), value);
    }
}

fn append(map: &mut Map<String, Value>, name: &str, more: impl IntoIterator<Item = Value>) {
    let mut all = map.get(name).and_then(Value::as_array).cloned().unwrap_or_default();
    all.extend(more);
    if !all.is_empty() {
        map.insert(name.to_owned(), Value::Array(all));
    }
}

/// Variables of the service, unless the container has one of the name.
fn merge_env(main: &mut Map<String, Value>, more: Option<&Vec<Value>>) {
    let own = main.get("env").and_then(Value::as_array).cloned().unwrap_or_default();
    let inherited = more.into_iter().flatten().filter(|variable| !own.iter().any(|known| known["name"] == variable["name"])).cloned();
    let all: Vec<Value> = inherited.chain(own.iter().cloned()).collect();
    if !all.is_empty() {
        main.insert("env".to_owned(), Value::Array(all));
    }
}

fn quantities(amounts: &Value) -> Value {
    let mut out = Map::new();
    for name in ["cpu", "memory"] {
        put(&mut out, name, amounts.get(name).cloned());
    }
    let device = amounts["gpuType"].as_str().unwrap_or("nvidia.com/gpu");
    put(&mut out, device, amounts.get("gpu").cloned());
    out.extend(amounts["custom"].as_object().cloned().unwrap_or_default());
    Value::Object(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_map_form_becomes_the_list_form_and_comes_back_with_what_it_says() {
        let map = json!({
            "apiVersion": "nvidia.com/v1alpha1", "kind": "DynamoGraphDeployment", "metadata": { "name": "g" },
            "spec": {
                "backendFramework": "vllm", "envs": [{ "name": "A", "value": "1" }], "pvcs": [{ "name": "cache" }],
                "services": {
                    "Worker": {
                        "componentType": "worker", "subComponentType": "decode", "replicas": 2, "envFromSecret": "token",
                        "envs": [{ "name": "B", "value": "2" }, { "name": "C", "value": "3" }],
                        "volumeMounts": [{ "name": "cache", "mountPoint": "/cache" }],
                        "resources": { "limits": { "gpu": "1" } },
                        "extraPodSpec": {
                            "containers": [{ "name": "side" }],
                            "mainContainer": { "image": "registry.example/vllm:1", "env": [{ "name": "B", "value": "4" }] },
                        },
                    },
                    "Frontend": { "componentType": "frontend" },
                },
            },
        });
        let list = convert(&map, "nvidia.com/v1beta1");
        let components = list["spec"]["components"].as_array().unwrap();
        assert_eq!((&components[0]["name"], &components[1]["type"]), (&json!("Frontend"), &json!("decode")));
        let containers = &components[1]["podTemplate"]["spec"]["containers"];
        assert_eq!(containers[1]["name"], "side");
        assert_eq!(containers[0]["env"], json!([{ "name": "C", "value": "3" }, { "name": "B", "value": "4" }]));
        assert_eq!(containers[0]["envFrom"], json!([{ "secretRef": { "name": "token" } }]));
        assert_eq!(containers[0]["volumeMounts"], json!([{ "name": "cache", "mountPath": "/cache" }]));
        assert_eq!(containers[0]["resources"], json!({ "limits": { "nvidia.com/gpu": "1" } }));
        assert_eq!(list["spec"]["env"], map["spec"]["envs"]);
        assert_eq!(list["spec"].get("pvcs"), None);

        let back = convert(&list, "nvidia.com/v1alpha1");
        let worker = &back["spec"]["services"]["Worker"];
        assert_eq!((&worker["componentType"], &worker["subComponentType"]), (&json!("worker"), &json!("decode")));
        assert_eq!(worker["extraPodSpec"]["mainContainer"]["image"], "registry.example/vllm:1");
        assert_eq!(worker["extraPodSpec"]["containers"], json!([{ "name": "side" }]));
        assert_eq!(back["spec"]["pvcs"], map["spec"]["pvcs"]);
        assert_eq!(convert(&list, "nvidia.com/v1beta1"), list);
    }
}
