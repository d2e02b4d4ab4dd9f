//! What a document costs: rendering, checking, writing. `cargo bench -p aibom-bom` prints; asserts nothing, because a busy machine is
//! no fault of the code. For figures that do not depend on the machine count instructions: `valgrind --tool=callgrind` with the binary
//! and one argument, a stage and how often to run it, as in `render=1000`.

#![allow(clippy::print_stdout, reason = "the figures are the product")]

#[path = "../tests/documents/sample.rs"]
#[allow(dead_code, reason = "tests use more of it")]
mod sample;

use std::hint::black_box;
use std::time::Instant;

use aibom_bom::{Options, render};
use aibom_facts::inventory::{Inventory, Tool};

/// A workload of usual size: about 10 KB of document.
fn inventory() -> Inventory {
    let mut inventory = sample::plum();
    for number in 0..4 {
        let path = format!("/spec/template/spec/containers/{number}/image");
        inventory.images.push(sample::image(&format!("registry.plum.example/team/helper-{number}:v1.{number}"), &path, "helper"));
    }
    inventory
}

fn main() {
    let options = Options::new(Tool { name: "bench".to_owned(), version: "1".to_owned(), sha256: None }, "2026-03-01T10:00:00Z");
    let inventory = inventory();
    let document = render(&inventory, &options);
    let stages: [(&str, &dyn Fn()); 4] = [
        ("render", &|| drop(black_box(render(black_box(&inventory), &options)))),
        ("lint", &|| drop(black_box(document.lint()))),
        ("json", &|| drop(black_box(document.json().to_owned()))),
        ("value", &|| drop(black_box(document.to_value()))),
    ];
    let argument = std::env::args().find_map(|argument| {
        let (stage, rounds) = argument.split_once('=')?;
        Some((stage.to_owned(), rounds.parse::<u32>().ok()?))
    });
    let wanted = argument.as_ref().map(|(stage, _)| stage.as_str());
    let rounds = argument.as_ref().map_or(2_000, |(_, rounds)| *rounds);
    println!("{} bytes, content {}", document.json().len(), document.content_hash());
    for (name, stage) in stages.iter().filter(|(name, _)| wanted.is_none_or(|wanted| wanted == *name)) {
        let began = Instant::now();
        (0..rounds).for_each(|_| stage());
        println!("{name}: {:.1} us", began.elapsed().as_secs_f64() * 1e6 / f64::from(rounds.max(1)));
    }
}
