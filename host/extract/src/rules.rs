//! What is known about runtimes, as data.
//!
//! One YAML file per runtime under `runtimes/` (its fields are documented in `runtimes/README.md`), and two files of conventions that
//! hold for every container. Files are checked when they are read: an unknown field, an unknown runtime name or a name given twice is
//! an error that says where.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use aibom_facts::inventory::{Category, Role};
use serde::Deserialize;
use serde::de::DeserializeOwned;

use crate::builtin;
use crate::clues::ClueWords;
use crate::maps::FastMap;

mod check;
mod choices;
mod images;
mod launchers;
mod overrides;
mod services;
mod spec;

pub(crate) use choices::{CategoryHint, Choice, Marks};
pub(crate) use images::{ImageIndex, Images, Repository, Star};
pub(crate) use launchers::LauncherIndex;
pub use overrides::Override;
pub(crate) use services::{Api, Kind, Part, Services};
use spec::Spec;
pub(crate) use spec::{Case, Condition, Positional, Shape, Start, Use, Values};

/// A data file that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RulesError {
    /// No YAML, or not of the documented shape.
    #[error("{file}: {message}")]
    Syntax {
        /// Name of the file.
        file: String,
        /// What the reader said, with line and column.
        message: String,
    },
    /// Two files define the same name.
    #[error("{file}: `{name}` is defined twice")]
    Twice {
        /// Name of the second file.
        file: String,
        /// The runtime or alias.
        name: String,
    },
    /// A reference to a runtime that no file defines.
    #[error("{file}: `{name}` is no runtime that another file defines")]
    UnknownRuntime {
        /// Name of the file.
        file: String,
        /// The reference.
        name: String,
    },
    /// A runtime that is to be disabled but is not there.
    #[error("`{name}` cannot be disabled: no runtime has that name")]
    NothingToDisable {
        /// The name.
        name: String,
    },
    /// An entry without what makes it useful.
    #[error("{file}: {message}")]
    Entry {
        /// Name of the file.
        file: String,
        /// What is wrong.
        message: String,
    },
}

/// What a program or an image does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Does {
    /// Works with models itself: serves, trains, evaluates.
    #[default]
    Run,
    /// Downloads models or data.
    Fetch,
    /// Loads a server from outside.
    Measure,
    /// Forwards requests, plans or watches; has no model of its own.
    Route,
    /// Answers as a model without loading one.
    Simulate,
    /// A tool of the runtime that is neither of these: help, conversion, a cluster daemon.
    Tool,
}

impl Does {
    /// Every word.
    pub const ALL: [Self; 6] = [Self::Run, Self::Fetch, Self::Measure, Self::Route, Self::Simulate, Self::Tool];

    /// The word used in files and explanations.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Fetch => "fetch",
            Self::Measure => "measure",
            Self::Route => "route",
            Self::Simulate => "simulate",
            Self::Tool => "tool",
        }
    }
}

/// One way to start a runtime.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct Launcher {
    /// Base names of programs.
    pub programs: Vec<String>,
    /// Python modules.
    pub modules: Vec<String>,
    /// File names of Python or shell scripts.
    pub scripts: Vec<String>,
    /// Functions and classes that Python code calls.
    pub calls: Vec<String>,
    /// Package that the code of a call must import.
    pub imports: Option<String>,
    /// Applications that a web server for Python is given: `package.module:name`.
    pub apps: Vec<String>,
    /// Words that must follow.
    pub words: Vec<String>,
    /// What must be among the words behind: an option, an option with its value (`--a=b`), or a part of any other word.
    pub with: Option<String>,
    /// Parts that one of the words behind, or the here-document, must have, in lower case.
    pub says: Vec<String>,
    /// What it does, when not what the runtime does.
    pub does: Option<Does>,
    /// Category, when not the runtime's.
    pub category: Option<Category>,
    /// Role of the main model, when not the runtime's.
    pub role: Option<Role>,
    /// What positional arguments are, in order.
    pub positional: Vec<Positional>,
    /// Parameters that it stands for.
    pub sets: BTreeMap<String, String>,
    /// It starts the program that follows its own options.
    pub starts: Option<Start>,
    /// The engine whose options it passes on and which runs in it.
    pub engine: Option<String>,
    /// The runtime it starts is not this one but nothing at all, or only the engine.
    pub anonymous: bool,
    /// It counts only with an address on the model hub.
    pub hub_only: bool,
    /// It counts only with the address of a file of weights.
    pub weights_only: bool,
    /// It counts only when it copies a model out of a store, as far as names tell.
    pub models_only: bool,
}

/// A variable that switches another runtime on.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Implied {
    /// Name of the variable.
    pub variable: String,
    /// Values that switch it on.
    pub values: Vec<String>,
    /// The runtime.
    pub runtime: String,
}

/// An option that says what the model is for.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RoleHint {
    /// Name of the option.
    #[serde(default)]
    pub option: Option<String>,
    /// Name of the variable, when it is none.
    #[serde(default)]
    pub variable: Option<String>,
    /// Values that say so; empty for a switch.
    #[serde(default)]
    pub values: Vec<String>,
    /// The role of the main model.
    pub role: Role,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct File {
    name: String,
    /// Of a file that changes a known runtime: nothing of the known one is kept.
    #[serde(default)]
    replace: bool,
    #[serde(default)]
    aliases: Vec<String>,
    #[serde(default)]
    category: Option<Category>,
    #[serde(default)]
    framework: bool,
    #[serde(default)]
    does: Does,
    #[serde(default)]
    role: Role,
    #[serde(default)]
    catalogue: bool,
    #[serde(default)]
    helpers: bool,
    #[serde(default)]
    shows: Option<String>,
    #[serde(default)]
    abbreviations: bool,
    #[serde(default)]
    twins: Vec<String>,
    #[serde(default)]
    images: Images,
    #[serde(default)]
    launch: Vec<Launcher>,
    #[serde(default)]
    options: BTreeMap<Use, Vec<Spec>>,
    #[serde(default)]
    parameters: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    switches: Vec<String>,
    #[serde(default)]
    ignored: Vec<Spec>,
    #[serde(default)]
    env: BTreeMap<Use, Vec<Spec>>,
    #[serde(default)]
    env_parameters: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    implies: Vec<Implied>,
    #[serde(default)]
    roles: Vec<RoleHint>,
    #[serde(default)]
    members: BTreeMap<String, Vec<String>>,
    #[serde(default)]
    cases: Vec<Case>,
    #[serde(default)]
    shares: Vec<String>,
    #[serde(default)]
    signs: Vec<String>,
    #[serde(default)]
    marks: Marks,
    #[serde(default)]
    chosen_in: Option<String>,
    #[serde(default)]
    categories: Vec<CategoryHint>,
}

/// What an option or a variable of a runtime means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Meaning {
    /// A fact about models.
    Fact(Use, Arc<Shape>),
    /// A parameter by name.
    Parameter(String),
    /// A switch without a value.
    Switch,
    /// Nothing, but it takes so many words.
    Ignored(Values),
    /// `name=value` pairs or a JSON object, whose members are options of this one: `--option.name`.
    Members(String),
}

/// A runtime with its indices.
#[derive(Clone, Debug)]
pub struct Runtime {
    /// Name, lower case.
    pub name: String,
    /// What a workload that runs it does; none when it does not tell.
    pub category: Option<Category>,
    /// A library rather than a program.
    pub framework: bool,
    /// What it does.
    pub does: Does,
    /// Role of its main model.
    pub role: Role,
    /// Model names without scheme are names of the vendor's catalogue.
    pub catalogue: bool,
    /// The scripts that it starts read the conventional variables.
    pub helpers: bool,
    /// The runtime that the inventory has for it, and whose options and variables it takes too.
    pub shows: Option<String>,
    /// It takes the beginning of a long option's name for the option.
    pub abbreviations: bool,
    /// Images.
    pub images: Images,
    /// Ways to start it.
    pub launch: Vec<Launcher>,
    /// Options by folded name.
    pub(crate) options: FastMap<String, Meaning>,
    /// Variables that it reads, most effective first.
    pub env: Vec<(String, Meaning)>,
    /// Variables that switch another runtime on.
    pub implies: Vec<Implied>,
    /// Options that say what the model is for.
    pub roles: Vec<RoleHint>,
    /// What options change.
    pub cases: Vec<Case>,
    /// Runtimes whose options it takes too.
    pub shares: Vec<String>,
    /// Variables of which two tell that such a program runs, where nothing else tells what does.
    pub signs: Vec<String>,
    /// It takes `key=value` words.
    pub overrides: bool,
    /// Variables that prove it where the image and the command say nothing.
    pub marks: Marks,
    /// Where its models are chosen when the object names none: a word of the inventory's vocabulary.
    pub chosen_in: Option<String>,
    /// What gives the workload a category that the runtime alone does not.
    pub categories: Vec<CategoryHint>,
}

/// A program that starts the program that follows its own options.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct Wrapper {
    /// Base names.
    pub programs: Vec<String>,
    /// Words that must follow.
    pub words: Vec<String>,
    /// Options that take a value in the next word.
    pub valued: Vec<String>,
    /// Options that take two.
    pub double: Vec<String>,
    /// Number of own arguments before the command.
    pub skip: usize,
    /// `NAME=value` words may precede the command.
    pub assignments: bool,
    /// The command begins behind `--` only.
    pub after_dashes: bool,
    /// Option whose value is a JSON object with variables of the command in `env_vars`.
    pub environment: Option<String>,
}

/// A command line that joins a server led by another pod.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Joining {
    /// Base names of the program or script; any where empty.
    pub programs: Vec<String>,
    /// Words that must follow.
    pub words: Vec<String>,
    /// Options of which one must be there, unless there are none.
    pub options: Vec<String>,
}

/// Conventions that hold for every container.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Conventions {
    /// Programs in front of programs.
    pub wrappers: Vec<Wrapper>,
    /// Programs of images of tools, by the last two segments of the repository.
    #[serde(default)]
    pub entrypoints: BTreeMap<String, Vec<String>>,
    /// Programs that only wait.
    pub idle: Vec<String>,
    /// Command lines that join a server led by another pod.
    pub joining: Vec<Joining>,
    /// Programs of scripts that do no AI work.
    pub plain: Vec<String>,
    /// Words in the name of a program or script that downloads.
    pub fetching: Vec<String>,
    /// Variables that by convention hold a model but that no program is known to read.
    pub helpers: Vec<String>,
    /// Words in place of a model that say that there is none.
    #[serde(default)]
    pub no_model: Vec<String>,
    /// Names of directories in stores and volumes that hold models.
    pub stored_models: Vec<String>,
    /// Last path segments that say nothing about a model.
    pub generic_directories: Vec<String>,
    /// Tokens of a repository name that make an image plumbing.
    pub plumbing: Vec<String>,
    /// Last segments that are named after nothing; the one before them is looked at too.
    pub generic_segments: Vec<String>,
    /// Pattern of tokens that may follow a runtime's name in a repository.
    pub variants: Vec<String>,
    /// Resource names of accelerators; `*` at the end.
    pub devices: Vec<String>,
    /// Labels of nodes that say which accelerators they have.
    #[serde(default)]
    pub accelerator_labels: Vec<String>,
    /// Signs that an unknown program works with models.
    #[serde(default)]
    pub clues: ClueWords,
    /// Words that say that a downloaded model is an adapter, by role.
    pub spoken_roles: BTreeMap<Role, Vec<String>>,
    /// Providers in front of a model's name that load it from the hub.
    #[serde(default)]
    pub local_providers: Vec<String>,
    /// Words in the place of a dataset that say that there is none: made-up load.
    #[serde(default)]
    pub no_datasets: Vec<String>,
}

/// All rules.
#[derive(Clone, Debug)]
pub struct Rules {
    pub(crate) runtimes: Vec<Runtime>,
    /// Names and texts of their files, at the same index.
    files: Vec<(String, String)>,
    pub(crate) by_name: FastMap<String, usize>,
    pub(crate) conventions: Conventions,
    pub(crate) apis: Services,
    pub(crate) variant: regex::Regex,
    pub(crate) images: ImageIndex,
    pub(crate) launchers: LauncherIndex,
    /// What options mean to a program that nobody knows.
    pub(crate) unknown: Runtime,
    /// Runtimes that variables may prove.
    marked: Vec<usize>,
    /// Patterns of images as written, in place of what is known about images of inference servers.
    patterns: Vec<(regex::Regex, usize)>,
}

/// `--a_b` and `--a-b` are one option; single-dash names are exact.
pub(crate) fn fold(option: &str) -> String {
    if option.starts_with("--") { option.replace('_', "-") } else { option.to_owned() }
}

/// Runtimes that variables may prove.
fn marked(runtimes: &[Runtime]) -> Vec<usize> {
    (0..runtimes.len()).filter(|index| !runtimes[*index].marks.variables.is_empty()).collect()
}

impl Rules {
    /// The rules that the program brings along.
    ///
    /// # Panics
    /// Never in a build whose tests pass: a test reads the same files.
    pub fn builtin() -> &'static Self {
        static RULES: OnceLock<Rules> = OnceLock::new();
        RULES.get_or_init(|| match Self::parse(builtin::RUNTIMES.iter().copied()) {
            Ok(rules) => rules,
            Err(error) => panic!("built-in runtime data: {error}"),
        })
    }

    /// Reads runtime files, given by name and text. A file called `conventions.yaml` or `services.yaml` replaces the built-in one.
    ///
    /// # Errors
    /// The first file that cannot be used.
    pub fn parse<'f>(files: impl Iterator<Item = (&'f str, &'f str)>) -> Result<Self, RulesError> {
        let mut conventions = ("conventions.yaml", builtin::CONVENTIONS);
        let mut services = ("services.yaml", builtin::SERVICES);
        let mut runtimes = Vec::new();
        let mut by_name = FastMap::default();
        let mut owners = check::Owners::default();
        let mut origins: Vec<(String, String)> = Vec::new();
        for (name, text) in files {
            match name {
                "conventions.yaml" => conventions = (name, text),
                "services.yaml" => services = (name, text),
                _ => {
                    let file: File = read(name, text)?;
                    owners.add(name, &file)?;
                    for known in std::iter::once(&file.name).chain(&file.aliases) {
                        if by_name.insert(known.clone(), runtimes.len()).is_some() {
                            return Err(RulesError::Twice { file: name.to_owned(), name: known.clone() });
                        }
                    }
                    origins.push((name.to_owned(), text.to_owned()));
                    runtimes.push(runtime(name, file)?);
                }
            }
        }
        for (runtime, (file, _)) in runtimes.iter().zip(&origins) {
            for name in references(runtime) {
                if !by_name.contains_key(name) {
                    return Err(RulesError::UnknownRuntime { file: file.clone(), name: name.to_owned() });
                }
            }
        }
        let apis = Services::read(services.0, services.1)?;
        let file = conventions.0;
        let conventions: Conventions = read(file, conventions.1)?;
        let variant = regex::Regex::new(&format!("^(?:{})$", conventions.variants.join("|")))
            .map_err(|error| RulesError::Entry { file: file.to_owned(), message: format!("variants: {error}") })?;
        let images = ImageIndex::new(&runtimes);
        let launchers = LauncherIndex::new(&runtimes);
        let unknown = runtime("unknown.yaml", read("unknown.yaml", builtin::UNKNOWN)?)?;
        let marked = marked(&runtimes);
        Ok(Self { runtimes, files: origins, by_name, conventions, apis, variant, images, marked, launchers, unknown, patterns: Vec::new() })
    }

    fn index_again(&mut self) {
        self.images = ImageIndex::new(&self.runtimes);
        self.launchers = LauncherIndex::new(&self.runtimes);
        self.marked = marked(&self.runtimes);
    }

    /// The runtime with this name or alias, in any case.
    pub fn runtime(&self, name: &str) -> Option<&Runtime> {
        self.index(name).map(|index| &self.runtimes[index])
    }

    pub(crate) fn index(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).or_else(|| self.by_name.get(&name.to_ascii_lowercase())).copied()
    }

    /// Runtimes that enough of these variables prove, each with the first of them.
    pub(crate) fn marks<'n>(&self, names: impl Iterator<Item = &'n str>) -> Vec<(usize, &'n str)> {
        let mut counted: BTreeMap<usize, (usize, &'n str)> = BTreeMap::new();
        for name in names {
            for runtime in &self.marked {
                let marks = &self.runtimes[*runtime].marks;
                if marks.variables.iter().any(|known| known.strip_suffix('*').map_or(known == name, |start| name.starts_with(start))) {
                    counted.entry(*runtime).or_insert((0, name)).0 += 1;
                }
            }
        }
        let enough = |(runtime, (count, name)): (usize, (usize, &'n str))| {
            (count >= self.runtimes[runtime].marks.least.unwrap_or(1)).then_some((runtime, name))
        };
        counted.into_iter().filter_map(enough).collect()
    }

    /// The runtime that the inventory has for this one.
    pub(crate) fn shown(&self, runtime: usize) -> usize {
        self.runtimes[runtime].shows.as_deref().and_then(|name| self.index(name)).unwrap_or(runtime)
    }

    /// Every runtime, in the order in which the files were given.
    pub fn runtimes(&self) -> &[Runtime] {
        &self.runtimes
    }
}

/// Reads one of the files. Erased, since the reader would otherwise be compiled for every structure of the schema, which takes longer
/// than the rest of this crate.
fn read<T: DeserializeOwned>(file: &str, text: &str) -> Result<T, RulesError> {
    serde_saphyr::with_deserializer_from_str(text, |yaml| {
        erased_serde::deserialize(&mut <dyn erased_serde::Deserializer<'_>>::erase(yaml)).map_err(serde::de::Error::custom)
    })
    .map_err(|error| {
        let mut message = error.to_string();
        // Each structure around the mistake adds its own place; the first one is the closest.
        if let Some((at, _)) = message.match_indices(" at line ").nth(1) {
            message.truncate(at);
        }
        RulesError::Syntax { file: file.to_owned(), message }
    })
}

fn runtime(name: &str, file: File) -> Result<Runtime, RulesError> {
    let entry = |message: String| RulesError::Entry { file: name.to_owned(), message };
    check::entries(&file).map_err(entry)?;
    let mut options = FastMap::default();
    let mut add = |option: &str, meaning: Meaning| {
        if !option.starts_with('-') && !option.ends_with('=') {
            return Err(entry(format!("option `{option}` must start with a dash or end with an equals sign")));
        }
        match options.insert(fold(option), meaning) {
            Some(_) => Err(entry(format!("option `{option}` is given twice"))),
            None => Ok(()),
        }
    };
    for (role, specs) in &file.options {
        for spec in specs {
            let (names, shape) = spec.parts();
            let shape = Arc::new(shape);
            for option in names {
                add(&option, Meaning::Fact(*role, Arc::clone(&shape)))?;
            }
        }
    }
    for (parameter, names) in &file.parameters {
        for option in names {
            add(option, Meaning::Parameter(parameter.clone()))?;
        }
    }
    for option in &file.switches {
        add(option, Meaning::Switch)?;
    }
    for spec in &file.ignored {
        let (names, shape) = spec.parts();
        for option in names {
            add(&option, Meaning::Ignored(shape.values))?;
        }
    }
    for (option, more) in &file.members {
        for spelling in std::iter::once(option).chain(more) {
            add(spelling, Meaning::Members(option.clone()))?;
        }
    }
    let mut env = Vec::new();
    for (role, specs) in &file.env {
        for spec in specs {
            let (names, shape) = spec.parts();
            let shape = Arc::new(shape);
            env.extend(names.into_iter().map(|name| (name, Meaning::Fact(*role, Arc::clone(&shape)))));
        }
    }
    for (parameter, names) in &file.env_parameters {
        env.extend(names.iter().map(|name| (name.clone(), Meaning::Parameter(parameter.clone()))));
    }
    for launcher in &file.launch {
        if launcher.programs.is_empty()
            && launcher.modules.is_empty()
            && launcher.scripts.is_empty()
            && launcher.calls.is_empty()
            && launcher.apps.is_empty()
        {
            return Err(entry("a launcher needs programs, modules, scripts, apps or calls".to_owned()));
        }
    }
    for place in file.launch.iter().flat_map(|launcher| &launcher.positional) {
        if let Positional::Option(option) = place
            && !options.contains_key(&fold(option))
        {
            return Err(entry(format!("the positional argument `{option}` is neither a use nor an option of the file")));
        }
    }
    for repository in &file.images.repositories {
        if repository.path.split('/').count() < 2 {
            return Err(entry(format!("repository `{}` needs a host", repository.path)));
        }
    }
    if file.name != file.name.to_lowercase() || file.name.is_empty() {
        return Err(entry(format!("name `{}` must be lower case", file.name)));
    }
    let overrides = options.keys().any(|option| option.ends_with('='));
    twins(&file.twins, &options, &mut env);
    Ok(Runtime {
        shows: file.shows,
        abbreviations: file.abbreviations,
        name: file.name,
        category: file.category,
        framework: file.framework,
        does: file.does,
        role: file.role,
        catalogue: file.catalogue,
        helpers: file.helpers,
        images: file.images,
        launch: file.launch,
        options,
        env,
        implies: file.implies,
        roles: file.roles,
        cases: file.cases,
        shares: file.shares,
        signs: file.signs,
        overrides,
        marks: file.marks,
        chosen_in: file.chosen_in,
        categories: file.categories,
    })
}

/// Variables that are called like long options, behind those that are listed.
fn twins(prefixes: &[String], options: &FastMap<String, Meaning>, env: &mut Vec<(String, Meaning)>) {
    let mut names: Vec<(&str, &Meaning)> = options
        .iter()
        .filter_map(|(name, meaning)| Some((name.strip_prefix("--")?, meaning)))
        .filter(|(_, meaning)| matches!(meaning, Meaning::Fact(..) | Meaning::Parameter(_)))
        .collect();
    names.sort_unstable_by_key(|(name, _)| *name);
    for (name, meaning) in names {
        for prefix in prefixes {
            let twin = format!("{prefix}{}", name.replace(['-', '.'], "_").to_ascii_uppercase());
            if !env.iter().any(|(known, _)| *known == twin) {
                env.push((twin, meaning.clone()));
            }
        }
    }
}

fn references(runtime: &Runtime) -> impl Iterator<Item = &str> {
    let images = runtime.images.repositories.iter().chain(&runtime.images.names).filter_map(|repository| repository.engine.as_deref());
    let launchers = runtime.launch.iter().filter_map(|launcher| launcher.engine.as_deref());
    let tags = runtime.images.tag_engines.values().chain(runtime.images.tag_runtimes.values()).map(String::as_str);
    let implied = runtime.implies.iter().map(|implied| implied.runtime.as_str());
    let shared = runtime.shares.iter().map(String::as_str);
    images.chain(launchers).chain(tags).chain(implied).chain(shared).chain(runtime.shows.as_deref())
}

#[cfg(test)]
#[path = "rules/tests.rs"]
mod tests;
