//! Between the generated exports and a [`Scraper`]. Called by [`export_scraper!`](crate::export_scraper) only.

use crate::{Description, Failure, Node, Options, Report, Scraper, Want};

/// A panic aborts the guest, which the host sees as a trap without words; the hook logs them first. Instances live for one call, so it
/// is set in each.
fn log_panics() {
    std::panic::set_hook(Box::new(|info| crate::log::error(&info.to_string())));
}

#[doc(hidden)]
pub fn describe<S: Scraper>() -> Description {
    log_panics();
    S::describe()
}

#[doc(hidden)]
pub fn related<S: Scraper>(object: &Node, options: String) -> Result<Vec<Want>, Failure> {
    log_panics();
    S::related(object, &Options::new(options))
}

#[doc(hidden)]
#[allow(clippy::needless_pass_by_value, reason = "the signature of the generated export")]
pub fn scrape<S: Scraper>(object: &Node, related: Vec<Option<Node>>, options: String) -> Result<Report, Failure> {
    log_panics();
    S::scrape(object, &related, &Options::new(options))
}
