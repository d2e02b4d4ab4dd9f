//! Free ports on the loopback interface.

use std::collections::BTreeSet;
use std::hash::{BuildHasher as _, RandomState};
use std::net::{Ipv4Addr, TcpListener};
use std::sync::{Mutex, PoisonError};

use crate::error::{Error, Result};

/// Below the ports that systems hand out for outgoing connections. One of those could be taken by a client while the API server is stopped,
/// and it is to come back at the same address.
const FIRST: u16 = 20_000;
const LAST: u16 = 32_000;

/// How many ports are tried. In this range hardly any is in use.
const TRIES: u16 = 200;

/// Ports this process was given already. They are not given again: the server they are meant for may not have bound them yet.
static GIVEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// `N` different ports that were free a moment ago and that this process was not given before. Another process may take one before it is
/// used; whoever uses them tries again then.
pub(crate) fn free<const N: usize>() -> Result<[u16; N]> {
    let span = LAST - FIRST;
    // Two test processes begin at different places.
    let start = RandomState::new().hash_one(std::process::id());
    let mut given = GIVEN.lock().unwrap_or_else(PoisonError::into_inner);
    let mut found = 0;
    let mut ports = [0; N];
    let mut refused = None;
    for step in 0..TRIES {
        let Some(slot) = ports.get_mut(found) else { break };
        let port = FIRST + ((start % u64::from(span)) as u16 + step * 59) % span;
        if given.contains(&port) {
            continue;
        }
        match TcpListener::bind((Ipv4Addr::LOCALHOST, port)) {
            Ok(_) => {
                *slot = port;
                found += 1;
                given.insert(port);
            }
            Err(error) => refused = Some(error),
        }
    }
    if found == N {
        return Ok(ports);
    }
    let source = refused.unwrap_or_else(|| std::io::ErrorKind::AddrInUse.into());
    Err(Error::NoPort { first: FIRST, last: LAST, source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_port_is_given_twice() {
        let mut all = BTreeSet::new();
        for _ in 0..20 {
            let ports = free::<4>().unwrap();
            assert!(ports.iter().all(|port| (FIRST..LAST).contains(port)), "{ports:?}");
            all.extend(ports);
        }
        assert_eq!(all.len(), 80);
    }

    #[test]
    fn a_port_in_use_is_not_given() {
        // Whatever this test holds, and whatever else the machine uses, is passed over.
        let held: Vec<TcpListener> = (FIRST..FIRST + 50).filter_map(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok()).collect();
        assert!(!held.is_empty());
        let taken: BTreeSet<u16> = held.iter().map(|listener| listener.local_addr().unwrap().port()).collect();
        for _ in 0..20 {
            let ports = free::<4>().unwrap();
            assert!(ports.iter().all(|port| !taken.contains(port)), "{ports:?}");
        }
    }
}
