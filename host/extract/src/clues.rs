//! What a container says whose program and image nobody knows.
//!
//! Much of what runs models is built in house: an image of a private registry, a model in an option or a variable of a conventional
//! name. One sign alone says nothing (`MODEL_NAME=x` on a web server, a GPU under a stress test), so signs are collected, and a model
//! is believed in the company of another one: a variable of an engine or of the model hub, an accelerator, a name that speaks of AI,
//! or a value that belongs to a known family of models. What is found so is inferred, never declared.

use std::collections::{BTreeMap, HashSet};

use aibom_facts::inventory::{Category, Evidence, Role, Source, Unresolved};
use aibom_facts::model::{ModelReference, NotAModel, ParsedModel};
use serde::Deserialize;

use crate::argv::base_name;
use crate::env::Variable;
use crate::explain::{Considered, Reason};
use crate::images::{ImageMatch, Strength};
use crate::options;
use crate::reading::{Reader, Reading, RuntimeClaim, claim};
use crate::rules::Does;
use crate::said::Said;
use crate::script::CommandLine;
use crate::storage;
use crate::text::{Token, Traced, Unknown};

mod signs;

use signs::{Signs, Words, names_of_programs};

/// Words of names and values, as data. All sets hold whole words.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub(crate) struct ClueWords {
    /// Ends of the names of variables that hold a model.
    pub(crate) model_variables: HashSet<String>,
    /// Words that make such a variable name something that is made or stored.
    pub(crate) produced: HashSet<String>,
    /// Words that make such a variable name a model of a hosted service.
    pub(crate) hosted: HashSet<String>,
    /// Words that tell the role of the model.
    pub(crate) roles: BTreeMap<Role, Vec<String>>,
    /// Words of variables that only programs around models read.
    pub(crate) engines: HashSet<String>,
    /// First words of variables that one runtime reads, with its name.
    pub(crate) own_variables: BTreeMap<String, String>,
    /// Variables of the libraries of model hubs.
    pub(crate) hub: HashSet<String>,
    /// Variables that by convention hold parameters of engines.
    pub(crate) parameters: HashSet<String>,
    /// Last words of variables that hold an address.
    pub(crate) endpoints: HashSet<String>,
    /// Words of variables with the address of a store, which runs no models.
    pub(crate) stores: HashSet<String>,
    /// Words that follow one another in variables that only programs around models have.
    pub(crate) decisive: Vec<String>,
    /// Variables that together are the settings of a training.
    pub(crate) trainings: Vec<Vec<String>>,
    /// Parts of the paths of addresses under which models answer.
    pub(crate) api_paths: Vec<String>,
    /// Packages that a script installs for a program that works with models.
    pub(crate) packages: HashSet<String>,
    /// Words of images and programs that speak of AI.
    pub(crate) words: HashSet<String>,
    /// Beginnings of such words.
    pub(crate) beginnings: Vec<String>,
    /// Words that speak of AI in the company of one of these.
    pub(crate) companions: BTreeMap<String, HashSet<String>>,
    /// Names of engines in images and programs. In an image that hints at the engine itself they say nothing more.
    pub(crate) engine_words: HashSet<String>,
    /// Words that mean something else too: in images of several words they count as half ones.
    pub(crate) doubtful_words: HashSet<String>,
    /// Words of images and programs of which two speak of AI.
    pub(crate) half_words: HashSet<String>,
    /// Endings of files that hold a model.
    pub(crate) weights: HashSet<String>,
    /// Sizes, which are no names of models by themselves.
    pub(crate) sizes: HashSet<String>,
    /// Families of models, as names begin.
    pub(crate) families: Vec<String>,
    /// Words of images that look after others and run no model, whatever they are told about one.
    pub(crate) controls: HashSet<String>,
    /// Words of images that only show what others do: a front end named after an assistant is a web page.
    pub(crate) fronts: HashSet<String>,
    /// Words that tell what is done, by category; the first category that has one counts.
    pub(crate) categories: BTreeMap<Category, HashSet<String>>,
}

impl Reader<'_> {
    /// Reads signs, when nothing else has shown what the container does.
    pub(crate) fn clues(&self, lines: &[CommandLine], installs: Option<&Evidence>, images: &[ImageMatch], out: &mut Reading) {
        let words = &self.rules.conventions.clues;
        if self.image.is_some_and(|image| controls(words, &image.repository)) {
            return;
        }
        let asked: Vec<&str> = out.calls.models.iter().map(|asked| asked.variable.name.as_str()).collect();
        let mut signs = self.signs(words, lines, &asked);
        let spoken = self.spoken(lines);
        signs.proofs.extend(installs.cloned());
        self.names(words, &spoken, lines, images, &mut signs);
        let library = images.iter().any(|found| found.strength > Strength::Weak);
        let mut hits: Vec<_> = lines.iter().flat_map(|line| options::parse(&line.tokens, &[&self.rules.unknown], &[]).hits).collect();
        let is_size = |hit: &options::Hit| hit.is_model() && hit.values.iter().all(|value| words.sizes.contains(value.as_str()));
        hits.retain(|hit| !is_size(hit));
        let named = hits.iter().any(options::Hit::is_model);
        signs.calls |= out.calls.addressed;
        if !signs.certain() && signs.models.is_empty() && !named {
            return self.unproven(&signs, &hits);
        }
        let mut values: Vec<&str> = hits.iter().filter(|hit| hit.is_model()).flat_map(|hit| &hit.values).map(Token::as_str).collect();
        values.extend(signs.models.iter().map(|(_, variable)| variable.value.text.as_str()));
        let hosted_name = values.iter().any(|value| self.rules.apis.is_hosted_name(value));
        // A model beside the address of a server that has it.
        let repository =
            |value: &&str| matches!(ModelReference::parse(value), Ok(ParsedModel { reference: ModelReference::Hub { .. }, .. }));
        let addressed = named && out.calls.addressed && (out.calls.speaks || values.iter().any(repository));
        let known = signs.likely()
            || addressed
            || hosted_name
            || values.iter().any(|value| of_a_family(words, value) || is_file_of_weights(words, value));
        if !known {
            return self.unproven(&signs, &hits);
        }
        // A library alone trains, as far as nothing says otherwise.
        let otherwise = if library || signs.trains { Category::Training } else { Category::Inference };
        let own_role = role_of_words(words, &spoken);
        let (spoken, word) =
            category_of(words, &spoken).map_or((None, None), |(category, word)| (Some(category), self.word(&spoken, word)));
        // What a client calls says what it is.
        let called = out.calls.local.is_some() || !out.calls.services.is_empty();
        let hosted_name = hosted_name && !signs.device;
        // What has neither a model nor anything to run one on asks for what others run.
        let asks = signs.asks || (signs.decided && signs.models.is_empty() && !named);
        let client = spoken.is_none() && !signs.trains && (called || addressed || hosted_name || (asks && !signs.device));
        let category = spoken.unwrap_or(if client { Category::Gateway } else { otherwise });
        let role = match category {
            Category::Training | Category::FineTuning => Role::Base,
            Category::Gateway => Role::Target,
            // Who has nothing to run a model on measures one that runs elsewhere.
            Category::Benchmark if !signs.device => Role::Target,
            _ if (signs.device || !signs.calls) && !hosted_name => own_role.unwrap_or_default(),
            _ => Role::Target,
        };
        let does = match (category, role) {
            (Category::Gateway, _) if !client => Does::Route,
            (_, Role::Target) => Does::Measure,
            (Category::DataPreparation, _) => Does::Fetch,
            _ => Does::Run,
        };
        let mut guesses: Vec<(u8, &Variable)> = Vec::new();
        let mut found = Reading::default();
        let second = signs.models.iter().filter(|(role, _)| role.is_none()).count() > 1;
        // `OPENAI_MODEL` is of a service, `MODEL_NAME` anybody's.
        let anybodys = |name: &str| self.rules.apis.variable(name).is_none() || words.model_variables.contains(name);
        for (spoken, variable) in signs.models.iter().filter(|(_, variable)| !client || anybodys(&variable.name)) {
            let judge = category == Category::Evaluation && second && is_hosted(words, &variable.name);
            match spoken.or(judge.then_some(Role::Judge)) {
                None => guesses.extend(self.rank(&variable.value).map(|rank| (rank, *variable))),
                // A repository may be loaded beside what is called; a bare name is that of the server whose address is there for it.
                Some(own @ (Role::Embedding | Role::Reranker))
                    if role == Role::Target && signs.called.contains(&own) && self.rank(&variable.value) == Some(NAME) =>
                {
                    self.second_model(variable, role, &mut found);
                }
                Some(role) => self.second_model(variable, role, &mut found),
            }
        }
        // A bare name beside a better one is the name it is served or called by.
        guesses.sort_by_key(|(rank, _)| *rank);
        let hosted = client && role == Role::Target && (out.calls.hosted || hosted_name) && out.calls.local.is_none();
        if role == Role::Target && !hosted {
            // A client calls each of the models that it names.
            let (told, open): (Vec<_>, Vec<_>) = guesses.into_iter().partition(|(rank, _)| *rank <= NAME);
            for (index, (_, variable)) in told.into_iter().enumerate() {
                // What lies in a volume of its own it loads itself, whatever else it calls. Nobody names hundreds.
                let own = index < MAX_OWN && storage::is_mounted(self.container, &variable.value.text);
                self.second_model(variable, if own { Role::Main } else { Role::Target }, &mut found);
            }
            guesses = open;
        }
        let located = guesses.first().is_some_and(|(rank, _)| *rank < NAME)
            || hits
                .iter()
                .filter(|hit| hit.is_model())
                .flat_map(|hit| &hit.values)
                .any(|value| self.rank(&value.text).is_some_and(|rank| rank < NAME));
        let mut said = Said::default();
        for hit in hits {
            said.option(hit);
        }
        // An image that is known has names of its own for what runs in it.
        for (_, variable) in guesses.into_iter().filter(|(rank, _)| !(located || library) || *rank != NAME) {
            said.guess(variable);
        }
        // What is asked of a hosted service has a name there.
        said.claims(self, (hosted, false), role, does, &mut found);
        found.silent = None;
        let certain = signs.certain();
        if !certain && found.models.is_empty() && found.unresolved.is_empty() {
            return;
        }
        if does == Does::Run && named && !signs.calls {
            self.runtime_by_variable(words, out);
        }
        // What the image says goes first.
        if out.categories.is_empty() && !(client && called) {
            let model = found.models.iter().find_map(|claim| claim.evidence.first()).cloned();
            let open = found.unresolved.first().map(|open| self.evidence(&open.at, Source::Derived, "", ""));
            let named = model.or(open).filter(|_| !certain);
            let grounds = if certain { signs.proofs } else { signs.hints };
            out.categories.extend(word.into_iter().chain(grounds).chain(named).map(|evidence| (category, evidence)));
        }
        out.does = out.does.or(Some(does));
        out.models.append(&mut found.models);
        out.unresolved.append(&mut found.unresolved);
    }

    /// What would name a model, were there anything else that shows that the program works with models.
    fn unproven(&self, signs: &Signs<'_>, hits: &[options::Hit]) {
        // Most containers come here, and nobody asks of most.
        if !self.trace.is_on() {
            return;
        }
        let option = |hit: &'_ options::Hit| {
            let by = hit.by.clone();
            hit.values.iter().map(move |value| (value.at.clone(), value.as_str().to_owned(), by.clone())).collect::<Vec<_>>()
        };
        let variables = signs.models.iter().map(|(_, variable)| variable);
        let variables = variables.map(|variable| (variable.at.clone(), variable.value.text.clone(), variable.name.clone()));
        for (at, value, by) in variables.chain(hits.iter().filter(|hit| hit.is_model()).flat_map(option)) {
            self.trace.dropped(|| Considered {
                at,
                what: "model",
                value,
                by,
                container: self.container.name.clone(),
                reason: Reason::Uncorroborated,
            });
        }
    }

    /// What somebody's own program does in an image with a library, when it is told a model and nothing says more: what it is called tells,
    /// and it trains otherwise.
    pub(crate) fn by_library(&self, lines: &[CommandLine], images: &[ImageMatch], out: &mut Reading) {
        // Of a container whose program nobody knows, an image that is known is that of a library.
        let library = images.iter().any(|found| found.strength > Strength::Weak);
        if !library || out.models.is_empty() || !out.categories.is_empty() {
            return;
        }
        let spoken = self.spoken(lines);
        let told = category_of(&self.rules.conventions.clues, &spoken);
        let category = told.map_or(Category::Training, |(category, _)| category);
        if category == Category::Inference {
            for model in out.models.iter_mut().filter(|model| model.role == Role::Base) {
                model.role = Role::Main;
            }
        }
        let word = told.and_then(|(_, word)| self.word(&spoken, word));
        let model = out.models.iter().find_map(|claim| claim.evidence.first()).cloned();
        out.categories.extend(word.into_iter().chain(model).map(|evidence| (category, evidence)));
    }

    /// What programs that are called a download are told to get.
    pub(crate) fn fetched_by_name(&self, lines: &[CommandLine], out: &mut Reading) {
        for line in lines {
            let hits = options::parse(&line.tokens, &[&self.rules.unknown], &[]).hits;
            let addressed = |hit: &options::Hit| hit.values.iter().any(|value| self.rank(&value.text).is_some_and(|rank| rank < PATH));
            if !hits.iter().any(|hit| hit.is_model() && addressed(hit)) {
                continue;
            }
            let mut said = Said::default();
            for hit in hits {
                said.option(hit);
            }
            said.claims(self, (false, false), Role::Main, Does::Fetch, out);
            let program = line.tokens.first().map(|first| self.evidence(&first.at, first.source, "", base_name(first.as_str())));
            out.categories.extend(program.map(|evidence| (Category::DataPreparation, evidence)));
        }
    }

    /// Whether the name of one of the programs has a word of a category.
    pub(crate) fn speaks_of(&self, lines: &[CommandLine], category: Category) -> bool {
        let mut spoken = Words::new();
        for line in lines {
            names_of_programs(line, &mut spoken);
        }
        self.rules.conventions.clues.categories.get(&category).is_some_and(|words| spoken.keys().any(|word| words.contains(word)))
    }

    /// How well a value names a model, the best first; none for what names none, such as the directory `/models`.
    fn rank(&self, value: &Traced) -> Option<u8> {
        if value.unknown().is_some() {
            return Some(NAME + 1);
        }
        match ModelReference::parse(&value.text).map(|parsed| parsed.reference) {
            Ok(ModelReference::Hub { .. }) => Some(0),
            Ok(ModelReference::Uri(_)) => Some(1),
            Ok(ModelReference::Path(path)) => {
                let last = path.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_lowercase();
                let speaks = !matches!(last.as_str(), "" | "." | "..") && !self.rules.conventions.generic_directories.contains(&last);
                speaks.then_some(PATH)
            }
            Ok(ModelReference::Name(name)) => (!self.rules.conventions.clues.sizes.contains(&name)).then_some(NAME),
            Err(NotAModel::Unexpanded | NotAModel::Placeholder) => Some(NAME + 1),
            Err(_) => None,
        }
    }

    /// The runtime whose own variables a server has.
    fn runtime_by_variable(&self, words: &ClueWords, out: &mut Reading) {
        for variable in self.container.env.iter() {
            let Some((first, _)) = variable.name.split_once('_') else { continue };
            if let Some(runtime) = words.own_variables.get(first).and_then(|name| self.rules.index(name))
                && !out.runtimes.iter().any(|known| known.runtime == runtime)
            {
                let name = &self.rules.runtimes[runtime].name;
                let evidence = self.evidence(&variable.at, Source::EnvVar, name, &variable.name);
                out.runtimes.push(RuntimeClaim { runtime, evidence, version: None });
            }
        }
    }

    /// A model beside the main one.
    fn second_model(&self, variable: &Variable, role: Role, out: &mut Reading) {
        if let Some(unknown) = variable.value.unknown() {
            let Unknown { why, at, reference } = unknown.clone();
            out.unresolved.push(Unresolved { what: "model".to_owned(), at, why: why.to_owned(), reference });
            return;
        }
        if self.rank(&variable.value).is_some_and(|rank| rank <= NAME)
            && let Ok(parsed) = ModelReference::parse(&variable.value.text)
        {
            let id = parsed.reference.id();
            out.models.push(claim(parsed, role, vec![self.evidence(&variable.at, Source::EnvVarConvention, id, &variable.name)]));
        }
    }
}

/// Whether an image looks after others, by the words of its name.
fn controls(words: &ClueWords, repository: &str) -> bool {
    let name = repository.rsplit('/').next().unwrap_or(repository);
    name.split(['-', '_', '.']).any(|word| words.controls.contains(word))
}

/// Categories that words tell, in the order in which they count.
const CATEGORIES: [Category; 8] = [
    Category::Evaluation,
    Category::Benchmark,
    Category::FineTuning,
    Category::Training,
    Category::DataPreparation,
    Category::Agent,
    Category::Gateway,
    Category::Inference,
];

/// The category that the words around a container tell, if they tell one, with the word.
fn category_of<'s>(words: &ClueWords, spoken: &'s Words) -> Option<(Category, &'s str)> {
    CATEGORIES.into_iter().find_map(|category| {
        let set = words.categories.get(&category)?;
        Some((category, spoken.keys().find(|word| set.contains(*word))?.as_str()))
    })
}

/// Whether a variable of this name holds a model that is used: it ends with the words of one, and none says that it is made.
fn holds_a_model(words: &ClueWords, name: &str) -> bool {
    let starts = std::iter::once(0).chain(name.match_indices('_').map(|(at, _)| at + 1));
    starts.into_iter().any(|start| words.model_variables.contains(&name[start..]))
        && !name.split('_').any(|word| words.produced.contains(word))
}

fn role_of(words: &ClueWords, name: &str) -> Option<Role> {
    let spoken = |list: &Vec<String>| name.split('_').any(|word| list.iter().any(|known| known == word));
    words.roles.iter().find(|(_, list)| spoken(list)).map(|(role, _)| *role)
}

/// The role of the models of a program that is called after what it does with them.
fn role_of_words(words: &ClueWords, spoken: &Words) -> Option<Role> {
    let says =
        |role: &Role| words.roles.get(role).is_some_and(|list| list.iter().any(|word| spoken.contains_key(&word.to_ascii_lowercase())));
    [Role::Embedding, Role::Reranker].into_iter().find(says)
}

/// The package for a program that works with models that a command line installs, if it does.
pub(crate) fn installed<'l>(words: &ClueWords, line: &'l CommandLine) -> Option<&'l Token> {
    let is_installer = |token: &&Token| matches!(base_name(token.as_str()), "pip" | "pip3");
    let mut rest = line.tokens.iter().skip_while(|token| !is_installer(token)).skip(1).skip_while(|token| token.as_str().starts_with('-'));
    if rest.next()?.as_str() != "install" {
        return None;
    }
    rest.find(|token| {
        let name = token.as_str().split(['=', '<', '>', '~', '!', ';', '@', '[']).next().unwrap_or_default().trim().to_ascii_lowercase();
        words.packages.contains(&name.replace('_', "-"))
    })
}

fn is_hosted(words: &ClueWords, name: &str) -> bool {
    name.split('_').any(|word| words.hosted.contains(word))
}

/// A file that by its ending holds a model.
fn is_file_of_weights(words: &ClueWords, text: &str) -> bool {
    text.rsplit_once('.').is_some_and(|(_, ending)| words.weights.contains(&ending.to_ascii_lowercase()))
}

/// A repository or a name with a number whose name begins with that of a family.
fn of_a_family(words: &ClueWords, text: &str) -> bool {
    let id = match ModelReference::parse(text) {
        Ok(ParsedModel { reference: ModelReference::Hub { name, .. }, .. }) => name,
        Ok(ParsedModel { reference: ModelReference::Name(name), .. }) if name.bytes().any(|b| b.is_ascii_digit()) => name,
        _ => return false,
    };
    let id = id.to_ascii_lowercase();
    words
        .families
        .iter()
        .any(|family| id.strip_prefix(family.as_str()).is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphabetic())))
}

/// Most models of a client that are looked for among its volumes.
const MAX_OWN: usize = 64;

/// Rank of a path, by [`Reader::rank`].
const PATH: u8 = 2;

/// Rank of a bare name, by [`Reader::rank`].
const NAME: u8 = 3;

#[cfg(test)]
#[path = "clues/tests.rs"]
mod tests;
