//! `plugin new`: the start of a scraper.

use std::fs;
use std::path::{Path, PathBuf};

use aibom_api::kinds::CORE;
use anyhow::{Context as _, ensure};
use clap::Args;

/// Start a scraper: a crate with one kind, a fixture and everything `plugin test` needs
///
/// The crate reads a pod template at /spec/template of the kind, which is where most kinds keep one; change it to what your kind says.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  k8s-aibom plugin new widgets --kind serving.example.com/v1/Widget --sdk plugins/sdk\n\
                        Its README says how to build it; then\n  k8s-aibom plugin test widgets/widgets.wasm --fixtures widgets")]
pub struct New {
    /// Name of the scraper: lower-case letters, digits, `-`
    name: String,
    /// First kind it reads, as group/version/Kind
    #[arg(long, value_name = "GROUP/VERSION/KIND")]
    kind: String,
    /// Plural of the kind, as in its CRD [default: the kind in lower case with an `s`]
    #[arg(long)]
    plural: Option<String>,
    /// Folder to create the crate in
    #[arg(long, value_name = "DIR", default_value = ".")]
    dir: PathBuf,
    /// Path of the SDK crate (`plugins/sdk` of a checkout of k8s-aibom)
    #[arg(long, value_name = "DIR")]
    sdk: PathBuf,
}

/// Runs the command.
///
/// # Errors
/// Names that cannot be used, a folder that exists already or cannot be written.
#[allow(clippy::print_stdout, reason = "this is what the command is for")]
pub fn run(new: &New) -> anyhow::Result<()> {
    let well_formed = |name: &str| {
        !name.is_empty()
            && name.len() <= 63
            && name.starts_with(|c: char| c.is_ascii_lowercase())
            && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-')
    };
    ensure!(well_formed(&new.name), "`{}` cannot name a scraper: use lower-case letters, digits and `-`, a letter first", new.name);
    ensure!(new.name != "aibom", "`aibom` cannot name a scraper: property names under `aibom.` are the host's own");
    let parts: Vec<&str> = new.kind.split('/').collect();
    let [group, version, kind] = parts[..] else {
        anyhow::bail!("`{}` is no group/version/Kind, such as serving.example.com/v1/Widget or core/v1/Pod for the core group", new.kind)
    };
    let group = if group == CORE { "" } else { group };
    let plain = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || c == '.' || c == '-');
    ensure!(
        plain(group) && plain(version) && plain(kind) && !version.is_empty() && kind.starts_with(|c: char| c.is_ascii_uppercase()),
        "`{}` is no group/version/Kind: groups and versions are lower case, kinds start with a capital",
        new.kind
    );
    ensure!(!(group.is_empty() && kind == "Secret"), "no scraper may read Secrets; name another kind");
    let sdk = new.sdk.canonicalize().with_context(|| format!("there is no SDK at {}", new.sdk.display()))?;
    ensure!(sdk.join("Cargo.toml").is_file(), "{} holds no Cargo.toml; name the folder plugins/sdk of a checkout", sdk.display());
    let target = new.dir.join(&new.name);
    ensure!(!target.exists(), "{} exists already; choose another name or --dir", target.display());
    let plural = new.plural.clone().unwrap_or_else(|| format!("{}s", kind.to_ascii_lowercase()));
    let api_version = if group.is_empty() { version.to_owned() } else { format!("{group}/{version}") };
    ensure!(
        plural.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-'),
        "`{plural}` is no plural: use lower-case letters, digits and `-`, as in the CRD's `names.plural`"
    );
    ensure!(!RESERVED.contains(&new.name.as_str()), "`{}` cannot name a crate: it is a word of Rust", new.name);
    let dir = new.dir.canonicalize().with_context(|| format!("there is no folder {}", new.dir.display()))?;
    let sdk_path = relative(&dir.join(&new.name), &sdk).display().to_string().replace('\\', "/");
    let fill = |template: &str| {
        template
            .replace("{name}", &new.name)
            .replace("{file}", &new.name.replace('-', "_"))
            .replace("{ident}", &pascal(&new.name))
            .replace("{group}", group)
            .replace("{version}", version)
            .replace("{kind}", kind)
            .replace("{kind_lower}", &kind.to_ascii_lowercase())
            .replace("{plural}", &plural)
            .replace("{api_version}", &api_version)
            .replace("{sdk}", &sdk_path)
    };
    for (path, template) in FILES {
        write(&target.join(fill(path)), &fill(template))?;
    }
    println!("{} is ready. Its README says how to build and test it.", target.display());
    Ok(())
}

/// Names that cargo refuses.
const RESERVED: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else", "enum", "extern",
    "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod", "move", "mut", "override", "priv",
    "pub", "ref", "return", "self", "static", "struct", "super", "test", "trait", "true", "try", "type", "typeof", "unsafe", "unsized",
    "use", "virtual", "where", "while", "yield",
];

/// The way from one folder to another, so that both can be moved together. Both are absolute and without links.
fn relative(from: &Path, to: &Path) -> PathBuf {
    let common = from.components().zip(to.components()).take_while(|(left, right)| left == right).count();
    let up = from.components().skip(common).map(|_| std::path::Component::ParentDir);
    up.chain(to.components().skip(common)).collect()
}

fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    }
    fs::write(path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn pascal(name: &str) -> String {
    name.split('-')
        .flat_map(|word| {
            let mut letters = word.chars();
            letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters).collect::<Vec<_>>()
        })
        .collect()
}

const FILES: [(&str, &str); 6] = [
    (".gitignore", include_str!("scaffold/gitignore.txt")),
    ("Cargo.toml", include_str!("scaffold/Cargo.toml.txt")),
    ("src/lib.rs", include_str!("scaffold/lib.rs.txt")),
    ("plugin.toml", include_str!("scaffold/plugin.toml.txt")),
    ("README.md", include_str!("scaffold/README.md.txt")),
    ("fixtures/{kind_lower}/plain.yaml", include_str!("scaffold/plain.yaml.txt")),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_way_to_the_sdk_is_relative() {
        assert_eq!(relative(Path::new("/a/b/c"), Path::new("/a/x/sdk")), Path::new("../../x/sdk"));
        assert_eq!(relative(Path::new("/a"), Path::new("/a/sdk")), Path::new("sdk"));
    }

    #[test]
    fn what_is_built_is_left_out_of_version_control() {
        let folder = tempfile::tempdir().unwrap();
        let sdk = folder.path().join("sdk");
        write(&sdk.join("Cargo.toml"), "").unwrap();
        let kind = "serving.example.com/v1/Widget".to_owned();
        run(&New { name: "widgets".to_owned(), kind, plural: None, dir: folder.path().to_owned(), sdk }).unwrap();
        let ignored = fs::read_to_string(folder.path().join("widgets/.gitignore")).unwrap();
        assert_eq!(ignored, "/target/\n/*.wasm\n");
    }

    #[test]
    fn the_core_group_may_be_called_by_its_name_and_secrets_have_no_scraper() {
        let folder = tempfile::tempdir().unwrap();
        let sdk = folder.path().join("sdk");
        write(&sdk.join("Cargo.toml"), "").unwrap();
        let make = |name: &str, kind: &str| {
            run(&New { name: name.to_owned(), kind: kind.to_owned(), plural: None, dir: folder.path().to_owned(), sdk: sdk.clone() })
        };
        let source = |name: &str| fs::read_to_string(folder.path().join(name).join("src/lib.rs")).unwrap();
        let source = |name: &str| source(name).replace(&pascal(name), "X").replace(&format!("\"{name}"), "\"x");
        make("named", "core/v1/ReplicationController").unwrap();
        make("empty", "/v1/ReplicationController").unwrap();
        assert_eq!(source("named"), source("empty"));
        let refused = make("leaks", "core/v1/Secret").unwrap_err().to_string();
        assert_eq!(refused, "no scraper may read Secrets; name another kind");
        assert!(!folder.path().join("leaks").exists());
    }

    #[test]
    fn names_become_types() {
        assert_eq!(pascal("my-widget2"), "MyWidget2");
    }
}
