//! Never comes back.

hostile::hostile!("spin", |object, options| {
    let mut turns = 0u64;
    loop {
        turns = hostile::opaque(turns.wrapping_add(1));
    }
});
