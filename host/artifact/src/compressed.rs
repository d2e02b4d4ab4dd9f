//! Compressed components. What comes out is bounded while it comes out: a few kilobytes can hold gigabytes.

use std::io::{self, Read};

use flate2::read::MultiGzDecoder;
use ruzstd::decoding::StreamingDecoder;

use crate::MAX_BYTES;

/// How bytes are packed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packing {
    /// Not at all.
    Plain,
    /// gzip, RFC 1952.
    Gzip,
    /// Zstandard, RFC 8878.
    Zstd,
}

impl Packing {
    /// The packing that the end of a file's name tells, and the name without that; none for a file that is no component.
    pub fn of_name(name: &str) -> Option<(Self, &str)> {
        [(".wasm", Self::Plain), (".wasm.gz", Self::Gzip), (".wasm.zst", Self::Zstd)]
            .into_iter()
            .find_map(|(end, packing)| name.strip_suffix(end).map(|stem| (packing, stem)))
    }
}

/// Why bytes could not be unpacked.
#[derive(Debug, thiserror::Error)]
pub enum UnpackError {
    /// They are not what their name says.
    #[error("cannot be unpacked: {0}")]
    Broken(String),
    /// More comes out than a plugin may have.
    #[error("holds more than {MAX_BYTES} bytes, the most a plugin may have; build it with opt-level \"s\" and link-time optimisation")]
    TooLarge,
}

/// Unpacks a component of at most [`MAX_BYTES`].
///
/// # Errors
/// The bytes are not packed as they should be, or hold too much.
pub fn unpack(bytes: &[u8], packing: Packing) -> Result<Vec<u8>, UnpackError> {
    let read = |reader: &mut dyn Read| {
        let mut out = Vec::new();
        reader.take(MAX_BYTES + 1).read_to_end(&mut out).map(|_| out)
    };
    let broken = |error: io::Error| UnpackError::Broken(error.to_string());
    let out = match packing {
        Packing::Plain => read(&mut &*bytes).map_err(broken)?,
        Packing::Gzip => read(&mut MultiGzDecoder::new(bytes)).map_err(broken)?,
        Packing::Zstd => {
            let mut decoder = StreamingDecoder::new(bytes).map_err(|error| UnpackError::Broken(error.to_string()))?;
            read(&mut decoder).map_err(broken)?
        }
    };
    if out.len() as u64 > MAX_BYTES { Err(UnpackError::TooLarge) } else { Ok(out) }
}

/// Packs bytes with gzip, at its best.
///
/// # Errors
/// None that is known: memory takes whatever is written.
pub fn gzip(bytes: &[u8]) -> io::Result<Vec<u8>> {
    use std::io::Write as _;
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes)?;
    encoder.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_comes_out_again() {
        let bytes = b"\0asm and more".repeat(100);
        assert_eq!(unpack(&gzip(&bytes).unwrap(), Packing::Gzip).unwrap(), bytes);
        let zstd = ruzstd::encoding::compress_to_vec(&*bytes, ruzstd::encoding::CompressionLevel::Fastest);
        assert_eq!(unpack(&zstd, Packing::Zstd).unwrap(), bytes);
        assert_eq!(unpack(&bytes, Packing::Plain).unwrap(), bytes);
    }

    #[test]
    fn a_bomb_is_stopped_at_the_cap_and_rubbish_is_an_error() {
        let zeros = vec![0; 64 << 20];
        let bomb = gzip(&zeros).unwrap();
        assert!(bomb.len() < 100_000);
        assert!(matches!(unpack(&bomb, Packing::Gzip), Err(UnpackError::TooLarge)));
        let bomb = ruzstd::encoding::compress_to_vec(&*zeros, ruzstd::encoding::CompressionLevel::Fastest);
        assert!(matches!(unpack(&bomb, Packing::Zstd), Err(UnpackError::TooLarge)));
        for packing in [Packing::Gzip, Packing::Zstd] {
            assert!(matches!(unpack(b"rubbish", packing), Err(UnpackError::Broken(_))));
        }
    }

    #[test]
    fn the_name_tells_the_packing() {
        assert_eq!(Packing::of_name("a.b.wasm.gz"), Some((Packing::Gzip, "a.b")));
        assert_eq!(Packing::of_name("a.wasm.zst"), Some((Packing::Zstd, "a")));
        assert_eq!(Packing::of_name("a.wasm"), Some((Packing::Plain, "a")));
        assert_eq!(Packing::of_name("a.tar.gz"), None);
    }
}
