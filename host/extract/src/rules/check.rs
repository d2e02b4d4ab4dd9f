//! What the shape of a file cannot say: entries that are empty, and names that two files have.

use std::collections::HashMap;

use super::{File, RulesError};

/// Looks for entries that mean nothing.
pub(super) fn entries(file: &File) -> Result<(), String> {
    let images = &file.images;
    let mut specs = Vec::new();
    for spec in file.options.values().chain(file.env.values()).flatten().chain(&file.ignored) {
        let (names, _) = spec.parts();
        if names.is_empty() {
            return Err("an entry of options or variables has no names".to_owned());
        }
        specs.extend(names);
    }
    let paths = images.repositories.iter().chain(&images.names).map(|repository| &repository.path);
    let words = [&file.aliases, &file.switches, &images.entrypoint, &images.arguments, &images.words, &images.deny, &images.deny_tags];
    let launchers = file.launch.iter().flat_map(|launcher| {
        [&launcher.programs, &launcher.modules, &launcher.scripts, &launcher.apps, &launcher.words].into_iter().flatten()
    });
    let parameters = file.parameters.values().chain(file.env_parameters.values()).flatten();
    let mut all = paths.chain(words.into_iter().flatten()).chain(launchers).chain(&specs).chain(parameters);
    if let Some(text) = all.find(|text| text.trim().is_empty() || text.trim() != text.as_str()) {
        return Err(format!("`{text}` is an entry without text, or with blanks around it"));
    }
    for hint in &file.roles {
        if hint.option.is_some() == hint.variable.is_some() {
            return Err("an entry of roles needs an option or a variable, and not both".to_owned());
        }
    }
    Ok(())
}

/// Repositories and names by the file that has them: an image can only be one thing.
#[derive(Default)]
pub(super) struct Owners(HashMap<String, String>);

impl Owners {
    /// Takes note of a file's repositories and names.
    pub(super) fn add(&mut self, name: &str, file: &File) -> Result<(), RulesError> {
        for repository in file.images.repositories.iter().chain(&file.images.names) {
            if let Some(other) = self.0.insert(repository.path.clone(), name.to_owned()) {
                let message = format!("the repository or name `{}` is in {other} already", repository.path);
                return Err(RulesError::Entry { file: name.to_owned(), message });
            }
        }
        Ok(())
    }
}
