//! Calls itself without end; with the option `wide`, with frames that hold an array each.

#[inline(never)]
fn down(depth: u64) -> u64 {
    if hostile::opaque(depth) == u64::MAX { 0 } else { down(depth + 1) + 1 }
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
