//! Figures beside their budgets, as a table.

use std::fmt::Write as _;
use std::time::Duration;

/// One figure.
#[derive(Debug)]
pub(crate) struct Figure {
    what: String,
    value: f64,
    unit: &'static str,
    budget: Option<f64>,
    go: &'static str,
}

impl Figure {
    /// A figure without a budget.
    pub(crate) fn new(what: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self { what: what.into(), value, unit, budget: None, go: "" }
    }

    /// The most it should be; nothing when there is no budget for this case.
    pub(crate) fn at_most(mut self, budget: impl Into<Option<f64>>) -> Self {
        self.budget = budget.into();
        self
    }

    /// What the Go operator had in the same step.
    pub(crate) fn go(mut self, go: &'static str) -> Self {
        self.go = go;
        self
    }

    fn mark(&self) -> &'static str {
        match self.budget {
            None => "",
            Some(budget) if self.value <= budget => "ok",
            Some(_) => "over",
        }
    }
}

/// Lines of a table, one for each figure.
pub(crate) fn table(title: &str, figures: &[Figure]) -> String {
    let rows: Vec<[String; 5]> = figures
        .iter()
        .map(|figure| {
            let value = format!("{} {}", number(figure.value), figure.unit);
            let budget = figure.budget.map_or_else(String::new, |budget| format!("<= {}", number(budget)));
            [figure.what.clone(), value, budget, figure.mark().to_owned(), figure.go.to_owned()]
        })
        .collect();
    let head = [title, "measured", "budget", "", "Go operator"].map(str::to_owned);
    let all: Vec<&[String; 5]> = std::iter::once(&head).chain(&rows).collect();
    let width = |column: usize| all.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths = [width(0).max(52), width(1).max(12), width(2).max(9), 4];
    let mut text = String::new();
    for row in all {
        let [what, value, budget, mark, go] = row;
        let line = format!("{what:<0$}  {value:>1$}  {budget:>2$}  {mark:<3$}  {go}", widths[0], widths[1], widths[2], widths[3]);
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text
}

/// As few digits as say something.
fn number(value: f64) -> String {
    if value.fract() == 0.0 || value.abs() >= 1000.0 {
        format!("{value:.0}")
    } else if value.abs() >= 10.0 {
        format!("{value:.1}")
    } else {
        format!("{value:.2}")
    }
}

/// The duration that this part of them does not exceed, in seconds: 0.5 is the middle. None of none.
pub(crate) fn percentile(sorted: &[Duration], part: f64) -> Option<f64> {
    // The smallest rank that covers the part.
    let rank = sorted.iter().enumerate().find(|(index, _)| (*index + 1) as f64 >= part * sorted.len() as f64);
    rank.or(sorted.iter().enumerate().next_back()).map(|(_, duration)| duration.as_secs_f64())
}

/// KiB, as memory is shown.
pub(crate) fn mib(kib: u64) -> f64 {
    kib as f64 / 1024.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_at_its_budget_is_ok_and_one_above_it_is_over() {
        let text = table(
            "Burst",
            &[
                Figure::new("writes", 2.0, "").at_most(2.0).go("3"),
                Figure::new("memory", 36.01, "MiB").at_most(36.0),
                Figure::new("pods", 1001.0, ""),
            ],
        );
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        assert_eq!(lines[1], ["writes", "2", "<=", "2", "ok", "3"]);
        assert_eq!(lines[2], ["memory", "36.0", "MiB", "<=", "36", "over"]);
        assert_eq!(lines[3], ["pods", "1001"]);
    }

    #[test]
    fn a_percentile_is_one_of_the_values() {
        let hundred: Vec<Duration> = (1..=100).map(Duration::from_secs).collect();
        assert_eq!(percentile(&hundred, 0.5), Some(50.0));
        assert_eq!(percentile(&hundred, 0.99), Some(99.0));
        assert_eq!(percentile(&hundred[..1], 0.99), Some(1.0));
        assert_eq!(percentile(&[], 0.5), None);
    }
}
