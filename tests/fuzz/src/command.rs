//! Command lines in exec form: each line of the input is a word; the first one is the image.
#![no_main]

mod pod;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let mut lines = text.lines();
    let image = lines.next().unwrap_or_default();
    let words: Vec<&str> = lines.collect();
    // Half of the inputs leave the program to the image.
    let (command, args) = if image.len().is_multiple_of(2) { (&words[..], &[][..]) } else { (&[][..], &words[..]) };
    pod::read(image, command, args, &[("MODEL", "acme/small"), ("WHERE", "/models/$(MODEL)")]);
});
