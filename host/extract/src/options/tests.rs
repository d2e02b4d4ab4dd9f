use aibom_facts::inventory::Source;
use aibom_facts::object::Locator;

use super::*;
use crate::rules::Rules;

fn tokens(words: &[&str]) -> Vec<Token> {
    words.iter().map(|word| Token { text: Traced::plain(*word), at: Locator::default(), source: Source::ContainerArg }).collect()
}

/// `use/parameter option=values` of each hit.
fn hits(runtime: &str, positional: &[Use], words: &[&str]) -> Vec<String> {
    let table = Rules::builtin().runtime(runtime).unwrap();
    let positional: Vec<Positional> = positional.iter().map(|what| Positional::Use(*what)).collect();
    parse(&tokens(words), &[table], &positional)
        .hits
        .into_iter()
        .map(|hit| {
            let what = match &hit.meaning {
                Meaning::Fact(role, _) => format!("{role:?}"),
                Meaning::Parameter(name) => name.clone(),
                Meaning::Switch => "switch".to_owned(),
                Meaning::Ignored(_) => "ignored".to_owned(),
                Meaning::Members(option) => option.clone(),
            };
            let values: Vec<&str> = hit.values.iter().map(Token::as_str).collect();
            format!("{what} {}={}", hit.by, values.join(","))
        })
        .collect()
}

#[test]
fn options_take_their_value_from_the_next_word_or_behind_an_equals_sign() {
    // B46: both ways to write a dash, both ways to give the value.
    assert_eq!(
        hits("vllm", &[], &["--model", "a/b", "--max_model_len=4", "-tp", "2", "-q=fp8"]),
        ["Model --model=a/b", "context-length --max_model_len=4", "tensor-parallel-size -tp=2", "quantization -q=fp8"]
    );
    assert_eq!(
        hits("tensorflow-serving", &[], &["--model-base-path=/m", "--model_name", "x"]),
        ["Model --model-base-path=/m", "Served --model_name=x"]
    );
}

#[test]
fn a_positional_model_is_read_only_where_it_is_safe() {
    let model = [Use::Model];
    // B43
    assert_eq!(hits("vllm", &model, &["a/b", "--port", "8000"]), ["Model =a/b"]);
    assert_eq!(hits("vllm", &model, &["--port", "8000", "--dtype", "auto", "a/b"]), ["dtype --dtype=auto", "Model =a/b"]);
    assert_eq!(hits("vllm", &model, &["--trust-remote-code", "a/b"]), ["switch --trust-remote-code=", "Model =a/b"]);
    assert_eq!(hits("vllm", &model, &["--served-model-name", "x", "y", "--", "a/b"]), ["Served --served-model-name=x,y", "Model =a/b"]);
    assert_eq!(hits("vllm", &model, &["--served-model-name", "x", "a/b"]), ["Served --served-model-name=x,a/b"]);
    assert_eq!(hits("vllm", &[], &["a/b"]), Vec::<String>::new());
}

#[test]
fn an_option_without_its_value_takes_no_other_option() {
    assert_eq!(hits("vllm", &[], &["--model", "--dtype", "auto"]), ["Model --model=", "dtype --dtype=auto"]);
    assert_eq!(hits("vllm", &[], &["--model"]), ["Model --model="]);
}

#[test]
fn values_with_separators_are_several() {
    assert_eq!(hits("tgi", &[], &["--lora-adapters", "a/b,c/d"]), ["Adapter --lora-adapters=a/b,c/d"]);
    let table = Rules::builtin().runtime("tgi").unwrap();
    assert_eq!(parse(&tokens(&["--lora-adapters", "a/b,c/d"]), &[table], &[]).hits[0].values.len(), 2);
}

#[test]
fn members_of_json_options_are_found_in_every_spelling() {
    let shape = Shape { json: Some("model".to_owned()), ..Shape::default() };
    let value = |text: &str| shaped(&tokens(&[text])[0], &shape).map(|(_, token)| token.text.text);
    assert_eq!(value(r#"{"method":"eagle3","model":"a/draft"}"#).as_deref(), Some("a/draft"));
    assert_eq!(value(r#"{"method":"ngram"}"#), None);
    assert_eq!(value("{broken"), None);
    assert_eq!(hits("vllm", &[], &["--speculative-config.model", "a/draft"]), ["Draft --speculative-config.model=a/draft"]);
}

#[test]
fn adapters_are_pairs_or_json() {
    let shape = Shape { named: true, ..Shape::default() };
    let value = |text: &str| shaped(&tokens(&[text])[0], &shape).map(|(name, token)| (name.unwrap_or_default(), token.text.text));
    assert_eq!(value("sql=/adapters/sql"), Some(("sql".to_owned(), "/adapters/sql".to_owned())));
    assert_eq!(value(r#"{"name":"sql","path":"a/b"}"#), Some(("sql".to_owned(), "a/b".to_owned())));
    assert_eq!(value("a/b"), Some((String::new(), "a/b".to_owned())));
    for address in ["https://files.example/l?sig=x", "s3://bucket/l?versionId=1", "a/b?x=y"] {
        assert_eq!(value(address), Some((String::new(), address.to_owned())), "the first `=` is that of the query");
    }
    let list = &tokens(&[r#"[{"name":"sql","path":"a/b"},{"name":"chat","path":"https://files.example/l?v=1"}]"#])[0];
    let paths =
        split(list.clone(), &shape).iter().filter_map(|one| shaped(one, &shape)).map(|(_, token)| token.text.text).collect::<Vec<_>>();
    assert_eq!(paths, ["a/b", "https://files.example/l?v=1"]);
}

#[test]
fn a_word_behind_an_unknown_option_is_not_positional() {
    let model = [Use::Model];
    for words in [&["--unheard-of", "x.y", "a/b"][..], &["--unheard-of", "a/b"], &["--unheard-of", "1", "2", "a/b"]] {
        assert_eq!(hits("vllm", &model, words), Vec::<String>::new(), "{words:?}");
    }
    assert_eq!(hits("vllm", &model, &["--unheard-of=1", "a/b"]), ["Model =a/b"]);
    assert_eq!(hits("vllm", &model, &["--unheard-of", "1", "--", "a/b"]), ["Model =a/b"]);
    assert_eq!(hits("vllm", &model, &["--api-key", "aaaa", "bbbb"]), Vec::<String>::new());
}
