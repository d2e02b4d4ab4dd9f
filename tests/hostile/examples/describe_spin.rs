//! Never finishes to describe itself.

struct Guest;

impl hostile::Guest for Guest {
    fn describe() -> hostile::Description {
        let mut turns = 0u64;
        loop {
            turns = hostile::opaque(turns.wrapping_add(1));
        }
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
