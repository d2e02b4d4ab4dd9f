//! Answers with the failure that the options name.

use hostile::{Failure, Problem, at, empty};

hostile::hostile!("failing", |object, options| {
    match options.as_str() {
        "unsupported" => Err(Failure::Unsupported("v7".to_string())),
        "malformed" => Err(Failure::Malformed(Problem { at: at("/spec/model"), message: "no model".to_string() })),
        "other" => Err(Failure::Other("a reason".to_string())),
        _ => Ok(empty()),
    }
});
