//! Log lines of this process. They quote manifests and scrapers, so each value goes through the filter that all other output goes
//! through.

use std::fmt;
use std::io::{self, IsTerminal as _};

use tracing::Subscriber;
use tracing::field::Field;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::field::MakeExt as _;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::format::{Writer, debug_fn};

use crate::scan::output::printable;

/// Logs to standard error from now on: what `RUST_LOG` names, or what so many `-v` ask for.
pub fn init(verbose: u8) {
    let default = match verbose {
        // That one of several objects was not taken is no error, and nowhere else to be seen.
        0 => "error,k8s_aibom::scan=warn",
        1 => "info",
        _ => "debug",
    };
    let filter = EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(default));
    // Whoever set one up before has a reason.
    let _ = tracing::subscriber::set_global_default(subscriber(filter, io::stderr, io::stderr().is_terminal()));
}

/// What writes the log.
pub fn subscriber<W>(filter: EnvFilter, writer: W, colours: bool) -> impl Subscriber + Send + Sync
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(writer)
        .with_ansi(colours)
        .with_target(false)
        .fmt_fields(debug_fn(write).delimited(" "))
        .finish()
}

fn write(writer: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
    let value = printable(&format!("{value:?}"));
    if field.name() == "message" { write!(writer, "{value}") } else { write!(writer, "{}={value}", field.name()) }
}
