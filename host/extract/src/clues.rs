//! What a container says whose program and image nobody knows.
//!
//! Much of what runs models is built in house: an image of a private registry, a model in an option or a variable of a conventional
//! name. One sign alone says nothing (`MODEL_NAME=x` on a web server, a GPU under a stress test), so signs are collected, and a model
//! is believed in the company of another one: a variable of an engine or of the model hub, an accelerator, a name that speaks of AI,
//! or a value that belongs to a known family of models. What is found so is inferred, never declared.

use std::collections::{BTreeMap, HashSet};

use aibom_facts::inventory::{Category, Role, Source, Unresolved};
use aibom_facts::model::{ModelReference, NotAModel, ParsedModel};
use serde::Deserialize;

use crate::argv::base_name;
use crate::env::Variable;
use crate::images::{ImageMatch, Strength};
use crate::options;
use crate::reading::{Reader, Reading, RuntimeClaim, claim};
use crate::rules::Does;
use crate::said::Said;
use crate::script::CommandLine;
use crate::text::{Token, Traced, Unknown};

mod signs;

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
    pub(crate) fn clues(&self, lines: &[CommandLine], installs: bool, images: &[ImageMatch], out: &mut Reading) {
        let words = &self.rules.conventions.clues;
        if self.image.is_some_and(|image| controls(words, &image.repository)) {
            return;
        }
        let asked: Vec<&str> = out.calls.models.iter().map(|asked| asked.variable.name.as_str()).collect();
        let mut signs = self.signs(words, lines, &asked);
        let spoken = self.spoken(lines);
        let said = |set: &HashSet<String>| spoken.iter().any(|word| set.contains(word));
        let library = images.iter().any(|found| found.strength > Strength::Weak);
        let fetching = spoken.iter().any(|word| self.rules.conventions.fetching.contains(word));
        let half = |word: &&String| words.half_words.contains(*word) || words.doubtful_words.contains(*word);
        let halves = spoken.iter().filter(half).count() + usize::from(fetching);
        // What hints at an engine is no second sign of it.
        let begins = spoken.iter().any(|word| words.beginnings.iter().any(|beginning| word.starts_with(beginning.as_str())));
        let speaks = said(&words.words)
            || begins
            || self.has_company(words, &spoken)
            || self.speaks_plainly(words, lines)
            || (images.is_empty() && said(&words.engine_words));
        signs.certain |= library || installs || halves > 1 || (speaks && !said(&words.fronts)) || self.has_variables_of(images, words);
        // A client of the tools of machine learning that is called a trainer or a model.
        signs.certain |= halves > 0 && (signs.hinted || signs.device);
        signs.likely |= signs.certain || signs.device || !images.is_empty() || said(&words.doubtful_words);
        let mut hits: Vec<_> = lines.iter().flat_map(|line| options::parse(&line.tokens, &[&self.rules.unknown], &[]).hits).collect();
        let is_size = |hit: &options::Hit| hit.is_model() && hit.values.iter().all(|value| words.sizes.contains(value.as_str()));
        hits.retain(|hit| !is_size(hit));
        let named = hits.iter().any(options::Hit::is_model);
        signs.calls |= out.calls.addressed;
        if !signs.certain && signs.models.is_empty() && !named {
            return;
        }
        let mut values: Vec<&str> = hits.iter().filter(|hit| hit.is_model()).flat_map(|hit| &hit.values).map(Token::as_str).collect();
        values.extend(signs.models.iter().map(|(_, variable)| variable.value.text.as_str()));
        let hosted_name = values.iter().any(|value| self.rules.apis.is_hosted_name(value));
        // A model beside the address of a server that has it.
        let repository =
            |value: &&str| matches!(ModelReference::parse(value), Ok(ParsedModel { reference: ModelReference::Hub { .. }, .. }));
        let addressed = named && out.calls.addressed && (out.calls.speaks || values.iter().any(repository));
        let known = signs.likely
            || addressed
            || hosted_name
            || values.iter().any(|value| of_a_family(words, value) || is_file_of_weights(words, value));
        if !known {
            return;
        }
        // A library alone trains, as far as nothing says otherwise.
        let otherwise = if library || signs.trains { Category::Training } else { Category::Inference };
        let own_role = role_of_words(words, &spoken);
        let spoken = category_of(words, &spoken);
        // What a client calls says what it is.
        let called = out.calls.local || !out.calls.services.is_empty();
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
                Some(role) => self.second_model(variable, role, &mut found),
            }
        }
        // A bare name beside a better one is the name it is served or called by.
        guesses.sort_by_key(|(rank, _)| *rank);
        let hosted = client && role == Role::Target && (out.calls.hosted || hosted_name) && !out.calls.local;
        if role == Role::Target && !hosted {
            // A client calls each of the models that it names.
            let (told, open): (Vec<_>, Vec<_>) = guesses.into_iter().partition(|(rank, _)| *rank <= NAME);
            for (_, variable) in told {
                self.second_model(variable, Role::Target, &mut found);
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
        if !signs.certain && found.models.is_empty() && found.unresolved.is_empty() {
            return;
        }
        if does == Does::Run && named && !signs.calls {
            self.runtime_by_variable(words, out);
        }
        // What the image says goes first.
        if out.categories.is_empty() && !(client && called) {
            out.categories.push(category);
        }
        out.does = out.does.or(Some(does));
        out.models.append(&mut found.models);
        out.unresolved.append(&mut found.unresolved);
    }

    /// What somebody's own program does in an image with a library, when it is told a model and nothing says more: what it is called tells,
    /// and it trains otherwise.
    pub(crate) fn by_library(&self, lines: &[CommandLine], images: &[ImageMatch], out: &mut Reading) {
        // Of a container whose program nobody knows, an image that is known is that of a library.
        let library = images.iter().any(|found| found.strength > Strength::Weak);
        if !library || out.models.is_empty() || !out.categories.is_empty() {
            return;
        }
        let category = category_of(&self.rules.conventions.clues, &self.spoken(lines)).unwrap_or(Category::Training);
        if category == Category::Inference {
            for model in out.models.iter_mut().filter(|model| model.role == Role::Base) {
                model.role = Role::Main;
            }
        }
        out.categories.push(category);
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
            out.categories.push(Category::DataPreparation);
        }
    }

    /// Whether the name of one of the programs has a word of a category.
    pub(crate) fn speaks_of(&self, lines: &[CommandLine], category: Category) -> bool {
        let mut spoken = HashSet::new();
        for line in lines {
            names_of_programs(line, &mut spoken);
        }
        self.rules.conventions.clues.categories.get(&category).is_some_and(|words| spoken.iter().any(|word| words.contains(word)))
    }

    /// Words of the image, of the programs, and, where a placeholder stands for the image or nothing does, of the names around.
    fn spoken(&self, lines: &[CommandLine]) -> HashSet<String> {
        let mut out = HashSet::new();
        let mut add = |text: &str| split_words(text, &mut out);
        match (self.image, &self.container.image) {
            (Some(image), _) => {
                let generic = |segment: &&str| self.rules.conventions.generic_segments.iter().any(|known| known == segment);
                let mut segments = image.repository.rsplit('/');
                let last = segments.next().unwrap_or_default();
                add(last);
                if generic(&last) {
                    add(segments.next().unwrap_or_default());
                }
            }
            (None, Some(written)) => add(written.text.rsplit_once(':').map_or(written.text.as_str(), |(name, _)| name)),
            (None, None) => {}
        }
        if self.image.is_none() {
            add(&self.container.name);
            add(self.workload);
        }
        for line in lines {
            names_of_programs(line, &mut out);
        }
        out
    }

    /// Whether a word that speaks of AI in company has it, in the last two segments of the image or in the names of the programs.
    fn has_company(&self, words: &ClueWords, spoken: &HashSet<String>) -> bool {
        let mut around = spoken.clone();
        if let Some(image) = self.image {
            image.repository.rsplit('/').take(2).for_each(|segment| split_words(segment, &mut around));
        }
        words.companions.iter().any(|(word, company)| around.contains(word) && !around.is_disjoint(company))
    }

    /// Whether a word that means something else too is all that an image is called, or the name of a program.
    fn speaks_plainly(&self, words: &ClueWords, lines: &[CommandLine]) -> bool {
        let mut programs = HashSet::new();
        for line in lines {
            names_of_programs(line, &mut programs);
        }
        let name = self.image.and_then(|image| image.repository.rsplit('/').next());
        name.is_some_and(|name| words.doubtful_words.contains(name)) || programs.iter().any(|word| words.doubtful_words.contains(word))
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

    /// Whether a variable is there that only the engine reads that the image hints at.
    fn has_variables_of(&self, images: &[ImageMatch], words: &ClueWords) -> bool {
        let first = |variable: &Variable| variable.name.split_once('_').and_then(|(first, _)| words.own_variables.get(first));
        let owners = self.container.env.iter().filter(|variable| self.rules.apis.variable(&variable.name).is_none()).filter_map(first);
        owners.filter_map(|name| self.rules.index(name)).any(|runtime| images.iter().any(|found| found.runtime == runtime))
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

/// The words of the program and of what an interpreter runs.
fn names_of_programs(line: &CommandLine, out: &mut HashSet<String>) {
    // Behind an option in front stands a value, and the program is the image's own.
    if line.tokens.first().is_some_and(|first| first.as_str().starts_with('-')) {
        return;
    }
    // An address names what is there, such as a bucket of photographs of llamas.
    let address = |text: &str| text.split_once(':').is_some_and(|(_, rest)| rest.contains('/'));
    for token in line.tokens.iter().take(3).filter(|token| !token.as_str().starts_with('-')).take(2) {
        if !address(token.as_str()) {
            split_words(base_name(token.as_str()), out);
        }
    }
}

/// The words of a name in lower case, without the numbers behind them: at signs, and where a capital begins a word.
fn split_words(text: &str, out: &mut HashSet<String>) {
    let mut add = |word: &str| {
        let word = word.trim_end_matches(|c: char| c.is_ascii_digit());
        if word.len() > 1 {
            out.insert(word.to_ascii_lowercase());
        }
    };
    for name in text.split(|c: char| !c.is_ascii_alphanumeric()) {
        let bytes = name.as_bytes();
        let mut start = 0;
        for at in 1..bytes.len() {
            let next_is_lower = bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase);
            if bytes[at].is_ascii_uppercase() && (!bytes[at - 1].is_ascii_uppercase() || next_is_lower) {
                add(&name[start..at]);
                start = at;
            }
        }
        add(&name[start..]);
    }
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

/// The category that the words around a container tell, if they tell one.
fn category_of(words: &ClueWords, spoken: &HashSet<String>) -> Option<Category> {
    let tells = |category: &Category| words.categories.get(category).is_some_and(|set| !set.is_disjoint(spoken));
    CATEGORIES.into_iter().find(tells)
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
fn role_of_words(words: &ClueWords, spoken: &HashSet<String>) -> Option<Role> {
    let says = |role: &Role| words.roles.get(role).is_some_and(|list| list.iter().any(|word| spoken.contains(&word.to_ascii_lowercase())));
    [Role::Embedding, Role::Reranker].into_iter().find(says)
}

/// Whether a command line installs a package for a program that works with models.
pub(crate) fn installs(words: &ClueWords, line: &CommandLine) -> bool {
    let names = line.tokens.iter().map(Token::as_str);
    let mut rest = names.skip_while(|word| !matches!(base_name(word), "pip" | "pip3")).skip(1).skip_while(|word| word.starts_with('-'));
    if rest.next() != Some("install") {
        return false;
    }
    rest.any(|word| {
        let name = word.split(['=', '<', '>', '~', '!', ';', '@', '[']).next().unwrap_or_default().trim().to_ascii_lowercase();
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

/// Rank of a path, by [`Reader::rank`].
const PATH: u8 = 2;

/// Rank of a bare name, by [`Reader::rank`].
const NAME: u8 = 3;

#[cfg(test)]
#[path = "clues/tests.rs"]
mod tests;
