//! What one container says: the runtimes in it, the models it names, its parameters, and what could not be read.

use std::collections::HashSet;

use aibom_facts::image::ImageReference;
use aibom_facts::inventory::{Category, Evidence, Role, Source, Unresolved};
use aibom_facts::model::{ModelReference, ParsedModel};
use aibom_facts::object::Locator;
use aibom_facts::report::{ContainerClass, Duty};

use crate::apis;
use crate::argv::{self, Launch, Other};
use crate::clues;
use crate::explain::{self, Considered, Reason, Recognised, Trace};
use crate::images::{ImageClass, ImageMatch, Strength};
use crate::options::{self, Hit, Parsed};
use crate::pods::Container;
use crate::rules::{Choice, Does, Meaning, Rules, Runtime, Use};
use crate::said::Said;
use crate::script::CommandLine;
use crate::text::{Token, Traced};

mod claims;
mod image;
mod silence;

pub(crate) use claims::{DatasetClaim, Destination, ModelClaim, Reading, RuntimeClaim, claim};

/// The reader of one container.
pub(crate) struct Reader<'a> {
    pub(crate) rules: &'a Rules,
    pub(crate) trace: &'a Trace,
    pub(crate) container: &'a Container<'a>,
    pub(crate) image: Option<&'a ImageReference>,
    /// Runtimes that the report declares for the container's template.
    pub(crate) declared: &'a [usize],
    /// Name of the workload.
    pub(crate) workload: &'a str,
}

/// What a program does, before its options are looked at.
#[derive(Clone, Debug)]
struct Work {
    role: Role,
    does: Does,
    category: Option<Category>,
    /// What says that it is this program.
    ground: Evidence,
}

/// What a container runs, as found.
#[derive(Default)]
struct Program<'r> {
    launches: Vec<Launch<'r>>,
    /// Launchers of the hook that runs after the start.
    hooked: Vec<Launch<'r>>,
    idle: bool,
    /// Command lines that are called a download.
    fetching: Vec<CommandLine>,
    /// Command lines that nobody knows.
    unknown: Vec<CommandLine>,
    /// Nothing but commands that have nothing to do with AI, whatever the image is for.
    plain: bool,
    /// It joins a server that another pod leads.
    joins: bool,
    /// It installs packages for a program that works with models.
    installs: Option<Evidence>,
    any: bool,
}

impl<'a> Reader<'a> {
    pub(crate) fn read(&self) -> Reading {
        let mut out = Reading::default();
        let written = self.container.image.as_ref().map_or("", |image| &image.text);
        let class = self.image.map_or(ImageClass::Unknown, |image| self.rules.classify_written_image(written, image));
        let placeholder = match (&self.image, &self.container.image) {
            (None, Some(written)) if self.container.class == ContainerClass::Main => self.rules.by_placeholder(&written.text),
            _ => Vec::new(),
        };
        let (images, plumbing) = match &class {
            ImageClass::Runtimes(found) => (found.as_slice(), false),
            ImageClass::Plumbing => (&[][..], true),
            ImageClass::Unknown => (placeholder.as_slice(), false),
        };
        // A variable that only one program reads tells which one it is where the image does not.
        let marks = if images.iter().all(|found| found.strength == Strength::Weak) && !plumbing { self.marks() } else { Vec::new() };
        let marked: Vec<ImageMatch> = marks.iter().map(|(found, _)| found.clone()).collect();
        let images = if marked.is_empty() { images } else { marked.as_slice() };
        out.ai_image = images.iter().find(|found| found.strength > Strength::Weak).and_then(|found| {
            let rule = &self.rules.runtimes[found.runtime];
            Some((rule.category?, self.by_image(rule, images)))
        });
        let platform = matches!(out.ai_image, Some((Category::Agent | Category::Gateway | Category::VectorDatabase, _)));
        let program = self.program(images);
        out.calls = apis::read(
            self.rules,
            self.trace,
            self.container,
            platform,
            &argv::variables(&program.launches, &[&program.unknown, &program.fetching]),
        );
        if !marked.is_empty() && program.any && program.unknown.is_empty() && program.launches.is_empty() {
            out.ai_image = None;
            return out;
        }
        let infrastructure = self.container.duty == Duty::Infrastructure;
        let does = self.does(&program, images, plumbing);
        out.does = does;
        self.note(&class, images, &program, does);
        let active: Vec<&Launch<'_>> = program.launches.iter().filter(|launch| Some(launch.does) == does).collect();
        for launch in &active {
            self.launched(launch, images, infrastructure, &mut out);
        }
        // What a script downloads before it serves is where the served model comes from.
        let started = program.launches.iter().chain(&program.hooked);
        for launch in started.filter(|launch| launch.does == Does::Fetch && does == Some(Does::Run)) {
            let mut fetched = Reading::default();
            self.launched(launch, images, infrastructure, &mut fetched);
            out.models.append(&mut fetched.models);
            out.datasets.append(&mut fetched.datasets);
        }
        let image_alone = program.launches.is_empty() && !program.idle;
        if image_alone {
            self.image_alone(images, infrastructure, &program, &mut out);
        }
        if image_alone && does == Some(Does::Fetch) && out.models.is_empty() {
            self.fetched_by_name(&program.fetching, &mut out);
        }
        if image_alone && does.is_none() && !infrastructure && images.is_empty() {
            self.by_signs(&mut out);
        }
        let nothing_said = out.models.is_empty() && out.unresolved.is_empty();
        self.asked(&mut out);
        if self.is_unknown(&program, images) {
            if nothing_said && !program.plain {
                self.clues(&program.unknown, program.installs.as_ref(), images, &mut out);
            }
            self.by_library(&program.unknown, images, &mut out);
        }
        if !matches!(out.does, Some(Does::Run | Does::Fetch)) {
            out.join_tokenizer();
        }
        if matches!(out.does, Some(Does::Run | Does::Fetch)) && !infrastructure {
            self.model_of_image(images, &mut out);
        }
        if matches!(out.does, Some(Does::Run | Does::Fetch | Does::Measure)) && !infrastructure {
            self.script_from_elsewhere(&program, &mut out);
        }
        if out.does == Some(Does::Run) && !infrastructure {
            self.image_evidence(images, &mut out);
            out.runtimes.extend(out.runtimes.is_empty().then_some(marks).into_iter().flatten().map(|(_, claim)| claim));
            out.declared.extend_from_slice(self.declared);
            self.more_categories(&mut out);
            let framework = |launch: &&Launch<'_>| self.rules.runtimes[launch.runtime].framework;
            if !(program.joins && active.iter().all(framework)) {
                self.tell_silence(&active, &mut out);
            }
            self.tell_choice(&active, &mut out);
        }
        out
    }

    /// Runtimes by variables that only they read.
    fn marks(&self) -> Vec<(ImageMatch, RuntimeClaim)> {
        if self.container.class != ContainerClass::Main || self.container.duty == Duty::Infrastructure {
            return Vec::new();
        }
        let found =
            self.rules.marks(self.container.env.iter().map(|variable| variable.name.as_str())).into_iter().filter_map(|(runtime, name)| {
                let variable = self.container.env.get(name)?;
                let rule = &self.rules.runtimes[runtime];
                let evidence = self.evidence(&variable.at, Source::EnvVar, &rule.name, name);
                let found = ImageMatch {
                    runtime,
                    strength: Strength::Name,
                    pattern: name.to_owned(),
                    engine: None,
                    model: None,
                    versioned: false,
                    marked: true,
                };
                Some((found, RuntimeClaim { runtime, evidence, version: None }))
            });
        found.take(1).collect()
    }

    /// Categories that only a setting gives.
    fn more_categories(&self, out: &mut Reading) {
        for claim in &out.runtimes {
            for hint in self.rules.runtimes[claim.runtime].categories.iter().filter(|hint| self.holds(&hint.by, None)) {
                let variable = self.container.env.get(&hint.by.variable);
                let set = variable.map(|variable| self.evidence(&variable.at, Source::EnvVar, "", &variable.name));
                out.categories.push((hint.category, set.unwrap_or_else(|| claim.evidence.clone())));
            }
        }
    }

    /// Where a platform keeps the choice of its models, when it names none.
    fn tell_choice(&self, active: &[&Launch<'_>], out: &mut Reading) {
        let mut runtimes = out.runtimes.iter().map(|claim| claim.runtime);
        let Some(why) = runtimes.find_map(|runtime| self.rules.runtimes[runtime].chosen_in.as_deref()) else { return };
        let known = !out.models.is_empty() || out.silent.is_some() || out.unresolved.iter().any(|known| known.what == "model");
        if known || self.container.class != ContainerClass::Main {
            return;
        }
        let program = active.first().map(|launch| launch.word.at.clone()).filter(|_| !self.container.command.is_empty());
        let at =
            program.or_else(|| self.container.image.as_ref().map(|image| image.at.clone())).unwrap_or_else(|| self.container.at.clone());
        out.silent = Some(Unresolved { what: "model".to_owned(), at, why: why.to_owned(), reference: String::new() });
    }

    /// The command lines of the container and the launchers in them.
    fn program(&self, images: &[ImageMatch]) -> Program<'a> {
        let container = self.container;
        let token =
            |(text, at): &(String, Locator)| Token { text: container.env.expand(text), at: at.clone(), source: Source::ContainerArg };
        let command: Vec<Token> = container.command.iter().map(token).collect();
        let args: Vec<Token> = container.args.iter().map(token).collect();
        let mut program = Program { any: !(command.is_empty() && args.is_empty()), ..Program::default() };
        let lines = if command.is_empty() {
            self.arguments_only(args, images)
        } else {
            argv::unwrap(self.rules, CommandLine::plain(command.into_iter().chain(args).collect()), &container.env)
        };
        // A program that is computed is taken for the image's own.
        let own = images.first().and_then(|found| self.rules.runtimes[found.runtime].images.entrypoint.first());
        let (mut plain, mut sourced) = (false, false);
        for mut line in lines {
            if let (Some(first), Some(own)) = (line.tokens.first_mut().filter(|first| first.text.is_unknown()), own) {
                first.text = Traced::plain(own);
            }
            program.joins |= argv::joins(self.rules, &line);
            if let Some(package) = clues::installed(&self.rules.conventions.clues, &line).filter(|_| program.installs.is_none()) {
                let name = package.as_str().split(|c: char| !(c.is_ascii_alphanumeric() || "-_.".contains(c))).next();
                program.installs = Some(self.evidence(&package.at, Source::Derived, "", name.unwrap_or_default()));
            }
            let mut found = argv::find(self.rules, &line, &container.env);
            if !found.is_empty() {
                program.launches.append(&mut found);
                continue;
            }
            match argv::other(self.rules, &line) {
                Other::Idle => program.idle = true,
                Other::Plain => {
                    plain = true;
                    sourced |= line.tokens.first().is_some_and(|first| matches!(first.as_str(), "." | "source"));
                }
                Other::Fetch => program.fetching.push(line),
                Other::Unknown => {
                    self.note_unknown(&line);
                    program.unknown.push(line);
                }
            }
        }
        if !container.hook.is_empty() {
            let hook = CommandLine::plain(container.hook.iter().map(token).collect());
            let lines = argv::unwrap(self.rules, hook, &container.env);
            program.hooked.extend(lines.iter().flat_map(|line| argv::find(self.rules, line, &container.env)));
        }
        // A greeting in place of the server that the image is for.
        let served = |found: &ImageMatch| found.strength > Strength::Weak && self.rules.runtimes[found.runtime].category.is_some();
        program.plain = plain && !sourced && program.fetching.is_empty() && program.unknown.is_empty() && program.launches.is_empty();
        program.idle |= plain && !sourced && program.fetching.is_empty() && images.iter().any(served);
        program.idle &= program.unknown.is_empty() && program.launches.is_empty();
        program
    }

    /// Arguments without a command follow the entrypoint of the image, unless they begin with a program of their own.
    fn arguments_only(&self, args: Vec<Token>, images: &[ImageMatch]) -> Vec<CommandLine> {
        let env = &self.container.env;
        let plain = CommandLine::plain(args);
        let lines = argv::unwrap(self.rules, plain.clone(), env);
        // Images hand a program of its own over, and one that waits is hardly an argument.
        let waits = !lines.is_empty() && lines.iter().all(|line| argv::other(self.rules, line) == Other::Idle);
        if waits || lines.iter().any(|line| !argv::find(self.rules, line, env).is_empty()) {
            return lines;
        }
        let own = images.first().filter(|found| found.strength > Strength::Weak).map(|found| &self.rules.runtimes[found.runtime].images);
        let (program, usual) = match own.filter(|own| !own.entrypoint.is_empty()) {
            Some(own) => (own.entrypoint.as_slice(), own.arguments.as_slice()),
            None => (self.image.and_then(|image| self.rules.tool(image)).unwrap_or_default(), &[][..]),
        };
        if !program.is_empty() {
            let at = self.container.image.as_ref().map(|image| image.at.clone()).unwrap_or_default();
            let arguments = if plain.tokens.is_empty() { usual } else { &[] };
            let token = |word: &String| Token { text: Traced::plain(word), at: at.clone(), source: Source::ImagePattern };
            let prefix = program.iter().chain(arguments).map(token);
            return argv::unwrap(self.rules, CommandLine::plain(prefix.chain(plain.tokens).collect()), env);
        }
        // One argument with blanks is a script for the shell that an operator puts in front.
        if let [only] = plain.tokens.as_slice()
            && only.as_str().trim().contains([' ', '\n'])
        {
            return crate::script::commands(&only.text, &only.at, &[], env)
                .into_iter()
                .flat_map(|line| argv::unwrap(self.rules, line, env))
                .collect();
        }
        lines
    }

    /// Neither the image nor a program of the container is known to do anything, but for libraries.
    fn is_unknown(&self, program: &Program<'_>, images: &[ImageMatch]) -> bool {
        let library = |runtime: usize| self.rules.runtimes[runtime].framework;
        !program.idle
            && self.declared.is_empty()
            && self.container.duty != Duty::Infrastructure
            && program.launches.iter().all(|launch| library(launch.runtime))
            && images.iter().all(|found| found.strength == Strength::Weak || library(found.runtime))
    }

    fn does(&self, program: &Program<'_>, images: &[ImageMatch], plumbing: bool) -> Option<Does> {
        // The strongest work of several commands: a script may wait for a server, download and then serve.
        for work in [Does::Run, Does::Simulate, Does::Measure, Does::Route, Does::Fetch, Does::Tool] {
            if program.launches.iter().any(|launch| launch.does == work) {
                return Some(work);
            }
        }
        if !program.fetching.is_empty() && program.unknown.is_empty() {
            return Some(Does::Fetch);
        }
        if program.idle {
            return None;
        }
        if plumbing {
            return Some(Does::Route);
        }
        if let Some(found) = images.iter().max_by_key(|found| found.strength) {
            let does = self.rules.does(found.runtime);
            let measures = does == Does::Run && self.speaks_of(&program.unknown, Category::Benchmark);
            return Some(if measures { Does::Measure } else { does });
        }
        (!self.declared.is_empty() && self.container.duty != Duty::Infrastructure && self.container.class == ContainerClass::Main)
            .then_some(Does::Run)
    }

    /// What is known about the image and the programs, for whoever asks why.
    fn note(&self, class: &ImageClass, images: &[ImageMatch], program: &Program<'_>, does: Option<Does>) {
        if !self.trace.is_on() {
            return;
        }
        let container = &self.container.name;
        if let Some(written) = &self.container.image {
            for found in images {
                self.trace.recognised(|| Recognised {
                    at: written.at.clone(),
                    what: "image",
                    value: written.text.clone(),
                    runtime: self.rules.runtimes[found.runtime].name.clone(),
                    by: found.pattern.clone(),
                    how: found.strength.as_str(),
                    container: container.clone(),
                });
            }
        }
        for launch in &program.launches {
            self.trace.recognised(|| Recognised {
                at: launch.word.at.clone(),
                what: "program",
                value: launch.word.as_str().to_owned(),
                runtime: self.rules.runtimes[launch.runtime].name.clone(),
                // Words that stand in no manifest are no use to somebody who looks for them there.
                by: match launch.word.source {
                    Source::ImagePattern => "the entrypoint of the image".to_owned(),
                    _ => launch.launcher.words.join(" "),
                },
                how: launch.does.as_str(),
                container: container.clone(),
            });
            let reason = match launch.does {
                Does::Run if self.container.duty == Duty::Infrastructure => Reason::Infrastructure,
                Does::Run => continue,
                _ => Reason::NotAnEngine,
            };
            let by = launch.does.as_str().to_owned();
            let value = self.rules.runtimes[launch.runtime].name.clone();
            self.trace.dropped(|| Considered {
                at: launch.word.at.clone(),
                what: "runtime",
                value,
                by,
                container: container.clone(),
                reason,
            });
        }
        let image = self.image.map(ToString::to_string).unwrap_or_default();
        match class {
            ImageClass::Plumbing => {
                let by = self.image.and_then(|image| self.rules.denial(image)).unwrap_or_default();
                self.note_image(&image, &by, Reason::ImageDenied);
            }
            ImageClass::Unknown if images.is_empty() && program.launches.is_empty() && self.image.is_some() => {
                self.note_image(&image, "", Reason::ImageUnknown);
            }
            _ => {}
        }
        let own = images.iter().max_by_key(|found| found.strength);
        if program.idle && does.is_none() {
            self.note_image(own.map_or(&image, |found| &self.rules.runtimes[found.runtime].name), "", Reason::Idle);
        } else if let (Some(found), true, Some(does)) = (own, program.launches.is_empty(), does.filter(|does| *does != Does::Run)) {
            self.note_image(&self.rules.runtimes[found.runtime].name, does.as_str(), Reason::NotAnEngine);
        }
    }

    /// A runtime that the image does not give.
    pub(crate) fn note_image(&self, value: &str, by: &str, reason: Reason) {
        self.trace.dropped(|| Considered {
            at: self.container.image.as_ref().map_or_else(|| self.container.at.clone(), |image| image.at.clone()),
            what: "runtime",
            value: value.to_owned(),
            by: by.to_owned(),
            container: self.container.name.clone(),
            reason,
        });
    }

    /// A command line that nobody knows.
    fn note_unknown(&self, line: &CommandLine) {
        let Some(first) = line.tokens.first() else { return };
        if !first.as_str().starts_with('-') {
            self.trace.dropped(|| Considered {
                at: first.at.clone(),
                what: "runtime",
                value: first.text.as_written(),
                by: String::new(),
                container: self.container.name.clone(),
                reason: Reason::ProgramUnknown,
            });
        }
        explain::unread_options(self.rules, self.trace, &self.container.name, &line.tokens);
    }

    pub(crate) fn evidence(&self, at: &Locator, source: Source, value: impl Into<String>, by: impl Into<String>) -> Evidence {
        Evidence { at: at.clone(), source, value: value.into(), by: by.into(), container: self.container.name.clone() }
    }

    /// A recognised program.
    fn launched(&self, launch: &Launch<'a>, images: &[ImageMatch], infrastructure: bool, out: &mut Reading) {
        let rule = &self.rules.runtimes[launch.runtime];
        let launcher = launch.launcher;
        let engine = launcher.engine.as_deref().and_then(|name| self.rules.index(name));
        // What the image packages the program as may know more variables.
        let packages = images.iter().map(|found| found.runtime).filter(|index| *index != launch.runtime);
        let mut tables: Vec<&Runtime> =
            packages.filter(|index| self.rules.shown(*index) == launch.runtime).map(|index| &self.rules.runtimes[index]).collect();
        tables.push(rule);
        tables.extend(rule.shows.as_ref().map(|_| &self.rules.runtimes[self.rules.shown(launch.runtime)]));
        tables.extend(engine.map(|index| &self.rules.runtimes[index]));
        tables.extend(rule.shares.iter().filter_map(|name| self.rules.runtime(name)));
        if launch.does == Does::Run && !infrastructure {
            let shown = (!launcher.anonymous).then(|| (self.rules.shown(launch.runtime), &launch.word));
            let engine = engine.map(|engine| (engine, &launch.word));
            for (runtime, word) in shown.into_iter().chain(engine).chain(launch.carriers.iter().map(|(carrier, word)| (*carrier, word))) {
                let by = if word.text == launch.word.text { &launch.by } else { word.as_str() };
                let evidence = self.evidence(&word.at, word.source, &self.rules.runtimes[runtime].name, by);
                out.runtimes.push(RuntimeClaim { runtime, evidence, version: None });
            }
        }
        let category = launcher.category.or_else(|| category_of(launch.does, rule));
        let role = match launch.does {
            _ if infrastructure => Role::Target,
            Does::Measure | Does::Route => Role::Target,
            // What a trainer downloads or converts is not trained by that.
            Does::Fetch if rule.does != Does::Fetch => launcher.role.unwrap_or_default(),
            _ => launcher.role.unwrap_or_else(|| {
                engine.map_or(rule.role, |index| if rule.role == Role::Main { self.rules.runtimes[index].role } else { rule.role })
            }),
        };
        // What is known by the name of a file alone is concluded, not said.
        let source = if launcher.anonymous { Source::Derived } else { launch.word.source };
        let ground = self.evidence(&launch.word.at, source, "", &launch.by);
        if launch.does == Does::Tool {
            out.categories.extend(category.map(|category| (category, ground)));
            return;
        }
        let parsed = options::parse(&launch.rest, &tables, &launcher.positional);
        if launch.does == Does::Fetch && !launcher.calls.is_empty() && parsed.hits.iter().all(|hit| !hit.names_something()) {
            self.quoted_variables(&launch.word, role, out);
        }
        self.facts(&tables, &parsed, Some(launch), Work { role, does: launch.does, category, ground }, out);
    }

    /// What variables tell about a program that nothing else tells anything about. It is no runtime: nobody knows which one it is.
    fn by_signs(&self, out: &mut Reading) {
        let env = &self.container.env;
        if self.container.class != ContainerClass::Main {
            return;
        }
        // Two of them, of which the first is where to look.
        let told = |rule: &'a Runtime| {
            let mut signs = rule.signs.iter().filter_map(|name| env.get(name));
            signs.next().zip(signs.next()).map(|(first, _)| (rule, first))
        };
        let Some((rule, sign)) = self.rules.runtimes.iter().find_map(told) else { return };
        let shared = rule.shares.iter().filter_map(|name| self.rules.runtime(name));
        let tables: Vec<&Runtime> = std::iter::once(rule).chain(shared).collect();
        out.does = Some(rule.does);
        let ground = self.evidence(&sign.at, Source::EnvVarNamePresent, "", &sign.name);
        let work = Work { role: rule.role, does: rule.does, category: category_of(rule.does, rule), ground };
        self.facts(&tables, &Parsed::default(), None, work, out);
    }

    /// Turns options and variables into claims.
    fn facts(&self, tables: &[&Runtime], parsed: &Parsed, launch: Option<&Launch<'_>>, work: Work, out: &mut Reading) {
        let mut said = Said::default();
        let mut catalogue = tables.iter().any(|table| table.catalogue);
        let mut elsewhere = false;
        let Work { mut role, does, mut category, ground } = work;
        let target = role == Role::Target;
        for hit in &parsed.hits {
            for hint in tables.iter().flat_map(|table| &table.roles) {
                let same = hint.option.as_ref().is_some_and(|option| crate::rules::fold(option) == crate::rules::fold(&hit.by));
                if same
                    && (hint.values.is_empty()
                        || hit.values.first().is_some_and(|value| hint.values.iter().any(|word| word == value.as_str())))
                    && role == Role::Main
                {
                    role = hint.role;
                }
            }
        }
        for hint in tables.iter().flat_map(|table| &table.roles).filter(|_| role == Role::Main) {
            let variable = hint.variable.as_ref().and_then(|name| self.container.env.get(name));
            if variable.is_some_and(|variable| !variable.secret && hint.values.contains(&variable.value.text)) {
                role = hint.role;
                break;
            }
        }
        for hit in self.options_in_variables(tables).into_iter().chain(parsed.hits.iter().cloned()) {
            said.option(hit);
        }
        for table in tables {
            for (name, meaning) in &table.env {
                let variable = launch.and_then(|launch| launch.variable(name)).or_else(|| self.container.env.get(name));
                if let Some(variable) = variable.filter(|variable| !variable.secret && self.counts(meaning, launch, parsed)) {
                    said.variable(variable, meaning);
                }
            }
        }
        if tables.iter().any(|table| table.helpers) {
            for name in &self.rules.conventions.helpers {
                if let Some(variable) = self.container.env.get(name).filter(|variable| !variable.secret) {
                    said.helper(variable);
                }
            }
        }
        for (name, value) in launch.into_iter().flat_map(|launch| &launch.launcher.sets) {
            said.set(name, value);
        }
        for case in tables.iter().flat_map(|table| &table.cases) {
            let holds = case.when.iter().all(|condition| parsed.holds(condition, None))
                && !case.unless.iter().any(|condition| parsed.holds(condition, None))
                && case.has.is_none_or(|what| said.has(what))
                && case.by.as_ref().is_none_or(|choice| self.holds(choice, launch));
            if !holds {
                continue;
            }
            // A launcher that has a category of its own is sure of it, unless it starts what nobody knows. To download is no training.
            let sure = does == Does::Fetch && launch.is_some();
            if !sure && launch.is_none_or(|launch| launch.launcher.category.is_none() || launch.launcher.starts.is_some()) {
                category = case.category.or(category);
            }
            role = case.role.filter(|_| !target).unwrap_or(role);
            catalogue = case.catalogue.unwrap_or(catalogue);
            elsewhere = case.catalogue.unwrap_or(elsewhere);
            if let Some(into) = case.model_is {
                said.turn(Use::Model, into);
            }
            if let Some(into) = case.served_is {
                said.turn(Use::Served, into);
            }
            case.sets.iter().for_each(|(name, value)| said.set(name, value));
        }
        out.categories.extend(category.map(|category| (category, ground)));
        out.role = role;
        said.claims(self, (catalogue, elsewhere), role, does, out);
    }

    /// Whether the choice of an entry holds. What cannot be read fulfils none.
    fn counts(&self, meaning: &Meaning, launch: Option<&Launch<'_>>, parsed: &Parsed) -> bool {
        let Meaning::Fact(_, shape) = meaning else { return true };
        let fits = shape.when.iter().all(|condition| parsed.holds(condition, None))
            && !shape.unless.iter().any(|condition| parsed.holds(condition, None));
        fits && shape.chosen_by.as_ref().is_none_or(|choice| self.holds(choice, launch))
    }

    fn holds(&self, choice: &Choice, launch: Option<&Launch<'_>>) -> bool {
        let name = choice.variable.as_str();
        match launch.and_then(|launch| launch.variable(name)).or_else(|| self.container.env.get(name)) {
            Some(variable) => variable.value.unknown().is_none() && choice.holds(&variable.value.text),
            None => choice.holds(""),
        }
    }

    /// Options that a variable hands to the program, in front of those of the command line, which win.
    fn options_in_variables(&self, tables: &[&Runtime]) -> Vec<Hit> {
        let mut out = Vec::new();
        for (name, meaning) in tables.iter().flat_map(|table| &table.env) {
            let Some(variable) = self.container.env.get(name).filter(|_| matches!(meaning, Meaning::Fact(Use::Arguments, _))) else {
                continue;
            };
            if variable.secret || variable.value.unknown().is_some() {
                continue;
            }
            for line in crate::script::commands(&variable.value, &variable.at, &[], &self.container.env) {
                let tokens: Vec<Token> = line.tokens.into_iter().map(|token| Token { source: Source::EnvVar, ..token }).collect();
                out.extend(options::parse(&tokens, tables, &[]).hits);
            }
        }
        out
    }

    /// Repositories in the variables that code names, where the way from there to a download is not followed.
    fn quoted_variables(&self, code: &Token, role: Role, out: &mut Reading) {
        let text = code.as_str();
        // What stands between two quotes, so that the code is read once however many variables there are.
        let quoted: HashSet<&str> = ['"', '\'']
            .iter()
            .filter_map(|quote| text.rsplit_once(*quote).map(|(before, _)| before.split(*quote).skip(1)))
            .flatten()
            .collect();
        for variable in self.container.env.iter().filter(|variable| !variable.secret && variable.value.unknown().is_none()) {
            if quoted.contains(variable.name.as_str())
                && let Ok(parsed @ ParsedModel { reference: ModelReference::Hub { .. }, .. }) = ModelReference::parse(&variable.value.text)
            {
                let evidence = self.evidence(&variable.at, Source::EnvVar, parsed.reference.id(), &variable.name);
                out.models.push(ModelClaim { fetched: true, ..claim(parsed, role, vec![evidence]) });
            }
        }
    }
}

fn category_of(does: Does, rule: &Runtime) -> Option<Category> {
    match does {
        Does::Run | Does::Simulate => rule.category,
        Does::Fetch => Some(Category::DataPreparation),
        Does::Measure => Some(Category::Benchmark),
        Does::Route if rule.does == Does::Route => rule.category.or(Some(Category::Gateway)),
        Does::Route => Some(Category::Gateway),
        Does::Tool => None,
    }
}
