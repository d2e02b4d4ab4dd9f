//! Objects larger than any that a person writes.

use super::*;

fn problems(inventory: &Inventory) -> Vec<String> {
    inventory.problems.iter().map(|problem| format!("{} at {}", problem.message, problem.at.pointer)).collect()
}

#[test]
fn of_thousands_of_containers_some_hundred_are_read_and_a_problem_says_so() {
    let containers: Vec<String> = (0..3_000)
        .map(|number| format!("{{name: c{number}, image: 'r{number}.example/vllm/vllm-openai:v1', args: [--model, acme/quill-{number}]}}"))
        .collect();
    let found = pod(&containers.iter().map(String::as_str).collect::<Vec<_>>());
    assert_eq!((found.models.len(), found.images.len()), (500, 500));
    assert_eq!(
        problems(&found),
        [format!(
            "the object has more than 500 containers; 2500 from this one on are not read at {}/500",
            BASE.strip_suffix("/0").unwrap()
        )]
    );
}

#[test]
fn of_a_command_line_of_a_hundred_thousand_words_the_first_are_read_and_a_problem_says_so() {
    let words = "a, ".repeat(100_000);
    let found = pod(&[&format!("{{name: a, image: 'vllm/vllm-openai:v1', args: [--model, acme/quill-7b, {words}]}}")]);
    assert_eq!(names(&found), ["main acme/quill-7b"]);
    assert_eq!(problems(&found), ["the containers have more than 20000 words of commands and arguments together; 80002 are not read at "]);
}

#[test]
fn a_model_whose_name_is_longer_than_any_is_unresolved_and_not_forgotten() {
    let long = "q".repeat(600_000);
    let found = pod(&[&format!("{{name: a, image: 'vllm/vllm-openai:v1', args: [--model, acme/{long}]}}")]);
    assert!(found.models.is_empty());
    assert_eq!(unresolved(&found), [format!("model too-long {BASE}/args/1 ")]);

    // The same in a field that a scraper names; the scraper's text is cut, and what is left is too long all the same.
    let yaml = format!("apiVersion: example.com/v1\nkind: Engine\nmetadata: {{name: e}}\nspec: {{model: acme/{long}}}\n");
    let text = format!("acme/{}…", "q".repeat(1_018));
    let report = Report { items: vec![item(ItemClass::Model, &text, Basis::Derived, "/spec/model")], ..Report::default() };
    assert_eq!(unresolved(&read(&yaml, &report)), ["model too-long /spec/model "]);
}
