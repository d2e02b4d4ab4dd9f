//! Log lines of this process. They quote manifests and scrapers, so each value goes through the filter that all other output goes
//! through.

use std::fmt;
use std::io::{self, IsTerminal as _};
use std::sync::OnceLock;

use tracing::field::{Field, Visit};
use tracing::{Event, Subscriber};
use tracing_subscriber::field::MakeExt as _;
use tracing_subscriber::fmt::format::{FormatEvent, FormatFields, Writer, debug_fn};
use tracing_subscriber::fmt::{FmtContext, MakeWriter};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::{EnvFilter, Layer, reload};

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

/// Changes the level of the operator's log.
type Reload = Box<dyn Fn(&str) + Send + Sync>;

static RELOAD: OnceLock<Reload> = OnceLock::new();

/// Logs to standard error from now on, in lines of JSON or of text, at a level that may change later.
pub fn init_operator(level: &str, json: bool) {
    let (subscriber, reload) = operator_subscriber(level, json, io::stderr, io::stderr().is_terminal());
    let _ = tracing::subscriber::set_global_default(subscriber);
    let _ = RELOAD.set(reload);
}

/// What writes the operator's log, and what changes its level.
fn operator_subscriber<W>(level: &str, json: bool, writer: W, colours: bool) -> (impl Subscriber + Send + Sync, Reload)
where
    W: for<'w> MakeWriter<'w> + Send + Sync + 'static,
{
    let (filter, handle) = reload::Layer::new(levels(level));
    let layer = tracing_subscriber::fmt::layer().with_writer(writer).with_ansi(!json && colours);
    let layer: Box<dyn Layer<_> + Send + Sync> = if json {
        // Each value goes through the filter that all other output goes through before it becomes a member.
        Box::new(layer.event_format(JsonLine).fmt_fields(debug_fn(write).delimited(" ")))
    } else {
        Box::new(layer.fmt_fields(debug_fn(write).delimited(" ")))
    };
    let reload: Reload = Box::new(move |level| {
        let _ = handle.modify(|filter| *filter = levels(level));
    });
    (tracing_subscriber::registry().with(filter).with(layer), reload)
}

/// Changes the level of a log that [`init_operator`] began. `RUST_LOG` stays above it.
pub fn set_level(level: &str) {
    if let Some(reload) = RELOAD.get() {
        reload(level);
    }
}

fn levels(level: &str) -> EnvFilter {
    // The client logs every answer that is a failure as an error of its own; each is told by whoever asked.
    EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new(format!("{level},kube_client=off,hyper_util=warn,tower=warn")))
}

/// A line of JSON: time, level, target, message, and every field by its name.
struct JsonLine;

impl<S, N> FormatEvent<S, N> for JsonLine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(&self, _: &FmtContext<'_, S, N>, mut writer: Writer<'_>, event: &Event<'_>) -> fmt::Result {
        let mut fields = Fields(serde_json::Map::new());
        let time = k8s_openapi::jiff::Timestamp::now().to_string();
        fields.0.insert("ts".to_owned(), time.into());
        fields.0.insert("level".to_owned(), event.metadata().level().as_str().to_ascii_lowercase().into());
        fields.0.insert("logger".to_owned(), event.metadata().target().into());
        event.record(&mut fields);
        writeln!(writer, "{}", serde_json::Value::Object(fields.0))
    }
}

/// Values of an event by name.
struct Fields(serde_json::Map<String, serde_json::Value>);

impl Fields {
    fn put(&mut self, field: &Field, value: serde_json::Value) {
        let name = if field.name() == "message" { "msg" } else { field.name() };
        self.0.insert(name.to_owned(), value);
    }
}

impl Visit for Fields {
    fn record_i64(&mut self, field: &Field, value: i64) {
        self.put(field, value.into());
    }

    fn record_u64(&mut self, field: &Field, value: u64) {
        self.put(field, value.into());
    }

    fn record_bool(&mut self, field: &Field, value: bool) {
        self.put(field, value.into());
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.put(field, printable(value).into());
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.put(field, printable(&format!("{value:?}")).into());
    }
}

fn write(writer: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
    let value = printable(&format!("{value:?}"));
    if field.name() == "message" { write!(writer, "{value}") } else { write!(writer, "{}={value}", field.name()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;
    use std::sync::{Arc, Mutex};

    /// Keeps what is written.
    #[derive(Clone, Default)]
    struct Kept(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Kept {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn the_level_of_a_log_changes_while_it_is_written_in_either_form() {
        for json in [false, true] {
            let written = Kept::default();
            let writer = written.clone();
            let (subscriber, reload) = operator_subscriber("info", json, move || writer.clone(), false);
            tracing::subscriber::with_default(subscriber, || {
                tracing::debug!("first");
                tracing::info!("second");
                reload("debug");
                tracing::debug!(workload = "demo/chat", "third");
                reload("warn");
                tracing::info!("fourth");
                tracing::warn!("fifth");
            });
            let text = String::from_utf8(written.0.lock().unwrap().clone()).unwrap();
            let told = |word: &str| text.contains(word);
            assert_eq!(["first", "second", "third", "fourth", "fifth"].map(told), [false, true, true, false, true], "{text}");
            if json {
                let line: serde_json::Value = serde_json::from_str(text.lines().nth(1).unwrap()).unwrap();
                assert_eq!((&line["level"], &line["workload"]), (&"debug".into(), &"demo/chat".into()));
            } else {
                assert!(text.lines().nth(1).unwrap().contains("DEBUG"), "{text}");
            }
        }
    }
}
