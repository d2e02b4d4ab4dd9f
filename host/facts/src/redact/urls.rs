//! Secrets in URLs: before the host, in the query, in the path of webhooks.

use std::borrow::Cow;

use super::{QUERY_CREDENTIAL, Secret, TOKEN, URI_USERINFO, is_quote};

/// Query parameters that are credentials, in lower case.
#[rustfmt::skip]
const CREDENTIALS: &[&str] = &[
    "x-amz-signature", "x-amz-credential", "x-amz-security-token", "x-goog-signature", "x-goog-credential", "x-oss-signature",
    "x-oss-credential", "x-oss-security-token", "x-tos-signature", "x-tos-credential", "x-tos-security-token", "q-signature", "q-ak",
    "awsaccesskeyid", "googleaccessid", "ossaccesskeyid", "key-pair-id", "sig", "signature", "token", "access_token", "id_token",
    "refresh_token", "private_token", "job_token", "api_key", "apikey", "api-key", "subscription-key", "password", "passwd", "pwd",
    "secret", "client_secret", "sas", "jwt",
];

/// Credentials too, but words that occur after `&` in text that is no URL.
const CREDENTIALS_AFTER_QUESTION_MARK: &[&str] = &["auth", "key", "code", "policy"];

/// Parameters that say that a query was signed. The rest of such a query is dates and scopes.
const SIGNATURES: &[&str] =
    &["x-amz-signature", "x-goog-signature", "x-oss-signature", "x-tos-signature", "q-signature", "sig", "signature"];

/// Schemes of databases and queues, where passwords with unescaped `/`, `#` and `?` occur.
#[rustfmt::skip]
const DATABASES: &[&str] = &[
    "postgres", "postgresql", "mysql", "mariadb", "mongodb", "redis", "rediss", "amqp", "amqps", "clickhouse", "mssql", "ldap", "ldaps",
    "ftp", "ftps", "sftp", "smtp", "smtps", "nats", "neo4j", "bolt",
];

/// Hosts and first path segments of webhooks whose further path is the secret.
const WEBHOOKS: &[&str] = &[
    "hooks.slack.com/services/",
    "hooks.slack.com/workflows/",
    "hooks.slack.com/triggers/",
    "discord.com/api/webhooks/",
    "discordapp.com/api/webhooks/",
    "webhook.office.com/webhookb2/",
    "outlook.office.com/webhook/",
    "outlook.office365.com/webhook/",
];

pub(super) fn find(text: &str, found: &mut Vec<Secret>) {
    if text.contains("://") {
        userinfo(text, found);
    }
    if text.contains('@') {
        bare_userinfo(text, found);
    }
    if text.contains('=') {
        query(text, found);
    }
    // Every one of them has this word.
    let webhooks = if text.contains("hook") { WEBHOOKS } else { &[] };
    for webhook in webhooks {
        for (at, _) in text.match_indices(webhook) {
            let start = at + webhook.len();
            let end = start + word_length(&text.as_bytes()[start..]);
            if end > start {
                found.push(Secret { start, end, class: TOKEN });
            }
        }
    }
}

fn ends_word(byte: u8) -> bool {
    byte.is_ascii_whitespace() || is_quote(byte) || matches!(byte, b'<' | b'>' | b'\\')
}

fn word_length(bytes: &[u8]) -> usize {
    bytes.iter().position(|byte| ends_word(*byte)).unwrap_or(bytes.len())
}

fn is_scheme_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'.' | b'-')
}

fn userinfo(text: &str, found: &mut Vec<Secret>) {
    let bytes = text.as_bytes();
    // From the back, so that a list's next URL bounds the one before it.
    let places: Vec<usize> = text.match_indices("://").map(|(at, _)| at).collect();
    let mut spans: Vec<Secret> = Vec::new();
    let mut bound = bytes.len();
    for &at in places.iter().rev() {
        let scheme_start = bytes[..at].iter().rposition(|byte| !is_scheme_byte(*byte)).map_or(0, |before| before + 1);
        let start = at + 3;
        // Authority: to the first of `/ ? #`, or the end of the word.
        let length =
            bytes[start..bound].iter().position(|byte| matches!(byte, b'/' | b'?' | b'#') || ends_word(*byte)).unwrap_or(bound - start);
        let authority = start..start + length;
        let scheme = text[scheme_start..at].to_ascii_lowercase();
        let cut = match bytes[authority.clone()].iter().rposition(|byte| *byte == b'@') {
            Some(last) => Some(start + last),
            None if DATABASES.contains(&scheme.split('+').next().unwrap_or_default()) || has_odd_port(&text[authority]) => {
                let end = start + word_length(&bytes[start..bound]);
                bytes[start..end].iter().rposition(|byte| *byte == b'@').map(|last| start + last)
            }
            None => None,
        };
        if let Some(end) = cut
            && is_userinfo(&scheme, &text[start..end], &text[end + 1..])
        {
            spans.push(Secret { start, end, class: URI_USERINFO });
        }
        // The next URL of a list ends this one.
        bound = scheme_start;
    }
    found.extend(spans.into_iter().rev());
}

/// Words before the `:` of what is an address, not a user with a password.
const ADDRESSES: &[&str] =
    &["mailto", "mail", "email", "e-mail", "contact", "author", "maintainer", "acct", "xmpp", "sip", "sips", "oci", "docker", "pkg", "npm"];

/// What stands behind an `@` without being a host: revisions, and kinds of digests.
const REVISIONS: &[&str] =
    &["main", "master", "head", "latest", "stable", "next", "dev", "nightly", "beta", "alpha", "sha1", "sha256", "sha384", "sha512", "md5"];

/// `user:password@host` without a scheme, as references to images, models and repositories hold it. Only what begins a word counts, and
/// only a name that can be a host: `name:tag@sha256:...`, `git@host:path` and versions are none.
fn bare_userinfo(text: &str, found: &mut Vec<Secret>) {
    let bytes = text.as_bytes();
    let mut start = 0;
    while start < bytes.len() {
        let end = start + bytes[start..].iter().position(|byte| *byte == b'/' || ends_word(*byte)).unwrap_or(bytes.len() - start);
        // Behind the two slashes of an address without its scheme, a word begins again.
        let bare = start > 1 && bytes[start - 2] == b'/' && (start < 3 || bytes[start - 3] != b':');
        let begins_word = start == 0 || bytes[start - 1] != b'/' || bare;
        if begins_word && let Some(at) = text[start..end].rfind('@') {
            let (before, after) = (&text[start..start + at], &text[start + at + 1..end]);
            if let Some((user, password)) = before.split_once(':') {
                // What stands in front is a name: `--model=user:password@host`.
                let name = user.rfind(['=', ',', ';', '|', '&']).map_or(0, |last| last + 1);
                let user = &user[name..];
                if !user.is_empty()
                    && !password.is_empty()
                    && password != "git"
                    && !before.ends_with(&format!("[REDACTED:{URI_USERINFO}]"))
                    && !ADDRESSES.contains(&user.to_ascii_lowercase().as_str())
                    && begins_with_host(after)
                {
                    found.push(Secret { start: start + name, end: start + at, class: URI_USERINFO });
                }
            }
        }
        start = end + 1;
    }
}

/// Whether the text is a host's name or address, up to a port or what may follow a URL.
fn begins_with_host(text: &str) -> bool {
    let host = &text[..text.find([':', '?', '#', ',', ';', ')', ']', '}', '|', '&']).unwrap_or(text.len())];
    if host.eq_ignore_ascii_case("localhost") || host.parse::<std::net::Ipv4Addr>().is_ok() {
        return true;
    }
    let labelled = host.split('.').all(|label| !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'));
    match host.rsplit_once('.') {
        // The last part of a version has digits, that of a host has none.
        Some((_, last)) => labelled && last.len() > 1 && last.bytes().all(|byte| byte.is_ascii_alphabetic()),
        None => labelled && is_name_in_a_cluster(host),
    }
}

/// Whether a word can be the name of a server next door, which has no dots: no revision, no version, no commit.
fn is_name_in_a_cluster(host: &str) -> bool {
    let version = host.strip_prefix(['v', 'V', 'r']).unwrap_or(host).starts_with(|c: char| c.is_ascii_digit());
    let commit = host.len() > 6 && host.bytes().all(|byte| byte.is_ascii_hexdigit());
    !version && !commit && !REVISIONS.iter().any(|word| host.eq_ignore_ascii_case(word))
}

/// Whether something else than a number stands after the host's `:`, so that it is not the host's.
fn has_odd_port(authority: &str) -> bool {
    let after = authority.rfind(']').map_or(authority, |bracket| &authority[bracket..]);
    after.split_once(':').is_some_and(|(_, port)| !port.is_empty() && !port.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Guards against an `@` that does not end a userinfo.
fn is_userinfo(scheme: &str, before: &str, after: &str) -> bool {
    !before.is_empty()
        // A digest, or a revision of a repository without owner.
        && !after.starts_with("sha256:")
        && !after.starts_with("sha512:")
        && !matches!(scheme, "hf" | "huggingface")
        // The user that every forge has for SSH.
        && before != "git"
        && before != format!("[REDACTED:{URI_USERINFO}]")
}

fn query(text: &str, found: &mut Vec<Secret>) {
    let bytes = text.as_bytes();
    let mut in_query = false;
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        at += 1;
        if ends_word(byte) {
            in_query = false;
        }
        in_query |= matches!(byte, b'?' | b'#');
        // A token of OAuth's implicit flow stands in the fragment.
        if !matches!(byte, b'?' | b'&' | b'#') {
            continue;
        }
        let length = bytes[at..].iter().position(|byte| !(byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))).unwrap_or(0);
        if length == 0 || bytes[at + length] != b'=' {
            continue;
        }
        let name = text[at..at + length].to_ascii_lowercase();
        let start = at + length + 1;
        at += length;
        if CREDENTIALS.contains(&name.as_str()) || (in_query && CREDENTIALS_AFTER_QUESTION_MARK.contains(&name.as_str())) {
            let end = start
                + bytes[start..].iter().position(|byte| ends_word(*byte) || matches!(byte, b'&' | b'#')).unwrap_or(bytes.len() - start);
            if end > start && !is_placeholder(&text[start..end]) {
                found.push(Secret { start, end, class: QUERY_CREDENTIAL });
            }
            at = end;
        }
    }
}

fn is_placeholder(value: &str) -> bool {
    value.starts_with('$') || value.starts_with("[REDACTED:")
}

/// A URI as an identity: without userinfo, without credentials in the query or the fragment, and without both if the query was signed,
/// for then the rest of it is different each time.
pub fn strip_uri(uri: &str) -> Cow<'_, str> {
    let mut spans = Vec::new();
    if uri.contains("://") {
        userinfo(uri, &mut spans);
    }
    // The first URL is the identity; what its query holds is checked below.
    let without_user = match spans.first() {
        Some(secret) => Cow::Owned(format!("{}{}", &uri[..secret.start], &uri[secret.end + 1..])),
        None => Cow::Borrowed(uri),
    };
    let (address, fragment) = without_user.split_once('#').map_or((&*without_user, None), |(address, rest)| (address, Some(rest)));
    let (head, query) = address.split_once('?').map_or((address, None), |(head, query)| (head, Some(query)));
    let name = |parameter: &str| parameter.split('=').next().unwrap_or_default().to_ascii_lowercase();
    let parameters: Vec<&str> = query.into_iter().flat_map(|query| query.split('&')).collect();
    let signed = parameters.iter().any(|parameter| SIGNATURES.contains(&name(parameter).as_str()));
    let is_credential = |parameter: &&str| {
        let name = name(parameter);
        CREDENTIALS.contains(&name.as_str()) || CREDENTIALS_AFTER_QUESTION_MARK.contains(&name.as_str())
    };
    let kept: Vec<&str> = parameters.iter().copied().filter(|parameter| !signed && !is_credential(parameter)).collect();
    let told = fragment.is_some_and(|fragment| fragment.split('&').any(|parameter| parameter.contains('=') && is_credential(&parameter)));
    if kept.len() == parameters.len() && !told {
        return without_user;
    }
    let mut out = head.to_owned();
    if !kept.is_empty() {
        out.push('?');
        out.push_str(&kept.join("&"));
    }
    if let Some(fragment) = fragment.filter(|_| !signed && !told) {
        out.push('#');
        out.push_str(fragment);
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uri_as_identity_has_no_credentials() {
        for (uri, expected) in [
            ("s3://bucket/model", "s3://bucket/model"),
            ("https://u:p@h/model", "https://h/model"),
            ("https://h/m?version=3", "https://h/m?version=3"),
            ("https://h/m?version=3&token=abc", "https://h/m?version=3"),
            ("https://h/m?token=abc#part", "https://h/m#part"),
            ("https://h/m#token=abc", "https://h/m"),
            ("https://h/m?version=3#key=abc&x=1", "https://h/m?version=3"),
            ("https://h/m?version=3#token", "https://h/m?version=3#token"),
            ("https://h/m?X-Amz-Date=1&X-Amz-Signature=2&X-Amz-Expires=3#part", "https://h/m"),
            ("https://n.blob.core.windows.net/c/m?sv=1&se=2&sig=3", "https://n.blob.core.windows.net/c/m"),
            ("oci://r/x@sha256:abc", "oci://r/x@sha256:abc"),
        ] {
            assert_eq!(strip_uri(uri), expected);
        }
    }
}
