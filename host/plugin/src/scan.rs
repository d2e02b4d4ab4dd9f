//! The look at a plugin's bytes before anything is compiled.
//!
//! Compilation, not execution, is where a plugin can hurt its host: neither deadlines nor memory limits cover it, and 340 bytes of a
//! compressed ConfigMap can keep a compiler busy for seconds. Every cap below bounds something that the cost of compiling grows with;
//! each leaves a factor of three or more to the largest real guest that was measured.

use wasmparser::{ComponentExternalKind, Encoding, Parser, Payload};

use crate::error::{Rejection, Step};

/// Bytes of a plugin.
pub const MAX_BYTES: usize = 2 << 20;
/// Bytes of one function body. The largest one in a guest with a regular expression engine has 13 KiB.
pub const MAX_BODY: usize = 64 << 10;
/// Functions of all modules together.
pub const MAX_FUNCTIONS: usize = 20_000;
/// Core modules. The component encoder makes three.
pub const MAX_MODULES: usize = 4;
/// Components inside of the component. The encoder makes one for each exported interface with types of its own.
pub const MAX_COMPONENTS: usize = 8;
/// Local variables of one function. Fifty thousand are five bytes of code but as many values for the compiler.
pub const MAX_LOCALS: u64 = 4_096;
/// Local variables of all functions together.
pub const MAX_ALL_LOCALS: u64 = 400_000;
/// Parameters and results of a function or block type; for the same reason. Compilers use up to seventeen.
pub const MAX_ARITY: usize = 64;
/// Entries of every other section: types, imports, globals, segments.
pub const MAX_ENTRIES: u32 = 50_000;

/// What a scan found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Scan {
    /// Bytes of the component.
    pub(crate) bytes: usize,
    /// Core modules.
    pub(crate) modules: usize,
    /// Functions of all modules.
    pub(crate) functions: usize,
    /// Bytes of the largest function body.
    pub(crate) largest_body: usize,
    /// Names of the component's imports.
    pub(crate) imports: Vec<String>,
    /// Names of the component's exports.
    pub(crate) exports: Vec<String>,
}

fn reject(expected: impl Into<String>, found: impl Into<String>) -> Rejection {
    Rejection::new(Step::Scan, expected, found)
}

fn malformed(error: &wasmparser::BinaryReaderError) -> Rejection {
    reject("a well-formed WebAssembly component", format!("an error at byte {}: {}", error.offset(), error.message()))
}

/// Recognises what is given instead of a component.
fn preamble(bytes: &[u8]) -> Result<(), Rejection> {
    let found = match bytes {
        [0, b'a', b's', b'm', 0x0d, 0, 1, 0, ..] => return Ok(()),
        [0x7f, b'E', b'L', b'F', ..] => {
            "native code (ELF), such as a precompiled .cwasm file: only portable WebAssembly is accepted".to_owned()
        }
        [0, b'a', b's', b'm', 1, 0, 0, 0, ..] => {
            "a core module: turn it into a component (`cargo xtask build-plugins`, or `wasm-tools component new`)".to_owned()
        }
        [0, b'a', b's', b'm', version @ ..] if version.len() >= 4 => format!("an unknown WebAssembly version {:02x?}", &version[..4]),
        [0x1f, 0x8b, ..] => "gzip-compressed data".to_owned(),
        [0x28, 0xb5, 0x2f, 0xfd, ..] => "zstd-compressed data".to_owned(),
        [] => "no bytes".to_owned(),
        other if other[..other.len().min(8)].is_ascii() => {
            format!("data that starts with `{}`", other[..other.len().min(8)].escape_ascii())
        }
        other => format!("data that starts with {:02x?}", &other[..other.len().min(8)]),
    };
    Err(reject("a WebAssembly component", found))
}

fn cap(what: &str, limit: impl Into<u64>, found: impl Into<u64>) -> Result<(), Rejection> {
    let (limit, found) = (limit.into(), found.into());
    if found > limit { Err(reject(format!("at most {limit} {what}"), found.to_string())) } else { Ok(()) }
}

/// Looks at form and size.
pub(crate) fn scan(bytes: &[u8]) -> Result<Scan, Rejection> {
    preamble(bytes)?;
    cap("bytes", MAX_BYTES as u64, bytes.len() as u64)?;
    let mut found = Scan { bytes: bytes.len(), ..Scan::default() };
    let mut components = 0u64;
    let mut depth = 0usize;
    let mut locals = 0u64;
    for payload in Parser::new(0).parse_all(bytes) {
        match payload.map_err(|error| malformed(&error))? {
            Payload::Version { encoding, .. } => {
                depth += 1;
                if encoding == Encoding::Module {
                    found.modules += 1;
                    cap("core modules", MAX_MODULES as u64, found.modules as u64)?;
                } else {
                    components += 1;
                    cap("nested components", MAX_COMPONENTS as u64, components - 1)?;
                }
            }
            Payload::End(_) => depth -= 1,
            Payload::CodeSectionStart { count, .. } => {
                found.functions += count as usize;
                cap("functions", MAX_FUNCTIONS as u64, found.functions as u64)?;
            }
            Payload::CodeSectionEntry(body) => {
                let size = body.range().end - body.range().start;
                found.largest_body = found.largest_body.max(usize::try_from(size).unwrap_or(usize::MAX));
                cap("bytes in a function body", MAX_BODY as u64, size)?;
                let own = count_locals(&body).map_err(|error| malformed(&error))?;
                cap("local variables in a function", MAX_LOCALS, own)?;
                locals += own;
                cap("local variables in all functions", MAX_ALL_LOCALS, locals)?;
            }
            Payload::TypeSection(types) => {
                cap("types in a module", MAX_ENTRIES, types.count())?;
                for ty in types.into_iter_err_on_gc_types() {
                    let ty = ty.map_err(|error| malformed(&error))?;
                    cap("parameters and results of a function", MAX_ARITY as u64, (ty.params().len() + ty.results().len()) as u64)?;
                }
            }
            Payload::ImportSection(section) => cap("imports of a module", MAX_ENTRIES, section.count())?,
            Payload::FunctionSection(section) => cap("functions", MAX_FUNCTIONS as u64, section.count())?,
            Payload::TableSection(section) => cap("tables", MAX_ENTRIES, section.count())?,
            Payload::GlobalSection(section) => cap("globals", MAX_ENTRIES, section.count())?,
            Payload::ExportSection(section) => cap("exports of a module", MAX_ENTRIES, section.count())?,
            Payload::ElementSection(section) => cap("element segments", MAX_ENTRIES, section.count())?,
            Payload::DataSection(section) => cap("data segments", MAX_ENTRIES, section.count())?,
            Payload::ComponentTypeSection(section) => cap("component types", MAX_ENTRIES, section.count())?,
            Payload::ComponentImportSection(section) => {
                cap("imports", MAX_ENTRIES, section.count())?;
                for import in section {
                    let import = import.map_err(|error| malformed(&error))?;
                    if depth == 1 {
                        found.imports.push(import.name.name.to_owned());
                    }
                }
            }
            Payload::ComponentExportSection(section) => {
                cap("exports", MAX_ENTRIES, section.count())?;
                for export in section {
                    let export = export.map_err(|error| malformed(&error))?;
                    if depth == 1 && export.kind == ComponentExternalKind::Instance {
                        found.exports.push(export.name.name.to_owned());
                    }
                }
            }
            _ => {}
        }
    }
    Ok(found)
}

fn count_locals(body: &wasmparser::FunctionBody<'_>) -> wasmparser::Result<u64> {
    let mut total = 0;
    for group in body.get_locals_reader()? {
        total += u64::from(group?.0);
    }
    Ok(total)
}
