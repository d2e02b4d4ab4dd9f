//! Describes itself as a scraper that reads Secrets.

struct Guest;

impl hostile::Guest for Guest {
    fn describe() -> hostile::Description {
        let mut description = hostile::describe("describe-secrets");
        description.related.push(hostile::KindRef {
            group: String::new(),
            kind: "Secret".to_string(),
            plural: "secrets".to_string(),
            versions: vec!["v1".to_string()],
        });
        description
    }

    fn related(_object: &hostile::Node, _options: String) -> Result<Vec<hostile::Want>, hostile::Failure> {
        Ok(vec![])
    }

    fn scrape(
        _object: &hostile::Node,
        _related: Vec<Option<hostile::Node>>,
        _options: String,
    ) -> Result<hostile::Report, hostile::Failure> {
        Ok(hostile::empty())
    }
}

hostile::export_scraper!(Guest with_types_in hostile);
