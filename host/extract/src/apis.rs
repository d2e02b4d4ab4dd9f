//! Hosted AI services that containers call: by the name of a key, by a base URL, by a known host in an argument.

use aibom_facts::inventory::{Class, Evidence, Finding, Service, Source};
use aibom_facts::object::Locator;

use crate::merge::Draft;
use crate::pods::Container;
use crate::rules::Api;

pub(crate) fn add(draft: &mut Draft<'_>, containers: &[Container<'_>]) {
    let mut found = Vec::new();
    for container in containers {
        for api in &draft.rules.apis {
            by_variables(api, container, &mut found);
            by_hosts(api, container, &mut found);
        }
    }
    for service in found {
        draft.service(service);
    }
}

fn service(api: &Api, container: &Container<'_>, at: &Locator, source: Source, value: &str, by: &str, endpoint: Option<String>) -> Service {
    let mut finding = Finding::new(Class::Service, api.name.clone(), source.confidence());
    finding.evidence.push(Evidence {
        at: at.clone(),
        source,
        value: value.to_owned(),
        by: by.to_owned(),
        container: container.name.clone(),
    });
    finding.property("dependency.type", "remote-api");
    finding.property("container.name", &container.name);
    Service { finding, endpoints: endpoint.into_iter().collect() }
}

fn by_variables(api: &Api, container: &Container<'_>, found: &mut Vec<Service>) {
    let mut elsewhere = false;
    for name in &api.urls {
        let Some(variable) = container.env.get(name) else { continue };
        let text = variable.value.text.as_str();
        if variable.value.unknown().is_some() || variable.secret {
            continue;
        }
        match host_of(text) {
            Some(host) if hosted(api, host) || !internal(host) && api.hosts.is_empty() => {
                found.push(service(api, container, &variable.at, Source::EnvVar, &api.name, name, endpoint(text)));
            }
            // A compatible server somewhere else: the key belongs to it.
            Some(_) => elsewhere = true,
            None => {}
        }
    }
    if elsewhere {
        return;
    }
    for name in &api.keys {
        if let Some(variable) = container.env.get(name) {
            found.push(service(api, container, &variable.at, Source::EnvVarNamePresent, &api.name, name, None));
        }
    }
}

fn by_hosts(api: &Api, container: &Container<'_>, found: &mut Vec<Service>) {
    for (text, at) in container.command.iter().chain(&container.args) {
        for host in hosts(text) {
            if hosted(api, host.1) {
                found.push(service(api, container, at, Source::ContainerArg, &api.name, host.1, endpoint(host.0)));
            }
        }
    }
    // Variables made for base URLs are read apart.
    for variable in
        container.env.iter().filter(|variable| !variable.secret && variable.value.unknown().is_none() && !api.urls.contains(&variable.name))
    {
        let text = &variable.value.text;
        if host_of(text).is_some_and(|host| hosted(api, host)) {
            found.push(service(api, container, &variable.at, Source::EnvVar, &api.name, &variable.name, endpoint(text)));
        }
    }
}

/// Every `scheme://host…` of a text, with its host.
fn hosts(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '=' | '(' | ')' | '<' | '>'))
        .filter_map(|word| host_of(word).map(|host| (word, host)))
}

/// The host of a URL.
fn host_of(text: &str) -> Option<&str> {
    let (_, rest) = text.trim().split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = host.split(':').next()?;
    (!host.is_empty() && !host.contains(['$', '{', '<'])).then_some(host)
}

/// A URL without credentials, query and fragment.
fn endpoint(text: &str) -> Option<String> {
    let (scheme, rest) = text.trim().split_once("://")?;
    let rest = rest.split(['?', '#']).next()?;
    let (authority, path) = rest.split_once('/').map_or((rest, ""), |(authority, path)| (authority, path));
    let host = authority.rsplit('@').next()?;
    let path = path.trim_end_matches('/');
    Some(if path.is_empty() { format!("{scheme}://{host}") } else { format!("{scheme}://{host}/{path}") })
}

fn hosted(api: &Api, host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    api.hosts.iter().any(|known| match known.strip_prefix("*.") {
        Some(domain) => host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.') && rest.len() > 1),
        None => host == *known,
    })
}

/// A name without a dot, a cluster name, or an address.
fn internal(host: &str) -> bool {
    !host.contains('.')
        || [".svc", ".local", ".internal", ".cluster", ".localhost"].iter().any(|end| host.ends_with(end))
        || host.contains(".svc.")
        || host.bytes().all(|b| b.is_ascii_digit() || b == b'.')
}
