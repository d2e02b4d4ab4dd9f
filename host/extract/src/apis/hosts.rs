//! Where an address leads: to a known place, into the cluster, nowhere.

/// What an address says.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Address<'t> {
    /// A public host, and the address as written.
    Known(&'t str, &'t str),
    /// An instance that is not known yet of something under this domain: `<resource>.example.com`.
    Instance(&'t str),
    /// In the cluster, on the node or in a private network.
    Local,
    /// A host that exists for documentation only.
    Nowhere,
    /// A template, an address to listen at, or no address.
    Open,
}

/// Last labels of public names; others belong to namespaces and private zones.
#[rustfmt::skip]
const PUBLIC: &[&str] = &[
    "com", "net", "org", "io", "ai", "dev", "cloud", "co", "app", "cn", "eu", "de", "uk", "us", "fr", "in", "jp", "kr", "tw", "hk", "sg", "xyz", "run", "tech", "me",
    "sh", "so", "gg", "cc", "tv", "info", "biz", "edu", "gov", "goog", "google", "ru", "br", "ca", "au", "nz", "nl", "be", "ch", "at", "se", "no", "dk", "fi", "es", "it",
    "pl", "cz", "pt", "ie", "il", "tr", "za", "mx", "ar", "cl", "id", "vn", "th", "my", "ph", "pro", "site", "online", "space", "store", "live", "studio", "systems", "solutions",
    "network", "services", "software", "tools", "team", "work", "works", "world", "zone", "host", "aws",
];

/// Reads an address, with or without a scheme.
pub(super) fn address(text: &str) -> Address<'_> {
    let text = text.trim().trim_matches(['"', '\'']);
    let bare = text.split_once("://").map_or(text, |(_, rest)| rest);
    let authority = bare.split(['/', '?', '#']).next().unwrap_or_default();
    let authority = authority.rsplit('@').next().unwrap_or_default();
    if let Some(end) = authority.rfind(['}', '>', ')']) {
        let domain = &authority[end + 1..];
        let domain = domain.split(':').next().unwrap_or_default();
        return if authority.contains("_SERVICE_HOST)") {
            Address::Local
        } else if domain.starts_with('.') && domain.len() > 3 {
            Address::Instance(domain)
        } else {
            Address::Open
        };
    }
    let host = match authority.strip_prefix('[') {
        Some(inner) => inner.split(']').next().unwrap_or_default(),
        None => authority.split(':').next().unwrap_or_default(),
    };
    if host.is_empty() || host.contains(['$', '{', '<']) || host == "0.0.0.0" || host == "::" {
        return Address::Open;
    }
    if !host.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'-' | b'_' | b':')) {
        return Address::Open;
    }
    let lower = host.to_ascii_lowercase();
    if let Some((instance, _)) = lower.split_once('.')
        && ["your-", "your_", "my-resource", "changeme", "replace"].iter().any(|start| instance.starts_with(start))
    {
        return Address::Instance(&host[instance.len()..]);
    }
    if ["example.com", "example.org", "example.net"].iter().any(|end| under(&lower, end))
        || [".example", ".invalid", ".test"].iter().any(|end| lower.ends_with(end))
    {
        return Address::Nowhere;
    }
    if local(&lower) { Address::Local } else { Address::Known(host, text) }
}

fn under(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// In the cluster, on the node or in a private network; by a name in lower case.
fn local(host: &str) -> bool {
    if let Ok(ip) = host.parse::<std::net::IpAddr>() {
        return match ip {
            std::net::IpAddr::V4(ip) => {
                let [a, b, ..] = ip.octets();
                ip.is_private() || ip.is_loopback() || ip.is_link_local() || (a == 100 && (64..128).contains(&b))
            }
            std::net::IpAddr::V6(ip) => ip.is_loopback() || ip.is_unique_local() || ip.is_unicast_link_local(),
        };
    }
    let mut labels = host.trim_end_matches('.').rsplit('.');
    let last = labels.next().unwrap_or_default();
    labels.next().is_none()
        || host.ends_with(".home.arpa")
        || host.contains(".svc.")
        || !PUBLIC.contains(&last)
        || host.ends_with(".docker.internal")
}

/// URLs with their hosts in a script or an argument, without what is only said: comments, what `echo` and `printf` write to the
/// terminal, and here-documents that `cat` does. What goes into a file may be a configuration, and counts.
pub(super) fn spoken_hosts(text: &str) -> Vec<(&str, &str)> {
    let mut out = Vec::new();
    let mut ends: Option<&str> = None;
    for line in text.lines() {
        if let Some(end) = ends {
            ends = (line.trim() != end).then_some(end);
            continue;
        }
        if !line.contains("://") && !line.contains("<<") {
            continue;
        }
        let line = if line.trim_start().starts_with('#') { "" } else { line.split(" #").next().unwrap_or_default() };
        if ["echo", "printf", "<<"].iter().any(|word| line.contains(word)) {
            for command in commands(line) {
                let first = first_word(command);
                let written = command.contains("> ") || command.contains(">/") || command.contains(">>") || command.contains(">$");
                if is_talk(first) && !written {
                    continue;
                }
                out.extend(hosts(command));
                if first == "cat" && !command.contains('>') && !line.contains('|') {
                    ends = command.split_once("<<").map(|(_, word)| word.trim_start_matches('-').trim().trim_matches(['"', '\'', '\\']));
                }
            }
        } else {
            out.extend(hosts(line));
        }
    }
    out
}

/// Whether a program only says something.
pub(super) fn is_talk(program: &str) -> bool {
    matches!(program.rsplit('/').next().unwrap_or(program), "echo" | "printf")
}

/// The first word of a command that is not of the shell.
fn first_word(command: &str) -> &str {
    let shells = ["then", "do", "else", "if", "while", "!", "{", "("];
    command.split_whitespace().find(|word| !shells.contains(word)).unwrap_or_default().trim_start_matches('(')
}

/// The commands of a line, at `;`, `&&`, `||` and `|` outside of quotes.
fn commands(line: &str) -> impl Iterator<Item = &str> {
    let mut quote = None;
    line.split(move |c: char| {
        match (quote, c) {
            (None, '"' | '\'') => quote = Some(c),
            (Some(open), _) if open == c => quote = None,
            _ => {}
        }
        quote.is_none() && matches!(c, ';' | '&' | '|')
    })
}

fn hosts(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',' | '=' | '(' | ')' | '<' | '>'))
        .filter_map(|word| url_host(word).map(|host| (word, host)))
}

/// The host of a URL with a scheme.
pub(super) fn url_host(text: &str) -> Option<&str> {
    let (_, rest) = text.trim().split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next()?;
    let host = authority.rsplit('@').next()?;
    let host = host.split(':').next()?;
    (!host.is_empty() && !host.contains(['$', '{', '<'])).then_some(host)
}

/// A URL without credentials, query and fragment.
pub(super) fn endpoint(text: &str) -> Option<String> {
    let (scheme, rest) = text.trim().split_once("://")?;
    let rest = rest.split(['?', '#']).next()?;
    let (authority, path) = rest.split_once('/').map_or((rest, ""), |(authority, path)| (authority, path));
    let host = authority.rsplit('@').next()?;
    let path = path.trim_end_matches('/');
    Some(if path.is_empty() { format!("{scheme}://{host}") } else { format!("{scheme}://{host}/{path}") })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_in_the_cluster_is_told_from_one_outside() {
        for text in [
            "http://vllm:8000/v1",
            "nim-llm:8000",
            "http://kubeai/openai/v1",
            "http://single-3.default",
            "https://a.b.svc",
            "http://a.b.svc.cluster.local:80",
            "http://10.2.3.4:11434",
            "http://172.20.0.1",
            "http://192.168.1.2",
            "http://100.64.0.9",
            "http://127.0.0.1:1",
            "http://[::1]:80/v1",
            "http://[fd00::1]",
            "host.docker.internal:11434",
            "http://models.lan",
            "http://x.home.arpa",
            "http://$(VLLM_SERVICE_HOST):80",
        ] {
            assert_eq!(address(text), Address::Local, "{text}");
        }
        for text in [
            "https://api.openai.com/v1",
            "api.openai.com",
            "https://corp.openai.azure.com",
            "http://172.32.0.1",
            "https://8.8.8.8",
            "https://llm.acme.dev/v1",
        ] {
            assert!(matches!(address(text), Address::Known(..)), "{text}");
        }
    }

    #[test]
    fn a_template_is_no_address_but_its_domain_may_tell_whose_it_is() {
        for text in ["", "${URL}", "{{ .Values.url }}", "0.0.0.0:11434", "http://0.0.0.0", "<url>"] {
            assert_eq!(address(text), Address::Open, "{text}");
        }
        for text in ["https://<resource>.openai.azure.com/", "https://${NAME}.openai.azure.com", "https://YOUR_RESOURCE.openai.azure.com"] {
            assert_eq!(address(text), Address::Instance(".openai.azure.com"), "{text}");
        }
        for text in ["https://llm.example.com/v1", "http://a.invalid"] {
            assert_eq!(address(text), Address::Nowhere, "{text}");
        }
    }
}
