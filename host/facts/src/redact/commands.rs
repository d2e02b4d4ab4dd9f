//! Secrets under a name inside text: command lines, scripts, JSON, YAML, headers, connection strings.

use super::{SECRET_VALUE, Secret, is_quote, names};

/// Options of programs whose names say nothing: program or subcommand, option, what the next word is.
const OPTIONS: &[(&str, &str)] = &[
    ("curl", "-u"),
    ("curl", "--user"),
    ("redis-cli", "-a"),
    ("sshpass", "-p"),
    ("login", "-p"),
    ("configure", "aws_secret_access_key"),
    ("configure", "aws_session_token"),
];

pub(super) fn find(text: &str, found: &mut Vec<Secret>) {
    named(text, found);
    // An option and its value stand apart.
    if !text.contains(char::is_whitespace) {
        return;
    }
    let is_there = |program: &str| text.contains(program);
    if OPTIONS.iter().any(|(program, _)| is_there(program)) || ["mysql", "mc alias", "echo", "printf"].into_iter().any(is_there) {
        words(text, found);
    }
}

fn is_name_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'-')
}

/// Length of a quote here, which may be escaped in text within text: `"`, `'`, `\"`.
fn quote_at(bytes: &[u8], at: usize) -> Option<usize> {
    match bytes.get(at) {
        Some(byte) if is_quote(*byte) => Some(1),
        Some(b'\\') if bytes.get(at + 1).is_some_and(|byte| is_quote(*byte)) => Some(2),
        _ => None,
    }
}

fn skip_blanks(bytes: &[u8], at: usize) -> usize {
    bytes[at..].iter().position(|byte| !matches!(byte, b' ' | b'\t')).map_or(bytes.len(), |count| at + count)
}

/// Longest value in which names are looked for when it is no secret as a whole.
const LONGEST_NAMED: usize = 256;

/// How the value is tied to its name.
#[derive(Clone, Copy, PartialEq)]
enum Tie {
    /// `name=value`
    Equals,
    /// `"name": "value"` or `Name: value`
    Colon,
    /// `--name value`
    Blank,
}

/// Names that say what they hold only in their surroundings: the password of a connection string, which elsewhere is a folder, and the
/// credential of a registry, which elsewhere is a switch.
fn is_secret_here(bytes: &[u8], start: usize, name: &str, registries: bool) -> bool {
    (name.eq_ignore_ascii_case("pwd") && start > 0 && bytes[start - 1] == b';') || (registries && name == "auth")
}

fn named(text: &str, found: &mut Vec<Secret>) {
    let bytes = text.as_bytes();
    // Nothing else ties a value to a name.
    if !bytes.iter().any(|byte| matches!(byte, b'=' | b':') || byte.is_ascii_whitespace()) {
        return;
    }
    let registries = text.contains("auths");
    let mut at = 0;
    while at < bytes.len() {
        if !is_name_byte(bytes[at]) {
            at += 1;
            continue;
        }
        let start = at;
        let end = bytes[start..].iter().position(|byte| !is_name_byte(*byte)).map_or(bytes.len(), |length| start + length);
        at = end;
        let name = &text[start..end];
        let Some((tie, value)) = tie(bytes, name, end) else { continue };
        if !names::is_secret(name) && !is_secret_here(bytes, start, name, registries) {
            continue;
        }
        at = values(text, name, tie, value, found).max(end);
    }
}

/// What ties a value to the name that ends here, and where the value begins.
fn tie(bytes: &[u8], name: &str, end: usize) -> Option<(Tie, usize)> {
    let next = *bytes.get(end)?;
    // What most names in text end with: a slash, a full stop, a bracket.
    if !matches!(next, b'=' | b':' | b'\\') && !next.is_ascii_whitespace() && !is_quote(next) {
        return None;
    }
    if next == b'=' {
        // A comparison, or a version of a package.
        return (bytes.get(end + 1) != Some(&b'=')).then_some((Tie::Equals, end + 1));
    }
    if name.starts_with('-') && next.is_ascii_whitespace() {
        let value = bytes[end..].iter().position(|byte| !byte.is_ascii_whitespace())? + end;
        return Some((Tie::Blank, value));
    }
    let quoted = quote_at(bytes, end);
    let colon = skip_blanks(bytes, end + quoted.unwrap_or(0));
    if bytes.get(colon) != Some(&b':') {
        return None;
    }
    let value = skip_blanks(bytes, colon + 1);
    // `name:value` without a blank is an image with a tag, a port, a label.
    (quoted.is_some() || value > colon + 1).then_some((Tie::Colon, value))
}

/// Takes the value, or the values where an option has several. Returns where reading goes on.
fn values(text: &str, name: &str, tie: Tie, start: usize, found: &mut Vec<Secret>) -> usize {
    let bytes = text.as_bytes();
    let (from, to, after) = value_at(bytes, name, tie, start);
    let value = &text[from..to];
    let quoted = from > start;
    let literal = match tie {
        Tie::Blank => !value.starts_with('-') && names::is_literal(name, value),
        Tie::Equals => names::is_literal(name, value),
        // A sentence may go on after `password: `, and a manifest names a Secret after `token: `.
        Tie::Colon => {
            names::is_literal(name, value)
                && (quoted
                    || names::is_password(name)
                    || is_whole_line(name)
                    || (value.len() >= 8 && (value.bytes().any(|byte| byte.is_ascii_digit()) || value.ends_with('='))))
        }
    };
    if !literal {
        // The value may be a name with a value of its own; a long one is none, and is not to be read again for every name in it.
        return if value.len() <= LONGEST_NAMED { start } else { after };
    }
    found.push(Secret { start: from, end: to, class: SECRET_VALUE });
    if tie != Tie::Blank {
        return after;
    }
    let mut after = after;
    // Servers take several keys after one option. What looks like a key there is one.
    loop {
        let next = skip_blanks(bytes, after);
        let (from, to, end) = value_at(bytes, name, tie, next);
        let value = &text[from..to];
        if next == after
            || value.len() < 16
            || value.contains(['/', ':', '='])
            || value.starts_with('-')
            || !value.bytes().any(|b| b.is_ascii_digit())
        {
            break;
        }
        found.push(Secret { start: from, end: to, class: SECRET_VALUE });
        after = end;
    }
    after
}

/// Headers of several words.
fn is_whole_line(name: &str) -> bool {
    name.eq_ignore_ascii_case("cookie")
}

/// Bounds of the value without its quotes, and where it ends with them.
fn value_at(bytes: &[u8], name: &str, tie: Tie, start: usize) -> (usize, usize, usize) {
    if let Some(length) = quote_at(bytes, start) {
        let from = start + length;
        let quote = &bytes[start..from];
        let to = match length {
            // An escaped quote inside the value does not end it.
            1 => {
                let mut at = from;
                while at < bytes.len() && bytes[at] != quote[0] {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at.min(bytes.len())
            }
            _ => bytes[from..].windows(2).position(|window| window == quote).map_or(bytes.len(), |count| from + count),
        };
        return (from, to, (to + length).min(bytes.len()));
    }
    let ends = |at: usize| match bytes[at] {
        b'\n' | b'\r' => true,
        _ if is_whole_line(name) => is_quote(bytes[at]),
        byte if byte.is_ascii_whitespace() || is_quote(byte) => true,
        // An escaped line end or quote of text within text.
        b'\\' => bytes.get(at + 1).is_some_and(|next| matches!(next, b'n' | b'r' | b't') || is_quote(*next)),
        b';' | b'|' => true,
        b'&' => tie != Tie::Colon,
        // The next element of a list of pairs.
        b',' => {
            let length = bytes[at + 1..].iter().take(64).take_while(|byte| is_name_byte(**byte)).count();
            tie != Tie::Blank && length > 0 && bytes.get(at + 1 + length) == Some(&b'=') || tie == Tie::Colon
        }
        b'}' | b']' => tie == Tie::Colon,
        b')' => !bytes[start..at].contains(&b'('),
        _ => false,
    };
    // The output of a command is a reference, whatever words the command has.
    let inner = if bytes[start..].starts_with(b"$(") {
        bytes[start..].iter().position(|byte| matches!(byte, b')' | b'\n')).map_or(bytes.len(), |length| start + length + 1)
    } else {
        start
    };
    let to = (inner..bytes.len()).find(|at| ends(*at)).unwrap_or(bytes.len());
    (start, to, to)
}

/// Options that only their program gives a meaning.
fn words(text: &str, found: &mut Vec<Secret>) {
    let mut program = "";
    let mut wandb = false;
    let mut expected = false;
    let mut alias = 0;
    // What `echo` says, and whether the next word is the file that it goes to.
    let (mut said, mut into) = (None, false);
    let mut end = 0;
    for (start, word) in split(text) {
        if text[end..start].contains('\n') && program == "echo" {
            program = "";
        }
        end = start + word.len();
        if matches!(word, ";" | "|" | "&&" | "||") {
            (program, wandb, expected, alias) = ("", false, false, 0);
            (said, into) = (None, false);
            continue;
        }
        let secret = Secret { start, end: start + word.len(), class: SECRET_VALUE };
        let name = word.rsplit('/').next().unwrap_or(word);
        if expected {
            expected = false;
            // `-u` takes a user; it is a secret with a password behind it.
            if names::is_literal("password", word) && (program != "curl" || word.contains(':')) {
                found.push(secret);
                continue;
            }
        }
        if program == "echo" {
            let file = word.trim_start_matches('>');
            if (into || file.len() < word.len()) && !file.is_empty() {
                let name = file.rsplit('/').next().unwrap_or(file);
                found.extend(said.take().filter(|_| names::is_secret(name)));
            } else if word.starts_with('>') {
                into = true;
                continue;
            } else if !word.starts_with('-') && word.trim_matches(['%', 's', '\\', 'n']).len() > 1 && names::is_literal("password", word) {
                said = Some(secret);
            }
            into = false;
        } else if name == "echo" || name == "printf" {
            program = "echo";
        } else if OPTIONS.iter().any(|(of, option)| *of == program && *option == word) {
            expected = true;
        } else if OPTIONS.iter().any(|(of, _)| *of == name) {
            program = OPTIONS.iter().find(|(of, _)| *of == name).map_or("", |(of, _)| of);
            // `wandb login KEY` has it without an option.
            expected = wandb && program == "login";
        } else if name == "wandb" {
            wandb = true;
        } else if name == "mysql" || name == "mysqldump" {
            program = "mysql";
        } else if program == "mysql" && word.len() > 2 && word.starts_with("-p") && names::is_literal("password", &word[2..]) {
            found.push(Secret { start: start + 2, ..secret });
        } else if name == "mc" {
            alias = 1;
        } else if alias > 0 {
            // mc alias set NAME URL USER PASSWORD
            alias = match (alias, word) {
                (1, "alias") | (2, "set") | (3.., _) => alias + 1,
                _ => 0,
            };
            if alias > 6 {
                alias = 0;
                if names::is_literal("password", word) {
                    found.push(secret);
                }
            }
        }
    }
}

/// Words with the places where they begin, without the quotes around them; separators of commands are words of their own.
fn split(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        let blank = |byte: u8| byte.is_ascii_whitespace() || is_quote(byte);
        while at < bytes.len() && blank(bytes[at]) {
            at += 1;
        }
        let start = at;
        let first = *bytes.get(start)?;
        let separator = |byte: u8| matches!(byte, b';' | b'|');
        at += 1;
        if !separator(first) {
            while at < bytes.len() && !blank(bytes[at]) && !separator(bytes[at]) {
                at += 1;
            }
        }
        Some((start, &text[start..at]))
    })
}
