//! Where the model of a container that names none would come from.

use aibom_facts::inventory::{Category, Role, Unresolved};
use aibom_facts::report::ContainerClass;

use super::{Program, Reader, Reading};
use crate::argv::{self, Launch};
use crate::storage;

impl Reader<'_> {
    /// A script out of a configuration names the model, if nothing else does.
    pub(super) fn script_from_elsewhere(&self, program: &Program<'_>, out: &mut Reading) {
        if self.container.class == ContainerClass::Init || !out.models.is_empty() || !out.unresolved.is_empty() {
            return;
        }
        let scripts = program.unknown.iter().filter_map(|line| {
            let interpreter = argv::is_interpreter(line.tokens.first()?.as_str());
            line.tokens.iter().skip(usize::from(interpreter)).find(|token| !token.as_str().starts_with('-'))
        });
        for script in scripts.filter(|token| token.as_str().starts_with('/')) {
            if let Some(name) = storage::configuration_at(self.container, script.as_str()) {
                out.silent = None;
                out.unresolved.push(Unresolved {
                    what: "model".to_owned(),
                    at: script.at.clone(),
                    why: "configmap".to_owned(),
                    reference: name.to_owned(),
                });
                return;
            }
        }
    }

    /// Where the model of an engine that names none would come from.
    pub(super) fn tell_silence(&self, active: &[&Launch<'_>], out: &mut Reading) {
        if self.container.class == ContainerClass::Init || (self.container.class == ContainerClass::Sidecar && active.is_empty()) {
            return;
        }
        let rules = out.runtimes.iter().map(|claim| claim.runtime).chain(self.declared.iter().copied());
        let server =
            rules.map(|runtime| &self.rules.runtimes[runtime]).find(|rule| rule.category == Some(Category::Inference) && !rule.framework);
        let patch = self.container.image.is_none() && self.container.command.is_empty() && self.container.args.is_empty();
        if patch
            || server.is_none()
            || out.models.iter().any(|claim| !matches!(claim.role, Role::Draft | Role::Adapter | Role::Tokenizer))
            || out.unresolved.iter().any(|known| known.what == "model")
        {
            return;
        }
        let program = active.first().map(|launch| launch.word.at.clone()).filter(|_| !self.container.command.is_empty());
        let scripted = self.container.command.iter().skip(1).find(|(text, _)| !text.starts_with('-')).map(|(_, at)| at.clone());
        let at = program
            .or(scripted)
            .or_else(|| self.container.image.as_ref().map(|image| image.at.clone()))
            .unwrap_or_else(|| self.container.at.clone());
        if out.silent.is_none() {
            let why = server.and_then(|rule| rule.chosen_in.as_deref()).unwrap_or("runtime-default").to_owned();
            out.silent = Some(Unresolved { what: "model".to_owned(), at, why, reference: String::new() });
        }
    }
}
