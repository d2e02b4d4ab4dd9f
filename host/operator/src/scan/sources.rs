//! Which inputs a scan reads: files, every manifest below a folder, standard input.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::documents::MAX_INPUT;

/// One input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file and the name it is shown by.
    File {
        /// Where it is.
        path: PathBuf,
        /// As given, or below the folder that was given: a name that opens it from where the user stands.
        name: String,
    },
}

/// Why an input cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// The system refused.
    #[error("cannot read {name}: {cause}")]
    Unreadable {
        /// File or folder.
        name: String,
        /// What the system said. It is part of the message, and so no source of its own.
        cause: io::Error,
    },
    /// Larger than [`MAX_INPUT`].
    #[error("{name} has more than {} MiB; split it, or pipe the part to scan into `k8s-aibom scan -`", MAX_INPUT >> 20)]
    TooLarge {
        /// The file.
        name: String,
    },
    /// Nested deeper than [`MAX_FOLDERS`].
    #[error("{name} is not read: it is more than {MAX_FOLDERS} folders down; name it as a path of its own")]
    TooDeep {
        /// The folder.
        name: String,
    },
    /// No UTF-8.
    #[error("{name} is no UTF-8 text: byte {offset} (line {line}) breaks it")]
    NoText {
        /// The file.
        name: String,
        /// Offset of the first bad byte.
        offset: usize,
        /// Its line, from 1.
        line: usize,
    },
}

/// Inputs below the paths, in the order of the paths and sorted within each folder, and what could not be listed.
pub fn collect(paths: &[PathBuf]) -> (Vec<Source>, Vec<SourceError>) {
    let mut sources = Vec::new();
    let mut errors = Vec::new();
    for path in paths {
        if path.as_os_str() == "-" {
            sources.push(Source::Stdin);
        } else if path.is_dir() {
            walk(path, &mut sources, &mut errors, 0);
        } else {
            sources.push(Source::File { path: path.clone(), name: path.display().to_string() });
        }
    }
    // What several paths lead to is read once.
    let mut seen = HashSet::new();
    let mut piped = false;
    sources.retain(|source| match source {
        Source::Stdin => !std::mem::replace(&mut piped, true),
        Source::File { path, .. } => fs::canonicalize(path).map_or(true, |real| seen.insert(real)),
    });
    (sources, errors)
}

/// Deepest nesting of folders that is followed.
pub const MAX_FOLDERS: usize = 64;

fn walk(folder: &Path, sources: &mut Vec<Source>, errors: &mut Vec<SourceError>, depth: usize) {
    let unreadable = |cause| SourceError::Unreadable { name: folder.display().to_string(), cause };
    let entries = match fs::read_dir(folder).and_then(Iterator::collect::<io::Result<Vec<_>>>) {
        Ok(entries) => entries,
        Err(cause) => return errors.push(unreadable(cause)),
    };
    let mut entries: Vec<_> = entries.into_iter().map(|entry| (entry.path(), entry.file_type())).collect();
    entries.sort_by(|left, right| left.0.cmp(&right.0));
    for (path, file_type) in entries {
        match file_type {
            // `.git`, `.github` and the like hold no manifests that somebody applies. Who wants them names them.
            Ok(file_type) if file_type.is_dir() && is_hidden(&path) => {}
            // Links to folders are not followed: they can form a ring.
            Ok(file_type) if file_type.is_dir() => {
                if depth >= MAX_FOLDERS {
                    errors.push(SourceError::TooDeep { name: path.display().to_string() });
                } else {
                    walk(&path, sources, errors, depth + 1);
                }
            }
            Ok(_) if is_manifest(&path) && path.is_file() => {
                let name = path.display().to_string();
                sources.push(Source::File { path, name });
            }
            // A link that leads nowhere, or in a ring.
            Ok(file_type) if is_manifest(&path) && file_type.is_symlink() => {
                if let Err(cause) = fs::metadata(&path) {
                    errors.push(SourceError::Unreadable { name: path.display().to_string(), cause });
                }
            }
            Ok(_) => {}
            Err(cause) => errors.push(SourceError::Unreadable { name: path.display().to_string(), cause }),
        }
    }
}

fn is_hidden(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'))
}

/// Documents of an earlier scan are no manifests.
fn is_manifest(path: &Path) -> bool {
    !path.to_string_lossy().ends_with(".cdx.json")
        && path
            .extension()
            .and_then(|extension| extension.to_str())
            .is_some_and(|extension| ["yaml", "yml", "json"].iter().any(|known| extension.eq_ignore_ascii_case(known)))
}

impl Source {
    /// The name it is shown by.
    pub fn name(&self) -> &str {
        match self {
            Self::Stdin => "stdin",
            Self::File { name, .. } => name,
        }
    }

    /// Its text.
    ///
    /// # Errors
    /// Unreadable, larger than [`MAX_INPUT`], or neither UTF-8 nor UTF-16 with its mark.
    pub fn read(&self) -> Result<String, SourceError> {
        let unreadable = |cause| SourceError::Unreadable { name: self.name().to_owned(), cause };
        let bytes = match self {
            Self::Stdin => limited(io::stdin().lock()),
            Self::File { path, .. } => File::open(path).and_then(limited),
        }
        .map_err(unreadable)?;
        if bytes.len() as u64 > MAX_INPUT {
            return Err(SourceError::TooLarge { name: self.name().to_owned() });
        }
        if let Some(text) = from_utf16(&bytes) {
            return Ok(text);
        }
        String::from_utf8(bytes).map_err(|error| {
            let offset = error.utf8_error().valid_up_to();
            let line = error.as_bytes()[..offset].split(|byte| *byte == b'\n').count();
            SourceError::NoText { name: self.name().to_owned(), offset, line }
        })
    }
}

/// Text in UTF-16, as a byte order mark says; shells of Windows write it so. None for anything else, and for what breaks it.
fn from_utf16(bytes: &[u8]) -> Option<String> {
    let (rest, read): (_, fn([u8; 2]) -> u16) = match bytes {
        [0xff, 0xfe, rest @ ..] => (rest, u16::from_le_bytes),
        [0xfe, 0xff, rest @ ..] => (rest, u16::from_be_bytes),
        _ => return None,
    };
    let (units, odd) = rest.as_chunks::<2>();
    odd.is_empty().then(|| char::decode_utf16(units.iter().map(|unit| read(*unit))).collect::<Result<_, _>>().ok())?
}

fn limited(reader: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(MAX_INPUT + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_gives_its_manifests_sorted_by_path() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("b/c")).unwrap();
        for name in ["z.yaml", "b/c/a.yml", "b/x.json", "b/readme.md"] {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let (sources, errors) = collect(&[folder.path().to_owned()]);
        let below = |name: &str| folder.path().join(name).display().to_string();
        assert_eq!(sources.iter().map(Source::name).collect::<Vec<_>>(), [below("b/c/a.yml"), below("b/x.json"), below("z.yaml")]);
        assert!(errors.is_empty());
        let (sources, _) = collect(&["-".into(), folder.path().join("z.yaml"), "-".into()]);
        assert_eq!(sources.iter().map(Source::name).collect::<Vec<_>>(), ["stdin", &below("z.yaml")]);
    }

    #[test]
    fn a_file_to_which_several_paths_lead_is_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.yaml");
        fs::write(&file, "").unwrap();
        let (sources, errors) = collect(&[folder.path().to_owned(), file.clone(), folder.path().join("./a.yaml")]);
        assert_eq!(sources.iter().map(Source::name).collect::<Vec<_>>(), [file.display().to_string()]);
        assert!(errors.is_empty());
        // One that is not there is named as often as it is given.
        assert_eq!(collect(&[folder.path().join("b.yaml"), folder.path().join("b.yaml")]).0.len(), 2);
    }

    #[test]
    fn hidden_folders_are_left_out_unless_they_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let hidden = folder.path().join(".github");
        fs::create_dir_all(&hidden).unwrap();
        fs::write(hidden.join("a.yaml"), "").unwrap();
        fs::write(folder.path().join(".b.yaml"), "").unwrap();
        let names = |path: &Path| collect(&[path.to_owned()]).0.iter().map(|source| source.name().to_owned()).collect::<Vec<_>>();
        assert_eq!(names(folder.path()), [folder.path().join(".b.yaml").display().to_string()]);
        assert_eq!(names(&hidden), [hidden.join("a.yaml").display().to_string()]);
    }

    #[test]
    fn bytes_that_are_no_text_are_an_error_with_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.yaml");
        fs::write(&path, b"a: 1\nb: \xff\n").unwrap();
        let error = Source::File { path, name: "x.yaml".into() }.read().unwrap_err();
        assert!(matches!(error, SourceError::NoText { offset: 8, line: 2, .. }), "{error}");
    }

    #[test]
    fn text_in_utf_16_is_read_in_both_orders_and_broken_one_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.yaml");
        let source = Source::File { path: path.clone(), name: "x.yaml".into() };
        let text = "a: é𝄞\n";
        let units = || text.encode_utf16();
        let both = [
            [0xff, 0xfe].into_iter().chain(units().flat_map(u16::to_le_bytes)).collect::<Vec<u8>>(),
            [0xfe, 0xff].into_iter().chain(units().flat_map(u16::to_be_bytes)).collect(),
        ];
        for mut bytes in both {
            fs::write(&path, &bytes).unwrap();
            assert_eq!(source.read().unwrap(), text);
            bytes.pop();
            fs::write(&path, &bytes).unwrap();
            assert!(matches!(source.read(), Err(SourceError::NoText { offset: 0, line: 1, .. })));
        }
    }

    #[test]
    fn a_missing_file_is_an_error_that_names_it() {
        let (sources, _) = collect(&[PathBuf::from("no-such-file.yaml")]);
        assert!(sources[0].read().unwrap_err().to_string().contains("no-such-file.yaml"));
    }
}
