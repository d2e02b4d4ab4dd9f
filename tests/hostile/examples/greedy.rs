//! Asks for more than it described: other kinds, Secrets, other namespaces, names that cannot be, places that are not there.

use hostile::{Description, Failure, Node, Report, Want, at, describe, empty, kind};

struct Guest;

impl hostile::Guest for Guest {
    fn describe() -> Description {
        let mut description = describe("greedy");
        description.related.push(kind("Cache", "caches"));
        description
    }

    fn related(_object: &Node, options: String) -> Result<Vec<Want>, Failure> {
        let want = |group: &str, kind: &str, namespace: Option<&str>, name: &str, pointer: &str| Want {
            group: group.to_string(),
            kind: kind.to_string(),
            namespace: namespace.map(str::to_string),
            name: name.to_string(),
            at: at(pointer),
        };
        let fair = want("hostile.example", "Cache", Some("team"), "weights", "/spec/model");
        if options == "flood" {
            return Ok(vec![fair; 1_000]);
        }
        Ok(vec![
            want("", "Secret", Some("team"), "token", "/spec/model"),
            want("hostile.example", "Widget", Some("team"), "other", "/spec/model"),
            want("hostile.example", "Cache", Some("kube-system"), "weights", "/spec/model"),
            want("hostile.example", "Cache", Some("team"), "../weights", "/spec/model"),
            want("hostile.example", "Cache", Some("team"), "weights", "/spec/nothing"),
            fair,
        ])
    }

    fn scrape(_object: &Node, _related: Vec<Option<Node>>, _options: String) -> Result<Report, Failure> {
        Ok(empty())
    }
}

hostile::export_scraper!(Guest with_types_in hostile);
