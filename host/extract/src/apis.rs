//! Hosted AI services that containers call: by the name of a key, by a base URL, by a known host in an argument.

use aibom_facts::inventory::{Class, Evidence, Finding, Service, Source};
use aibom_facts::object::Locator;

use crate::merge::Draft;
use crate::pods::Container;
use crate::rules::Api;

pub(crate) fn add(draft: &mut Draft<'_>, containers: &[Container<'_>]) {
    let rules = draft.rules;
    let mut found = Vec::new();
    for container in containers {
        let named = named_hosts(container);
        for api in &rules.apis {
            by_variables(api, container, &mut found);
            by_hosts(api, container, &named, &mut found);
        }
        for service in found.drain(..) {
            draft.service(service);
        }
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

/// A URL in an argument or a variable.
struct NamedHost<'a> {
    host: &'a str,
    url: &'a str,
    at: &'a Locator,
    /// The variable that holds it; none for an argument.
    variable: Option<&'a str>,
}

/// Every URL of a container. Most have none, and there are many services to compare with.
fn named_hosts<'a>(container: &'a Container<'_>) -> Vec<NamedHost<'a>> {
    let arguments = container.command.iter().chain(&container.args).filter(|(text, _)| text.contains("://"));
    let mut named: Vec<_> =
        arguments.flat_map(|(text, at)| hosts(text).map(move |(url, host)| NamedHost { host, url, at, variable: None })).collect();
    let variables = container.env.iter().filter(|variable| !variable.secret && variable.value.unknown().is_none());
    named.extend(variables.filter_map(|variable| {
        let url = variable.value.text.as_str();
        host_of(url).map(|host| NamedHost { host, url, at: &variable.at, variable: Some(&variable.name) })
    }));
    named
}

fn by_hosts(api: &Api, container: &Container<'_>, named: &[NamedHost<'_>], found: &mut Vec<Service>) {
    for NamedHost { host, url, at, variable } in named.iter().filter(|named| hosted(api, named.host)) {
        match variable {
            None => found.push(service(api, container, at, Source::ContainerArg, &api.name, host, endpoint(url))),
            // Variables made for base URLs are read apart.
            Some(name) if api.urls.iter().any(|url| url == name) => {}
            Some(name) => found.push(service(api, container, at, Source::EnvVar, &api.name, name, endpoint(url))),
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
