//! What programs write around the name of a dataset, and around any address.

use crate::text::Token;

/// Addresses of datasets on the hub.
const DATA_ADDRESSES: [&str; 4] =
    ["hf://datasets/", "https://huggingface.co/datasets/", "https://hf.co/datasets/", "https://hf-mirror.com/datasets/"];

pub(super) fn is_data_address(text: &str) -> bool {
    DATA_ADDRESSES.iter().any(|prefix| text.starts_with(prefix))
}

/// The name in what programs write for a dataset, and what is said around it.
pub(super) fn dataset_name(token: &Token) -> (Token, Vec<(String, String)>) {
    let token = &without_user(token);
    let text = token.as_str();
    let mut properties = Vec::new();
    let (mut start, mut end) = (0, text.len());
    for prefix in DATA_ADDRESSES.iter().chain(&["HF::", "hf::", "MS::", "ms::"]) {
        if text.starts_with(prefix) {
            start = prefix.len();
        }
    }
    // What follows the repository is a revision or a file.
    if is_data_address(text)
        && let Some((index, _)) = text[start..].match_indices('/').nth(1)
    {
        end = start + index;
    }
    // `task|shots`, `suite|task|shots`
    if text.contains('|') {
        let mut bars = text.match_indices('|').map(|(index, _)| index);
        let (first, second) = (bars.next(), bars.next());
        (start, end) = match (first, second) {
            (Some(first), Some(second)) => (first + 1, second),
            (first, _) => (0, first.unwrap_or(end)),
        };
    }
    // `name#500`: a sample of so many rows.
    if let Some((before, number)) = text[start..end].rsplit_once('#')
        && !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit())
    {
        end = start + before.len();
    }
    // `owner/name:part`
    let body = &text[start..end];
    if let Some((before, part)) = body.split_once(':')
        && !body.contains("://")
        && before.contains('/')
        && !before.starts_with(['/', '.'])
        && !part.is_empty()
        && !part.contains('{')
    {
        properties.push(("config".to_owned(), part.to_owned()));
        end = start + before.len();
    }
    (Token { text: token.text.slice(start..end), ..token.clone() }, properties)
}

/// A URL without user and password, which may well be unknown.
pub(super) fn without_user(token: &Token) -> Token {
    let text = token.as_str();
    let Some((scheme, rest)) = text.split_once("://") else { return token.clone() };
    let authority = &rest[..rest.find('/').unwrap_or(rest.len())];
    let Some(at) = authority.rfind('@') else { return token.clone() };
    let start = scheme.len() + 3;
    let mut bare = token.text.slice(0..start);
    bare.append(&token.text.slice(start + at + 1..text.len()));
    Token { text: bare, ..token.clone() }
}
