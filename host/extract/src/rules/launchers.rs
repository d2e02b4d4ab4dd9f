//! Launchers by what starts them: hundreds would be compared with every command of a script.

use super::{Launcher, Runtime};
use crate::maps::FastMap;

/// Indices of a runtime and of one of its launchers, in the order of the files.
type Place = (usize, usize);

/// Where the launchers are.
#[derive(Clone, Debug, Default)]
pub(crate) struct LauncherIndex {
    /// By the names of programs and scripts that are written out, whatever folders they must be in.
    names: FastMap<String, Vec<Place>>,
    /// Those with a script whose name is a pattern, with what stands before the first star and behind the last one.
    patterns: Vec<(String, String, Place)>,
    modules: FastMap<String, Vec<Place>>,
    /// Those with a module that is a pattern.
    families: Vec<Place>,
    /// Those that a server of applications runs, which may be started by any name.
    apps: Vec<Place>,
    /// Those that code on the command line starts.
    calling: Vec<Place>,
}

impl LauncherIndex {
    pub(crate) fn new(runtimes: &[Runtime]) -> Self {
        let mut out = Self::default();
        for (runtime, rule) in runtimes.iter().enumerate() {
            for (index, launcher) in rule.launch.iter().enumerate() {
                out.add(launcher, (runtime, index));
            }
        }
        out
    }

    fn add<'l>(&mut self, launcher: &'l Launcher, place: Place) {
        let last = |script: &'l String| script.rsplit('/').next().unwrap_or(script);
        let (patterns, scripts): (Vec<_>, Vec<_>) = launcher.scripts.iter().map(last).partition(|name| name.contains('*'));
        for name in launcher.programs.iter().map(String::as_str).chain(scripts) {
            self.names.entry(name.to_owned()).or_default().push(place);
        }
        if launcher.modules.iter().any(|name| name.contains('*')) {
            self.families.push(place);
        }
        for name in launcher.modules.iter().filter(|name| !name.contains('*')) {
            self.modules.entry(name.clone()).or_default().push(place);
        }
        for (head, rest) in patterns.iter().filter_map(|pattern| pattern.split_once('*')) {
            let tail = rest.rsplit('*').next().unwrap_or(rest);
            self.patterns.push((head.to_owned(), tail.to_owned(), place));
        }
        if !launcher.apps.is_empty() {
            self.apps.push(place);
        }
        if !launcher.calls.is_empty() {
            self.calling.push(place);
        }
    }

    /// Launchers that a program or script of this name may be; `serves`: it runs applications of others.
    pub(crate) fn named(&self, name: &str, serves: bool) -> Vec<Place> {
        let fits = |(head, tail, place): &(String, String, Place)| (name.starts_with(head) && name.ends_with(tail)).then_some(*place);
        self.of(self.names.get(name), self.patterns.iter().filter_map(fits), serves)
    }

    /// Launchers of a module; `serves`: it runs applications of others.
    pub(crate) fn module(&self, name: &str, serves: bool) -> Vec<Place> {
        self.of(self.modules.get(name), self.families.iter().copied(), serves)
    }

    fn of(&self, known: Option<&Vec<Place>>, patterns: impl Iterator<Item = Place>, serves: bool) -> Vec<Place> {
        let apps: &[Place] = if serves { &self.apps } else { &[] };
        let mut out: Vec<Place> = known.into_iter().flatten().chain(apps).copied().chain(patterns).collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Launchers that calls in code start.
    pub(crate) fn calling(&self) -> &[Place] {
        &self.calling
    }
}
