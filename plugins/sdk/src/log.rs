//! Diagnostics for whoever runs the plugin. The host limits the bytes per call and counts what it drops. Natively they go nowhere.

#[cfg(target_arch = "wasm32")]
use crate::bindings::k8s_aibom::scraper::log::{Level, log};

macro_rules! level {
    ($name:ident, $level:ident, $doc:literal) => {
        #[doc = $doc]
        pub fn $name(message: &str) {
            #[cfg(target_arch = "wasm32")]
            log(Level::$level, message);
            #[cfg(not(target_arch = "wasm32"))]
            let _ = message;
        }
    };
}

level!(debug, Debug, "For the author.");
level!(info, Info, "For an administrator who looks.");
level!(warn, Warn, "Something is odd.");
level!(error, Error, "Something is broken.");
