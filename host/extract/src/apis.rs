//! Hosted services that a container calls: by the name of a key, by a base URL, by a known host in an argument, by a setting.
//!
//! A container may hold several clients, each with variables of its own prefix, so they are judged one by one. An address decides,
//! whatever the key says: one in the cluster takes the key with it, and the model named beside it is that server's. Without an address
//! a key counts when it may be one, and what settings turn off counts for nothing. Of a key only its presence is looked at.

use std::collections::{BTreeMap, BTreeSet};

use aibom_facts::inventory::{Category, Class, Evidence, Finding, Role, Service, Source};
use aibom_facts::object::Locator;

use crate::env::Variable;
use crate::explain::{Considered, Reason, Trace};
use crate::images::matches;
use crate::merge::Draft;
use crate::pods::Container;
use crate::rules::{Api, Kind, Part, Rules, Services};

mod hosts;

use hosts::{Address, address, endpoint, is_talk, spoken_hosts, url_host};

/// What a container calls.
#[derive(Clone, Debug, Default)]
pub(crate) struct Calls {
    pub(crate) services: Vec<Service>,
    /// Models that are asked for.
    pub(crate) models: Vec<Asked>,
    /// A model behind an address in the cluster is called, says this.
    pub(crate) local: Option<Evidence>,
    /// A hosted model is called.
    pub(crate) hosted: bool,
    /// An option holds the base URL of something.
    pub(crate) addressed: bool,
    /// That option or its URL speaks of models.
    pub(crate) speaks: bool,
}

/// A model that is asked for.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) variable: Variable,
    pub(crate) role: Role,
    /// The service that hosts it, which gives it its name, whatever that looks like. None in the cluster.
    pub(crate) service: Option<String>,
    pub(crate) evidence: Evidence,
}

/// The variables of one client.
#[derive(Default)]
struct Client<'v> {
    keys: Vec<&'v Variable>,
    ambiguous: Vec<&'v Variable>,
    urls: Vec<&'v Variable>,
    models: Vec<&'v Variable>,
    signs: Vec<&'v Variable>,
}

/// What the addresses of a client say.
#[derive(Default)]
struct Addresses {
    local: Option<Evidence>,
    elsewhere: bool,
    services: Vec<Service>,
}

/// The reader of one container.
struct Caller<'a> {
    rules: &'a Services,
    trace: &'a Trace,
    container: &'a Container<'a>,
    /// Base URLs that the container's own script sets.
    scripted: &'a [&'a Variable],
    off: BTreeSet<usize>,
    /// Services by settings, with the variable that says so.
    on: BTreeMap<usize, &'a Variable>,
    /// Services of a kind that were chosen, where something chooses.
    chosen: Vec<(Kind, &'a str, BTreeSet<usize>)>,
    out: Calls,
}

/// Reads one container. `platform`: it is known to call models, so that a key that may belong to one does. `scripted`: what its script
/// sets for the programs that it starts.
pub(crate) fn read(rules: &Rules, trace: &Trace, container: &Container<'_>, platform: bool, scripted: &[&Variable]) -> Calls {
    let urls: Vec<&Variable> =
        scripted.iter().copied().filter(|variable| matches!(rules.apis.variable(&variable.name), Some((_, Part::Url, _)))).collect();
    let mut caller = Caller {
        rules: &rules.apis,
        trace,
        container,
        scripted: &urls,
        off: BTreeSet::new(),
        on: BTreeMap::new(),
        chosen: Vec::new(),
        out: Calls::default(),
    };
    caller.settings();
    caller.clients(platform);
    caller.named_hosts();
    caller.forms();
    let kind = |service: &Service| service.finding.properties.get("dependency.type").is_some_and(|words| words.contains("remote-api"));
    caller.out.hosted = caller.out.services.iter().any(kind);
    caller.out
}

/// Adds what the containers call.
pub(crate) fn add<'c>(draft: &mut Draft<'_>, calls: impl Iterator<Item = &'c Calls>) {
    for service in calls.flat_map(|calls| &calls.services) {
        draft.service(service.clone());
    }
}

impl Calls {
    /// What the workload is for, when nothing else tells: it stands in front of models, or grades by them.
    pub(crate) fn category(&self) -> Option<(Category, Evidence)> {
        if let Some(judge) = self.models.iter().find(|asked| asked.role == Role::Judge) {
            return Some((Category::Evaluation, judge.evidence.clone()));
        }
        let ai = |service: &Service| {
            let kinds = service.finding.properties.get("dependency.type");
            kinds.is_some_and(|kinds| [Kind::Model, Kind::VectorStore, Kind::Memory].iter().any(|kind| kinds.contains(kind.as_str())))
        };
        let service = || self.services.iter().find(|service| ai(service))?.finding.evidence.first();
        Some((Category::Gateway, self.local.as_ref().or_else(service)?.clone()))
    }
}

impl<'a> Caller<'a> {
    fn readable(&self, name: &str) -> Option<&'a Variable> {
        self.container.env.get(name).filter(|variable| !variable.secret && variable.value.unknown().is_none())
    }

    /// What is switched off or on, and what is chosen.
    fn settings(&mut self) {
        let plain = |variable: &Variable| variable.value.text.trim().trim_matches(['"', '\'']).to_ascii_lowercase();
        for switch in &self.rules.switches {
            let Some(variable) = self.readable(&switch.variable).filter(|variable| switch.values.contains(&plain(variable))) else {
                continue;
            };
            self.off.extend(switch.off.iter().filter_map(|name| self.rules.index(name)));
            self.on.extend(switch.on.iter().filter_map(|name| Some((self.rules.index(name)?, variable))));
        }
        for selector in &self.rules.selectors {
            let set: Vec<&'a Variable> = selector.variables.iter().filter_map(|name| self.readable(name)).collect();
            for variable in set {
                let text = plain(variable);
                if text.is_empty() {
                    continue;
                }
                let values = selector.split.map_or_else(|| vec![text.as_str()], |mark| text.split(mark).map(str::trim).collect());
                let services: BTreeSet<usize> = values.iter().filter_map(|value| self.rules.index(selector.choices.get(*value)?)).collect();
                if selector.proves {
                    self.on.extend(services.iter().map(|index| (*index, variable)));
                    continue;
                }
                // The key stands in a secret whose names nobody sees.
                if selector.limits && self.container.env.from.iter().any(|from| from.why == "secret") {
                    self.on.extend(services.iter().map(|index| (*index, variable)));
                }
                let known = self.chosen.iter_mut().find(|(kind, prefix, _)| *kind == selector.kind && *prefix == selector.prefix);
                match (known, selector.limits) {
                    (Some((_, _, chosen)), _) => chosen.extend(services),
                    (None, true) => self.chosen.push((selector.kind, &selector.prefix, services)),
                    (None, false) => {}
                }
            }
        }
    }

    fn is_off(&self, index: usize, prefix: &str) -> bool {
        let kind = self.rules.all[index].kind;
        let left_out =
            |(of, start, chosen): &(Kind, &str, BTreeSet<usize>)| *of == kind && prefix.starts_with(*start) && !chosen.contains(&index);
        self.off.contains(&index) || self.chosen.iter().any(left_out)
    }

    fn clients(&mut self, platform: bool) {
        let container = self.container;
        let mut clients: BTreeMap<(usize, &'a str), Client<'a>> = BTreeMap::new();
        // What the script sets is what its programs see.
        let replaced = |variable: &&Variable| self.scripted.iter().any(|set| set.name == variable.name);
        let variables = container.env.iter().filter(|variable| !replaced(variable)).chain(self.scripted.iter().copied());
        for variable in variables {
            let name = variable.name.as_str();
            if ["DISABLE_", "ENABLE_", "NO_", "USE_", "HAS_"].iter().any(|start| name.starts_with(start)) {
                continue;
            }
            // A file that holds the key.
            let bare = name
                .strip_suffix("_FILE")
                .or_else(|| name.strip_suffix("_PATH"))
                .filter(|bare| matches!(self.rules.variable(bare), Some((_, Part::Key, _))));
            let Some((index, part, prefix)) = self.rules.variable(bare.unwrap_or(name)) else { continue };
            if self.is_off(index, prefix) {
                self.dropped(&self.rules.all[index], variable, Reason::SwitchedOff);
                continue;
            }
            let client = clients.entry((index, prefix)).or_default();
            match part {
                Part::Key => client.keys.push(variable),
                Part::Ambiguous => client.ambiguous.push(variable),
                Part::Url => client.urls.push(variable),
                Part::Model => client.models.push(variable),
                Part::Sign => client.signs.push(variable),
            }
        }
        let own: BTreeMap<usize, Vec<&Variable>> =
            clients.iter().filter(|((_, prefix), _)| prefix.is_empty()).map(|((index, _), client)| (*index, client.urls.clone())).collect();
        let options = self.url_options();
        let mut silenced: BTreeSet<usize> = BTreeSet::new();
        for ((index, prefix), client) in &clients {
            // A client without an address of its own has that of the main one.
            let inherited = own.get(index).filter(|_| client.urls.is_empty() && !prefix.is_empty());
            let mut addresses = self.addresses(*index, inherited.unwrap_or(&client.urls));
            if prefix.is_empty() && client.urls.is_empty() && options.elsewhere {
                addresses.elsewhere = true;
            }
            if addresses.elsewhere {
                silenced.insert(*index);
            }
            self.client(*index, client, addresses, platform);
        }
        let on: Vec<(usize, &Variable)> = self.on.iter().map(|(index, variable)| (*index, *variable)).collect();
        for (index, variable) in on {
            let api = &self.rules.all[index];
            let dummy = api.keys.iter().any(|name| self.container.env.is_dummy(name));
            if api.kind == Kind::Model && !api.named_by_host && !silenced.contains(&index) && !options.elsewhere && !dummy {
                let found = self.service(api, &variable.at, Source::EnvVarConvention, &variable.name, None);
                self.out.services.push(found);
            }
        }
    }

    /// What one client says.
    fn client(&mut self, index: usize, client: &Client<'a>, addresses: Addresses, platform: bool) {
        let api = &self.rules.all[index];
        let before = self.out.services.len();
        let elsewhere = addresses.elsewhere;
        if api.kind == Kind::Model && self.out.local.is_none() {
            self.out.local = addresses.local;
        }
        self.out.services.extend(addresses.services);
        let named = self.out.services.len() > before;
        let real = |variable: &&&Variable| !self.container.env.is_dummy(&variable.name);
        let mut found: Vec<Service> = Vec::new();
        for variable in client.keys.iter().chain(&client.urls) {
            let dummy = self.container.env.is_dummy(&variable.name);
            if elsewhere || dummy {
                self.dropped(api, variable, if elsewhere { Reason::UrlElsewhere } else { Reason::DummyKey });
            }
        }
        if !elsewhere {
            for variable in client.keys.iter().filter(real) {
                found.push(self.service(api, &variable.at, Source::EnvVarNamePresent, &variable.name, None));
            }
            let dummy = client.keys.iter().any(|variable| self.container.env.is_dummy(&variable.name)) && found.is_empty();
            let settled = |variable: &&&Variable| {
                let off = ["false", "0", "none"].contains(&variable.value.text.trim().to_ascii_lowercase().as_str());
                real(variable) && !off && !dummy
            };
            for variable in client.signs.iter().filter(settled) {
                found.push(self.service(api, &variable.at, Source::EnvVarConvention, &variable.name, None));
            }
            for variable in client.models.iter().filter(settled) {
                let text = variable.value.text.trim();
                if variable.value.unknown().is_none() && (api.models_tell || is_form(api, text)) {
                    found.push(self.service(api, &variable.at, Source::EnvVarConvention, &variable.name, None));
                }
            }
            if named || !found.is_empty() || platform {
                for variable in client.ambiguous.iter().filter(real) {
                    found.push(self.service(api, &variable.at, Source::EnvVarNamePresent, &variable.name, None));
                }
            }
        }
        self.out.services.extend(found);
        let hosted = self.out.services.len() > before;
        if api.kind == Kind::Model && (hosted || elsewhere) {
            let service = hosted.then(|| api.name.clone());
            let asked: Vec<Asked> = client.models.iter().map(|variable| self.asked(variable, service.clone())).collect();
            self.out.models.extend(asked);
        }
    }

    fn dropped(&self, api: &Api, variable: &Variable, reason: Reason) {
        self.trace.dropped(|| Considered {
            at: variable.at.clone(),
            what: "service",
            value: api.name.clone(),
            by: variable.name.clone(),
            container: self.container.name.clone(),
            reason,
        });
    }

    /// Where the base URLs of a client lead.
    fn addresses(&self, index: usize, urls: &[&'a Variable]) -> Addresses {
        let api = &self.rules.all[index];
        let mut out = Addresses::default();
        for variable in urls {
            let text = variable.value.text.as_str();
            if variable.secret || variable.value.unknown().is_some() {
                let in_cluster = text.contains("_SERVICE_HOST)");
                out.elsewhere |= in_cluster;
                // Servers of one's own are all that such a variable is for, wherever its value stands.
                if out.local.is_none() && (in_cluster || (api.named_by_host && api.kind == Kind::Model)) {
                    out.local = Some(self.evidence(&variable.at, Source::EnvVar, &api.name, &variable.name));
                }
                continue;
            }
            // A template has blanks of its own.
            if text.contains("{{") {
                continue;
            }
            if text.trim().is_empty() && api.hosted_when_empty.contains(&variable.name) {
                out.services.push(self.service(api, &variable.at, Source::EnvVar, &variable.name, None));
            }
            for piece in text.split([';', ',', ' ']).map(str::trim).filter(|piece| !piece.is_empty()) {
                // `name=url`
                let piece = piece.split_once('=').filter(|(name, _)| !name.contains(['/', ':'])).map_or(piece, |(_, url)| url);
                match address(piece) {
                    Address::Known(host, url) => {
                        if let Some(owner) = self.owner(host, url) {
                            out.elsewhere |= owner.name != api.name;
                            out.services.push(self.service(owner, &variable.at, Source::EnvVar, &variable.name, endpoint(url)));
                        } else {
                            out.elsewhere = true;
                            out.services.extend(self.by_host(api, host, url, variable));
                        }
                    }
                    Address::Instance(domain) => {
                        let owner = self.owner(&format!("x{domain}"), "");
                        out.elsewhere |= owner.is_none();
                        out.services.extend(owner.map(|owner| self.service(owner, &variable.at, Source::EnvVar, &variable.name, None)));
                    }
                    Address::Local if api.kind == Kind::Mcp => {
                        out.services.extend(url_host(piece).and_then(|host| self.by_host(api, host, piece, variable)));
                    }
                    Address::Local => {
                        out.local.get_or_insert_with(|| self.evidence(&variable.at, Source::EnvVar, &api.name, &variable.name));
                        out.elsewhere = true;
                    }
                    Address::Nowhere => out.elsewhere = true,
                    Address::Open => {}
                }
            }
        }
        out
    }

    /// A server that speaks the protocol of a service and is nobody's that is known.
    fn by_host(&self, api: &Api, host: &str, url: &str, variable: &Variable) -> Option<Service> {
        let mut found = self.service(api, &variable.at, Source::EnvVar, &variable.name, endpoint(url));
        found.finding.key.name = host.to_ascii_lowercase();
        found.finding.property("service.protocol", &api.name);
        (api.kind == Kind::Model || api.named_by_host).then_some(found)
    }

    fn owner(&self, host: &str, url: &str) -> Option<&'a Api> {
        self.rules.all.iter().find(|api| hosted(api, host, url))
    }

    /// The addresses in options.
    fn url_options(&mut self) -> Addresses {
        let mut out = Addresses::default();
        let words: Vec<&str> = self.container.command.iter().chain(&self.container.args).map(|(text, _)| text.as_str()).collect();
        let split: Vec<&str> = words.iter().flat_map(|word| word.split_whitespace()).collect();
        for (at, word) in split.iter().enumerate() {
            let (name, joined) = word.split_once('=').map_or((*word, None), |(name, value)| (name, Some(value)));
            if !name.starts_with("--") || !self.rules.url_options.contains(&name.replace('_', "-")) {
                continue;
            }
            let Some(value) = joined.or_else(|| split.get(at + 1).copied()) else { continue };
            let value = value.trim_matches(['"', '\'']);
            let found = address(value);
            out.elsewhere |= matches!(found, Address::Local | Address::Nowhere);
            if matches!(found, Address::Local | Address::Known(..)) && value.contains("://") {
                let option = name.to_ascii_lowercase();
                self.out.addressed |= option.contains("base") || option.contains("llm");
                self.out.speaks |=
                    ["openai", "llm", "api-base", "api_base"].iter().any(|word| option.contains(word)) || value.contains("/v1");
            }
        }
        out
    }

    /// Known hosts in arguments, scripts and variables that are not made for them.
    fn named_hosts(&mut self) {
        let mut found = Vec::new();
        // A container that only says something calls nothing.
        let talks = self.container.command.first().is_some_and(|(program, _)| is_talk(program));
        let words = self.container.command.iter().chain(&self.container.args);
        for (text, at) in words.filter(|(text, _)| !talks && text.contains("://")) {
            for (url, host) in spoken_hosts(text) {
                if let Some(api) = self.owner(host, url) {
                    found.push(self.service(api, at, Source::ContainerArg, host, endpoint(url)));
                }
            }
        }
        for variable in self.container.env.iter().filter(|variable| !variable.secret && variable.value.unknown().is_none()) {
            let known = self.rules.variable(&variable.name).filter(|(_, part, _)| *part == Part::Url);
            let exempt = variable.name.to_ascii_uppercase().ends_with("NO_PROXY");
            if known.is_some() || exempt {
                continue;
            }
            let url = variable.value.text.as_str();
            let off = |api: &Api| {
                let index = self.rules.index(&api.name);
                index.is_some_and(|index| self.off.contains(&index) || (api.kind != Kind::Model && self.is_off(index, "")))
            };
            if let Some((host, api)) = url_host(url).and_then(|host| Some((host, self.owner(host, url)?))).filter(|(_, api)| !off(api)) {
                let mut service = self.service(api, &variable.at, Source::EnvVar, &variable.name, endpoint(url));
                if api.named_by_host {
                    service.finding.key.name = host.to_ascii_lowercase();
                }
                found.push(service);
            }
        }
        self.out.services.extend(found);
    }

    /// Names of models of a service that is called, in variables whose names speak of models.
    fn forms(&mut self) {
        let called: Vec<&Api> = {
            let names: BTreeSet<&str> = self.out.services.iter().map(|service| service.finding.key.name.as_str()).collect();
            self.rules.all.iter().filter(|api| api.kind == Kind::Model && names.contains(api.name.as_str())).collect()
        };
        if called.is_empty() {
            return;
        }
        for variable in self.container.env.iter().filter(|variable| !variable.secret && variable.value.unknown().is_none()) {
            let speaks = variable.name.split('_').any(|word| ["MODEL", "DEPLOYMENT", "LLM", "ENGINE"].contains(&word));
            let known = self.out.models.iter().any(|asked| asked.variable.at == variable.at);
            let owner = called.iter().find(|api| speaks && !known && is_form(api, variable.value.text.trim()));
            if let Some(api) = owner {
                let service = Some(api.name.clone());
                let asked = self.asked(variable, service);
                self.out.models.push(asked);
            }
        }
    }

    fn evidence(&self, at: &Locator, source: Source, value: &str, by: &str) -> Evidence {
        Evidence { at: at.clone(), source, value: value.to_owned(), by: by.to_owned(), container: self.container.name.clone() }
    }

    fn asked(&self, variable: &Variable, service: Option<String>) -> Asked {
        let evidence = self.evidence(&variable.at, Source::EnvVar, &variable.value.text, &variable.name);
        Asked { variable: variable.clone(), role: role_of(&variable.name), service, evidence }
    }

    fn service(&self, api: &Api, at: &Locator, source: Source, by: &str, endpoint: Option<String>) -> Service {
        let mut finding = Finding::new(Class::Service, api.name.clone(), source.confidence());
        finding.evidence.push(self.evidence(at, source, &api.name, by));
        finding.property("dependency.type", api.kind.as_str());
        finding.property("container.name", &self.container.name);
        Service { finding, endpoints: endpoint.into_iter().collect() }
    }
}

fn is_form(api: &Api, text: &str) -> bool {
    api.forms.iter().any(|form| matches(form, text))
}

fn role_of(name: &str) -> Role {
    if name.split('_').any(|word| matches!(word, "JUDGE" | "GRADER" | "EVALUATOR")) { Role::Judge } else { Role::Target }
}

fn hosted(api: &Api, host: &str, url: &str) -> bool {
    let host = host.to_ascii_lowercase();
    api.hosts.iter().any(|known| match known.split_once('/') {
        Some((known, path)) => matches(known, &host) && url.contains(&format!("/{path}")),
        None => matches(known, &host),
    })
}
