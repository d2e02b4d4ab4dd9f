use aibom_facts::pointer::Pointer;
use aibom_facts::tree::Tree;
use proptest::prelude::*;

use super::*;

fn at(pointer: &str) -> Locator {
    Locator::scraped(Pointer::parse(pointer).unwrap())
}

fn env(list: &str) -> Env {
    let tree = Tree::from_json(list.as_bytes()).unwrap();
    let mut env = Env::default();
    env.add_list(&tree, 0, tree.root(), &mut Vec::new());
    env
}

fn argument(text: &str, pointer: &str) -> Token {
    Token { text: Traced::plain(text), at: at(pointer), source: Source::ContainerArg }
}

fn run_with(script: &str, env: &Env, arguments: &[Token]) -> Vec<Vec<String>> {
    let lines = commands(&env.expand(script), &at("/args/0"), arguments, env);
    lines.into_iter().map(|line| line.tokens.into_iter().map(|token| token.text.text).collect()).collect()
}

fn run(script: &str) -> Vec<Vec<String>> {
    run_with(script, &env("[]"), &[])
}

#[test]
fn assignments_reach_the_commands_behind_them() {
    assert_eq!(run("M=Qwen/Qwen3-8B\nexport P=/models/$M\nvllm serve \"$P\""), [["vllm", "serve", "/models/Qwen/Qwen3-8B"]]);
    assert_eq!(run("A=a; A+=b; x ${A}c ${B:-d} ${A:+e} ${B:+f}"), [["x", "abc", "d", "e"]]);
}

#[test]
fn values_without_quotes_are_split_and_quoted_ones_are_not() {
    assert_eq!(run("A='--model m --tp 2'\nx $A y"), [["x", "--model", "m", "--tp", "2", "y"]]);
    assert_eq!(run("A='b c'\nx \"$A\" pre$A"), [["x", "b c", "preb", "c"]]);
    assert_eq!(run("A=''\nx $A \"$A\""), [["x", ""]]);
}

#[test]
fn arrays_become_one_word_per_element() {
    assert_eq!(run("A=(--model 'a b')\nA+=(--x)\ny \"${A[@]}\""), [["y", "--model", "a b", "--x"]]);
}

#[test]
fn arguments_of_the_script_keep_their_own_place() {
    let lines = commands(
        &Traced::plain("exec vllm serve \"$@\" $1"),
        &at("/command/2"),
        &[argument("sh", "/command/3"), argument("a/b", "/args/0")],
        &env("[]"),
    );
    let places: Vec<_> = lines[0].tokens.iter().map(|token| (token.text.text.as_str(), token.at.pointer.as_str())).collect();
    assert_eq!(
        places,
        [("exec", "/command/2"), ("vllm", "/command/2"), ("serve", "/command/2"), ("a/b", "/args/0"), ("a/b", "/command/2")]
    );
}

#[test]
fn what_eval_is_given_is_read_again() {
    // B47
    assert_eq!(
        run("eval \"exec vllm serve /mnt/models --served-model-name A B\""),
        [["exec", "vllm", "serve", "/mnt/models", "--served-model-name", "A", "B"]]
    );
}

#[test]
fn kubernetes_expands_before_the_shell_and_its_variables_show() {
    let env = env(r#"[{"name":"M","value":"a/b"},{"name":"S","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}]"#);
    let lines = commands(&env.expand("x $(M) $M $(S) $(date)"), &at("/args/0"), &[], &env);
    let tokens = &lines[0].tokens;
    let names = |token: &Token| token.text.variables().map(|via| via.name.clone()).collect::<Vec<_>>();
    assert_eq!(names(&tokens[1]), ["M"]);
    assert_eq!(names(&tokens[2]), ["M"]);
    assert_eq!(tokens[3].text.unknown().map(|unknown| (unknown.why, unknown.reference.as_str())), Some(("secret", "s")));
    assert_eq!(tokens[4].text.unknown().map(|unknown| unknown.why), Some("computed"));
}

#[test]
fn a_variable_that_nobody_sets_is_unknown_and_a_map_may_supply_it() {
    let plain = env("[]");
    let lines = commands(&Traced::plain("x $M"), &at("/args/0"), &[], &plain);
    assert_eq!(lines[0].tokens[1].text.unknown().map(|unknown| unknown.why), Some("undefined-variable"));
    let tree = Tree::from_json(br#"[{"secretRef":{"name":"s"}},{"configMapRef":{"name":"c"}}]"#).unwrap();
    let mut env = env("[]");
    env.add_from(&tree, 0, tree.root());
    let lines = commands(&Traced::plain("x $M"), &at("/args/0"), &[], &env);
    let unknown = lines[0].tokens[1].text.unknown().unwrap();
    assert_eq!((unknown.why, unknown.reference.as_str(), unknown.at.pointer.as_str()), ("configmap", "c", "/1/configMapRef"));
}

#[test]
fn a_loop_is_read_for_each_of_its_words() {
    assert_eq!(run("for m in a/b; do get $m; done"), [["get", "a/b"]]);
    assert_eq!(run("L='a/b c/d'\nfor m in $L; do get ${m}; done; end $m"), [["get", "a/b"], ["get", "c/d"], ["end", "c/d"]]);
    // Rounds that are all the same say nothing more.
    assert_eq!(run("for i in 1 2 3; do serve a/b && break; done"), [vec!["serve", "a/b"], vec!["break"]]);
    let lines = commands(&Traced::plain("for m in $(list); do get $m; done"), &at(""), &[], &env("[]"));
    assert!(lines[0].tokens[1].text.unknown().is_some());
    let many = "x ".repeat(MAX_ROUNDS + 1);
    let lines = commands(&Traced::plain(format!("for m in {many}; do get $m; done")), &at(""), &[], &env("[]"));
    assert!(lines.len() == 1 && lines[0].tokens[1].text.unknown().is_some());
}

#[test]
fn a_function_is_read_where_it_is_called_and_nowhere_else() {
    assert_eq!(
        run("serve() {\n vllm serve \"$1\" --tp $2\n}\nunused() { vllm serve no/no; }\nserve a/b 2"),
        [["vllm", "serve", "a/b", "--tp", "2"]]
    );
    assert_eq!(run("function f { x $1; }\ng() { f $2; }\ng a b; y"), [vec!["x", "b"], vec!["y"]]);
    // A function that calls itself, or many that call each other twice, end.
    assert!(run("f() { x; f; }\nf").len() <= 10);
    let script = (0..40).map(|n| format!("f{n}() {{ f{}; f{}; }}\n", n + 1, n + 1)).collect::<Vec<_>>().concat();
    assert!(run(&format!("f40() {{ x; }}\n{script}f0")).len() <= MAX_WORDS);
}

#[test]
fn an_assignment_in_a_branch_that_contradicts_makes_the_variable_unknown() {
    let unknown = |script: &str, list: &str| {
        let env = env(list);
        let lines = commands(&Traced::plain(script), &at(""), &[], &env);
        let last = lines.last().unwrap().tokens.last().unwrap();
        last.text.unknown().map_or_else(|| last.as_str().to_owned(), |unknown| unknown.why.to_owned())
    };
    let set = r#"[{"name":"M","value":"a/b"}]"#;
    assert_eq!(unknown("if [ -z \"$M\" ]; then M=c/d; fi; x $M", set), "a/b");
    assert_eq!(unknown("if [ -z \"$M\" ]; then M=c/d; fi; x $M", "[]"), "c/d");
    assert_eq!(unknown("[ -n \"$M\" ] || M=c/d; x $M", set), "a/b");
    assert_eq!(unknown("if [ $R = 1 ]; then M=c/d; else M=e/f; fi; x $M", "[]"), "computed");
    assert_eq!(unknown("if [ $R = 1 ]; then M=c/d; fi; x $M", set), "computed");
    assert_eq!(unknown("if [ $R = 1 ]; then M=a/b; fi; x $M", set), "a/b");
    assert_eq!(unknown("case $R in a) M=c/d ;; *) M=e/f ;; esac; x $M", "[]"), "computed");
}

#[test]
fn parts_of_values_are_certain_or_unknown() {
    let env = env(
        r#"[{"name":"P","value":"/m/org/name/"},{"name":"T","value":"img:v1"},{"name":"S","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}}]"#,
    );
    for (word, want) in [
        ("${P%/}", "/m/org/name"),
        ("${P#/m/}", "org/name/"),
        ("${P##*/}", ""),
        ("${T##*:}", "v1"),
        ("${T%%:*}", "img"),
        ("${T%:*}", "img"),
        ("${P/org/own}", "/m/own/name/"),
        ("${T:0:3}", "img"),
        ("${T:4}", "v1"),
        ("${T^^}", "IMG:V1"),
        ("${T,,}", "img:v1"),
        ("${T%[0-9]}", "${T}"),
        ("${N:=a/b}", "a/b"),
    ] {
        let lines = commands(&Traced::plain(format!("x \"{word}\"")), &at(""), &[], &env);
        let token = &lines[0].tokens[1];
        assert_eq!(token.text.unknown().is_some(), want.contains('$'), "{word}");
    }
    let lines = commands(&Traced::plain("x ${S%/}; : ${N:=a/b}; y $N"), &at(""), &[], &env);
    assert_eq!(lines[0].tokens[1].text.unknown().map(|unknown| unknown.why), Some("secret"));
    assert_eq!(lines[2].tokens[1].as_str(), "a/b");
}

#[test]
fn doubling_variables_do_not_grow_without_end() {
    let mut script = String::from("A=xxxxxxxx\n");
    for _ in 0..200 {
        script.push_str("A=$A$A\n");
    }
    script.push_str(&"y $A $A $A $A\n".repeat(1000));
    let lines = commands(&Traced::plain(script), &at(""), &[], &env("[]"));
    let bytes: usize = lines.iter().flat_map(|line| &line.tokens).map(|token| token.text.text.len()).sum();
    assert!(bytes <= 3 * MAX_EXPANSION, "{bytes}");
}

#[test]
fn elements_cost_even_when_they_are_empty() {
    // Copies of the whole array for its first element, and of many empty elements, are what this would take hours over.
    let many = "x ".repeat(19_000);
    let grow = "A+=(x)\n".repeat(30_000);
    for script in [
        format!("A=({many})\n{}", "B=$A\n".repeat(30_000)),
        format!("A=({many})\n{}", "B=${A:-c}; y \"${A[0]}\"\n".repeat(20_000)),
        format!("A=({})\n{}", "'' ".repeat(19_000), "y \"${A[@]}\"\n".repeat(30_000)),
        format!("set -- {}\n{}", "'' ".repeat(19_000), "B=(\"$@\")\n".repeat(30_000)),
        format!("A=({many})\n{grow}y ${{A[@]}}"),
        format!("set -- {many}\n{}", "shift\n".repeat(30_000)),
    ] {
        let env = env("[]");
        let lines = commands(&Traced::plain(script.as_str()), &at(""), &[], &env);
        let words: usize = lines.iter().map(|line| line.tokens.len()).sum();
        assert!(words <= 2 * MAX_WORDS, "{}: {words}", &script[script.len() - 20..]);
    }
}

#[test]
fn the_scripts_of_one_object_share_a_bound() {
    let env = env("[]");
    let script = Traced::plain(format!("A={}\n{}", "x".repeat(100_000), "y $A\n".repeat(1_000)));
    let bytes: usize =
        (0..50).flat_map(|_| commands(&script, &at(""), &[], &env)).flat_map(|line| line.tokens).map(|token| token.text.text.len()).sum();
    assert!(bytes < 20 * 1024 * 1024, "{bytes}");
    assert!(env.budget.spent());
    assert_eq!(env.expand("$(B)").text, "$(B)");
}

#[test]
fn shift_takes_the_first_argument_off() {
    let want = [vec!["x", "b", "b", "c"], vec!["y", "c"], vec!["z", "d"]];
    assert_eq!(run("set -- a b c; shift; x $1 \"$@\"; shift; y \"$@\"; set -- d; z $1"), want);
}

#[test]
fn a_variable_with_the_name_of_a_secret_is_not_looked_at() {
    for script in [
        "TOKEN=s3cret; x $TOKEN",
        "TOKEN=pre; TOKEN+=s3cret; x $TOKEN",
        "TOKEN=(s3cret b); x \"${TOKEN[@]}\"",
        "export API_KEY=s3cret; x ${API_KEY}",
        "TOKEN=s3cret x a",
        "for TOKEN in s3cret; do x $TOKEN; done",
        "x ${TOKEN:-s3cret}",
        "TOKEN=s3cret; M=a-$TOKEN; x $M",
    ] {
        let lines = commands(&Traced::plain(script), &at("/args/0"), &[], &env("[]"));
        assert!(!format!("{lines:?}").contains("s3cret"), "{script}: {lines:?}");
        let last = &lines[0].tokens[1];
        if last.as_str() != "a" {
            assert_eq!(last.text.unknown().map(|unknown| unknown.why), Some("secret"), "{script}");
        }
    }
    assert_eq!(run("x a ${TOKEN:-} b"), [["x", "a", "b"]]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn any_script_expands(script in "[a-c\u{e9} \\n'\"\\\\$(){}<>|&;#=+@*`:]{0,120}") {
        let env = env(r#"[{"name":"a","value":"$(b) c"},{"name":"b","value":"$a"}]"#);
        let _ = run_with(&script, &env, &[argument("z", "/0")]);
    }
}
