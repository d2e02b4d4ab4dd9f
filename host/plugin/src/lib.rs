//! The WebAssembly host of scrapers: it loads plugins, calls them within limits, and checks what they say. No cluster, no files.
//!
//! # Data model
//!
//! ```text
//!  bytes ──scan──contract──compile──link──resources──probe──> Plugin        once for each plugin; any failure is a LoadError
//!                                                                │
//!  Tree ──Plugin::view──> Tree ──related──> Want…                │          a new instance for every call;
//!                           │                 │ answered         │          a failure is a CallError
//!                           └──── scrape <────┘ <────────────────┘
//!                                   │ grounding
//!                                   ▼
//!                       Scraped { report, grounding, usage, logs }
//! ```
//!
//! * [`Host`] is the engine with its settings ([`HostConfig`]), one for a process. A [`Plugin`] is compiled code and what it says about
//!   itself ([`Description`]); both are cheap to clone.
//! * A call runs in an instance of its own. Nothing of one object is left when the next one comes, and a guest that was ended (an ended
//!   instance cannot be entered again) takes nothing with it.
//! * What a call may use is fixed before the guest runs its first instruction: wall-clock time by epochs, bytes of memory, bytes that
//!   pass between guest and host, node handles, and the work that the host does for it.
//! * A report is evidence, not truth: [`Grounding`] counts what did not stand where the guest said it stands, and was downgraded or
//!   dropped. The rules are those of the contract's comments.
//!
//! # Errors
//!
//! [`LoadError`] names the step, the digest, what was expected and what was found. [`CallError`] tells answers of a guest (it does not
//! read the object) from faults (it had to be ended). Both have stable words for metrics. Texts of guests in them are cleaned of control
//! characters and cut; they are for people and never for labels.
//!
//! # Which thread
//!
//! [`Plugin::scrape`] and [`Plugin::related`] block. [`Plugin::scrape_async`] and [`Plugin::related_async`] wait for a slot and run on
//! the runtime's threads for blocking work, never within `poll`: a guest that spins then delays nobody's timers.

mod config;
mod contract;
mod counters;
mod description;
mod error;
mod grounding;
mod host;
mod limits;
mod load;
mod plugin;
mod scan;
mod state;
mod text;
mod version;
mod walk;
mod want;

pub use config::{Allocation, AllocationChoice, FUEL, HostConfig};
pub use counters::{Counters, Usage};
pub use description::{Description, KindRef};
pub use error::{CallError, HostError, HostLimit, LoadError, Step};
pub use grounding::{Change, Grounding};
pub use host::Host;
pub use plugin::{Plugin, Scraped, Size};
pub use scan::{MAX_ALL_LOCALS, MAX_ARITY, MAX_BODY, MAX_BYTES, MAX_COMPONENTS, MAX_ENTRIES, MAX_FUNCTIONS, MAX_LOCALS, MAX_MODULES};
pub use state::{Level, LogLine};
pub use want::{Refusal, Want};
