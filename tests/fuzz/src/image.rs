//! Image references: what is read can be written and read again, and its canonical form stays what it is.
#![no_main]

use aibom_facts::image::{ImageId, ImageReference, MirrorKind};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let _ = ImageId::parse(text);
    let Ok(reference) = ImageReference::parse(text) else { return };
    let written = reference.to_string();
    assert_eq!(ImageReference::parse(&written).as_ref(), Ok(&reference), "`{written}`");
    let canonical = reference.canonical();
    // Behind a repository whose origin is unknown stands no name that could be read.
    if canonical.via.as_ref().is_none_or(|mirror| mirror.kind != MirrorKind::Repository)
        && let Ok(again) = ImageReference::parse(&canonical.name())
    {
        assert_eq!(again.canonical().name(), canonical.name(), "`{written}`");
    }
    let _ = aibom_extract::Rules::builtin().classify_image(&reference);
});
