//! Calls itself without end.

#[inline(never)]
fn down(depth: u64) -> u64 {
    let kept = hostile::opaque([depth; 16]);
    if hostile::opaque(depth) == u64::MAX { 0 } else { down(depth + 1) + kept[3] }
}

hostile::hostile!("recurse", |object, options| {
    hostile::opaque(down(0));
    Ok(hostile::empty())
});
