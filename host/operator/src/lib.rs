//! The one place where the parts meet: what the binary `k8s-aibom` does.
//!
//! [`pipeline`] is the way of one object from scrape to document; [`scan`] feeds it from files, [`operator`] from a cluster; [`plugin`] is
//! the door for authors of scrapers. The library exists for the binary, its tests and its benchmark; it promises no stable interface.

pub mod catalogue;
pub mod cli;
pub mod clock;
pub mod logging;
pub mod operator;
pub mod packed;
pub mod parts;
pub mod pipeline;
pub mod plugin;
pub mod running;
pub mod runtimes;
pub mod scan;
pub mod usage;
