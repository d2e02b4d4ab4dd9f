//! What may stand where the schema wants an IRI reference (RFC 3987).

use std::net::Ipv6Addr;

/// Why a text is not written as a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// It breaks the grammar.
    Syntax,
    /// It has a user name or password.
    UserInfo,
}

impl Unfit {
    /// The word that documents use.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Syntax => "syntax",
            Self::UserInfo => "userinfo",
        }
    }
}

/// Checks a text against the grammar of IRI references, a little stricter than the RFC: of the characters beyond ASCII only letters and
/// digits, brackets only around an IPv6 address.
pub(crate) fn check(text: &str) -> Result<(), Unfit> {
    let rest = match text.find([':', '/', '?', '#']) {
        Some(at) if text[at..].starts_with(':') => {
            if !is_scheme(&text[..at]) {
                return Err(Unfit::Syntax);
            }
            &text[at + 1..]
        }
        _ => text,
    };
    if text.is_empty() {
        return Err(Unfit::Syntax);
    }
    let (rest, fragment) = split(rest, '#');
    let (path, query) = split(rest, '?');
    let path = match path.strip_prefix("//") {
        Some(rest) => {
            let end = rest.find('/').unwrap_or(rest.len());
            authority(&rest[..end])?;
            &rest[end..]
        }
        None => path,
    };
    let tail_ok = |part: &str| is_text(part, |c| is_path(c) || matches!(c, '/' | '?'));
    if is_text(path, |c| is_path(c) || c == '/') && query.is_none_or(tail_ok) && fragment.is_none_or(tail_ok) {
        Ok(())
    } else {
        Err(Unfit::Syntax)
    }
}

/// Host of a URL with an authority.
pub(crate) fn host(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once("://")?;
    let authority = &rest[..rest.find(['/', '?', '#']).unwrap_or(rest.len())];
    let authority = authority.rsplit_once('@').map_or(authority, |(_, host)| host);
    if authority.starts_with('[') {
        return authority.find(']').map(|end| &authority[..=end]);
    }
    Some(authority.split_once(':').map_or(authority, |(host, _)| host))
}

fn split(text: &str, at: char) -> (&str, Option<&str>) {
    text.split_once(at).map_or((text, None), |(before, after)| (before, Some(after)))
}

fn authority(text: &str) -> Result<(), Unfit> {
    if text.contains('@') {
        return Err(Unfit::UserInfo);
    }
    let (host, port) = if let Some(rest) = text.strip_prefix('[') {
        let (address, after) = rest.split_once(']').ok_or(Unfit::Syntax)?;
        address.parse::<Ipv6Addr>().map_err(|_| Unfit::Syntax)?;
        ("", after)
    } else {
        let at = text.find(':').unwrap_or(text.len());
        (&text[..at], &text[at..])
    };
    let port_ok =
        port.is_empty() || port.strip_prefix(':').is_some_and(|digits| digits.len() <= 5 && digits.bytes().all(|b| b.is_ascii_digit()));
    if port_ok && is_text(host, |c| is_path(c) && c != ':' && c != '@') { Ok(()) } else { Err(Unfit::Syntax) }
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_alphabetic()) && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '.'))
}

/// Characters of a path segment: unreserved, sub-delimiters, `:` and `@`.
fn is_path(c: char) -> bool {
    c.is_alphanumeric() && (c.is_ascii() || c >= '\u{A0}')
        || matches!(c, '-' | '.' | '_' | '~' | '!' | '$' | '&' | '\'' | '(' | ')' | '*' | '+' | ',' | ';' | '=' | ':' | '@')
}

/// Whether all characters are allowed and every `%` starts an escape.
fn is_text(text: &str, allowed: impl Fn(char) -> bool) -> bool {
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        let fits = if c == '%' {
            matches!((chars.next(), chars.next()), (Some(a), Some(b)) if a.is_ascii_hexdigit() && b.is_ascii_hexdigit())
        } else {
            allowed(c)
        };
        if !fits {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn usual_references_pass() {
        for good in [
            "https://models.example/a/b?x=1&y=%20#part",
            "s3://bucket/key",
            "pvc://claim/path",
            "oci://registry.example:5000/a/b",
            "http://[::1]:8000/v1",
            "/models/x",
            "models/x",
            "urn:example:a",
            "https://models.example/模型",
        ] {
            assert_eq!(check(good), Ok(()), "{good}");
        }
    }

    #[test]
    fn text_outside_the_grammar_does_not() {
        for bad in [
            "",
            "https://models.example/a b",
            "10.0.0.1:8000",
            "https://h/%2",
            "https://h:port/",
            "a|b",
            "http://[::g]/",
            "x://h/[a]",
            "<x>",
            "http://h/\u{E000}",
        ] {
            assert_eq!(check(bad), Err(Unfit::Syntax), "{bad}");
        }
        assert_eq!(check("https://me:secret@h/x"), Err(Unfit::UserInfo));
        assert_eq!(check("//me@h/x"), Err(Unfit::UserInfo));
    }

    #[test]
    fn the_host_is_found_without_port_and_user() {
        assert_eq!(host("https://u@api.example:8443/v1"), Some("api.example"));
        assert_eq!(host("http://[::1]:80/"), Some("[::1]"));
        assert_eq!(host("api.example"), None);
    }
}
