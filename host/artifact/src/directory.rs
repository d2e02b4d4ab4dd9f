//! A folder of `*.wasm` files.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::{Artifact, MAX_BYTES};

/// Why plugin bytes could not be read.
#[derive(Debug, thiserror::Error)]
pub enum DirectoryError {
    /// The folder or file cannot be read.
    #[error("cannot read {}: {cause}", path.display())]
    Unreadable {
        /// The folder or file.
        path: PathBuf,
        /// What the system said. It is part of the message, and so no source of its own.
        cause: std::io::Error,
    },
    /// A pipe, a device, a folder.
    #[error("{} is no regular file; a plugin is a file that holds one WebAssembly component", path.display())]
    NoFile {
        /// What was named.
        path: PathBuf,
    },
    /// The file is larger than [`MAX_BYTES`].
    #[error("{} has more than {MAX_BYTES} bytes, the most a plugin may have; build it with opt-level \"s\" and link-time optimisation", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
    },
}

/// Reads every `*.wasm` file of a folder, by name. A file that cannot be read is an error of its own; the others are still read.
///
/// # Errors
/// The outer error is the folder's, an inner one a file's.
pub fn read(folder: &Path) -> Result<Vec<Result<Artifact, DirectoryError>>, DirectoryError> {
    let unreadable = |cause| DirectoryError::Unreadable { path: folder.to_owned(), cause };
    let mut paths = Vec::new();
    for entry in fs::read_dir(folder).map_err(unreadable)? {
        let path = entry.map_err(unreadable)?.path();
        if path.extension().is_some_and(|extension| extension == "wasm") && path.is_file() {
            paths.push(path);
        }
    }
    paths.sort();
    Ok(paths.iter().map(|path| read_file(path)).collect())
}

/// Reads one plugin file. Its name is the file's without extension.
///
/// # Errors
/// The file cannot be read or is too large.
pub fn read_file(path: &Path) -> Result<Artifact, DirectoryError> {
    let unreadable = |cause| DirectoryError::Unreadable { path: path.to_owned(), cause };
    // Opening a pipe would wait for a writer.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(DirectoryError::NoFile { path: path.to_owned() });
    }
    let mut bytes = Vec::new();
    // The size a file system reports can change between the question and the read: the read itself is limited.
    File::open(path).map_err(unreadable)?.take(MAX_BYTES + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(DirectoryError::TooLarge { path: path.to_owned() });
    }
    let name = path.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(Artifact::new(name, path.display().to_string(), bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wasm_files_are_read_by_name_and_others_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        for (name, bytes) in [("b.wasm", "two"), ("a.wasm", "one"), ("notes.txt", "no")] {
            fs::write(folder.path().join(name), bytes).unwrap();
        }
        fs::create_dir(folder.path().join("folder.wasm")).unwrap();
        let artifacts: Vec<_> = read(folder.path()).unwrap().into_iter().map(Result::unwrap).collect();
        assert_eq!(artifacts.iter().map(|artifact| artifact.name.as_str()).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(artifacts[0].sha256, "7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed");
    }

    #[test]
    fn a_file_over_the_cap_is_refused_and_the_next_one_still_read() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("a.wasm"), vec![0; MAX_BYTES as usize + 1]).unwrap();
        fs::write(folder.path().join("b.wasm"), vec![0; MAX_BYTES as usize]).unwrap();
        let artifacts = read(folder.path()).unwrap();
        assert!(matches!(artifacts[0], Err(DirectoryError::TooLarge { .. })));
        assert!(artifacts[1].is_ok());
    }

    #[test]
    fn what_is_no_file_is_refused() {
        assert!(matches!(read_file(&std::env::temp_dir()), Err(DirectoryError::NoFile { .. })));
    }

    #[test]
    fn a_missing_folder_is_named() {
        let error = read(Path::new("no/such/folder")).unwrap_err();
        assert!(error.to_string().contains("no/such/folder"), "{error}");
    }
}
