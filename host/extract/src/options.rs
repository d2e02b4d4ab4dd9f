//! Options and positional arguments of a recognised program.

use std::sync::Arc;

use aibom_facts::model::ModelReference;

use crate::images::matches;
use crate::json;
use crate::rules::{Condition, Meaning, Positional, Runtime, Shape, Use, Values, fold};
use crate::text::{Token, Traced};

/// An option that means something, with its words.
#[derive(Clone, Debug)]
pub(crate) struct Hit {
    pub(crate) meaning: Meaning,
    /// The option as written, or empty for a positional argument.
    pub(crate) by: String,
    pub(crate) values: Vec<Token>,
    /// A positional argument with no option between it and the program or its subcommand.
    pub(crate) direct: bool,
}

impl Hit {
    /// Whether it gives a model of any kind or a dataset, known or not.
    pub(crate) fn names_something(&self) -> bool {
        let named = matches!(&self.meaning, Meaning::Fact(Use::Model | Use::Dataset | Use::Tokenizer | Use::Adapter | Use::Further, _));
        named && self.values.iter().any(|value| value.as_str() != crate::python::OPAQUE)
    }

    /// Whether it gives the model.
    pub(crate) fn is_model(&self) -> bool {
        matches!(&self.meaning, Meaning::Fact(Use::Model, _)) && !self.values.is_empty()
    }
}

fn lookup<'r>(tables: &[&'r Runtime], option: &str) -> Option<&'r Meaning> {
    let folded = fold(option);
    let exact = tables.iter().find_map(|table| table.options.get(&folded));
    exact.or_else(|| tables.iter().filter(|table| table.abbreviations).find_map(|table| abbreviated(table, &folded)))
}

/// The one meaning that all long options have that begin so. Three letters are the least that people write.
fn abbreviated<'r>(table: &'r Runtime, option: &str) -> Option<&'r Meaning> {
    if !option.starts_with("--") || option.len() < 5 {
        return None;
    }
    let mut found = table.options.iter().filter(|(name, _)| name.starts_with(option)).map(|(_, meaning)| meaning);
    let first = found.next()?;
    found.all(|other| other == first).then_some(first)
}

/// `--a.b`: the member `b` of the JSON option `--a`.
fn dotted(tables: &[&Runtime], option: &str) -> Option<Meaning> {
    let (base, member) = option.split_once('.')?;
    match lookup(tables, base)? {
        Meaning::Fact(role, shape) if shape.json.as_deref() == Some(member) => Some(Meaning::Fact(*role, Arc::default())),
        _ => None,
    }
}

/// What the words behind a launcher say.
#[derive(Default)]
pub(crate) struct Parsed {
    pub(crate) hits: Vec<Hit>,
    /// Every option by its folded name, known or not, with its first value.
    seen: Vec<(String, String)>,
}

impl Parsed {
    /// Whether a condition holds, for an option with this value.
    pub(crate) fn holds(&self, condition: &Condition, own: Option<&str>) -> bool {
        let name = fold(&condition.option);
        self.seen.iter().filter(|(known, _)| *known == name).any(|(_, value)| {
            if condition.same {
                own.is_some_and(|own| own == value)
            } else {
                condition.values.is_empty()
                    || condition.values.iter().any(|word| matches(&word.to_ascii_lowercase(), &value.to_ascii_lowercase()))
            }
        })
    }

    fn counts(&self, hit: &Hit) -> bool {
        let Meaning::Fact(_, shape) = &hit.meaning else { return true };
        let own = hit.values.first().map(Token::as_str);
        shape.when.iter().all(|condition| self.holds(condition, own)) && !shape.unless.iter().any(|condition| self.holds(condition, own))
    }
}

/// Reads the words behind a launcher.
pub(crate) fn parse(tokens: &[Token], tables: &[&Runtime], positional: &[Positional]) -> Parsed {
    let mut parser = Parser { tables, overrides: tables.iter().any(|table| table.overrides), out: Parsed::default() };
    parser.words(tokens, positional);
    let mut out = parser.out;
    let hits = std::mem::take(&mut out.hits);
    out.hits = hits.into_iter().filter(|hit| out.counts(hit)).collect();
    out
}

struct Parser<'t, 'r> {
    tables: &'t [&'r Runtime],
    overrides: bool,
    out: Parsed,
}

impl Parser<'_, '_> {
    fn words(&mut self, tokens: &[Token], positional: &[Positional]) {
        let tables = self.tables;
        let mut places = positional.iter();
        // Behind an unknown option a bare word may be its value.
        let mut safe = true;
        let mut only_positional = false;
        let mut direct = true;
        let mut index = 0;
        let mut late: Option<&Token> = None;
        while let Some(token) = tokens.get(index) {
            index += 1;
            // A line continuation inside a folded YAML text leaves a protected blank in front of the next word.
            let text = token.as_str().trim_start();
            if !only_positional && text == "--" {
                only_positional = true;
                continue;
            }
            if let Some((name, value)) = self.overriding(token) {
                self.seen(&name, Some(&value));
                if let Some(meaning) = lookup(tables, &name).cloned() {
                    self.add(&meaning, name.trim_end_matches('='), vec![value], false);
                }
                continue;
            }
            direct &= !is_option(token);
            if only_positional || !text.starts_with('-') || text.len() < 2 {
                // An unknown variable that is not quoted is more often a bag of options than the model.
                let bag = (token.text.is_unknown() || text.starts_with('$')) && !self.out.hits.is_empty();
                if (safe || only_positional)
                    && !bag
                    && let Some(place) = places.next()
                {
                    let meaning = match place {
                        Positional::Use(role) => Some(Meaning::Fact(*role, Arc::default())),
                        Positional::Option(name) => lookup(tables, name).cloned(),
                    };
                    if let Some(meaning) = meaning {
                        self.add(&meaning, "", vec![token.clone()], direct);
                    }
                }
                continue;
            }
            let (name, joined) = match text.split_once('=') {
                Some((name, value)) => {
                    let end = token.as_str().len();
                    (name, Some(Token { text: token.text.slice(end - value.len()..end), ..token.clone() }))
                }
                None => (text, None),
            };
            let next = tokens.get(index).filter(|next| !is_option(next));
            self.seen(name, joined.as_ref().or(next));
            let meaning = lookup(tables, name).cloned().or_else(|| dotted(tables, name));
            let Some(meaning) = meaning else {
                // Nobody knows how many words it takes: what follows may be its values, or positional arguments behind a switch.
                safe = joined.is_some();
                let first = index;
                while !safe && tokens.get(index).is_some_and(|next| !is_option(next) && self.overriding(next).is_none()) {
                    index += 1;
                }
                // An option with a number takes that one alone, so that the second word is none of its own.
                if index == first + 2 && late.is_none() && tokens[first].as_str().parse::<f64>().is_ok() {
                    late = Some(&tokens[first + 1]);
                }
                continue;
            };
            let values = match &meaning {
                Meaning::Switch => Values::None,
                Meaning::Ignored(values) => *values,
                Meaning::Parameter(_) => Values::One,
                Meaning::Members(_) => Values::Each,
                Meaning::Fact(_, shape) => shape.values,
            };
            let mut found: Vec<Token> = joined.into_iter().collect();
            match values {
                // The place of what it stands for.
                Values::None if matches!(&meaning, Meaning::Fact(_, shape) if !shape.stands.is_empty()) => found.push(token.clone()),
                Values::None => {}
                Values::One | Values::Each => {
                    if found.is_empty()
                        && let Some(next) = next
                    {
                        found.push(next.clone());
                        index += 1;
                    }
                }
                Values::Many => {
                    while let Some(next) = tokens.get(index).filter(|next| !is_option(next)) {
                        found.push(next.clone());
                        index += 1;
                    }
                }
                Values::Pairs => {
                    if let [first, second, ..] = &tokens[index..]
                        && !is_option(first)
                        && !is_option(second)
                    {
                        let mut text = first.text.clone();
                        text.push("=");
                        text.append(&second.text);
                        found.push(Token { text, ..second.clone() });
                        index += 2;
                    }
                }
            }
            if matches!(meaning, Meaning::Members(_)) {
                while let Some(next) = tokens.get(index).filter(|next| !is_option(next) && next.as_str().contains('=')) {
                    found.push(next.clone());
                    index += 1;
                }
            }
            safe = values != Values::Many;
            self.add(&meaning, name, found, false);
        }
        // It is the model only where nothing better is, and only if it has a form that other words do not have.
        if let Some(token) = late.filter(|token| located(token))
            && matches!(positional.first(), Some(Positional::Use(Use::Model)))
            && !self.out.hits.iter().any(Hit::is_model)
        {
            self.add(&Meaning::Fact(Use::Model, Arc::default()), "", vec![token.clone()], false);
        }
    }

    fn seen(&mut self, name: &str, value: Option<&Token>) {
        self.out.seen.push((fold(name), value.map(|value| value.as_str().trim().to_owned()).unwrap_or_default()));
    }

    /// `key=value`, with the signs that add a key in front; a program that takes such words has no other use for one.
    fn overriding(&self, token: &Token) -> Option<(String, Token)> {
        let text = token.as_str();
        let (key, value) = text.split_once('=').filter(|_| self.overrides)?;
        let key = key.trim_start_matches('+');
        let fits = key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && key.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.' | b'@' | b'/'));
        let value = Token { text: token.text.slice(text.len() - value.len()..text.len()), ..token.clone() };
        fits.then(|| (format!("{key}="), unquoted(value)))
    }

    fn add(&mut self, meaning: &Meaning, by: &str, words: Vec<Token>, direct: bool) {
        match meaning {
            Meaning::Ignored(_) => {}
            Meaning::Members(option) => {
                for word in &words {
                    for (key, value) in members(word) {
                        let name = format!("{option}.{key}");
                        self.seen(&name, Some(&value));
                        if let Some(meaning) = lookup(self.tables, &name).filter(|known| !matches!(known, Meaning::Members(_))).cloned() {
                            self.add(&meaning, &name, vec![value], direct);
                        }
                    }
                }
            }
            Meaning::Fact(_, shape) if !shape.stands.is_empty() => {
                for (role, text) in &shape.stands {
                    let values = words.iter().map(|word| inside(word, text)).collect();
                    self.out.hits.push(Hit { meaning: Meaning::Fact(*role, Arc::default()), by: by.to_owned(), values, direct });
                }
            }
            Meaning::Fact(_, shape) => {
                let values = words.into_iter().flat_map(|token| split(token, shape)).collect();
                self.out.hits.push(Hit { meaning: meaning.clone(), by: by.to_owned(), values, direct });
            }
            Meaning::Parameter(_) | Meaning::Switch => {
                self.out.hits.push(Hit { meaning: meaning.clone(), by: by.to_owned(), values: words, direct });
            }
        }
    }
}

/// Whether a word is a repository of the hub, a path or an address.
fn located(token: &Token) -> bool {
    let parsed = ModelReference::parse(token.as_str()).map(|parsed| parsed.reference);
    matches!(parsed, Ok(ModelReference::Hub { .. } | ModelReference::Path(_) | ModelReference::Uri(_)))
}

/// Most members of one value.
const MAX_MEMBERS: usize = 256;

/// The pairs of `a=1,b=2` or `a=1;b=2`, or the members of a JSON object by their dotted paths. A word that is no pair has an empty name.
fn members(token: &Token) -> Vec<(String, Token)> {
    let text = token.as_str();
    let mut out = Vec::new();
    if text.trim_start().starts_with('{') {
        if let Ok(value) = serde_json::from_str::<serde_json::Value>(text) {
            flatten(token, "", &value, &mut out);
        }
        return out;
    }
    let mut depth = 0usize;
    let mut start = 0;
    let mut pieces = Vec::new();
    let separator =
        if text.contains(';') && text.split(';').all(|piece| piece.contains('=') || piece.trim().is_empty()) { ';' } else { ',' };
    for (index, c) in text.char_indices() {
        match c {
            '{' | '[' | '(' => depth += 1,
            '}' | ']' | ')' => depth = depth.saturating_sub(1),
            _ if c == separator && depth == 0 => {
                pieces.push(start..index);
                start = index + 1;
            }
            _ => {}
        }
    }
    pieces.push(start..text.len());
    for piece in pieces.into_iter().take(MAX_MEMBERS) {
        let slice = &text[piece.clone()];
        let (key, value) = slice.split_once('=').unwrap_or(("", slice));
        if !value.trim().is_empty() {
            let value = Token { text: token.text.slice(piece.end - value.len()..piece.end), ..token.clone() };
            out.push((key.trim().to_owned(), unquoted(value)));
        }
    }
    out
}

fn flatten(token: &Token, path: &str, value: &serde_json::Value, out: &mut Vec<(String, Token)>) {
    if out.len() >= MAX_MEMBERS {
        return;
    }
    match value {
        serde_json::Value::Object(object) => {
            for (key, value) in object {
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                flatten(token, &path, value, out);
            }
        }
        serde_json::Value::Array(list) => list.iter().for_each(|value| flatten(token, path, value, out)),
        serde_json::Value::String(text) => out.push((path.to_owned(), inside(token, text))),
        serde_json::Value::Null => {}
        other => out.push((path.to_owned(), inside(token, &other.to_string()))),
    }
}

/// A value without the quotes that the program's own grammar takes off.
fn unquoted(token: Token) -> Token {
    let text = token.as_str();
    let quoted = text.len() > 1 && ['"', '\''].iter().any(|quote| text.starts_with(*quote) && text.ends_with(*quote));
    if quoted { Token { text: token.text.slice(1..text.len() - 1), ..token } } else { token }
}

fn is_option(token: &Token) -> bool {
    let text = token.as_str().trim_start();
    text.len() > 1 && text.starts_with('-') && !text[1..].starts_with(|c: char| c.is_ascii_digit())
}

/// The values of one word.
pub(crate) fn split(token: Token, shape: &Shape) -> Vec<Token> {
    if shape.list {
        return listed(&token);
    }
    // A list of objects with a name and a path each.
    if shape.named
        && token.as_str().trim_start().starts_with('[')
        && let Ok(objects) = serde_json::from_str::<Vec<serde_json::Value>>(token.as_str())
    {
        return objects.iter().take(MAX_MEMBERS).map(|object| inside(&token, &object.to_string())).collect();
    }
    if let Some(path) = shape.listing() {
        return json::texts(token.as_str(), path).iter().map(|text| inside(&token, text)).collect();
    }
    let Some(separator) = shape.split.filter(|_| !token.as_str().starts_with('{')) else { return vec![token] };
    let text = token.as_str();
    let mut out = Vec::new();
    let mut start = 0;
    for piece in text.split(separator) {
        let end = start + piece.len();
        if !piece.trim().is_empty() {
            out.push(Token { text: token.text.slice(start..end), ..token.clone() });
        }
        start = end + separator.len_utf8();
    }
    out
}

/// The elements of `[a, 'b']`, or the value itself.
fn listed(token: &Token) -> Vec<Token> {
    let text = token.as_str();
    let mut out = Vec::new();
    let mut start = 0;
    for piece in text.split([',', '[', ']', '\\']) {
        let end = start + piece.len();
        let trimmed = piece.trim();
        if !trimmed.is_empty() {
            let from = start + (piece.len() - piece.trim_start().len());
            out.push(unquoted(Token { text: token.text.slice(from..from + trimmed.len()), ..token.clone() }));
        }
        start = end + 1;
    }
    out
}

/// The fact in a value, with the words of the program put into what they stand for. None for a word that names nothing.
pub(crate) fn settled(token: &Token, shape: &Shape) -> Option<(Option<String>, Token)> {
    let (name, mut token) = shaped(token, shape)?;
    if let Some(end) = shape.cut.and_then(|cut| token.as_str().rfind(cut)) {
        token.text = token.text.slice(0..end);
    }
    if shape.except.iter().any(|word| word == token.as_str()) {
        return None;
    }
    if let Some(directory) = shape.under.as_ref().filter(|_| !token.as_str().is_empty()) {
        let path = format!("{directory}/{}", token.as_str());
        token = inside(&token, &path);
    }
    if shape.means.is_empty() || token.text.is_unknown() {
        return Some((name, token));
    }
    let meant = shape.means.get(token.as_str())?;
    Some((name, inside(&token, meant)))
}

/// The fact in a value, by its shape: the member of a JSON object, or the right-hand side of `name=value`. The first is the name that
/// goes with it.
fn shaped(token: &Token, shape: &Shape) -> Option<(Option<String>, Token)> {
    let text = token.as_str();
    if let Some(path) = shape.json.as_ref().filter(|_| shape.listing().is_none()) {
        if token.text.unknown().is_some() && !text.trim_start().starts_with('{') {
            return Some((None, token.clone()));
        }
        let value: serde_json::Value = serde_json::from_str(text).ok()?;
        let found = path.split('.').try_fold(&value, |value, key| member(value, key))?;
        return found.as_str().map(|text| (None, inside(token, text)));
    }
    if shape.named {
        if text.trim_start().starts_with('{') {
            let value: serde_json::Value = serde_json::from_str(text).ok()?;
            let pick =
                |keys: [&str; 2]| keys.iter().find_map(|key| member(&value, key)).and_then(|value| value.as_str()).map(str::to_owned);
            return pick(["path", "lora_path"]).map(|path| (pick(["name", "lora_name"]), inside(token, &path)));
        }
        // The first `=` of an address belongs to its query.
        if let Some((name, value)) = text.split_once('=').filter(|(name, _)| !name.contains(['/', ':', '?'])) {
            let value = Token { text: token.text.slice(text.len() - value.len()..text.len()), ..token.clone() };
            return Some((Some(name.to_owned()), value));
        }
    }
    Some((None, token.clone()))
}

fn member<'v>(value: &'v serde_json::Value, key: &str) -> Option<&'v serde_json::Value> {
    let object = value.as_object()?;
    object.get(key).or_else(|| object.iter().find(|(name, _)| name.replace('-', "_") == key).map(|(_, value)| value))
}

/// A text taken out of a word, with what is known about the word.
fn inside(token: &Token, text: &str) -> Token {
    let mut traced = Traced::plain(text);
    traced.marks = token.text.marks.iter().map(|(_, origin)| (0..text.len(), origin.clone())).collect();
    // An unknown piece elsewhere in the JSON does not touch this text.
    if !text.contains('$') {
        traced.marks.retain(|(_, origin)| matches!(origin, crate::text::Origin::Variable(_)));
    }
    Token { text: traced, ..token.clone() }
}

#[cfg(test)]
#[path = "options/tests.rs"]
mod tests;
