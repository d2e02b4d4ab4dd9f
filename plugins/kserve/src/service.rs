//! `InferenceService`: a predictor, perhaps a transformer, an explainer and canaries, each a pod specification with fields of its own.

use k8s_aibom_sdk::{Category, Claim, Class, Container, ContainerClass, Duty, Item, Node, Part, PodTemplate, Reader, Report, Text};

use crate::runtime::{self, Runtimes, SERVER};
use crate::{formats, storage};

/// Explainers that are a field of their own, with the library behind each.
const EXPLAINERS: [&str; 3] = ["art", "alibi", "aix"];

/// What an `InferenceService` says.
pub(crate) fn report<'a>(reader: &'a Reader, object: &Part<'a>, related: &'a [Option<Node>]) -> Report {
    let runtimes = Runtimes::new(reader, object, related);
    let spec = object.required("spec");
    let mut report = Report::new().category(Category::Inference);
    let predictor = spec.part("predictor");
    if spec.exists() && !spec.has("predictor") {
        spec.problem("", "there is no predictor");
    }
    let scene = Scene { reader, runtimes: &runtimes };
    scene.predictor(&predictor, "predictor", &mut report);
    for (index, canary) in spec.each("canary").iter().enumerate() {
        let name = canary.part("predictor").text("name").map_or_else(|| index.to_string(), |name| name.value);
        report.state(format!("kserve.canary.{name}.trafficPercent"), canary.integer("trafficPercent").map(Claim::declared));
        scene.predictor(&canary.part("predictor"), &format!("canary-{name}"), &mut report);
    }
    transformer(&spec.part("transformer"), &mut report);
    explainer(&spec.part("explainer"), &mut report);
    report
}

/// What all predictors of a service share.
struct Scene<'s, 'a> {
    reader: &'a Reader,
    runtimes: &'s Runtimes<'a>,
}

impl<'a> Scene<'_, 'a> {
    fn predictor(&self, part: &Part<'a>, name: &str, report: &mut Report) {
        component(part, name, Duty::Engine, report);
        let (mut models, frameworks) = self.frameworks(part, name, report);
        if frameworks > 1 {
            part.problem("", "a predictor has one framework; all of them are read");
        }
        models.extend(storage::of_component(part, name));
        models.extend(storage::of_containers(part, name));
        models.extend(custom(part, name, report));
        // Whatever runs in the predictor runs its models.
        let ids: Vec<String> = (0..models.len()).map(|index| format!("{name}-model-{index}")).collect();
        for item in report.items.iter_mut().filter(|item| item.class == "runtime" && item.uses.iter().any(|used| used == name)) {
            item.uses.extend(ids.iter().cloned());
        }
        // Workers have the same storage.
        let also = part.part("workerSpec").exists().then(|| worker_name(name));
        report.items.extend(models.into_iter().zip(&ids).map(|(item, id)| item.id(id.as_str()).uses(also.clone())));
        worker(part, name, report);
    }

    /// Predictors by framework: `model`, and the fields that were there before it. Gives their models and how many there are.
    fn frameworks(&self, part: &Part<'a>, name: &str, report: &mut Report) -> (Vec<Item>, usize) {
        let (mut models, mut count) = (Vec::new(), 0);
        let model = part.part("model");
        if model.exists() {
            count += 1;
            models.extend(self.model(part, &model, name, report));
        }
        for (field, runtime) in formats::LEGACY {
            let framework = part.part(field);
            let Some(at) = framework.place() else { continue };
            count += 1;
            let source = Claim::implied(format!("kserve.predictor.{field}"), at.clone());
            let item = Item::new(Class::Runtime, Claim::implied(runtime, at)).uses([name]);
            report.items.push(item.property("runtime.source", source));
            settings(&framework, name, report);
            let container = runtime::merged(SERVER, ContainerClass::Main, name, &[&framework], true);
            let container = container.image(runtime::image(&framework, &self.reader.nothing()));
            report.containers.extend(Some(container).filter(Container::says_something));
            models.extend(storage::of_model(&framework, name));
        }
        (models, count)
    }

    /// `predictor.model`, with the serving runtime under it.
    fn model(&self, part: &Part<'a>, model: &Part<'a>, name: &str, report: &mut Report) -> Vec<Item> {
        let reference = self.runtimes.reference(model);
        let runtime = self.runtimes.find(self.reader, reference.as_ref());
        let format = model.part("modelFormat");
        let format_name = format.text("name");
        let reference_claim = reference.clone().map(Claim::declared);
        let of_format = format_name.as_ref().map(|text| text.at.clone());
        let found = formats::runtimes(format_name.as_ref(), reference.as_ref());
        let is_nim = found.iter().any(|(runtime, _)| *runtime == "nim");
        for (_, claim) in found {
            let by_format = claim.at.first() == of_format.as_ref();
            let source = if by_format { "kserve.predictor.model.modelFormat" } else { "kserve.predictor.model.runtime" };
            let source = claim.at.first().map(|at| Claim::implied(source, at.clone()));
            // The version of a format is no version of a server: `1` of a file format.
            let item = Item::new(Class::Runtime, claim).uses([name]).property("runtime.source", source);
            report.items.push(item.property("kserve.runtime.ref", reference_claim.clone()));
        }
        report.state(format!("kserve.{name}.modelFormat.name"), format_name.map(Claim::declared));
        report.state(format!("kserve.{name}.modelFormat.version"), format.scalar("version").map(Claim::declared));
        settings(model, name, report);

        let server = runtime::server(&runtime);
        let container = runtime::merged(SERVER, ContainerClass::Main, name, &[&server, model], true);
        let container = container.image(runtime::image(model, &server));
        report.containers.extend(Some(container).filter(Container::says_something));
        runtime::helpers(&runtime, part, name, report);
        runtime::workers(&runtime, &part.part("workerSpec"), &worker_name(name), report);
        runtime::volumes(&runtime, name, report);

        let models: Vec<Item> = storage::of_model(model, name)
            .into_iter()
            .chain(storage::of_variable(model, name))
            .map(|item| item.property("kserve.runtime.ref", reference_claim.clone()))
            .collect();
        configuration(reference, &runtime, model, models.is_empty() || is_nim, name, report);
        models
    }
}

/// The serving runtime, or else the entry of the storage Secret, as configuration that stands elsewhere. `tells_model` says whether it
/// alone could name the model.
fn configuration(reference: Option<Text>, runtime: &Part<'_>, model: &Part<'_>, tells_model: bool, name: &str, report: &mut Report) {
    let (text, usual) = match (reference, model.part("storage").text("key")) {
        (Some(reference), _) => (reference, "serving-runtime"),
        (None, Some(key)) => (key, "storage"),
        (None, None) => return,
    };
    if usual == "serving-runtime" {
        report.state("kserve.runtime.ref", Claim::declared(text.clone()));
        for format in runtime.each("supportedModelFormats") {
            report.state("kserve.runtime.supportedModelFormats", format.text("name").map(Claim::declared));
        }
    }
    let role = if tells_model && !runtime.exists() { "model-source" } else { usual };
    report.items.push(Item::new(Class::Configuration, Claim::declared(text)).role(role).uses([name]));
}

/// What the fields of a framework say beside storage and container.
fn settings(model: &Part<'_>, name: &str, report: &mut Report) {
    for key in ["runtimeVersion", "protocolVersion"] {
        report.state(format!("kserve.{name}.{key}"), model.scalar(key).map(Claim::declared));
    }
    let storage = model.part("storage");
    for key in ["key", "schemaPath"] {
        report.state(format!("kserve.{name}.storage.{key}"), storage.text(key).map(Claim::declared));
    }
    let confidential = model.part("confidential");
    report.state(format!("kserve.{name}.confidential"), confidential.flag("enabled").map(Claim::declared));
}

/// What every component has: a pod specification, replicas, and helpers that the controller adds.
fn component(part: &Part<'_>, name: &str, duty: Duty, report: &mut Report) {
    let Some(at) = part.place() else { return };
    let template = PodTemplate::new(at).name(name).role(name).duty(duty);
    let account = part.text("serviceAccountName").or_else(|| part.text("serviceAccount"));
    report.pod_templates.push(template.property("kserve.serviceAccountName", account.map(Claim::declared)));
    for key in ["minReplicas", "maxReplicas", "containerConcurrency", "canaryTrafficPercent"] {
        report.state(format!("kserve.{name}.{key}"), part.integer(key).map(Claim::declared));
    }
    let batcher = part.part("batcher");
    for key in ["maxBatchSize", "maxLatency"] {
        report.state(format!("kserve.{name}.batcher.{key}"), batcher.integer(key).map(Claim::declared));
    }
    let logger = part.part("logger");
    for key in ["mode", "url"] {
        report.state(format!("kserve.{name}.logger.{key}"), logger.text(key).map(Claim::declared));
    }
}

fn worker_name(predictor: &str) -> String {
    format!("{predictor}-worker")
}

/// Further nodes of a predictor.
fn worker(predictor: &Part<'_>, name: &str, report: &mut Report) {
    let part = predictor.part("workerSpec");
    let Some(at) = part.place() else { return };
    report.pod_templates.push(PodTemplate::new(at).name(worker_name(name)).role("worker").duty(Duty::Engine));
    for key in ["pipelineParallelSize", "tensorParallelSize"] {
        report.state(format!("kserve.{name}.workerSpec.{key}"), part.integer(key).map(Claim::declared));
    }
}

/// The container of a `custom` field, as manifests of the first versions write it, and its model.
fn custom(part: &Part<'_>, name: &str, report: &mut Report) -> Option<Item> {
    let container = part.part("custom").part("container");
    let own = container.text("name").map_or_else(|| SERVER.to_owned(), |name| name.value);
    let merged = runtime::merged(&own, ContainerClass::Main, name, &[&container], true);
    report.containers.extend(Some(merged).filter(Container::says_something));
    storage::of_variable(&container, name)
}

/// It changes requests and answers. What it has fetched for that is no model that is served.
fn transformer(part: &Part<'_>, report: &mut Report) {
    const NAME: &str = "transformer";
    component(part, NAME, Duty::Infrastructure, report);
    let mut fetched = storage::of_component(part, NAME);
    fetched.extend(storage::of_containers(part, NAME));
    fetched.extend(custom(part, NAME, report));
    report.items.extend(fetched.into_iter().map(|item| {
        let mount = item.properties.into_iter().find(|property| property.name == "model.mountPath").map(|mount| mount.value);
        Item::new(Class::Volume, item.name).role("storageUri").uses([NAME]).property("volume.mountPath", mount)
    }));
}

fn explainer(part: &Part<'_>, report: &mut Report) {
    const NAME: &str = "explainer";
    component(part, NAME, Duty::Unknown, report);
    let mut models = storage::of_component(part, NAME);
    for library in EXPLAINERS {
        let field = part.part(library);
        let Some(at) = field.place() else { continue };
        let source = Claim::implied(format!("kserve.explainer.{library}"), at.clone());
        let item = Item::new(Class::Runtime, Claim::implied(library, at)).uses([NAME]).property("runtime.source", source);
        report.items.push(item.property("kserve.explainer.type", field.text("type").map(Claim::declared)));
        let container = runtime::merged(SERVER, ContainerClass::Main, NAME, &[&field], true);
        let container = container.image(runtime::image(&field, &field));
        report.containers.extend(Some(container).filter(Container::says_something));
        models.extend(storage::of_model(&field, NAME));
    }
    models.extend(storage::of_containers(part, NAME));
    models.extend(custom(part, NAME, report));
    report.items.extend(models);
}
