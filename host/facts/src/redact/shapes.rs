//! Tokens that are known by their form.

use std::sync::LazyLock;

use super::{PRIVATE_KEY, Secret, TOKEN};

/// Characters of the part after a prefix.
#[derive(Clone, Copy, PartialEq)]
enum Alphabet {
    /// Letters and digits.
    Alnum,
    /// Letters, digits, `_` and `-`.
    Url,
    /// Upper-case letters and digits.
    Upper,
    /// Lower-case hexadecimal digits.
    Hex,
    /// Letters, digits, `+`, `/` and `=`.
    Base64,
    /// `Url` with `.` and `=`.
    Dotted,
}

impl Alphabet {
    fn holds(self, byte: u8) -> bool {
        match self {
            Self::Alnum => byte.is_ascii_alphanumeric(),
            Self::Url => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'),
            Self::Upper => byte.is_ascii_uppercase() || byte.is_ascii_digit(),
            Self::Hex => matches!(byte, b'0'..=b'9' | b'a'..=b'f'),
            Self::Base64 => byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'='),
            Self::Dotted => byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.' | b'='),
        }
    }
}

/// What else tells a token from a word.
#[derive(Clone, Copy, PartialEq)]
enum Check {
    /// Nothing.
    Long,
    /// Ends right after the least length.
    Exact,
    /// Holds a digit.
    Digit,
}

struct Shape {
    prefix: &'static str,
    alphabet: Alphabet,
    /// Least length after the prefix.
    least: usize,
    check: Check,
}

const fn shape(prefix: &'static str, alphabet: Alphabet, least: usize, check: Check) -> Shape {
    Shape { prefix, alphabet, least, check }
}

use Alphabet::{Alnum, Base64, Dotted, Hex, Upper, Url};
use Check::{Digit, Exact, Long};

/// Prefixes, compared with their case. Least lengths are below what issuers use, and above what occurs in names of packages, models and
/// flags.
#[rustfmt::skip]
const SHAPES: &[Shape] = &[
    // Model hubs and hosted models.
    shape("hf_", Alnum, 20, Long), shape("api_org_", Alnum, 20, Long),
    shape("nvapi-", Url, 20, Long),
    shape("sk-proj-", Url, 16, Long), shape("sk-svcacct-", Url, 16, Long), shape("sk-service-", Url, 20, Digit), shape("sk-admin-", Url, 20, Digit),
    shape("sk-None-", Url, 16, Long), shape("sk-ant-", Url, 16, Long), shape("sk-or-v1-", Hex, 32, Long),
    shape("sk-lf-", Url, 32, Long), shape("pk-lf-", Url, 32, Long),
    shape("sk_live_", Alnum, 10, Long), shape("sk_test_", Alnum, 10, Long), shape("sk_prod_", Alnum, 10, Long),
    shape("rk_live_", Alnum, 10, Long), shape("rk_test_", Alnum, 10, Long), shape("rk_prod_", Alnum, 10, Long),
    shape("sk_", Hex, 40, Long), shape("gsk_", Alnum, 40, Long), shape("xai-", Url, 60, Digit), shape("pplx-", Alnum, 40, Long),
    shape("r8_", Alnum, 30, Long), shape("tvly-", Url, 20, Digit), shape("lsv2_pt_", Url, 30, Long), shape("lsv2_sk_", Url, 30, Long),
    shape("ls__", Alnum, 32, Long), shape("pcsk_", Url, 50, Long), shape("csk-", Alnum, 24, Digit), shape("jina_", Alnum, 24, Digit),
    shape("tgp_v1_", Url, 24, Digit), shape("e2b_", Alnum, 24, Digit), shape("rpa_", Alnum, 24, Digit), shape("wandb_v1_", Url, 24, Digit),
    shape("bfl-", Url, 24, Digit),
    // Clouds.
    shape("AIza", Url, 35, Long), shape("ya29.", Url, 10, Long), shape("GOCSPX-", Url, 20, Long), shape("1//", Url, 40, Digit),
    shape("AKIA", Upper, 16, Long), shape("ASIA", Upper, 16, Exact), shape("ABIA", Upper, 16, Exact), shape("ACCA", Upper, 16, Exact),
    shape("A3T", Upper, 17, Exact), shape("ABSK", Base64, 100, Long), shape("bedrock-api-key-", Base64, 20, Long),
    shape("LTAI", Alnum, 17, Digit), shape("dop_v1_", Hex, 60, Long), shape("doo_v1_", Hex, 60, Long), shape("dor_v1_", Hex, 60, Long),
    shape("dapi", Hex, 32, Long), shape("cfut_", Alnum, 40, Long), shape("cfat_", Alnum, 40, Long),
    // Forges and registries.
    shape("ghp_", Alnum, 20, Long), shape("gho_", Alnum, 20, Long), shape("ghu_", Alnum, 20, Long), shape("ghs_", Alnum, 20, Long),
    shape("ghr_", Alnum, 20, Long), shape("github_pat_", Url, 20, Long),
    shape("glpat-", Dotted, 16, Long), shape("gldt-", Dotted, 20, Long), shape("glrt-", Dotted, 20, Long), shape("glcbt-", Dotted, 20, Long),
    shape("glptt-", Dotted, 20, Long), shape("gloas-", Dotted, 20, Long), shape("glsoat-", Dotted, 20, Long), shape("glagent-", Dotted, 20, Digit),
    shape("glft-", Dotted, 20, Long), shape("glimt-", Dotted, 20, Long), shape("glffct-", Dotted, 20, Long),
    shape("npm_", Alnum, 30, Long), shape("pypi-AgE", Url, 50, Long), shape("dckr_pat_", Url, 20, Long), shape("dckr_oat_", Url, 20, Long),
    shape("rubygems_", Hex, 40, Long), shape("AKCp", Alnum, 60, Long), shape("cmVmd", Alnum, 50, Long),
    // Talking, watching, running.
    shape("xoxa-", Url, 10, Long), shape("xoxb-", Url, 10, Long), shape("xoxe-", Url, 10, Long), shape("xoxo-", Url, 10, Long),
    shape("xoxp-", Url, 10, Long), shape("xoxr-", Url, 10, Long), shape("xoxs-", Url, 10, Long), shape("xapp-", Url, 10, Digit),
    shape("hvs.", Url, 20, Long), shape("hvb.", Url, 20, Long), shape("sha256~", Url, 40, Long), shape("glsa_", Url, 20, Digit),
    shape("glc_", Base64, 20, Digit), shape("SG.", Dotted, 40, Digit), shape("lin_api_", Alnum, 20, Long), shape("ntn_", Alnum, 30, Long),
    shape("ops_eyJ", Url, 50, Long), shape("dp.pt.", Alnum, 20, Long), shape("fo1_", Url, 30, Digit), shape("fm2_", Base64, 30, Digit),
    shape("pul-", Hex, 40, Long), shape("AGE-SECRET-KEY-1", Upper, 40, Long),
    // Base64 of files that are secrets as a whole: docker configurations, service accounts, kubeconfigs, private keys.
    shape("eyJhdXRocyI6", Base64, 8, Long), shape("ewogICJhdXRocyI", Base64, 8, Long), shape("ewoJImF1dGhzIi", Base64, 8, Long),
    shape("eyJ0eXBlIjoi", Base64, 8, Long), shape("ewogICJ0eXBlIjog", Base64, 8, Long), shape("YXBpVmVyc2lvbjogdjEKa2luZDogQ29uZmln", Base64, 8, Long),
];

/// Base64 of `-----BEGIN `; certificates begin so too and may stay.
const PEM_BASE64: &str = "LS0tLS1CRUdJTi";
const CERTIFICATE_BASE64: &str = "LS0tLS1CRUdJTiBDRVJU";

/// Shapes by the first byte of their prefix: most words begin with a letter that begins no or few of them.
static BY_FIRST: LazyLock<[Vec<&'static Shape>; 256]> = LazyLock::new(|| {
    let mut by_first = [const { Vec::new() }; 256];
    for shape in SHAPES {
        by_first[usize::from(shape.prefix.as_bytes()[0])].push(shape);
    }
    by_first
});

/// How much of a run is looked at by checks. Longer runs are tokens or not by their head.
const HEAD: usize = 256;

pub(super) fn find(text: &str, found: &mut Vec<Secret>) {
    service_accounts(text, found);
    private_keys(text, found);
    let bytes = text.as_bytes();
    let mut scan = Scan { by_first: &BY_FIRST, no_jwt_before: 0, base64_before: 0 };
    // Where nothing is escaped, nothing begins behind a letter or a digit.
    let escapes = bytes.iter().any(|byte| matches!(byte, b'\\' | b'%'));
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        let next = match byte {
            b'0'..=b'9' | b'A'..=b'Z' | b'a'..=b'z' if is_border(bytes, at) => scan.token(text, at, found),
            b'~' => client_secret(bytes, at, found),
            _ => None,
        };
        // The letter of an escape is no part of what follows.
        let escape = matches!(byte, b'n' | b'r' | b't') && at > 0 && bytes[at - 1] == b'\\';
        if !escape && matches!(byte, b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/') {
            scan.base64_key(bytes, at, found);
        }
        at = next.unwrap_or(at + 1);
        if !escapes && next.is_none() && byte.is_ascii_alphanumeric() {
            at += bytes[at..].iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        }
    }
}

/// Whether a token can begin here. A letter before it belongs to an escape when a backslash or a percent sign stands before that.
fn is_border(bytes: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|i| bytes[i]) else { return true };
    if !before.is_ascii_alphanumeric() && before != b'_' {
        return true;
    }
    let back = |count: usize| at.checked_sub(count).map(|i| bytes[i]);
    (matches!(before, b'n' | b'r' | b't') && back(2) == Some(b'\\'))
        || (back(3) == Some(b'%') && bytes[at - 2..at].iter().all(u8::is_ascii_hexdigit))
        || (back(6) == Some(b'\\') && back(5) == Some(b'u') && bytes[at - 4..at].iter().all(u8::is_ascii_hexdigit))
}

fn run(bytes: &[u8], start: usize, alphabet: Alphabet) -> usize {
    bytes[start..].iter().position(|byte| !alphabet.holds(*byte)).map_or(bytes.len(), |length| start + length)
}

struct Scan {
    by_first: &'static [Vec<&'static Shape>; 256],
    /// Runs that were read to their end and hold no JWT, so that they are not read again from a later border.
    no_jwt_before: usize,
    /// End of the base64 run that was looked at last.
    base64_before: usize,
}

impl Scan {
    /// A token that begins here; returns its end.
    fn token(&mut self, text: &str, at: usize, found: &mut Vec<Secret>) -> Option<usize> {
        let bytes = text.as_bytes();
        let rest = &bytes[at..];
        let mut push = |end: usize, class: &'static str| {
            found.push(Secret { start: at, end, class });
            Some(end)
        };
        // Most words are told from every prefix by their second letter, without a call.
        let begins = |shape: &Shape| rest.get(1) == shape.prefix.as_bytes().get(1) && rest.starts_with(shape.prefix.as_bytes());
        for shape in self.by_first[usize::from(rest[0])].iter().filter(|shape| begins(shape)) {
            let start = at + shape.prefix.len();
            let head = &bytes[start..bytes.len().min(start + HEAD)];
            let length = head.iter().position(|byte| !shape.alphabet.holds(*byte)).unwrap_or(head.len());
            let fits = match shape.check {
                Long => length >= shape.least,
                Exact => length == shape.least && !head.get(length).is_some_and(|byte| byte.is_ascii_lowercase() || *byte == b'_'),
                Digit => length >= shape.least && head[..length].iter().any(u8::is_ascii_digit),
            };
            if fits {
                let end = run(bytes, start, shape.alphabet);
                if matches!(shape.prefix, "AKIA" | "ASIA" | "ABIA" | "ACCA" | "A3T") {
                    access_keys(bytes, at, end, found);
                }
                found.push(Secret { start: at, end, class: TOKEN });
                return Some(end);
            }
        }
        if rest.starts_with(b"sk-") && is_sk(&rest[3..rest.len().min(3 + HEAD)]) {
            return push(run(bytes, at + 3, Url), TOKEN);
        }
        if rest.starts_with(PEM_BASE64.as_bytes()) && !rest.starts_with(CERTIFICATE_BASE64.as_bytes()) {
            return push(run(bytes, at, Base64), PRIVATE_KEY);
        }
        if rest.starts_with(b"eyJ") || rest.starts_with(b"ewog") {
            return self.jwt(bytes, at).and_then(|end| push(end, TOKEN));
        }
        // A messenger's address has the token right behind `bot`.
        if rest.starts_with(b"bot") && rest.get(3).is_some_and(u8::is_ascii_digit) {
            return bot_token(bytes, at + 3).and_then(|end| push(end, TOKEN));
        }
        if rest[0].is_ascii_digit() {
            return bot_token(bytes, at).and_then(|end| push(end, TOKEN));
        }
        if matches!(rest[0], b'b' | b'B')
            && rest.len() > 6
            && (rest[..6].eq_ignore_ascii_case(b"bearer") || rest[..5].eq_ignore_ascii_case(b"basic"))
        {
            return authorization(bytes, at, found);
        }
        None
    }

    /// Three parts of base64 with dots between, of which the last may be empty.
    fn jwt(&mut self, bytes: &[u8], at: usize) -> Option<usize> {
        if at < self.no_jwt_before {
            return None;
        }
        let header = run(bytes, at, Url);
        self.no_jwt_before = header;
        if header - at < 13 || bytes.get(header) != Some(&b'.') {
            return None;
        }
        let claims = run(bytes, header + 1, Url);
        let object = |text: &[u8]| text.starts_with(b"eyJ") || text.starts_with(b"ewog");
        if !object(&bytes[header + 1..]) || claims - header < 14 || bytes.get(claims) != Some(&b'.') {
            return None;
        }
        Some(run(bytes, claims + 1, Url))
    }

    /// A storage key: exactly 86 characters of base64 and `==`. Such a key may begin with `+` or `/`. Or a registry's password, which
    /// holds a mark of its own. A `/` around them may be the border of a path's segment.
    fn base64_key(&mut self, bytes: &[u8], at: usize, found: &mut Vec<Secret>) {
        if at < self.base64_before {
            return;
        }
        let inner = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
        let end = bytes[at..].iter().position(|byte| !inner(byte)).map_or(bytes.len(), |length| at + length);
        self.base64_before = end;
        let begins = |start: &usize| *start == at || (*start > at && bytes[*start - 1] == b'/');
        if bytes[end..].starts_with(b"==")
            && bytes.get(end + 2) != Some(&b'=')
            && let Some(start) = end.checked_sub(86).filter(begins)
        {
            found.push(Secret { start, end: end + 2, class: TOKEN });
        }
        if end - at < 52 {
            return;
        }
        for start in (at..=end - 52).filter(begins) {
            let to = start + 52;
            let (mark, rest) = bytes[start + 42..to].split_at(4);
            if mark == b"+ACR" && rest.iter().all(u8::is_ascii_alphanumeric) && (to == end || bytes[to] == b'/') {
                found.push(Secret { start, end: to, class: TOKEN });
            }
        }
    }
}

/// How far from the id of a key its secret part is looked for, in bytes: a name, a separator and the secret.
const BESIDE: usize = 128;

/// The secret part of a key pair has no form but its length, so it is one only beside the id.
fn access_keys(bytes: &[u8], start: usize, end: usize, found: &mut Vec<Secret>) {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/');
    for (from, to) in [(start.saturating_sub(BESIDE), start), (end, bytes.len().min(end + BESIDE))] {
        let mut at = from;
        while at < to {
            let length = bytes[at..to].iter().position(|byte| !inner(*byte)).unwrap_or(to - at);
            let run = &bytes[at..at + length];
            let bounded = (at == 0 || !inner(bytes[at - 1])) && bytes.get(at + length).is_none_or(|next| !inner(*next));
            if length == 40 && bounded && is_access_key(run) {
                found.push(Secret { start: at, end: at + length, class: TOKEN });
            }
            at += length + 1;
        }
    }
}

/// Paths have slashes and words, commits have hexadecimal digits only.
fn is_access_key(run: &[u8]) -> bool {
    let is_path = run.split(|byte| *byte == b'/').count() > 4;
    !is_path && run.iter().any(u8::is_ascii_digit) && run.iter().any(u8::is_ascii_uppercase) && run.iter().any(u8::is_ascii_lowercase)
}

/// The key that many services copied. Names with `sk-` in them are lower-case words with hyphens.
fn is_sk(rest: &[u8]) -> bool {
    let alnum = rest.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
    if alnum == 0 {
        return false;
    }
    let url = rest.iter().take_while(|byte| Url.holds(**byte)).count();
    let some = |length: usize, what: fn(&u8) -> bool| rest[..length].iter().any(what);
    (alnum >= 16 && some(alnum, u8::is_ascii_digit))
        || alnum >= 32
        // Words with hyphens between them are a name, whatever their case: no word of one is this long.
        || (url >= 16
            && rest[..url].split(|byte| !byte.is_ascii_alphanumeric()).any(|word| word.len() >= 10)
            && some(url, u8::is_ascii_digit)
            && some(url, u8::is_ascii_uppercase)
            && some(url, u8::is_ascii_lowercase))
}

/// `<5 to 16 digits>:A<34 characters>`
fn bot_token(bytes: &[u8], at: usize) -> Option<usize> {
    let digits = bytes[at..].iter().take(17).take_while(|byte| byte.is_ascii_digit()).count();
    if !(5..=16).contains(&digits) || !bytes[at + digits..].starts_with(b":A") {
        return None;
    }
    let start = at + digits + 2;
    let head = &bytes[start..bytes.len().min(start + 35)];
    (head.iter().take_while(|byte| Url.holds(**byte)).count() == 34).then_some(start + 34)
}

/// `Bearer …` and `Basic …`: the word after it is a credential unless it is one of a sentence.
fn authorization(bytes: &[u8], at: usize, found: &mut Vec<Secret>) -> Option<usize> {
    let word = if bytes[at..].len() >= 6 && bytes[at..at + 6].eq_ignore_ascii_case(b"bearer") { 6 } else { 5 };
    let mut start = at + word;
    while bytes.get(start).is_some_and(|byte| matches!(byte, b' ' | b'\t')) {
        start += 1;
    }
    if start == at + word {
        return None;
    }
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'~' | b'+' | b'/' | b'=' | b'-');
    let end = bytes[start..].iter().position(|byte| !inner(*byte)).map_or(bytes.len(), |length| start + length);
    let head = &bytes[start..end.min(start + HEAD)];
    let fits = match word {
        6 => head.len() >= 15 || (head.len() >= 8 && head.iter().any(u8::is_ascii_digit)),
        _ => head.len() >= 8 && is_user_and_password(head),
    };
    if !fits {
        // The blanks are not read again.
        return Some(start);
    }
    found.push(Secret { start, end, class: TOKEN });
    Some(end)
}

/// Whether the text is base64 of plain text with a colon in it; words of a sentence are not.
fn is_user_and_password(text: &[u8]) -> bool {
    let digits = text.iter().take_while(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/'));
    let (mut bits, mut count, mut colon) = (0_u32, 0, false);
    for digit in digits {
        let value = match digit {
            b'A'..=b'Z' => digit - b'A',
            b'a'..=b'z' => digit - b'a' + 26,
            b'0'..=b'9' => digit - b'0' + 52,
            b'+' => 62,
            _ => 63,
        };
        bits = (bits << 6 | u32::from(value)) & 0xffff;
        count += 6;
        if count >= 8 {
            count -= 8;
            let byte = (bits >> count & 0xff) as u8;
            if byte < 0x20 {
                return false;
            }
            colon |= byte == b':';
        }
    }
    colon
}

/// Azure's client secret: three characters, a digit, `Q~`, and 31 to 34 characters.
fn client_secret(bytes: &[u8], at: usize, found: &mut Vec<Secret>) -> Option<usize> {
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'~' | b'.' | b'-');
    let start = at.checked_sub(5)?;
    if bytes[at - 1] != b'Q' || !bytes[at - 2].is_ascii_digit() || !bytes[start..at].iter().all(|byte| inner(*byte)) {
        return None;
    }
    let mut length = bytes[at + 1..].iter().take(36).take_while(|byte| inner(**byte)).count();
    // The full stop of a sentence.
    if length == 35 && bytes[at + length] == b'.' {
        length -= 1;
    }
    if !(31..=34).contains(&length) {
        return None;
    }
    found.push(Secret { start, end: at + 1 + length, class: TOKEN });
    Some(at + 1 + length)
}

/// The key file of a cloud's service account: an object that says so and holds a private key goes whole, since its other members say
/// whose key it was.
fn service_accounts(text: &str, found: &mut Vec<Secret>) {
    if !text.contains("service_account") || !text.contains("private_key") {
        return;
    }
    let start = text.find('{').unwrap_or(0);
    let end = text.rfind('}').map_or(text.len(), |last| last + 1);
    if start < end {
        found.push(Secret { start, end, class: PRIVATE_KEY });
    }
}

/// Private keys in PEM, of any kind. Without an end the rest of the text is the key.
fn private_keys(text: &str, found: &mut Vec<Secret>) {
    // Searching costs more than looking whether there is anything to find.
    if !text.contains("-----BEGIN") {
        return;
    }
    let mut at = 0;
    while let Some(begin) = text[at..].find("-----BEGIN") {
        let start = at + begin;
        let label = start + "-----BEGIN".len();
        let length = text[label..].bytes().take(64).take_while(|byte| matches!(byte, b' ' | b'A'..=b'Z' | b'0'..=b'9')).count();
        at = label + length;
        if !text[label..at].contains("PRIVATE KEY") || !text[at..].starts_with("-----") {
            continue;
        }
        let end = match text[at..].find("-----END") {
            Some(end) => {
                let label = at + end + "-----END".len();
                text[label..].find("-----").map_or(text.len(), |length| label + length + 5)
            }
            None => text.len(),
        };
        found.push(Secret { start, end, class: PRIVATE_KEY });
        at = end;
    }
}
