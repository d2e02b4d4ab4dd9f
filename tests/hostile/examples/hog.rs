//! Takes all the memory it can get.

hostile::hostile!("hog", |object, options| {
    let mut kept = Vec::new();
    loop {
        kept.push(hostile::opaque(vec![1u8; 1 << 20]));
    }
});
