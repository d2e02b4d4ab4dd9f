//! Options and positional arguments of a recognised program.

use crate::rules::{Meaning, Runtime, Shape, Use, Values, fold};
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
    /// Whether it gives the model.
    pub(crate) fn is_model(&self) -> bool {
        matches!(&self.meaning, Meaning::Fact(Use::Model, _)) && !self.values.is_empty()
    }
}

fn lookup<'r>(tables: &[&'r Runtime], option: &str) -> Option<&'r Meaning> {
    let folded = fold(option);
    tables.iter().find_map(|table| table.options.get(&folded))
}

/// `--a.b`: the member `b` of the JSON option `--a`.
fn dotted(tables: &[&Runtime], option: &str) -> Option<Meaning> {
    let (base, member) = option.split_once('.')?;
    match lookup(tables, base)? {
        Meaning::Fact(role, shape) if shape.json.as_deref() == Some(member) => Some(Meaning::Fact(*role, Shape::default())),
        _ => None,
    }
}

/// Reads the words behind a launcher.
pub(crate) fn parse(tokens: &[Token], tables: &[&Runtime], positional: &[Use]) -> Vec<Hit> {
    let mut hits = Vec::new();
    let mut places = positional.iter();
    // Behind an unknown option a bare word may be its value.
    let mut safe = true;
    let mut only_positional = false;
    let mut direct = true;
    let mut index = 0;
    while let Some(token) = tokens.get(index) {
        index += 1;
        // A line continuation inside a folded YAML text leaves a protected blank in front of the next word.
        let text = token.as_str().trim_start();
        if !only_positional && text == "--" {
            only_positional = true;
            continue;
        }
        direct &= !is_option(token);
        if only_positional || !text.starts_with('-') || text.len() < 2 {
            // An unknown variable that is not quoted is more often a bag of options than the model.
            let bag = (token.text.is_unknown() || text.starts_with('$')) && !hits.is_empty();
            if (safe || only_positional)
                && !bag
                && let Some(role) = places.next()
            {
                hits.push(Hit { meaning: Meaning::Fact(*role, Shape::default()), by: String::new(), values: vec![token.clone()], direct });
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
        let meaning = lookup(tables, name).cloned().or_else(|| dotted(tables, name));
        let Some(meaning) = meaning else {
            // Nobody knows how many words it takes: what follows may be its values, or positional arguments behind a switch.
            safe = joined.is_some();
            while !safe && tokens.get(index).is_some_and(|next| !is_option(next)) {
                index += 1;
            }
            continue;
        };
        let values = match &meaning {
            Meaning::Switch => Values::None,
            Meaning::Ignored(values) => *values,
            Meaning::Parameter(_) => Values::One,
            Meaning::Fact(_, shape) => shape.values,
        };
        let mut found: Vec<Token> = joined.into_iter().collect();
        match values {
            Values::None => {}
            Values::One | Values::Each => {
                if found.is_empty()
                    && let Some(next) = tokens.get(index).filter(|next| !is_option(next))
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
        }
        safe = values != Values::Many;
        if matches!(meaning, Meaning::Ignored(_)) {
            continue;
        }
        if let Meaning::Fact(_, shape) = &meaning {
            found = found.into_iter().flat_map(|token| split(token, shape)).collect();
        }
        hits.push(Hit { meaning, by: name.to_owned(), values: found, direct: false });
    }
    hits
}

fn is_option(token: &Token) -> bool {
    let text = token.as_str().trim_start();
    text.len() > 1 && text.starts_with('-') && !text[1..].starts_with(|c: char| c.is_ascii_digit())
}

/// The values of one word.
pub(crate) fn split(token: Token, shape: &Shape) -> Vec<Token> {
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

/// The fact in a value, by its shape: the member of a JSON object, or the right-hand side of `name=value`. The first is the name that
/// goes with it.
pub(crate) fn shaped(token: &Token, shape: &Shape) -> Option<(Option<String>, Token)> {
    let text = token.as_str();
    if let Some(path) = &shape.json {
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
        if let Some((name, value)) = text.split_once('=') {
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
