//! Image references to runtimes.
//!
//! The order matters: a repository that is listed in full wins over everything; then names that say "router", "operator" or the like
//! make an image plumbing; then copies are recognised by the end of their path, compared segment by segment; then by a distinctive
//! last segment; and at last by a word of it, which is weak. Nothing is ever matched by an open pattern behind a name.

use aibom_facts::image::{CanonicalImage, ImageReference};

use crate::rules::{Does, Repository, Rules};

/// How well an image matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Strength {
    /// A word of the last segment.
    Weak,
    /// A distinctive last segment.
    Name,
    /// The end of the path of a known repository.
    Copy,
    /// A known repository.
    Official,
}

/// One runtime that an image holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageMatch {
    /// Index of the runtime in [`Rules::runtimes`].
    pub(crate) runtime: usize,
    /// How well.
    pub strength: Strength,
    /// The entry that matched.
    pub pattern: String,
    /// Index of the engine inside.
    pub(crate) engine: Option<usize>,
    /// The model that the path names.
    pub model: Option<String>,
}

/// What an image is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ImageClass {
    /// Nothing is known.
    Unknown,
    /// A router, operator, benchmark or the like.
    Plumbing,
    /// One runtime or several weak hints.
    Runtimes(Vec<ImageMatch>),
}

impl Rules {
    /// Finds the runtimes of an image.
    pub fn classify_image(&self, image: &ImageReference) -> ImageClass {
        let canonical = image.canonical();
        let tag_words: Vec<&str> = image.tag.as_deref().unwrap_or_default().split(['-', '_', '.']).collect();
        if let Some(found) = self.best(&canonical, true) {
            return self.checked(found, &canonical, &tag_words);
        }
        if self.is_plumbing(&canonical) {
            return ImageClass::Plumbing;
        }
        if let Some(found) = self.best(&canonical, false) {
            return self.checked(found, &canonical, &tag_words);
        }
        let Some(last) = canonical.segments.last() else { return ImageClass::Unknown };
        if let Some(found) = self.by_name(last) {
            return self.checked(found, &canonical, &tag_words);
        }
        let weak: Vec<_> = self.by_words(last).collect();
        if weak.is_empty() { ImageClass::Unknown } else { ImageClass::Runtimes(weak) }
    }

    fn checked(&self, found: ImageMatch, canonical: &CanonicalImage, tag: &[&str]) -> ImageClass {
        let images = &self.runtimes[found.runtime].images;
        if images.deny_tags.iter().any(|word| tag.contains(&word.as_str()))
            || images.deny.iter().any(|path| ends_with(&path.split('/').collect::<Vec<_>>(), &canonical.segments, None))
        {
            return ImageClass::Plumbing;
        }
        let another = images.tag_runtimes.iter().find(|(word, _)| tag.contains(&word.as_str()));
        if let Some(runtime) = another.and_then(|(_, name)| self.index(name)) {
            return ImageClass::Runtimes(vec![ImageMatch { runtime, engine: None, model: None, ..found }]);
        }
        let mut all = vec![found.clone()];
        for (word, engine) in &images.tag_engines {
            if let Some(runtime) = self.index(engine).filter(|_| tag.contains(&word.as_str())) {
                all.push(ImageMatch {
                    runtime,
                    pattern: format!("{} tag {word}", found.pattern),
                    strength: Strength::Name,
                    engine: None,
                    model: None,
                });
            }
        }
        ImageClass::Runtimes(all)
    }

    /// The most specific repository that matches in full, or by the end of its path.
    fn best(&self, canonical: &CanonicalImage, full: bool) -> Option<ImageMatch> {
        let mut best: Option<(usize, ImageMatch)> = None;
        for (runtime, rule) in self.runtimes.iter().enumerate() {
            for repository in &rule.images.repositories {
                if !may_end(&repository.path, canonical) {
                    continue;
                }
                let (host, path) = repository.path.split_once('/').unwrap_or(("", &repository.path));
                let path: Vec<&str> = path.split('/').collect();
                let hit = if full {
                    matches(host, &canonical.host)
                        && path.len() == canonical.segments.len()
                        && ends_with(&path, &canonical.segments, Some(&self.variant))
                } else {
                    path.len() >= 2 && ends_with(&path, &canonical.segments, Some(&self.variant))
                };
                if !hit {
                    continue;
                }
                let weight = repository.path.bytes().filter(|b| *b != b'*').count();
                if best.as_ref().is_none_or(|(known, _)| *known < weight) {
                    let strength = if full { Strength::Official } else { Strength::Copy };
                    best = Some((weight, self.found(runtime, repository, strength, &canonical.segments)));
                }
            }
        }
        best.map(|(_, found)| found)
    }

    fn by_name(&self, last: &str) -> Option<ImageMatch> {
        let mut best: Option<(usize, ImageMatch)> = None;
        for (runtime, rule) in self.runtimes.iter().enumerate() {
            for name in &rule.images.names {
                let hit = segment(&name.path, last, Some(&self.variant));
                if hit && best.as_ref().is_none_or(|(known, _)| *known < name.path.len()) {
                    best = Some((name.path.len(), self.found(runtime, name, Strength::Name, &[])));
                }
            }
        }
        best.map(|(_, found)| found)
    }

    fn by_words<'a>(&'a self, last: &'a str) -> impl Iterator<Item = ImageMatch> + 'a {
        self.runtimes.iter().enumerate().filter_map(move |(runtime, rule)| {
            let word = rule.images.words.iter().find(|word| last.split(['-', '_']).any(|token| is_versioned(token, word)))?;
            Some(ImageMatch { runtime, strength: Strength::Weak, pattern: format!("*{word}*"), engine: None, model: None })
        })
    }

    fn found(&self, runtime: usize, repository: &Repository, strength: Strength, segments: &[String]) -> ImageMatch {
        let model =
            (repository.model > 0 && segments.len() >= repository.model).then(|| segments[segments.len() - repository.model..].join("/"));
        let engine = repository.engine.as_deref().and_then(|name| self.index(name));
        ImageMatch { runtime, strength, pattern: repository.path.clone(), engine, model }
    }

    fn is_plumbing(&self, canonical: &CanonicalImage) -> bool {
        let mut segments = canonical.segments.iter().rev();
        let Some(last) = segments.next() else { return false };
        let speaks =
            |segment: &String| segment.split(['-', '_', '.']).any(|token| self.conventions.plumbing.iter().any(|word| word == token));
        speaks(last) || (self.conventions.generic_segments.contains(last) && segments.next().is_some_and(speaks))
    }

    /// Whether a runtime's own work is anything but running models.
    pub(crate) fn does(&self, runtime: usize) -> Does {
        self.runtimes[runtime].does
    }
}

/// Whether a repository can match at all, by the first letters of its last segment: hundreds are compared with each image.
fn may_end(repository: &str, canonical: &CanonicalImage) -> bool {
    let pattern = repository.rsplit('/').next().unwrap_or(repository);
    let head = pattern.split('*').next().unwrap_or(pattern);
    canonical.segments.last().is_some_and(|last| last.starts_with(head))
}

/// Whether the path is the end of the segments. A tail of variant tokens may follow the last one.
fn ends_with(path: &[&str], segments: &[String], variant: Option<&regex::Regex>) -> bool {
    let Some(start) = segments.len().checked_sub(path.len()) else { return false };
    path.iter()
        .zip(&segments[start..])
        .enumerate()
        .all(|(index, (pattern, text))| if index + 1 == path.len() { segment(pattern, text, variant) } else { matches(pattern, text) })
}

/// A last segment: the pattern, or the pattern and a tail of variant tokens.
fn segment(pattern: &str, text: &str, variant: Option<&regex::Regex>) -> bool {
    if matches(pattern, text) {
        return true;
    }
    let (Some(variant), Some(tail)) = (variant, text.strip_prefix(pattern)) else { return false };
    tail.starts_with(['-', '_', '.']) && tail[1..].split(['-', '_', '.']).all(|token| variant.is_match(token))
}

/// `*` stands for any text.
fn matches(pattern: &str, text: &str) -> bool {
    let Some((head, rest)) = pattern.split_once('*') else { return pattern == text };
    let Some(mut text) = text.strip_prefix(head) else { return false };
    let mut pieces = rest.split('*').peekable();
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return text.ends_with(piece);
        }
        let Some(at) = text.find(piece) else { return false };
        text = &text[at + piece.len()..];
    }
    true
}

/// The word alone or with a version directly behind it.
fn is_versioned(token: &str, word: &str) -> bool {
    token.strip_prefix(word).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.') && !rest.starts_with('.'))
}

/// The version at the head of a tag: numbers with a dot, and what tells a release candidate. Builds, names of models and the like that
/// follow are no part of it.
pub(crate) fn version(tag: &str) -> Option<&str> {
    let number = tag.strip_prefix('v').unwrap_or(tag);
    let digits = number.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 || digits > 4 || !number[digits..].starts_with('.') || !number[digits + 1..].starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let end = tag.find(['-', '_', '+']).unwrap_or(tag.len());
    let suffix = tag[end..].get(1..).unwrap_or_default().split(['-', '_', '+']).next().unwrap_or_default();
    let candidate = ["rc", "alpha", "beta", "pre", "post"]
        .iter()
        .any(|word| suffix.strip_prefix(word).is_some_and(|rest| rest.bytes().all(|b| b.is_ascii_digit() || b == b'.')));
    Some(if candidate { &tag[..end + 1 + suffix.len()] } else { &tag[..end] })
}

impl Rules {
    /// Runtimes that the variable in place of an image is named after: `${ENGINE_IMAGE}`.
    pub(crate) fn by_placeholder(&self, text: &str) -> Vec<ImageMatch> {
        let Some(name) = text.trim().strip_prefix('$').map(|rest| rest.trim_matches(['{', '}', '(', ')'])) else { return Vec::new() };
        let name = name.to_ascii_lowercase().replace('_', "-");
        if name.split('-').any(|token| self.conventions.plumbing.iter().any(|word| word == token)) {
            return Vec::new();
        }
        let mut found: Vec<_> = self.by_words(&name).collect();
        for one in &mut found {
            text.clone_into(&mut one.pattern);
            one.strength = Strength::Name;
        }
        found
    }
}

#[cfg(test)]
#[path = "images/tests.rs"]
mod tests;
