use aibom_facts::inventory::Source;
use aibom_facts::object::Locator;

use super::*;
use crate::text::Traced;

fn lines(words: &[&str]) -> Vec<CommandLine> {
    let tokens = words.iter().map(|word| Token { text: Traced::plain(*word), at: Locator::default(), source: Source::ContainerArg });
    unwrap(Rules::builtin(), CommandLine::plain(tokens.collect()), &Env::default())
}

/// `runtime does: rest` of each launcher.
fn launches(words: &[&str]) -> Vec<String> {
    let rules = Rules::builtin();
    let found = lines(words).into_iter().flat_map(|line| find(rules, &line, &Env::default()));
    found
        .map(|launch| {
            let rest: Vec<&str> = launch.rest.iter().map(Token::as_str).collect();
            format!("{} {:?}: {}", rules.runtimes[launch.runtime].name, launch.does, rest.join(" "))
        })
        .collect()
}

#[test]
fn launchers_are_found_by_program_module_and_script() {
    let table: [(&[&str], &[&str]); 16] = [
        (&["vllm", "serve", "a/b", "--port", "1"], &["vllm Run: a/b --port 1"]),
        (&["/opt/venv/bin/vllm", "serve", "a/b"], &["vllm Run: a/b"]),
        (&["vllm", "bench", "serve", "--model", "a/b"], &["vllm-bench Measure: --model a/b"]),
        (&["vllm", "collect-env"], &["vllm Tool: collect-env"]),
        (&["python3", "-u", "-m", "vllm.entrypoints.openai.api_server", "--model=a/b"], &["vllm Run: --model=a/b"]),
        (&["python3.12", "/usr/local/bin/vllm", "serve", "a/b"], &["vllm Run: a/b"]),
        (&["-m", "sglang.launch_server", "--model-path", "a/b"], &["sglang Run: --model-path a/b"]),
        (&["trtllm-serve", "a/b"], &["tensorrt-llm Run: a/b"]),
        (&["trtllm-serve", "serve", "a/b"], &["tensorrt-llm Run: a/b"]),
        (&["trtllm-serve", "disaggregated", "-c", "x"], &["tensorrt-llm Route: -c x"]),
        (&["huggingface-cli", "download", "a/b"], &["huggingface-download Fetch: a/b"]),
        (&["git", "clone", "https://huggingface.co/a/b", "/x"], &["huggingface-download Fetch: https://huggingface.co/a/b /x"]),
        (&["git", "clone", "https://example.com/a/b"], &[]),
        (&["python", "app.py"], &[]),
        (&["python"], &[]),
        (&[], &[]),
    ];
    for (words, want) in table {
        assert_eq!(launches(words), want, "{words:?}");
    }
}

#[test]
fn programs_in_front_of_a_program_are_taken_off() {
    let table: [(&[&str], &str); 12] = [
        (&["env", "A=b", "-u", "X", "vllm", "serve", "m"], "env A=b -u X vllm serve m"),
        (&["env", "-u", "X", "A=b", "vllm", "serve", "m"], "vllm serve m"),
        (&["exec", "nohup", "vllm", "serve", "m"], "vllm serve m"),
        (&["numactl", "-N", "0", "--membind=0", "vllm", "serve", "m"], "vllm serve m"),
        (&["tini", "-s", "--", "vllm", "serve", "m"], "vllm serve m"),
        (&["dumb-init", "vllm", "serve", "m"], "vllm serve m"),
        (&["timeout", "-k", "5", "60", "vllm", "serve", "m"], "vllm serve m"),
        (&["mpirun", "-n", "8", "--allow-run-as-root", "trtllm-llmapi-launch", "trtllm-serve", "m"], "trtllm-serve m"),
        (&["ray", "job", "submit", "--address", "x", "--", "python", "t.py"], "python t.py"),
        (&["uv", "run", "vllm", "serve", "m"], "vllm serve m"),
        (&["bash", "-euo", "pipefail", "-c", "exec vllm serve m"], "vllm serve m"),
        (&["/bin/sh", "-lc", "bash -c 'vllm serve m'"], "vllm serve m"),
    ];
    for (words, want) in table {
        let found: Vec<String> =
            lines(words).iter().map(|line| line.tokens.iter().map(Token::as_str).collect::<Vec<_>>().join(" ")).collect();
        // The first row shows that an unknown option behind an assignment is not guessed at.
        let want = if want.starts_with("env") { "-u X vllm serve m" } else { want };
        assert_eq!(found, [want], "{words:?}");
    }
}

#[test]
fn variables_in_front_of_a_program_belong_to_it() {
    let rules = Rules::builtin();
    let line = lines(&["env", "MODEL_ID=a/b", "text-generation-launcher"]).remove(0);
    let launch = find(rules, &line, &Env::default()).pop().unwrap();
    assert_eq!(launch.variable("MODEL_ID").unwrap().value.text, "a/b");
    let line = lines(&["sh", "-c", "export MODEL_ID=c/d; REVISION=e text-generation-launcher"]).remove(0);
    let launch = find(rules, &line, &Env::default()).pop().unwrap();
    assert_eq!(launch.variable("MODEL_ID").unwrap().value.text, "c/d");
    assert_eq!(launch.variable("REVISION").unwrap().value.text, "e");
}

#[test]
fn a_long_row_of_wrappers_ends() {
    let words = vec!["env"; 100_000];
    assert_eq!(lines(&words).len(), 1);
}

#[test]
fn commands_without_a_launcher_are_told_apart() {
    let rules = Rules::builtin();
    let kind = |words: &[&str]| other(rules, &lines(words).remove(0));
    assert_eq!(kind(&["sleep", "infinity"]), Other::Idle);
    assert_eq!(kind(&["/bin/sh", "-c", "pip install x"]), Other::Plain);
    assert_eq!(kind(&["python", "app.py"]), Other::Unknown);
}

#[test]
fn a_script_for_another_user_is_read() {
    for words in [
        ["su", "-", "user", "-c", "vllm serve a/b"].as_slice(),
        &["su", "user", "-c", "exec vllm serve a/b"],
        &["runuser", "-u", "user", "-c", "vllm serve a/b"],
    ] {
        assert_eq!(launches(words), ["vllm Run: a/b"], "{words:?}");
    }
    assert!(launches(&["su", "user"]).is_empty());
}
