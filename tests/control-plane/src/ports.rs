//! Free ports on the loopback interface.

use std::hash::{BuildHasher as _, RandomState};
use std::net::{Ipv4Addr, TcpListener};

use crate::error::{Error, Result};

/// Below the ports that systems hand out for outgoing connections. One of those could be taken by a client while the API server is stopped,
/// and it is to come back at the same address.
const FIRST: u16 = 20_000;
const LAST: u16 = 32_000;

/// How many ports are tried. In this range hardly any is in use.
const TRIES: u16 = 200;

/// `N` different ports that were free a moment ago. Another process may take one before it is used; whoever uses them tries again then.
pub(crate) fn free<const N: usize>() -> Result<[u16; N]> {
    let span = LAST - FIRST;
    // Two test processes begin at different places.
    let start = RandomState::new().hash_one(std::process::id());
    // Held until all are found, so that none is found twice.
    let mut held = Vec::with_capacity(N);
    let mut ports = [0; N];
    let mut refused = None;
    for step in 0..TRIES {
        let Some(slot) = ports.get_mut(held.len()) else { return Ok(ports) };
        let port = FIRST + ((start % u64::from(span)) as u16 + step * 59) % span;
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(listener) => {
                *slot = port;
                held.push(listener);
            }
            Err(error) => refused = Some(error),
        }
    }
    if held.len() == N {
        return Ok(ports);
    }
    let source = refused.unwrap_or_else(|| std::io::ErrorKind::AddrInUse.into());
    Err(Error::NoPort { first: FIRST, last: LAST, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_different_and_can_be_bound() {
        let ports = free::<4>().unwrap();
        let listeners: Vec<TcpListener> =
            ports.iter().map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).expect("it was free")).collect();
        assert_eq!(listeners.len(), 4);
        let more = free::<4>().unwrap();
        assert!(more.iter().all(|port| !ports.contains(port)), "{ports:?} are in use, and {more:?} were given");
    }
}
