//! What whoever runs the program adds to the rules, changes in them and switches off.
//!
//! A file that is named like a known runtime extends it: lists grow, single values are replaced, and an option or variable that it
//! names means what it says there and nothing else. A file with another name is a new runtime.

use std::collections::HashSet;

use aibom_facts::image::ImageReference;
use aibom_facts::inventory::Category;
use serde_json::Value;

use super::{File, Rules, RulesError, fold, read};
use crate::images::{ImageClass, ImageMatch, Strength};

/// One change of the rules.
#[derive(Clone, Copy, Debug)]
pub enum Override<'a> {
    /// A file in the form of `runtimes/README.md`: a new runtime, or what is to be different about a known one.
    File {
        /// What errors call it.
        name: &'a str,
        /// Its text.
        text: &'a str,
    },
    /// Name or alias of a runtime that is to be known no more, neither by itself nor inside of others.
    Disable(&'a str),
    /// A pattern that tells a runtime by its image, matched against the image as written. The first one takes the place of all that is
    /// known about images of inference servers; patterns are tried in their order.
    ImagePattern {
        /// Runtime; one that is not known is an inference server of which nothing else is known.
        runtime: &'a str,
        /// Regular expression in the syntax of RE2.
        pattern: &'a str,
    },
}

/// Bytes that a compiled pattern may take.
const PATTERN_SIZE: usize = 1 << 20;

/// What errors call the patterns.
const PATTERNS: &str = "inferenceRuntimeImagePatterns";

/// Parts of a file whose names have one meaning each.
const OPTIONS: [&str; 5] = ["options", "parameters", "switches", "ignored", "members"];
const VARIABLES: [&str; 2] = ["env", "env-parameters"];

impl Rules {
    /// These rules with changes, one after the other. Disabling comes last, whatever the order.
    ///
    /// # Errors
    /// A file that cannot be used, with its place, or a name to disable that no runtime has.
    pub fn with(&self, overrides: &[Override<'_>]) -> Result<Self, RulesError> {
        let mut files = self.files.clone();
        let mut names: Vec<String> = self.runtimes.iter().map(|runtime| runtime.name.clone()).collect();
        for change in overrides {
            let Override::File { name, text } = change else { continue };
            let file: File = read(name, text)?;
            if let Some(known) = self.runtime(&file.name).filter(|known| known.name != file.name) {
                let message = format!("`{}` is another name of `{}`; use that one", file.name, known.name);
                return Err(RulesError::Entry { file: (*name).to_owned(), message });
            }
            let own: Value = read(name, text)?;
            if let Some(index) = names.iter().position(|known| *known == file.name) {
                let (_, base) = &files[index];
                let base = if file.replace { own } else { extended(read(name, base)?, own) };
                files[index] = ((*name).to_owned(), plain(base));
            } else {
                files.push(((*name).to_owned(), plain(own)));
                names.push(file.name);
            }
        }
        for change in overrides {
            let Override::ImagePattern { runtime, .. } = change else { continue };
            if self.index(runtime).is_none() && !names.iter().any(|known| known == runtime) {
                let text = serde_json::json!({ "name": runtime, "category": "inference" }).to_string();
                files.push((PATTERNS.to_owned(), text));
                names.push((*runtime).to_owned());
            }
        }
        let mut rules = Self::parse(files.iter().map(|(name, text)| (name.as_str(), text.as_str())))?;
        for change in overrides {
            let Override::ImagePattern { runtime, pattern } = change else { continue };
            let compiled = regex::RegexBuilder::new(pattern).size_limit(PATTERN_SIZE).build();
            let compiled = compiled.map_err(|error| RulesError::Entry { file: PATTERNS.to_owned(), message: error.to_string() })?;
            rules.patterns.extend(rules.index(runtime).map(|index| (compiled, index)));
        }
        for change in overrides {
            let Override::Disable(name) = change else { continue };
            let known = rules.index(name).ok_or_else(|| RulesError::NothingToDisable { name: (*name).to_owned() })?;
            rules.remove(known);
        }
        rules.index_again();
        Ok(rules)
    }

    /// What an image is, by its patterns first where there are any.
    pub fn classify_written_image(&self, written: &str, image: &ImageReference) -> ImageClass {
        if self.patterns.is_empty() {
            return self.classify_image(image);
        }
        if let Some((pattern, runtime)) = self.patterns.iter().find(|(pattern, _)| pattern.is_match(written)) {
            return ImageClass::Runtimes(vec![ImageMatch {
                runtime: *runtime,
                strength: Strength::Official,
                pattern: pattern.as_str().to_owned(),
                engine: None,
                model: None,
                versioned: true,
                marked: false,
            }]);
        }
        match self.classify_image(image) {
            ImageClass::Runtimes(mut found) => {
                found.retain(|found| self.runtimes[found.runtime].category != Some(Category::Inference));
                if found.is_empty() { ImageClass::Unknown } else { ImageClass::Runtimes(found) }
            }
            other => other,
        }
    }

    /// Takes out a runtime, also where it is inside of others.
    fn remove(&mut self, known: usize) {
        let names: HashSet<String> = self.by_name.iter().filter(|(_, index)| **index == known).map(|(name, _)| name.clone()).collect();
        self.runtimes.remove(known);
        self.files.remove(known);
        for rule in &mut self.runtimes {
            for repository in rule.images.repositories.iter_mut().chain(&mut rule.images.names) {
                repository.engine.take_if(|engine| names.contains(engine));
            }
            rule.images.tag_engines.retain(|_, engine| !names.contains(engine));
            rule.images.tag_runtimes.retain(|_, runtime| !names.contains(runtime));
            for launcher in &mut rule.launch {
                launcher.engine.take_if(|engine| names.contains(engine));
            }
            rule.shows.take_if(|shown| names.contains(shown));
            rule.shares.retain(|shared| !names.contains(shared));
            rule.implies.retain(|implied| !names.contains(&implied.runtime));
        }
        self.patterns.retain(|(_, index)| *index != known);
        for (_, index) in self.patterns.iter_mut().filter(|(_, index)| *index > known) {
            *index -= 1;
        }
        self.by_name.retain(|_, index| *index != known);
        for index in self.by_name.values_mut().filter(|index| **index > known) {
            *index -= 1;
        }
    }
}

/// A file as text, without what says how it is to be taken. JSON is YAML too.
fn plain(mut file: Value) -> String {
    if let Some(members) = file.as_object_mut() {
        members.remove("replace");
    }
    file.to_string()
}

/// A file with what another says about the same runtime.
fn extended(mut base: Value, own: Value) -> Value {
    for sections in [&OPTIONS[..], &VARIABLES[..]] {
        let taken: HashSet<String> = sections.iter().filter_map(|section| own.get(section)).flat_map(spellings).collect();
        for section in sections {
            if let Some(section) = base.get_mut(section) {
                release(section, &taken);
            }
        }
    }
    merge(&mut base, own);
    base
}

/// The options or variables that a part of a file names: a list of names or of maps with names, or such lists by use.
fn spellings(section: &Value) -> Vec<String> {
    match section {
        Value::String(name) => vec![fold(name)],
        Value::Array(entries) => entries.iter().flat_map(spellings).collect(),
        Value::Object(members) => match members.get("names") {
            Some(names) => spellings(names),
            None => members.values().flat_map(spellings).collect(),
        },
        _ => Vec::new(),
    }
}

/// Takes names out of a part of a file, and entries that have none left.
fn release(section: &mut Value, taken: &HashSet<String>) {
    match section {
        Value::Array(entries) => {
            for entry in entries.iter_mut() {
                release(entry, taken);
            }
            entries.retain(|entry| match entry {
                Value::String(name) => !taken.contains(&fold(name)),
                Value::Object(members) => members.get("names").and_then(Value::as_array).is_none_or(|names| !names.is_empty()),
                _ => true,
            });
        }
        Value::Object(members) => match members.get_mut("names") {
            Some(names) => release(names, taken),
            None => members.values_mut().for_each(|member| release(member, taken)),
        },
        _ => {}
    }
}

/// Maps by member, lists one behind the other with the new one first, for the first of equals wins.
fn merge(base: &mut Value, own: Value) {
    match (base, own) {
        (Value::Object(base), Value::Object(own)) => {
            for (name, value) in own {
                match base.get_mut(&name) {
                    Some(known) => merge(known, value),
                    None => {
                        base.insert(name, value);
                    }
                }
            }
        }
        (Value::Array(base), Value::Array(mut own)) => {
            base.retain(|known| !own.contains(known));
            own.append(base);
            *base = own;
        }
        (base, own) => *base = own,
    }
}

#[cfg(test)]
#[path = "overrides/tests.rs"]
mod tests;
