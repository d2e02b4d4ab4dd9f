//! The version of the contract that a component was built for, read from the names of its imports and exports: unlike a field in a
//! description, these cannot disagree with the code.

use crate::contract::{EXPORT, IMPORTS, MAJOR, PACKAGE, VERSION};
use crate::error::{Rejection, Step};
use crate::scan::Scan;

/// `k8s-aibom:scraper/view@1.0.0` taken apart.
struct Name<'a> {
    interface: &'a str,
    version: Option<&'a str>,
}

fn parse(name: &str) -> Option<Name<'_>> {
    let rest = name.strip_prefix(PACKAGE)?.strip_prefix('/')?;
    Some(match rest.split_once('@') {
        Some((interface, version)) => Name { interface, version: Some(version) },
        None => Name { interface: rest, version: None },
    })
}

/// Whether a version is a release of the major version that is understood.
fn is_supported(version: &str) -> bool {
    let mut parts = version.split('.');
    let mut number = || parts.next().filter(|part| part.bytes().all(|b| b.is_ascii_digit()))?.parse::<u64>().ok();
    let numbers = (number(), number(), number());
    matches!(numbers, (Some(MAJOR), Some(_), Some(_))) && parts.next().is_none()
}

fn expected(interface: &str) -> String {
    format!("{PACKAGE}/{interface}@{MAJOR}.x (this host has {VERSION})")
}

/// Checks the names of imports and exports and returns the version of the contract.
pub(crate) fn check(scan: &Scan) -> Result<String, Rejection> {
    for import in &scan.imports {
        match parse(import) {
            Some(name) if IMPORTS.contains(&name.interface) => {
                if !name.version.is_some_and(is_supported) {
                    return Err(Rejection::new(
                        Step::Contract,
                        format!("an import of {}", expected(name.interface)),
                        format!("`{import}`"),
                    ));
                }
            }
            _ => {
                let allowed = IMPORTS.map(|interface| format!("{PACKAGE}/{interface}")).join(", ");
                return Err(Rejection::new(Step::Contract, format!("no imports but {allowed}"), format!("`{import}`")));
            }
        }
    }
    // Extra interfaces are the plugin's own business.
    let mut scrapers = scan.exports.iter().filter(|name| parse(name).is_some_and(|name| name.interface == EXPORT));
    let wanted = format!("an export of {}", expected(EXPORT));
    let Some(export) = scrapers.next() else {
        let found =
            if scan.exports.is_empty() { "no exported interface".to_owned() } else { format!("only `{}`", scan.exports.join("`, `")) };
        return Err(Rejection::new(Step::Contract, wanted, found));
    };
    match parse(export).and_then(|name| name.version).filter(|version| is_supported(version)) {
        Some(version) => Ok(version.to_owned()),
        None => Err(Rejection::new(Step::Contract, wanted, format!("`{export}`"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(imports: &[&str], exports: &[&str]) -> Scan {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Scan { imports: owned(imports), exports: owned(exports), ..Scan::default() }
    }

    #[test]
    fn every_release_of_the_major_version_is_accepted() {
        for version in ["1.0.0", "1.2.0", "1.0.7"] {
            let export = format!("k8s-aibom:scraper/scraper@{version}");
            assert_eq!(check(&scan(&["k8s-aibom:scraper/view@1.0.0"], &[&export])).unwrap(), version);
        }
    }

    #[test]
    fn other_versions_are_named_in_the_rejection() {
        for export in ["scraper@2.0.0", "scraper@0.9.0", "scraper@1.0.0-rc.1", "scraper", "scraper@1.0", "scraper@1.0.0.0", "scraper@1..0"]
        {
            let export = format!("k8s-aibom:scraper/{export}");
            let rejection = check(&scan(&[], &[&export])).unwrap_err();
            assert_eq!(rejection.step, Step::Contract);
            assert_eq!(rejection.found, format!("`{export}`"));
            assert!(rejection.expected.contains("k8s-aibom:scraper/scraper@1.x"), "{}", rejection.expected);
        }
    }

    #[test]
    fn imports_outside_the_contract_are_rejected() {
        for import in ["wasi:clocks/wall-clock@0.2.0", "k8s-aibom:scraper/cluster@1.0.0", "view", "k8s-aibom:scraper/view@2.0.0"] {
            let rejection = check(&scan(&[import], &["k8s-aibom:scraper/scraper@1.0.0"])).unwrap_err();
            assert_eq!(rejection.found, format!("`{import}`"));
        }
    }

    #[test]
    fn a_component_without_the_exported_interface_says_what_it_has() {
        assert_eq!(check(&scan(&[], &[])).unwrap_err().found, "no exported interface");
        assert_eq!(check(&scan(&[], &["wasi:cli/run@0.2.0"])).unwrap_err().found, "only `wasi:cli/run@0.2.0`");
    }
}
