//! What a container is found to say.

use aibom_facts::inventory::{Category, Evidence, Role, Unresolved};
use aibom_facts::model::ParsedModel;

use crate::apis::Calls;
use crate::rules::Does;

/// A runtime that a container shows.
#[derive(Clone, Debug)]
pub(crate) struct RuntimeClaim {
    pub(crate) runtime: usize,
    pub(crate) evidence: Evidence,
    /// Version by the tag, with its evidence.
    pub(crate) version: Option<Evidence>,
}

/// A model that a container names.
#[derive(Clone, Debug)]
pub(crate) struct ModelClaim {
    pub(crate) parsed: ParsedModel,
    pub(crate) role: Role,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) conflicts: Vec<Evidence>,
    pub(crate) served: Vec<String>,
    pub(crate) sources: Vec<String>,
    pub(crate) revision: Option<String>,
    /// It is downloaded, not loaded.
    pub(crate) fetched: bool,
    /// Its caller says that it calls it, so it is no other name of a model that runs beside it.
    pub(crate) called: bool,
    /// Directory that a download fills.
    pub(crate) destination: Option<Destination>,
    pub(crate) parameters: Vec<(String, String)>,
    /// What it is in particular: `reward`.
    pub(crate) part: String,
}

/// A dataset that a container names.
#[derive(Clone, Debug)]
pub(crate) struct DatasetClaim {
    pub(crate) id: String,
    pub(crate) evidence: Vec<Evidence>,
    pub(crate) properties: Vec<(String, String)>,
}

/// A directory that a download fills.
#[derive(Clone, Debug)]
pub(crate) struct Destination {
    /// The path, as far as it is known.
    pub(crate) path: String,
    /// Something unknown follows.
    pub(crate) open: bool,
}

/// The reading of one container.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reading {
    pub(crate) runtimes: Vec<RuntimeClaim>,
    pub(crate) models: Vec<ModelClaim>,
    pub(crate) datasets: Vec<DatasetClaim>,
    /// Facts about the run itself: its method, where its output goes.
    pub(crate) run: Vec<(String, String)>,
    pub(crate) categories: Vec<Category>,
    pub(crate) does: Option<Does>,
    /// Role of the main model of what runs.
    pub(crate) role: Role,
    pub(crate) unresolved: Vec<Unresolved>,
    /// Runtimes that the report declares and that run here.
    pub(crate) declared: Vec<usize>,
    /// The image is known AI software, whatever runs in it.
    pub(crate) ai_image: Option<Category>,
    /// Services that it calls, and models of them.
    pub(crate) calls: Calls,
    /// Where an engine without a model would be reported, and why.
    pub(crate) silent: Option<Unresolved>,
}

/// A claim that says no more than which model it is.
pub(crate) fn claim(parsed: ParsedModel, role: Role, evidence: Vec<Evidence>) -> ModelClaim {
    let sources = parsed.source.iter().cloned().collect();
    let revision = parsed.revision.clone();
    ModelClaim {
        parsed,
        role,
        evidence,
        conflicts: Vec::new(),
        served: Vec::new(),
        sources,
        revision,
        fetched: false,
        called: false,
        destination: None,
        parameters: Vec::new(),
        part: String::new(),
    }
}
