use aibom_facts::inventory::Source;
use aibom_facts::object::Locator;

use super::*;

fn env(pairs: &[(&str, &str)]) -> Env {
    let mut env = Env::default();
    for (name, value) in pairs {
        env.set(Variable { name: (*name).to_owned(), value: Traced::plain(*value), at: Locator::default(), secret: false });
    }
    env
}

/// `name(words)` of each call.
fn read(code: &str, env: &Env) -> Vec<String> {
    let token = |text: &str| Token { text: Traced::plain(text), at: Locator::default(), source: Source::ContainerArg };
    let found = calls(&token(code), &[token("first")], env, &[]);
    let show = |word: &Token| if word.as_str() == OPAQUE { "?".to_owned() } else { word.as_str().to_owned() };
    found.iter().map(|call| format!("{}({})", call.name, call.words.iter().map(show).collect::<Vec<_>>().join(" "))).collect()
}

#[test]
fn arguments_become_words_and_keywords_options() {
    assert_eq!(read("load('a/b', rev=\"x\", n=3, deep={'a': 1})", &Env::default()), ["load(a/b --rev=x)"]);
    assert_eq!(
        read("load(\n    'a/b',  # why\n    other, patterns=['x', 'y'],\n)", &Env::default()),
        ["load(a/b ? --patterns=x --patterns=y)"]
    );
    assert_eq!(read("load('a' 'b', ('c'))", &Env::default()), ["load(ab c)"]);
    assert_eq!(read("m = hub.Auto.load('a/b').eval()", &Env::default())[0], "hub.Auto.load(a/b)");
}

#[test]
fn texts_are_followed_through_names_variables_and_loops() {
    assert_eq!(read("x = 'a/b'\nload(x)", &Env::default()), ["load(a/b)"]);
    let env = env(&[("REPO", "a/b"), ("EMPTY", "")]);
    assert_eq!(read("load(os.environ['REPO'])", &env), ["load(a/b)"]);
    assert_eq!(read("x = os.environ.get('REPO', 'c/d'); load(x)", &env)[1..], ["load(a/b)"]);
    assert_eq!(read("x = os.getenv('EMPTY') or 'c/d'\nload(x)", &env)[1..], ["load(c/d)"]);
    assert_eq!(read("load(os.environ['OTHER'])", &env), ["load(${OTHER})"]);
    assert_eq!(read("load(sys.argv[1])", &env), ["load(first)"]);
    assert_eq!(read("for x in ['a/b', 'c/d']:\n    load(x)", &env), ["load(a/b)", "load(c/d)"]);
    assert_eq!(read("for x, y in [('a/b', '/x'), ('c/d', '/y')]:\n    load(x, to=y)", &env), ["load(a/b --to=/x)", "load(c/d --to=/y)"]);
    assert_eq!(read("n = 'b'\nload(f'a/{n}', f'{m}/x')", &env), ["load(a/b {m}/x)"]);
}

#[test]
fn functions_pass_their_arguments_on_and_those_that_nobody_calls_are_left_out() {
    assert_eq!(
        read("def get(repo, to='/x'):\n    load(repo)\nget('a/b')\nget(repo='c/d')", &Env::default())[..2],
        ["load(a/b)", "load(c/d)"]
    );
    assert_eq!(read("def unused():\n    load('a/b')\n\nload('c/d')", &Env::default()), ["load(c/d)"]);
    assert_eq!(read("def main():\n    load('a/b')\n\nif __name__ == '__main__':\n    main()", &Env::default())[0], "load(a/b)");
}

#[test]
fn a_call_is_told_by_its_last_names() {
    let call = |name: &str| Call { name: name.to_owned(), words: Vec::new() };
    assert!(call("load").is("load") && call("hub.load").is("load") && call("hub.AutoModelX.load").is("AutoModel*.load"));
    assert!(!call("hub.load.x").is("load") && !call("AutoTokenizer.load").is("AutoModel*.load") && !call("reload").is("load"));
    assert!(imports("import os\nfrom hub.x import y", "hub") && imports("import hub", "hub") && !imports("import hubble", "hub"));
}

#[test]
fn comments_texts_and_broken_code_call_nothing() {
    assert!(read("# load('a/b')\nx = \"load('a/b')\"\n'''\nload('c/d')\n'''", &Env::default()).is_empty());
    for code in ["load(", "load('a", "load('a/b'", "((((", "x = [", "for x in", "def f(", "'''", "load(f'{')", "\\", "load(a=", "é('ü')"]
    {
        read(code, &Env::default());
    }
    let deep = format!("{}'a'{}", "f(".repeat(50_000), ")".repeat(50_000));
    assert!(read(&deep, &Env::default()).len() <= MAX_CALLS);
}
