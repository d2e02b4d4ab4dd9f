//! What an image says about its container.

use aibom_facts::inventory::{Evidence, Role, Source};
use aibom_facts::model::{ModelReference, ParsedModel};

use super::{Program, Reader, Reading, RuntimeClaim, Work, category_of, claim};
use crate::explain::Reason;
use crate::images::{ImageMatch, Strength, version};
use crate::options::{self, Hit, Parsed};
use crate::rules::{Does, Runtime};
use crate::text::Token;

impl Reader<'_> {
    /// An image whose command is its own, or not recognised.
    pub(super) fn image_alone(&self, images: &[ImageMatch], infrastructure: bool, program: &Program<'_>, out: &mut Reading) {
        let strongest = images.iter().max_by_key(|found| found.strength);
        let mut tables: Vec<&Runtime> = Vec::new();
        if let Some(found) = strongest.filter(|found| found.strength > Strength::Weak) {
            let rule = &self.rules.runtimes[found.runtime];
            tables.push(rule);
            tables.extend(rule.shows.as_ref().map(|_| &self.rules.runtimes[self.rules.shown(found.runtime)]));
            tables.extend(found.engine.map(|index| &self.rules.runtimes[index]));
        }
        tables.extend(self.declared.iter().map(|index| &self.rules.runtimes[*index]));
        // A word of the image's name is only a hint; it counts when the arguments are those of the runtime.
        let hinted = tables.is_empty();
        if hinted {
            tables.extend(images.iter().map(|found| &self.rules.runtimes[found.runtime]));
        }
        let Some(rule) = tables.first().copied() else { return };
        let does = out.does.unwrap_or_default();
        let category = category_of(does, rule);
        if !matches!(does, Does::Run | Does::Fetch | Does::Measure | Does::Route | Does::Simulate) {
            out.categories.extend(category.filter(|_| !hinted).map(|category| (category, self.by_image(rule, images))));
            return;
        }
        let role = if infrastructure || matches!(does, Does::Measure | Does::Route) { Role::Target } else { rule.role };
        // A wrapper script of the image that nobody knows mostly passes its options on.
        let container = self.container;
        let listed = container.command.iter().chain(&container.args);
        let tokens: Vec<Token> =
            listed.map(|(text, at)| Token { text: container.env.expand(text), at: at.clone(), source: Source::ContainerArg }).collect();
        let script = tokens.iter().any(|token| token.as_str().contains('\n'));
        let parsed = if script || !program.any { Parsed::default() } else { options::parse(&tokens, &tables, &[]) };
        if !hinted || parsed.hits.iter().any(Hit::is_model) {
            let ground = self.by_image(rule, images);
            self.facts(&tables, &parsed, None, Work { role, does, category, ground }, out);
        } else {
            out.does = None;
            for found in images {
                self.note_image(&self.rules.runtimes[found.runtime].name, &found.pattern, Reason::ImageWeak);
            }
        }
    }

    /// The image, with the pattern by which it is that of a program.
    pub(super) fn by_image(&self, rule: &Runtime, images: &[ImageMatch]) -> Evidence {
        let known = images.iter().find(|found| self.rules.runtimes[found.runtime].name == rule.name);
        let written = self.container.image.as_ref();
        let at = written.map_or(&self.container.at, |image| &image.at);
        let (source, by) = match known {
            Some(found) => (Source::ImagePattern, found.pattern.as_str()),
            None => (Source::CrdField, rule.name.as_str()),
        };
        self.evidence(at, source, "", by)
    }

    /// Runtimes by the image, where what runs does not contradict it; and the version by its tag.
    pub(super) fn image_evidence(&self, images: &[ImageMatch], out: &mut Reading) {
        let Some(written) = &self.container.image else { return };
        let commanded = !out.runtimes.is_empty();
        for found in images.iter().filter(|found| !found.marked) {
            for runtime in std::iter::once(found.runtime).chain(found.engine) {
                let (own, runtime) = (runtime == found.runtime, self.rules.shown(runtime));
                let rule = &self.rules.runtimes[runtime];
                if rule.does != Does::Run {
                    continue;
                }
                // What the image runs by itself has with it what its tag says.
                let by_itself = |claim: &RuntimeClaim| claim.evidence.source == Source::ImagePattern && claim.runtime == images[0].runtime;
                let main = self.rules.shown(found.runtime);
                let same = |claim: &RuntimeClaim| claim.runtime == runtime || claim.runtime == main || by_itself(claim);
                let known = out.runtimes.iter().any(same);
                if commanded && !known {
                    self.note_image(&rule.name, &found.pattern, Reason::OtherProgram);
                    continue;
                }
                let evidence = self.evidence(&written.at, Source::ImagePattern, &rule.name, &found.pattern);
                // Who copies an image may build it anew, and count by numbers of its own.
                let sure = found.versioned && found.strength == Strength::Official && own && main == found.runtime;
                let tag = self.image.and_then(|image| image.tag.as_deref()).filter(|_| sure);
                let version = tag.and_then(|tag| Some(self.evidence(written.version_at(), Source::ImageTag, version(tag)?, tag)));
                out.runtimes.push(RuntimeClaim { runtime, evidence, version });
            }
        }
        let implied: Vec<_> = out
            .runtimes
            .iter()
            .flat_map(|claim| &self.rules.runtimes[claim.runtime].implies)
            .chain(self.declared.iter().flat_map(|index| &self.rules.runtimes[*index].implies))
            .collect();
        let mut more = Vec::new();
        for implied in implied {
            let Some(variable) = self.container.env.get(&implied.variable) else { continue };
            if let Some(runtime) = self.rules.index(&implied.runtime).filter(|_| implied.values.contains(&variable.value.text)) {
                let evidence = self.evidence(&variable.at, Source::EnvVar, &implied.runtime, &variable.name);
                if !more.iter().any(|known: &RuntimeClaim| known.runtime == runtime) {
                    more.push(RuntimeClaim { runtime, evidence, version: None });
                }
            }
        }
        out.runtimes.extend(more);
    }

    /// The model that the path of an image names, unless something else does.
    pub(super) fn model_of_image(&self, images: &[ImageMatch], out: &mut Reading) {
        let Some(written) = &self.container.image else { return };
        for found in images {
            let role = self.rules.runtimes[found.runtime].role;
            let Some(name) = found.model.as_ref().filter(|_| !out.models.iter().any(|claim| claim.role == role)) else { continue };
            let parsed = if self.rules.runtimes[found.runtime].catalogue {
                ModelReference::catalogue_name(name).map(|reference| ParsedModel { reference, revision: None, source: None, file: None })
            } else {
                ModelReference::parse(name)
            };
            if let Ok(parsed) = parsed {
                let evidence = self.evidence(&written.at, Source::ImagePattern, name, &found.pattern);
                out.models.push(claim(parsed, role, vec![evidence]));
            }
        }
    }
}
