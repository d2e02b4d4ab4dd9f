//! Building a program from its pin, into the cache.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use super::{Pin, Tool};
use crate::error::{Error, Result};

/// Builds a program into the folder of its pin in `cache`, and gives its path.
///
/// A lock keeps a second process from building the same; it waits and finds what the first one built. The program gets its name when it is
/// whole, so whoever looks without the lock sees a whole one or none.
pub(super) fn build(tool: Tool, cache: &Path) -> Result<PathBuf> {
    let pin = tool.pin();
    let folder = cache.join(pin.key());
    let module = folder.join("module");
    fs::create_dir_all(&module).map_err(Error::file("create", &module))?;
    let _lock = lock(&folder, tool)?;
    let file = folder.join(tool.name());
    if file.is_file() {
        return Ok(file);
    }
    write_module(pin, &module)?;
    let started = Instant::now();
    say(&format!("Building {} {} with Go (once; on two cores {})", tool.name(), tool.version(), tool.minutes()));
    let unfinished = folder.join(format!(".{}.unfinished", tool.name()));
    run_go(tool, &module, &unfinished)?;
    fs::rename(&unfinished, &file).map_err(Error::file("rename to", &file))?;
    say(&format!("{} built in {} s: {}", tool.name(), started.elapsed().as_secs(), file.display()));
    Ok(file)
}

/// The lock of a pin, held until the file is dropped; the system lets go of it when we are killed.
fn lock(folder: &Path, tool: Tool) -> Result<File> {
    let path = folder.join("lock");
    let file = File::options().create(true).append(true).open(&path).map_err(Error::file("open", &path))?;
    if file.try_lock().is_err() {
        say(&format!("Waiting for another process that builds {}", tool.pin().name));
        file.lock().map_err(Error::file("lock", &path))?;
    }
    Ok(file)
}

/// A folder with the pinned go.mod and go.sum, for `go` to run in.
fn write_module(pin: &Pin, module: &Path) -> Result<()> {
    for (name, text) in [("go.mod", pin.go_mod), ("go.sum", pin.go_sum)] {
        let path = module.join(name);
        fs::write(&path, text).map_err(Error::file("write", &path))?;
    }
    Ok(())
}

/// Caches of Go, its proxy and its flags are those of the environment.
fn run_go(tool: Tool, module: &Path, output: &Path) -> Result<()> {
    let mut command = Command::new("go");
    // Nobody debugs these: what a debugger needs is a part of what compiling takes.
    command.args(["build", "-trimpath", "-gcflags=all=-dwarf=false", "-ldflags", &tool.pin().link_flags(), "-o"]);
    command.arg(output).arg(tool.package());
    // No C compiler is needed, and a workspace above the cache does not count.
    command.current_dir(module).env("CGO_ENABLED", "0").env("GOWORK", "off").stdin(Stdio::null());
    let output = command.output().map_err(|source| match source.kind() {
        io::ErrorKind::NotFound => Error::NoGo { program: tool.name(), version: tool.version() },
        _ => Error::Spawn { program: "go".to_owned(), source },
    })?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    // Downloads come first and are many; what went wrong comes last.
    let lines: Vec<&str> = said.lines().filter(|line| !line.starts_with("go: downloading ")).collect();
    Err(Error::Build {
        program: tool.name(),
        version: tool.version(),
        package: tool.package(),
        status: output.status.to_string(),
        said: lines[lines.len().saturating_sub(15)..].join("\n"),
    })
}

/// To standard error itself: what is printed with a macro is kept back by the test runner, and somebody waits.
pub(crate) fn say(what: &str) {
    let _ = writeln!(io::stderr(), "==> {what}");
}
