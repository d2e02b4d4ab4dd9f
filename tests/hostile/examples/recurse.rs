//! Calls itself without end; with the option `wide`, with frames that hold an array each.

use std::sync::atomic::{AtomicBool, Ordering};

/// Never set; the compiler cannot know.
static STOP: AtomicBool = AtomicBool::new(false);

/// Keeps nothing in linear memory, so that it is the engine's own stack that ends.
#[inline(never)]
fn down(depth: u64) -> u64 {
    if STOP.load(Ordering::Relaxed) { depth } else { (down(depth + 1) ^ depth).rotate_left(5) }
}

#[inline(never)]
fn wide(depth: u64) -> u64 {
    let kept = hostile::opaque([depth; 64]);
    if hostile::opaque(depth) == u64::MAX { 0 } else { wide(depth + 1) + kept[3] }
}

hostile::hostile!("recurse", |object, options| {
    hostile::opaque(if options == "wide" { wide(0) } else { down(0) });
    Ok(hostile::empty())
});
