//! Launchers by what starts them: hundreds would be compared with every command of a script.

use std::collections::HashMap;

use super::{Launcher, Runtime};

/// Indices of a runtime and of one of its launchers, in the order of the files.
type Place = (usize, usize);

/// Where the launchers are.
#[derive(Clone, Debug, Default)]
pub(crate) struct LauncherIndex {
    /// By the names of programs and scripts that are written out.
    names: HashMap<String, Vec<Place>>,
    /// Those with a script that is a pattern or has folders.
    patterns: Vec<Place>,
    modules: HashMap<String, Vec<Place>>,
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

    fn add(&mut self, launcher: &Launcher, place: Place) {
        let (patterns, scripts): (Vec<_>, Vec<_>) = launcher.scripts.iter().partition(|script| script.contains(['*', '/']));
        for name in launcher.programs.iter().chain(scripts) {
            self.names.entry(name.clone()).or_default().push(place);
        }
        for name in &launcher.modules {
            self.modules.entry(name.clone()).or_default().push(place);
        }
        if !patterns.is_empty() {
            self.patterns.push(place);
        }
        if !launcher.apps.is_empty() {
            self.apps.push(place);
        }
        if !launcher.calls.is_empty() {
            self.calling.push(place);
        }
    }

    /// Launchers that a program or script of this name may be.
    pub(crate) fn named(&self, name: &str) -> Vec<Place> {
        let mut out: Vec<Place> = self.names.get(name).into_iter().flatten().chain(&self.patterns).chain(&self.apps).copied().collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Launchers of a module.
    pub(crate) fn module(&self, name: &str) -> Vec<Place> {
        let mut out: Vec<Place> = self.modules.get(name).into_iter().flatten().chain(&self.apps).copied().collect();
        out.sort_unstable();
        out.dedup();
        out
    }

    /// Launchers that calls in code start.
    pub(crate) fn calling(&self) -> &[Place] {
        &self.calling
    }
}
