//! Image references to runtimes.
//!
//! The order matters: a repository that is listed in full wins over everything; then names that say "router", "operator" or the like
//! make an image plumbing; then copies are recognised by the end of their path, compared segment by segment; then by a distinctive
//! last segment; and at last by a word of it, which is weak. Nothing is ever matched by an open pattern behind a name.

use aibom_facts::image::{CanonicalImage, ImageReference};

use crate::rules::{Does, Images, Repository, Rules, Star};

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

impl Strength {
    /// The word used in explanations.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Weak => "weak",
            Self::Name => "name",
            Self::Copy => "copy",
            Self::Official => "official",
        }
    }
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
    /// The model that the image is named after or holds.
    pub model: Option<String>,
    /// The tag is the runtime's version.
    pub(crate) versioned: bool,
    /// Not the image tells, but a variable that only this runtime reads.
    pub(crate) marked: bool,
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
        let canonical = &image.canonical();
        let tag_words: Vec<&str> = image.tag.as_deref().unwrap_or_default().split(['-', '_', '.']).collect();
        if let Some(found) = self.best(canonical, true) {
            return self.checked(found, canonical, &tag_words);
        }
        if self.is_plumbing(canonical) {
            return ImageClass::Plumbing;
        }
        if let Some(found) = self.best(canonical, false) {
            return self.checked(found, canonical, &tag_words);
        }
        let Some(last) = canonical.segments.last() else { return ImageClass::Unknown };
        if let Some(found) = self.by_name(canonical, last) {
            return self.checked(found, canonical, &tag_words);
        }
        let weak = self.by_words(last);
        if weak.is_empty() { ImageClass::Unknown } else { ImageClass::Runtimes(weak) }
    }

    /// The program of an image of a tool, which the arguments of a container are for.
    pub(crate) fn tool(&self, image: &ImageReference) -> Option<&[String]> {
        let segments = image.canonical().segments;
        let end = segments.get(segments.len().checked_sub(2)?..)?.join("/");
        self.conventions.entrypoints.get(&end).map(Vec::as_slice)
    }

    fn checked(&self, found: ImageMatch, canonical: &CanonicalImage, tag: &[&str]) -> ImageClass {
        let images = &self.runtimes[found.runtime].images;
        if denied(images, canonical, tag).is_some() {
            return ImageClass::Plumbing;
        }
        let another = images.tag_runtimes.iter().find(|(word, _)| tag.contains(&word.as_str()));
        if let Some(runtime) = another.and_then(|(_, name)| self.index(name)) {
            return ImageClass::Runtimes(vec![ImageMatch { runtime, engine: None, model: None, versioned: false, ..found }]);
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
                    versioned: false,
                    marked: false,
                });
            }
        }
        ImageClass::Runtimes(all)
    }

    /// The most specific repository that matches in full, or by the end of its path.
    fn best(&self, image: &CanonicalImage, full: bool) -> Option<ImageMatch> {
        let canonical = image;
        let last = canonical.segments.last()?;
        let mut best: Option<(usize, ImageMatch)> = None;
        for (runtime, own) in self.images.repositories(last) {
            let repository = &self.runtimes[runtime].images.repositories[own];
            let (host, path) = repository.path.split_once('/').unwrap_or(("", &repository.path));
            let length = 1 + path.bytes().filter(|byte| *byte == b'/').count();
            let fits = if full {
                length == canonical.segments.len() && matches(host, &canonical.host)
            } else {
                length >= 2 && !repository.exact && path.split('/').any(|segment| !segment.contains('*'))
            };
            let hit = fits && ends_with(path, &canonical.segments, Some(&self.variant));
            if !hit {
                continue;
            }
            let weight = repository.path.bytes().filter(|b| *b != b'*').count();
            if best.as_ref().is_none_or(|(known, _)| *known < weight) {
                let strength = if full { Strength::Official } else { Strength::Copy };
                best = Some((weight, self.found(runtime, repository, strength, image)));
            }
        }
        best.map(|(_, found)| found)
    }

    fn by_name(&self, image: &CanonicalImage, last: &str) -> Option<ImageMatch> {
        let mut best: Option<(usize, ImageMatch)> = None;
        for (runtime, own) in self.images.names(last) {
            let name = &self.runtimes[runtime].images.names[own];
            if segment(&name.path, last, Some(&self.variant)) && best.as_ref().is_none_or(|(known, _)| *known < name.path.len()) {
                best = Some((name.path.len(), self.found(runtime, name, Strength::Name, image)));
            }
        }
        best.map(|(_, found)| found)
    }

    /// Runtimes whose word is one of the last segment's, alone or with a version directly behind it.
    fn by_words(&self, last: &str) -> Vec<ImageMatch> {
        let mut found: Vec<(usize, &str)> = Vec::new();
        for token in last.split(['-', '_']) {
            let bare = token.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
            let word = if token[bare.len()..].starts_with('.') { token } else { bare };
            found.extend(self.images.word(word).iter().map(|runtime| (*runtime, word)));
        }
        found.sort_unstable();
        found.dedup_by_key(|(runtime, _)| *runtime);
        let hint = |(runtime, word): (usize, &str)| ImageMatch {
            runtime,
            strength: Strength::Weak,
            pattern: format!("*{word}*"),
            engine: None,
            model: None,
            versioned: false,
            marked: false,
        };
        found.into_iter().map(hint).collect()
    }

    fn found(&self, runtime: usize, repository: &Repository, strength: Strength, image: &CanonicalImage) -> ImageMatch {
        let segments = &image.segments;
        let engine = repository.engine.as_deref().and_then(|name| self.index(name));
        let strong = strength >= Strength::Copy || engine.is_some();
        ImageMatch {
            runtime,
            strength,
            pattern: repository.path.clone(),
            engine,
            model: model_in(repository, segments),
            versioned: strong && repository.versioned.unwrap_or(true),
            marked: false,
        }
    }

    fn is_plumbing(&self, canonical: &CanonicalImage) -> bool {
        self.plumbing_word(canonical).is_some()
    }

    /// The word of a repository that makes its image plumbing.
    fn plumbing_word(&self, canonical: &CanonicalImage) -> Option<&str> {
        let mut segments = canonical.segments.iter().rev();
        let last = segments.next()?;
        let speaks = |segment: &String| {
            segment
                .split(['-', '_', '.'])
                .find_map(|token| self.conventions.plumbing.iter().find(|word| *word == token))
                .map(String::as_str)
        };
        let generic = self.conventions.generic_segments.contains(last);
        speaks(last).or_else(|| segments.next().filter(|_| generic).and_then(speaks))
    }

    /// The entry that makes an image plumbing, for people.
    pub(crate) fn denial(&self, image: &ImageReference) -> Option<String> {
        let canonical = &image.canonical();
        let tag: Vec<&str> = image.tag.as_deref().unwrap_or_default().split(['-', '_', '.']).collect();
        let own = |found: &ImageMatch| denied(&self.runtimes[found.runtime].images, canonical, &tag);
        let of = |found: ImageMatch| own(&found).map(|entry| format!("{} denies {entry}", self.runtimes[found.runtime].name));
        if let Some(found) = self.best(canonical, true) {
            return of(found);
        }
        if let Some(word) = self.plumbing_word(canonical) {
            return Some(format!("the word {word} in its name"));
        }
        self.best(canonical, false).or_else(|| self.by_name(canonical, canonical.segments.last()?)).and_then(of)
    }

    /// Whether a runtime's own work is anything but running models.
    pub(crate) fn does(&self, runtime: usize) -> Does {
        self.runtimes[runtime].does
    }
}

/// The model that an image is named after, or known to hold.
fn model_in(repository: &Repository, segments: &[String]) -> Option<String> {
    if let Some(name) = &repository.holds {
        return Some(name.clone());
    }
    if repository.star == Some(Star::Model) {
        let head = repository.path.rsplit('/').next()?.split('*').next()?;
        return segments.last()?.strip_prefix(head).filter(|rest| !rest.is_empty()).map(str::to_owned);
    }
    (repository.model > 0 && segments.len() >= repository.model).then(|| segments[segments.len() - repository.model..].join("/"))
}

/// The denial of a runtime's file that fits an image.
fn denied<'r>(images: &'r Images, canonical: &CanonicalImage, tag: &[&str]) -> Option<&'r str> {
    let by_tag = images.deny_tags.iter().find(|word| tag.contains(&word.as_str()));
    let by_path = || images.deny.iter().find(|path| ends_with(path, &canonical.segments, None));
    by_tag.or_else(by_path).map(String::as_str)
}

/// Whether the path is the end of the segments. A tail of variant tokens may follow the last one.
fn ends_with(path: &str, segments: &[String], variant: Option<&regex::Regex>) -> bool {
    let mut rest = segments.iter().rev();
    path.rsplit('/').enumerate().all(|(index, pattern)| {
        rest.next().is_some_and(|text| if index == 0 { segment(pattern, text, variant) } else { matches(pattern, text) })
    })
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
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
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
        let mut found = self.by_words(&name);
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
