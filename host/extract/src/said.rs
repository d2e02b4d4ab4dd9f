//! From options and variables to models: which value is effective, which one is a location, which one repeats and which contradicts.

use std::collections::{BTreeMap, HashMap};

use aibom_facts::inventory::{Evidence, Role, Source, Unresolved};
use aibom_facts::model::{ModelReference, NotAModel, ParsedModel};
use aibom_facts::report::Duty;

use crate::env::Variable;
use crate::explain::{Considered, Reason};
use crate::merge::is_location;
use crate::options::{self, Hit};
use crate::reading::{DatasetClaim, Destination, ModelClaim, Reader, Reading, claim};
use crate::rules::{Does, Meaning, Shape, Use, Values, fold};
use crate::text::{Origin, Token, Unknown};

mod data;

use data::{dataset_name, is_data_address, without_user};

/// A value with what made it count.
#[derive(Clone, Debug)]
struct Value {
    token: Token,
    by: String,
    /// Name given with it, as in `name=path`.
    name: Option<String>,
    /// Every occurrence counts, not only the last.
    each: bool,
    kind: Kind,
}

/// What the data say about a value beside its use.
#[derive(Clone, Debug, Default)]
struct Kind {
    /// Role of a further model.
    role: Option<Role>,
    /// What it is in particular.
    part: String,
    /// Only a repository of the hub counts.
    hub: bool,
    /// A provider stands in front.
    provider: bool,
    /// Names are those of another catalogue.
    catalogue: bool,
}

impl Kind {
    fn of(shape: &Shape) -> Self {
        Self { role: shape.role, part: shape.part.clone(), hub: shape.hub, provider: shape.provider, catalogue: shape.catalogue }
    }
}

/// Parameters of the run and of its datasets begin so.
const RUN: &str = "run.";
const DATASET: &str = "dataset.";

/// Why a value is unresolved that is longer than any name.
pub(crate) const TOO_LONG: &str = "too-long";

/// Most values of one use in one container.
const MAX_VALUES: usize = 1000;

/// The values of one use, in the order in which they are written.
#[derive(Default)]
struct Occurrences {
    /// Directly behind the program or its subcommand.
    direct: Vec<Value>,
    /// Behind options.
    positional: Vec<Value>,
    options: Vec<Value>,
    variables: Vec<Value>,
}

/// What options and variables say, by use, most effective first.
#[derive(Default)]
pub(crate) struct Said {
    facts: BTreeMap<Use, Occurrences>,
    parameters: Vec<(String, String)>,
}

impl Said {
    /// What a program otherwise has for something else: the dataset where its model is.
    pub(crate) fn turn(&mut self, from: Use, into: Use) {
        if let Some(found) = self.facts.remove(&from) {
            self.facts.insert(into, found);
        }
    }

    /// Whether something has this use.
    pub(crate) fn has(&self, what: Use) -> bool {
        self.facts.get(&what).is_some_and(|found| {
            [&found.direct, &found.positional, &found.options, &found.variables]
                .iter()
                .any(|list| list.iter().any(|value| !value.token.as_str().is_empty()))
        })
    }

    pub(crate) fn set(&mut self, name: &str, value: &str) {
        if !self.parameters.iter().any(|(known, _)| known == name) {
            self.parameters.push((name.to_owned(), value.to_owned()));
        }
    }

    pub(crate) fn option(&mut self, hit: Hit) {
        match hit.meaning {
            Meaning::Parameter(name) => {
                if let Some(value) = hit.values.first().filter(|value| is_filled_in(value)) {
                    self.parameters.retain(|(known, _)| *known != name);
                    self.parameters.push((name, value.as_str().to_owned()));
                }
            }
            Meaning::Fact(role, ref shape) => {
                let each = shape.values != Values::One || shape.several();
                let found: Vec<Value> = hit
                    .values
                    .iter()
                    .filter_map(|token| options::settled(token, shape))
                    .map(|(name, token)| Value { token, by: hit.by.clone(), name, each, kind: Kind::of(shape) })
                    .collect();
                let known = self.facts.entry(role).or_default();
                let list = match (hit.by.is_empty(), hit.direct) {
                    (true, true) => &mut known.direct,
                    (true, false) => &mut known.positional,
                    (false, _) => &mut known.options,
                };
                // A list that is given again is another list, and not a longer one.
                if shape.values == Values::Many && !hit.by.is_empty() {
                    list.retain(|value| fold(&value.by) != fold(&hit.by));
                }
                list.extend(found);
            }
            Meaning::Switch | Meaning::Ignored(_) | Meaning::Members(_) => {}
        }
    }

    pub(crate) fn variable(&mut self, variable: &Variable, meaning: &Meaning) {
        let token = Token { text: variable.value.clone(), at: variable.at.clone(), source: Source::EnvVar };
        match meaning {
            Meaning::Parameter(name) => {
                if is_filled_in(&token) && !self.parameters.iter().any(|(known, _)| known == name) {
                    self.parameters.push((name.clone(), token.as_str().to_owned()));
                }
            }
            Meaning::Fact(Use::Arguments, _) | Meaning::Switch | Meaning::Ignored(_) | Meaning::Members(_) => {}
            Meaning::Fact(role, shape) => {
                for token in options::split(token, shape) {
                    if let Some((name, token)) = options::settled(&token, shape)
                        && !token.as_str().is_empty()
                    {
                        let each = shape.split.is_some() || shape.listing().is_some();
                        let value = Value { token, by: variable.name.clone(), name, each, kind: Kind::of(shape) };
                        self.facts.entry(*role).or_default().variables.push(value);
                    }
                }
            }
        }
    }

    /// A conventional variable that a script reads: a repository of the hub in it is most likely the model.
    pub(crate) fn helper(&mut self, variable: &Variable) {
        if let Ok(ParsedModel { reference: ModelReference::Hub { .. }, .. }) = ModelReference::parse(&variable.value.text) {
            self.guess(variable);
        }
    }

    /// A variable that holds the model by its name alone.
    pub(crate) fn guess(&mut self, variable: &Variable) {
        let token = Token { text: variable.value.clone(), at: variable.at.clone(), source: Source::EnvVarConvention };
        let value = Value { token, by: variable.name.clone(), name: None, each: false, kind: Kind::default() };
        self.facts.entry(Use::Model).or_default().variables.push(value);
    }

    /// The values of a use, most effective first: positional arguments directly behind the program, options (the last one wins, unless
    /// all count), positional arguments behind options, which may be a value of one of them, variables.
    fn take(&mut self, role: Use) -> Vec<Value> {
        let Occurrences { direct: mut values, positional, mut options, variables } = self.facts.remove(&role).unwrap_or_default();
        if !options.last().is_some_and(|last| last.each) {
            options.reverse();
        }
        values.extend(options);
        values.extend(positional);
        values.extend(variables);
        values.truncate(MAX_VALUES);
        values
    }

    /// Names under which the model is served: options win over variables, and of an option with one value the last occurrence.
    fn served(&mut self) -> Vec<Value> {
        if let Some(found) = self.facts.get_mut(&Use::Served).filter(|found| !found.options.is_empty()) {
            found.variables.clear();
        }
        let mut values = self.take(Use::Served);
        let mut single: Vec<String> = Vec::new();
        values.retain(|value| {
            let again = !value.each && single.contains(&value.by);
            single.push(value.by.clone());
            !again
        });
        values
    }

    /// The claims. `elsewhere` says that models of any role are looked for in another catalogue, `catalogue` the same of the main one.
    pub(crate) fn claims(mut self, reader: &Reader<'_>, (catalogue, elsewhere): (bool, bool), role: Role, does: Does, out: &mut Reading) {
        out.run.extend(self.parameters.iter().filter_map(|(name, value)| Some((name.strip_prefix(RUN)?.to_owned(), value.clone()))));
        let role_of_main = role;
        let served = self.served();
        let revision =
            self.take(Use::Revision).into_iter().find(|value| is_filled_in(&value.token)).map(|value| value.token.as_str().to_owned());
        let destinations: Vec<Destination> = self.take(Use::Destination).iter().map(|value| destination(&value.token)).collect();
        let (data, values): (Vec<Value>, Vec<Value>) =
            self.take(Use::Model).into_iter().partition(|value| is_data_address(without_user(&value.token).as_str()));
        let config = self.take(Use::Config);
        let does_for_unknown = if reader.container.duty == Duty::Infrastructure { Does::Route } else { does };
        let mut mains = mains(reader, values, catalogue, role, does_for_unknown, out);
        let several = mains.len() > 1;
        for (index, main) in mains.iter_mut().enumerate() {
            let names: Vec<&Value> = if several { served.get(index).into_iter().collect() } else { served.iter().collect() };
            let own = self.parameters.iter().filter(|(name, _)| !name.starts_with(RUN) && !name.starts_with(DATASET));
            main.parameters = own.cloned().collect();
            main.fetched = does == Does::Fetch;
            // Several downloads of one command have a directory each, or share one.
            main.destination = destinations.get(index).or(destinations.first()).cloned();
            if main.revision.is_none() && !several {
                main.revision.clone_from(&revision);
            }
            name_it(reader, main, &names);
            reader.corroborate(main);
            if main.role == Role::Embedding && speaks_of(reader, main, Role::Reranker) {
                main.role = Role::Reranker;
            }
            if does == Does::Fetch {
                spoken_role(reader, main);
            }
        }
        let main_id = mains.first().map(|main| (main.parsed.reference.id(), main.sources.clone()));
        out.models.append(&mut mains);
        for value in self.take(Use::Further) {
            let Some(parsed) = reader.parse(&value, elsewhere, "", out) else { continue };
            let id = parsed.reference.id();
            if main_id.as_ref().is_some_and(|(main, _)| *main == id) {
                continue;
            }
            let mut found = claim(parsed, value.kind.role.unwrap_or(role), reader.places(&value, &id));
            found.part.clone_from(&value.kind.part);
            out.models.push(found);
        }
        for value in data.into_iter().chain(self.take(Use::Dataset)) {
            reader.dataset(&value, &self.parameters, out);
        }
        for (what, role, word) in
            [(Use::Draft, Role::Draft, "draft"), (Use::Adapter, Role::Adapter, "adapter"), (Use::Tokenizer, Role::Tokenizer, "")]
        {
            for value in effective(reader, &self.take(what), role) {
                match reader.parse(&value, elsewhere, word, out) {
                    None => {}
                    Some(parsed) => {
                        let id = parsed.reference.id();
                        let own = |(main, sources): &(String, Vec<String>)| *main == id || sources.contains(&id) || is_copy(main, &id);
                        // A server whose model is not known has most likely the tokenizer of that.
                        let alone = main_id.is_none() && (role_of_main != Role::Main || does == Does::Fetch);
                        if what == Use::Tokenizer && !alone && main_id.as_ref().is_none_or(own) {
                            reader.dropped(&value, "tokenizer", Reason::SameAsModel);
                            continue;
                        }
                        let mut found = claim(parsed, role, reader.places(&value, &id));
                        found.served.extend(value.name.clone());
                        out.models.push(found);
                    }
                }
            }
        }
        self.further(reader, catalogue, out);
        let unread = out.unresolved.iter().any(|known| known.what == "model");
        if main_id.is_none()
            && !unread
            && does == Does::Run
            && let Some(value) = config.first()
        {
            let text = value.token.as_str();
            if !text.trim_start().starts_with('{') && !text.is_empty() {
                out.silent = Some(Unresolved {
                    what: "model".to_owned(),
                    at: value.token.at.clone(),
                    why: "config-file".to_owned(),
                    reference: if value.token.text.unknown().is_some() { String::new() } else { text.to_owned() },
                });
            }
        }
    }
}

impl Said {
    /// Models beside the main one: each option or variable names its own.
    fn further(&mut self, reader: &Reader<'_>, catalogue: bool, out: &mut Reading) {
        for (what, role) in [(Use::Embedding, Role::Embedding), (Use::Reranker, Role::Reranker), (Use::Target, Role::Target)] {
            let values = self.take(what);
            let mut names: Vec<&str> = values.iter().map(|value| value.by.as_str()).collect();
            names.sort_unstable();
            names.dedup();
            for name in names {
                let own: Vec<Value> = values.iter().filter(|value| value.by == name).cloned().collect();
                for value in effective(reader, &own, role) {
                    let Some(parsed) = reader.parse(&value, catalogue || (role == Role::Target && out.calls.hosted), "model", out) else {
                        continue;
                    };
                    let id = parsed.reference.id();
                    let places = reader.places(&value, &id);
                    match out.models.iter_mut().find(|known| known.role == role && known.parsed.reference == parsed.reference) {
                        Some(known) => known.evidence.extend(places),
                        None => out.models.push(ModelClaim { called: role == Role::Target, ..claim(parsed, role, places) }),
                    }
                }
            }
        }
    }
}

/// The values that count: all of those that count each, the first of the others.
fn effective(reader: &Reader<'_>, values: &[Value], role: Role) -> Vec<Value> {
    let Some((first, rest)) = values.split_first() else { return Vec::new() };
    let mut out = vec![first.clone()];
    for value in rest {
        if first.each && value.each && value.by == first.by {
            out.push(value.clone());
        } else {
            reader.dropped(value, role.as_str(), Reason::Overridden);
        }
    }
    out
}

/// The main models: one, with the other places as evidence, location or conflict; or several of a program that takes several.
fn mains(reader: &Reader<'_>, values: Vec<Value>, catalogue: bool, role: Role, does: Does, out: &mut Reading) -> Vec<ModelClaim> {
    let mut mains: Vec<ModelClaim> = Vec::new();
    let mut known: HashMap<String, usize> = HashMap::new();
    let several = values.first().is_some_and(|first| first.each);
    let leading = values.first().map(|first| first.by.clone()).unwrap_or_default();
    let mut failed = Vec::new();
    for value in values {
        let mut notes = Reading::default();
        let Some(parsed) = reader.parse(&value, catalogue, "model", &mut notes) else {
            failed.append(&mut notes.unresolved);
            continue;
        };
        let id = parsed.reference.id();
        let places = reader.places(&value, &id);
        let new = several && value.each && value.by == leading;
        match known.get(&id) {
            Some(index) => {
                mains[*index].evidence.extend(places);
                mains[*index].sources.extend(parsed.source);
            }
            None if new || mains.is_empty() => {
                known.insert(id, mains.len());
                let mut found = claim(parsed, role, places);
                found.served.extend(value.name.clone());
                mains.push(found);
            }
            // A variable that is only guessed to be read names another model than what lies in a directory of another name.
            None if reader.is_another(&mains[0], &parsed, &value) => mains[0].conflicts.extend(places),
            None => {
                merge(&mut mains[0], parsed, places);
                known.insert(mains[0].parsed.reference.id(), 0);
            }
        }
    }
    // What a router speaks of is the concern of somebody else.
    if mains.is_empty() && (role != Role::Target || matches!(does, Does::Run | Does::Measure)) {
        failed.truncate(1);
        out.unresolved.append(&mut failed);
    }
    mains
}

/// A second reference to what a program loads once.
fn merge(main: &mut ModelClaim, parsed: ParsedModel, places: Vec<Evidence>) {
    match (is_location(&main.parsed.reference), is_location(&parsed.reference)) {
        (true, false) => {
            let path = std::mem::replace(&mut main.parsed, parsed);
            main.sources.push(path.reference.id());
            main.sources.extend(main.parsed.source.clone());
            if main.revision.is_none() {
                main.revision.clone_from(&main.parsed.revision);
            }
            main.evidence.extend(places);
        }
        (false, true) => {
            main.sources.push(parsed.reference.id());
            main.evidence.extend(places);
        }
        _ => main.conflicts.extend(places),
    }
}

/// Served names; one of the hub's form names a model whose location is all that is known.
fn name_it(reader: &Reader<'_>, main: &mut ModelClaim, names: &[&Value]) {
    let known: Vec<&&Value> =
        names.iter().filter(|value| value.token.text.unknown().is_none() && !value.token.as_str().trim().is_empty()).collect();
    for value in &known {
        if !is_template(value.token.as_str()) {
            main.served.push(value.token.as_str().trim().to_owned());
        }
    }
    let id = main.parsed.reference.id();
    if matches!(main.parsed.reference, ModelReference::Path(_) | ModelReference::Uri(_)) {
        for value in &known {
            if let Ok(parsed @ ParsedModel { reference: ModelReference::Hub { .. }, .. }) = ModelReference::parse(value.token.as_str()) {
                let name = parsed.reference.id();
                main.sources.push(id);
                main.parsed = parsed;
                main.evidence.extend(reader.places(value, &name));
                return;
            }
        }
    } else {
        for value in known {
            if value.token.as_str() == id {
                main.evidence.extend(reader.places(value, &id));
            }
        }
    }
}

/// Whether a text is one that somebody has yet to fill in.
pub(crate) fn is_template(text: &str) -> bool {
    matches!(ModelReference::parse(text), Err(NotAModel::Unexpanded | NotAModel::Placeholder))
}

/// Whether a value is what the program gets: no variable that nothing defines, no template. Words that no model is called may be values.
fn is_filled_in(token: &Token) -> bool {
    let text = token.as_str();
    let open = text.starts_with('<') && text.ends_with('>') || matches!(ModelReference::parse(text), Err(NotAModel::Unexpanded));
    token.text.unknown().is_none() && !open
}

fn destination(token: &Token) -> Destination {
    let known = token.text.marks.iter().filter(|(_, origin)| matches!(origin, Origin::Unknown(_))).map(|(range, _)| range.start).min();
    let text = token.as_str();
    Destination { path: text[..known.unwrap_or(text.len())].to_owned(), open: known.is_some() }
}

/// Whether the model's own name says what it is for, where a server runs models for several purposes.
fn speaks_of(reader: &Reader<'_>, main: &ModelClaim, role: Role) -> bool {
    let id = main.parsed.reference.id().to_lowercase();
    reader.rules.conventions.spoken_roles.get(&role).is_some_and(|words| words.iter().any(|word| id.contains(word.as_str())))
}

/// A download whose words say what the model is for.
fn spoken_role(reader: &Reader<'_>, main: &mut ModelClaim) {
    let mut words = main.parsed.reference.id().to_lowercase();
    for more in main
        .destination
        .iter()
        .map(|destination| &destination.path)
        .chain(&main.sources)
        .chain(main.evidence.iter().map(|evidence| &evidence.by))
    {
        words.push(' ');
        words.push_str(&more.to_lowercase());
    }
    for (role, spoken) in &reader.rules.conventions.spoken_roles {
        if spoken.iter().any(|word| words.contains(word.as_str())) {
            main.role = *role;
            return;
        }
    }
}

impl Reader<'_> {
    /// Models that are asked of services, by the variables that name them.
    pub(crate) fn asked(&self, out: &mut Reading) {
        for asked in out.calls.models.clone() {
            let variable = &asked.variable;
            if variable.secret || variable.value.text.trim().is_empty() {
                continue;
            }
            let token = Token { text: variable.value.clone(), at: variable.at.clone(), source: Source::EnvVar };
            let value = Value { token, by: variable.name.clone(), name: None, each: true, kind: Kind::default() };
            let Some(parsed) = self.parse(&value, asked.service.is_some(), "model", out) else { continue };
            let id = parsed.reference.id();
            let service = out.calls.services.iter_mut().find(|service| Some(&service.finding.key.name) == asked.service.as_ref());
            if let Some(service) = service {
                service.finding.property("service.model", &id);
            }
            let places = self.places(&value, &id);
            match out.models.iter_mut().find(|known| known.parsed.reference.id() == id) {
                Some(known) => known.evidence.extend(places),
                None => out.models.push(ModelClaim { called: true, ..claim(parsed, asked.role, places) }),
            }
        }
    }

    /// The model in a value; what cannot be read becomes unresolved under the given word.
    fn parse(&self, value: &Value, catalogue: bool, what: &'static str, out: &mut Reading) -> Option<ParsedModel> {
        let bare = without_user(&value.token);
        let text = bare.as_str();
        let noted = if what.is_empty() { "model" } else { what };
        let mut fail = |unknown: Unknown| {
            self.trace.unread(unknown.why, |reason| Considered { at: unknown.at.clone(), ..self.considered(value, noted, reason) });
            if !what.is_empty() {
                out.unresolved.push(Unresolved {
                    what: what.to_owned(),
                    at: unknown.at,
                    why: unknown.why.to_owned(),
                    reference: unknown.reference,
                });
            }
        };
        // Where a value went through a variable, that is where it would have to be mended.
        let place = value.token.text.variables().last().map_or_else(|| value.token.at.clone(), |via| via.at.clone());
        if let Some(unknown) = bare.text.unknown() {
            fail(unknown.clone());
            return None;
        }
        if self.rules.conventions.no_model.iter().any(|word| text.trim().eq_ignore_ascii_case(word)) {
            return None;
        }
        let mut token = value.token.clone();
        let mut catalogue = catalogue || value.kind.catalogue;
        if value.kind.provider
            && let Some((provider, name)) = text.split_once('/')
        {
            // `hf/owner/name` is loaded; others call by a name of their own.
            if self.rules.conventions.local_providers.iter().any(|known| known == provider) {
                token.text = bare.text.slice(text.len() - name.len()..text.len());
            } else {
                catalogue = true;
            }
        }
        let text = if value.kind.provider { token.as_str() } else { text };
        let scheme = text.contains("://") || text.starts_with(['/', '.']);
        if catalogue
            && !scheme
            && let Ok(ParsedModel { source: None, .. }) | Err(NotAModel::Image) = ModelReference::parse(text)
        {
            return ModelReference::catalogue_name(text).ok().map(|reference| ParsedModel {
                reference,
                revision: None,
                source: None,
                file: None,
            });
        }
        match ModelReference::parse(text) {
            Ok(parsed) => (!value.kind.hub || matches!(parsed.reference, ModelReference::Hub { .. })).then_some(parsed),
            Err(NotAModel::Unexpanded) if text.contains("$(") => {
                let name = text.split_once("$(").and_then(|(_, rest)| rest.split_once(')')).map(|(name, _)| name).unwrap_or_default();
                fail(self.container.env.missing(name, &value.token.at));
                None
            }
            Err(NotAModel::Unexpanded | NotAModel::Placeholder) => {
                fail(Unknown { why: "template", at: place, reference: String::new() });
                None
            }
            // Something is named there, even though no catalogue has room for such a name.
            Err(NotAModel::TooLong) => {
                fail(Unknown { why: TOO_LONG, at: place, reference: String::new() });
                None
            }
            Err(_) => {
                self.dropped(value, noted, Reason::NotAModel);
                None
            }
        }
    }

    fn dropped(&self, value: &Value, what: &'static str, reason: Reason) {
        self.trace.dropped(|| self.considered(value, what, reason));
    }

    fn considered(&self, value: &Value, what: &'static str, reason: Reason) -> Considered {
        Considered {
            at: value.token.at.clone(),
            what,
            value: value.token.as_str().to_owned(),
            by: value.by.clone(),
            container: self.container.name.clone(),
            reason,
        }
    }

    /// A dataset, unless the value is a word for none.
    fn dataset(&self, value: &Value, parameters: &[(String, String)], out: &mut Reading) {
        let (token, mut properties) = dataset_name(&value.token);
        let text = token.as_str().trim().to_owned();
        let plain = text.to_ascii_lowercase();
        if self.rules.conventions.no_datasets.contains(&plain) {
            return;
        }
        let named = Value { token, ..value.clone() };
        let Some(parsed) = self.parse(&named, false, "dataset", out) else { return };
        let id = parsed.reference.id();
        properties.extend(parameters.iter().filter_map(|(name, value)| Some((name.strip_prefix(DATASET)?.to_owned(), value.clone()))));
        if let Some(revision) = parsed.revision {
            properties.push(("revision".to_owned(), revision));
        }
        if let Some(file) = parsed.file {
            properties.push(("file".to_owned(), file));
        }
        if !value.kind.part.is_empty() {
            properties.push(("use".to_owned(), value.kind.part.clone()));
        }
        let evidence = self.places(&named, &id);
        out.datasets.push(DatasetClaim { id, evidence, properties });
    }

    /// The value's place, and the places of the variables that it came through.
    fn places(&self, value: &Value, id: &str) -> Vec<Evidence> {
        let token = &value.token;
        let mut out = vec![self.evidence(&token.at, token.source, id, &value.by)];
        for via in token.text.variables() {
            let spoken = self.container.env.get(&via.name).is_some_and(|variable| variable.at == via.at);
            let evidence = self.evidence(&via.at, Source::EnvVar, id, &via.name);
            if spoken && out.iter().all(|known| known.at != evidence.at) {
                out.push(evidence);
            }
        }
        out
    }

    /// Variables of a conventional name that repeat a model, or name one whose location is all that is known.
    fn corroborate(&self, main: &mut ModelClaim) {
        for name in &self.rules.conventions.helpers {
            let Some(variable) = self.container.env.get(name) else { continue };
            let text = variable.value.text.as_str();
            if variable.secret
                || variable.value.unknown().is_some()
                || text.is_empty()
                || main.evidence.iter().any(|known| known.at == variable.at)
            {
                continue;
            }
            let id = main.parsed.reference.id();
            let found = ModelReference::parse(text);
            let located = is_location(&main.parsed.reference);
            if located && let Ok(parsed @ ParsedModel { reference: ModelReference::Hub { .. }, .. }) = found {
                if self.fits(&id, &parsed.reference.id()) {
                    let value = parsed.reference.id();
                    main.sources.push(id);
                    main.parsed = parsed;
                    main.evidence.push(self.evidence(&variable.at, Source::EnvVarConvention, value, name));
                }
                continue;
            }
            if text == id || main.sources.iter().any(|source| source == text) || resembles(&id, text) {
                main.evidence.push(self.evidence(&variable.at, Source::EnvVarConvention, text, name));
            }
        }
    }

    /// Whether a guess names another model than the one that is known by its location.
    fn is_another(&self, main: &ModelClaim, parsed: &ParsedModel, guess: &Value) -> bool {
        guess.token.source == Source::EnvVarConvention
            && is_location(&main.parsed.reference)
            && !self.fits(&main.parsed.reference.id(), &parsed.reference.id())
    }

    /// Whether a hub id can be what lies at a location: the last segment is its name or says nothing.
    fn fits(&self, location: &str, id: &str) -> bool {
        let last = |text: &str| text.trim_end_matches('/').rsplit('/').next().unwrap_or_default().to_lowercase();
        let directory = last(location);
        directory == last(id) || self.rules.conventions.generic_directories.contains(&directory)
    }
}

/// Whether a path holds a copy of a model: it ends with the id or with its name, or is the hub cache's folder of it.
fn is_copy(id: &str, path: &str) -> bool {
    let name = id.rsplit('/').next().unwrap_or_default();
    let path = path.trim_end_matches('/');
    path.strip_suffix(name).is_some_and(|rest| rest.ends_with('/')) || path.contains(&format!("/models--{}/", id.replace('/', "--")))
}

/// A short name for an id: its letters and digits begin those of the id's last segment.
fn resembles(id: &str, short: &str) -> bool {
    let plain = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).collect::<String>();
    let name = plain(id.trim_end_matches('/').rsplit('/').next().unwrap_or_default());
    let short = plain(short);
    short.len() >= 3 && (name.starts_with(&short) || name.ends_with(&short))
}
