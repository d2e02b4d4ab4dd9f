//! Waiting for something to come about, bounded.

use std::thread;
use std::time::{Duration, Instant};

use crate::error::{Error, Result};

/// Time between two looks. Long enough that looking, which is often a process, does not become the load.
const PAUSE: Duration = Duration::from_millis(250);

/// Looks again and again until `look` gives something, for at most `limit`.
///
/// # Errors
/// The error of `look`, at once; otherwise, once the time is over, one that names `what` and holds what `look` said last: it gives
/// `Ok(Err(state))` for "not yet".
pub fn wait_until<T>(what: &str, limit: Duration, mut look: impl FnMut() -> Result<Result<T, String>>) -> Result<T> {
    let start = Instant::now();
    loop {
        match look()? {
            Ok(found) => return Ok(found),
            Err(last) if start.elapsed() >= limit => {
                return Err(Error::Timeout { what: what.to_owned(), waited: start.elapsed(), last });
            }
            Err(_) => thread::sleep(PAUSE),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_there_is_given_at_once_and_what_never_comes_is_named_with_its_last_state() {
        assert_eq!(wait_until("a number", Duration::ZERO, || Ok(Ok(7))).unwrap(), 7);
        let mut looks = 0;
        let outcome: Result<()> = wait_until("an object", Duration::from_millis(250), || {
            looks += 1;
            Ok(Err(format!("look {looks}")))
        });
        let said = outcome.unwrap_err().to_string();
        assert!(looks > 1 && said.contains("an object") && said.contains(&format!("look {looks}")), "{said}");
    }
}
