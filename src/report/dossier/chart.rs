use std::fmt::Write as _;

use super::{TenantTable, Throughput};
use crate::ui::format::{count, duration, number, shortened};

/// How many tenants have a bar of their own.
const BARS: usize = 20;
/// The most characters of a tenant: on a narrow page its figure stands beside it. The table has all of them.
const LABEL: usize = 28;
/// How many intervals a curve has at most.
const INTERVALS: usize = 120;

/// A bar chart: one bar for each tenant, the longest as wide as the page.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bars {
    pub list: Vec<Bar>,
    /// The height of all of them.
    pub height: usize,
    /// What is not shown; empty if all are.
    pub rest: String,
}

/// One bar. Places are in pixels from the top, widths in percent, so that it fits any page without being scaled.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Bar {
    pub label: String,
    pub value: String,
    pub width: String,
    pub text_at: usize,
    pub track_at: usize,
}

const ROW: usize = 36;

/// The documents of each tenant; `None` where there is nothing to be compared.
pub(super) fn bars(table: &TenantTable) -> Option<Bars> {
    let all = table.documents_by_tenant();
    let most = all.first().map(|(_, most)| *most).filter(|most| *most > 0)?;
    if all.len() < 2 {
        return None;
    }
    let shown = all.len().min(BARS);
    let bar = |(row, (tenant, documents)): (usize, &(&str, u64))| Bar {
        label: shortened(tenant, LABEL).into_owned(),
        value: number(*documents),
        width: permille(*documents, most),
        text_at: row * ROW + 14,
        track_at: row * ROW + 19,
    };
    let rest = all.get(shown..).unwrap_or_default();
    let rest = match rest.len() {
        0 => String::new(),
        more => {
            let documents = rest.iter().map(|(_, documents)| documents).sum();
            format!("and {} with {}", count(more as u64, "more tenant"), count(documents, "document"))
        }
    };
    Some(Bars { list: all.iter().take(shown).enumerate().map(bar).collect(), height: shown * ROW, rest })
}

/// A part of a whole in percent with one decimal; what is there at all can be seen.
fn permille(part: u64, whole: u64) -> String {
    let permille = (u128::from(part) * 1_000 / u128::from(whole.max(1))).max(u128::from(part > 0) * 3);
    format!("{}.{}%", permille / 10, permille % 10)
}

/// A curve of documents a second over time, in a box of 1,000 by 100.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Curve {
    /// The work and its figures.
    pub caption: String,
    /// The outline of the area below the curve: an SVG path. Empty where the work was too short for one.
    pub path: String,
    /// The highest rate.
    pub highest: String,
    /// How long it took.
    pub end: String,
}

/// Documents a second, over the whole work; `None` where it took no time that can be told.
pub(super) fn rate(it: &Throughput) -> Option<u64> {
    let rate = (u128::from(it.documents) * 1_000).checked_div(u128::from(it.milliseconds))?;
    u64::try_from(rate).ok()
}

/// The curve of one piece of work.
pub(super) fn curve(it: &Throughput) -> Curve {
    let end = duration(std::time::Duration::from_millis(it.milliseconds));
    let mean = rate(it).map_or_else(String::new, |rate| format!(", {}/s", number(rate)));
    let caption = format!("{}: {} in {end}{mean}", it.what, count(it.documents, "document"));
    let rates = rates(it);
    let highest = rates.iter().map(|(_, rate)| *rate).max().unwrap_or_default();
    let path = if rates.len() < 3 || highest == 0 { String::new() } else { path(it, &rates, highest) };
    Curve { caption, path, highest: format!("{}/s", number(highest)), end }
}

/// The rate of each interval, with the moment of its end.
fn rates(it: &Throughput) -> Vec<(u64, u64)> {
    let every = it.points.len().div_ceil(INTERVALS).max(1);
    let mut kept: Vec<(u64, u64)> = it.points.iter().copied().step_by(every).collect();
    if kept.last() != it.points.last() {
        kept.extend(it.points.last());
    }
    let mut rates = Vec::with_capacity(kept.len());
    let mut before = (0, 0);
    for (at, documents) in kept {
        let time = at.saturating_sub(before.0);
        if time == 0 {
            continue;
        }
        rates.push((at, documents.saturating_sub(before.1).saturating_mul(1_000) / time));
        before = (at, documents);
    }
    rates
}

/// Steps: the rate of an interval holds from its begin to its end.
fn path(it: &Throughput, rates: &[(u64, u64)], highest: u64) -> String {
    let x = |at: u64| scaled(at, it.milliseconds, 1_000);
    let mut path = String::from("M0 100");
    let mut from = 0;
    // Writing to a string cannot fail.
    for (at, rate) in rates {
        let y = 100 - scaled(*rate, highest, 96);
        let _infallible = write!(path, " L{from} {y} L{} {y}", x(*at));
        from = x(*at);
    }
    let _infallible = write!(path, " L{from} 100 Z");
    path
}

fn scaled(part: u64, whole: u64, width: u64) -> u64 {
    let scaled = u128::from(part) * u128::from(width) / u128::from(whole.max(1));
    u64::try_from(scaled).unwrap_or(width).min(width)
}

#[cfg(test)]
mod tests {
    use super::super::{Cell, Standing, TenantRow};
    use super::*;

    fn table(documents: &[u64]) -> TenantTable {
        let row = |(number, documents): (usize, &u64)| TenantRow {
            tenant: format!("tenant-{number:02}"),
            cells: vec![Cell::Count(*documents)],
            standing: Standing::Passed,
        };
        TenantTable {
            columns: vec!["documents".into()],
            documents: Some(0),
            rows: documents.iter().enumerate().map(row).collect(),
        }
    }

    #[test]
    fn the_longest_bar_fills_the_page_and_the_shortest_can_be_seen() {
        let bars = bars(&table(&[1, 1_000_000, 500_000, 0])).unwrap();
        let widths: Vec<_> = bars.list.iter().map(|bar| bar.width.as_str()).collect();
        assert_eq!(widths, ["100.0%", "50.0%", "0.3%", "0.0%"]);
        assert_eq!(bars.list[0].label, "tenant-01");
        assert_eq!((bars.height, bars.rest.as_str()), (4 * ROW, ""));
    }

    #[test]
    fn tenants_without_a_bar_are_counted() {
        let bars = bars(&table(&[7; BARS + 3])).unwrap();
        assert_eq!(bars.list.len(), BARS);
        assert_eq!(bars.rest, "and 3 more tenants with 21 documents");
        assert_eq!(super::bars(&table(&[7])), None, "one tenant is compared with nobody");
        assert_eq!(super::bars(&table(&[0, 0])), None);
    }

    #[test]
    fn a_curve_stays_within_its_box_and_a_short_work_has_none() {
        let work = |points: Vec<(u64, u64)>| Throughput {
            what: "reading".into(),
            documents: points.last().map_or(0, |last| last.1),
            bytes: 0,
            milliseconds: points.last().map_or(0, |last| last.0),
            points,
        };
        let long = curve(&work((1..=1_000).map(|step| (step * 100, step * step)).collect()));
        assert!(long.path.starts_with("M0 100 L0 ") && long.path.ends_with(" L1000 100 Z"), "{}", long.path);
        let numbers = long.path.split([' ', 'L', 'M', 'Z']).filter(|it| !it.is_empty());
        assert!(numbers.map(|it| it.parse::<u64>().unwrap()).all(|it| it <= 1_000));
        assert_eq!(long.end, "1 min 40 s");
        let short = curve(&work(vec![(5, 3), (9, 4)]));
        assert_eq!(
            (short.path.as_str(), short.caption.as_str()),
            ("", "reading: 4 documents in 0.0 s, 444/s")
        );
        assert_eq!(curve(&work(Vec::new())).caption, "reading: 0 documents in 0.0 s");
    }
}
