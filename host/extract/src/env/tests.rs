use super::*;

fn env(lists: &[&str]) -> (Env, Vec<Problem>) {
    let mut env = Env::default();
    let mut problems = Vec::new();
    for list in lists {
        let tree = Tree::from_json(list.as_bytes()).unwrap();
        env.add_list(&tree, 0, tree.root(), &mut problems);
    }
    (env, problems)
}

#[test]
fn only_the_syntax_of_kubernetes_is_expanded() {
    // B48
    let (env, _) = env(&[r#"[{"name":"M","value":"a/b"},{"name":"N","value":"$(M):x"}]"#]);
    let table = [
        ("--model=$(M)", "--model=a/b"),
        ("$(N)", "a/b:x"),
        ("$$(M)", "$(M)"),
        ("$$$(M)", "$a/b"),
        ("${M} $M", "${M} $M"),
        ("$(UNKNOWN) $( $", "$(UNKNOWN) $( $"),
        ("$(M", "$(M"),
        ("é$(M)é", "éa/bé"),
    ];
    for (text, want) in table {
        assert_eq!(env.expand(text).text, want, "{text}");
    }
}

#[test]
fn a_later_list_wins_and_values_see_what_stands_before_them() {
    let (env, _) =
        env(&[r#"[{"name":"A","value":"1"},{"name":"B","value":"$(C)"}]"#, r#"[{"name":"A","value":"$(A)2"},{"name":"C","value":"3"}]"#]);
    assert_eq!(env.expand("$(A) $(B) $(C)").text, "12 $(C) 3");
}

#[test]
fn references_are_unknown_with_their_place() {
    // B52
    let (env, _) = env(&[
        r#"[{"name":"A","valueFrom":{"configMapKeyRef":{"name":"c","key":"k"}}},{"name":"B","valueFrom":{"secretKeyRef":{"name":"s","key":"k"}}},
           {"name":"C","valueFrom":{"fieldRef":{"fieldPath":"spec.nodeName"}}},{"name":"D"}]"#,
    ]);
    let why = |name: &str| {
        env.value(name)
            .and_then(|value| value.unknown().map(|unknown| (unknown.why, unknown.reference.clone(), unknown.at.pointer.to_string())))
    };
    assert_eq!(why("A"), Some(("configmap", "c".to_owned(), "/0/valueFrom/configMapKeyRef".to_owned())));
    assert_eq!(why("B"), Some(("secret", "s".to_owned(), "/1/valueFrom/secretKeyRef".to_owned())));
    assert_eq!(why("C"), Some(("field", "spec.nodeName".to_owned(), "/2/valueFrom/fieldRef".to_owned())));
    assert_eq!(why("D"), None);
}

#[test]
fn the_value_of_a_secret_variable_is_never_kept() {
    // B53
    let (env, _) = env(&[r#"[{"name":"HF_TOKEN","value":"hf_s3cret\n"},{"name":"X","value":"a $(HF_TOKEN)"}]"#]);
    assert!(!format!("{env:?}").contains("s3cret"));
    assert_eq!(env.value("X").and_then(|value| value.unknown().map(|unknown| unknown.why)), Some("secret"));
}

#[test]
fn malformed_entries_are_problems() {
    let (env, problems) = env(&[r#"[{"value":"x"},7,{"name":"A","value":3}]"#, r#"{"A":"b"}"#, "null"]);
    assert_eq!(env.expand("$(A)").text, "3");
    assert_eq!(problems.len(), 3);
}

#[test]
fn a_run_of_openers_is_read_once_and_growth_ends() {
    let (env, _) = env(&[&format!("[{{\"name\":\"A\",\"value\":\"{}\"}}]", "x".repeat(100_000))]);
    assert_eq!(env.expand(&"$(".repeat(300_000)).text.len(), 600_000);
    let grown: usize = (0..1000).map(|_| env.expand("$(A)$(A)").text.len()).sum();
    assert!(grown <= MAX_EXPANSION + 300_000, "{grown}");
}
