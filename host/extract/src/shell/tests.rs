use proptest::prelude::*;

use super::*;

fn words(script: &str) -> Vec<Vec<String>> {
    parse(script)
        .into_iter()
        .map(|command| {
            let assignments = command.assignments.iter().map(|a| match &a.value {
                Assigned::Word(word) => format!("{}{}={}", a.name, if a.append { "+" } else { "" }, show(word)),
                Assigned::Array(words) => format!("{}=({})", a.name, words.iter().map(show).collect::<Vec<_>>().join(" ")),
            });
            assignments.chain(command.words.iter().map(show)).collect()
        })
        .collect()
}

fn show(word: &Word) -> String {
    word.parts
        .iter()
        .map(|part| match part {
            Part::Literal { text, .. } => text.clone(),
            Part::Variable { name, fallback, .. } => match fallback {
                Fallback::None => format!("<{name}>"),
                Fallback::Default(word) => format!("<{name}|{}>", show(word)),
                Fallback::Assigned(word) => format!("<{name}={}>", show(word)),
                Fallback::Edit(_) => format!("<{name}~>"),
                Fallback::Alternative(word) => format!("<{name}+{}>", show(word)),
            },
            Part::Opaque { .. } => "<?>".to_owned(),
        })
        .collect()
}

#[test]
fn commands_end_at_operators_and_lines() {
    assert_eq!(words("a b && c; d | e || f & g\nh"), [vec!["a", "b"], vec!["c"], vec!["d"], vec!["e"], vec!["f"], vec!["g"], vec!["h"]]);
}

#[test]
fn a_backslash_before_a_line_break_joins_lines() {
    assert_eq!(words("vllm serve \\\n  org/m \\\r\n --port 1"), [vec!["vllm", "serve", "org/m", "--port", "1"]]);
}

#[test]
fn quotes_are_removed_and_protect() {
    assert_eq!(words(r#"a 'b  $c' "d $e \"f\"" g\ h "" i'j'"k""#), [vec!["a", "b  $c", "d <e> \"f\"", "g h", "", "ijk"]]);
    assert_eq!(words(r"echo $'a\nb'"), [vec!["echo", "a\nb"]]);
}

#[test]
fn comments_end_at_the_line_and_a_hash_inside_a_word_is_plain() {
    assert_eq!(words("a # b c\nd#e"), [vec!["a"], vec!["d#e"]]);
}

#[test]
fn variables_are_kept_with_their_defaults() {
    assert_eq!(
        words(r#"x $A ${B} "${C:-org/m}" ${D:+y} ${E%/} ${F:?gone}"#),
        [vec!["x", "<A>", "<B>", "<C|org/m>", "<D+y>", "<E~>", "<F>"]]
    );
    assert_eq!(words("x ${A:-${B:-c}}/d"), [vec!["x", "<A|<B|c>>/d"]]);
}

#[test]
fn substitutions_are_opaque_and_balanced() {
    assert_eq!(words(r#"x $(a "b)" $(c)) `d e` "$(f)" $((1+2)) y"#), [vec!["x", "<?>", "<?>", "<?>", "<?>", "y"]]);
}

#[test]
fn assignments_stand_before_the_command() {
    assert_eq!(words("A=b C=\"$D\" cmd E=f\nexport G=h"), [vec!["A=b", "C=<D>", "cmd", "E=f"], vec!["export", "G=h"]]);
    assert_eq!(words("ARGS=(--model 'a b'\n --x)\nARGS+=(y)\nB+=c"), [vec!["ARGS=(--model a b --x)"], vec!["ARGS=(y)"], vec!["B+=c"]]);
}

#[test]
fn redirections_and_here_documents_are_left_out() {
    assert_eq!(words("a >x 2>&1 </dev/null b &>>log\nc"), [vec!["a", "b"], vec!["c"]]);
    assert_eq!(words("cat <<'EOF' >f\nvllm serve no/no\nEOF\nb <<-X c\n\tin\n\tX\nd"), [vec!["cat"], vec!["b", "c"], vec!["d"]]);
    assert_eq!(words("a <<<\"text\" b"), [vec!["a", "b"]]);
}

#[test]
fn bodies_of_structures_are_read_as_commands() {
    assert_eq!(
        words("if [ -f x ]; then run a; else run b; fi\nwhile true; do c; done\n(d; { e; })"),
        [vec!["[", "-f", "x", "]"], vec!["run", "a"], vec!["run", "b"], vec!["true"], vec!["c"], vec!["d"], vec!["e"]]
    );
}

#[test]
fn bodies_of_functions_and_loops_are_kept_apart() {
    let commands = parse("f() {\n a 1\n { b; }\n}\nfunction g { c; }\nfor m in x y; do d $m; for n in z; do e; done; done\nf");
    let inner = |command: &Simple| match &command.body {
        Some(Body::Function { name, commands }) => (name.clone(), commands.len()),
        Some(Body::Loop { commands, .. }) => (String::new(), commands.len()),
        None => (command.words[0].literal().unwrap(), 0),
    };
    let found: Vec<_> = commands.iter().map(inner).collect();
    assert_eq!(found, [("f".to_owned(), 2), ("g".to_owned(), 1), (String::new(), 2), ("f".to_owned(), 0)]);
    // What is no function, or is never closed, is read as it stands.
    assert_eq!(words("a (b)\n{ c; }"), [vec!["a"], vec!["b"], vec!["c"]]);
    assert_eq!(words("f() { a\nb").len(), 3);
    assert!(parse(&"for a in b; do ".repeat(50_000)).len() >= 50_000);
    assert!(parse(&"f() { ".repeat(50_000)).len() >= 8);
}

#[test]
fn patterns_of_a_case_are_no_commands() {
    assert_eq!(
        words("case \"$X\" in\n a|b) run a ;;\n (c) run c; more ;;\n *) run d\nesac\nend"),
        [vec!["run", "a"], vec!["run", "c"], vec!["more"], vec!["run", "d"], vec!["end"]]
    );
    assert_eq!(words("case x"), [vec!["case", "x"]]);
}

#[test]
fn commands_say_when_they_are_reached() {
    let reached = |script: &str| {
        let shown = parse(script).into_iter().map(|command| match command.reached {
            Reached::Always => "always".to_owned(),
            Reached::IfEmpty(name) => name,
            Reached::Maybe => "maybe".to_owned(),
        });
        shown.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(reached("a; if [ -z \"$M\" ]; then b; else c; fi; d"), "always always M maybe always");
    assert_eq!(reached("if [ $R = x ]; then b; elif y; then c; fi; d"), "always maybe maybe maybe always");
    assert_eq!(reached("[ -z \"$M\" ] && b; [ -n $M ] || c; [[ -n $M ]] && d"), "always M always M always maybe");
    assert_eq!(reached("set -e && b && c; d || e"), "always always always always maybe");
    assert_eq!(reached("case x in a) b ;; esac; c; while d; do e; done"), "maybe always always always");
}

#[test]
fn a_redirection_into_a_process_is_left_out() {
    assert_eq!(words("exec > >(tee log) 2>&1\na"), [vec!["exec"], vec!["a"]]);
}

#[test]
fn ranges_point_at_the_text_of_a_word() {
    let script = "a  \"b c\" d";
    let commands = parse(script);
    let texts: Vec<_> = commands[0].words.iter().map(|word| &script[word.range.clone()]).collect();
    assert_eq!(texts, ["a", "\"b c\"", "d"]);
}

#[test]
fn a_long_script_of_openers_takes_no_longer_than_its_length_allows() {
    // Quadratic scanning would take minutes here.
    for opener in ["$(", "${A:-", "\"$(", "`", "'", "((", "<<A\n", "A=(", "\\"] {
        assert!(parse(&opener.repeat(200_000)).len() <= 400_001);
    }
}

#[test]
fn a_default_may_begin_with_any_character() {
    assert_eq!(words("x ${A:-é} \"${A:-'é'}\""), [vec!["x", "<A|é>", "<A|'é'>"]]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn any_text_parses(script in "[a-zA-Z0-9 \\t\\n\\r'\"\\\\$(){}<>|&;#=+@*`:\u{e9}\u{1f600}-]{0,200}") {
        for command in parse(&script) {
            for word in &command.words {
                prop_assert!(script.get(word.range.clone()).is_some());
            }
        }
    }
}
