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
        [vec!["x", "<A>", "<B>", "<C|org/m>", "<D+y>", "<?>", "<F>"]]
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
