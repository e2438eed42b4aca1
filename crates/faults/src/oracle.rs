//! The oracle: what was answered against what is stored and what is counted.

use std::collections::{BTreeMap, BTreeSet};

use crate::ledger::{Entry, Fate};
use crate::load;

/// A click in the database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) code: String,
    pub(crate) platform: String,
    pub(crate) is_bot: bool,
    pub(crate) user_agent: String,
}

impl Row {
    /// The query that answers lines for [`Row::parse`]. One line a click, on both databases.
    pub(crate) const QUERY: &str = "SELECT COALESCE(l.short_code, '-') || ' ' || c.platform || ' ' || \
         CASE WHEN c.is_bot THEN 'bot' ELSE 'human' END || ' ' || COALESCE(u.text, '') AS line \
         FROM clicks c LEFT JOIN links l ON l.id = c.link_id \
         LEFT JOIN user_agents u ON u.hash = c.ua_hash";

    pub(crate) fn parse(line: &str) -> Option<Self> {
        let mut words = line.splitn(4, ' ');
        Some(Self {
            code: words.next()?.to_owned(),
            platform: words.next()?.to_owned(),
            is_bot: words.next()? == "bot",
            user_agent: words.next()?.to_owned(),
        })
    }
}

/// What the statistics say of a link: clicks by platform, and the sum of its days as `days`.
pub(crate) type Counters = BTreeMap<String, u64>;

/// The four numbers, and what they come from.
#[derive(Debug, Default, Clone)]
pub(crate) struct Verdict {
    /// Redirects that were answered.
    pub(crate) acked: usize,
    /// Requests sent and never answered.
    pub(crate) unanswered: usize,
    /// Requests answered otherwise.
    pub(crate) refused: usize,
    /// Clicks in the database.
    pub(crate) rows: usize,
    /// Answered redirects whose click is not stored.
    pub(crate) lost: BTreeSet<u64>,
    /// Clicks stored beyond the first of each request.
    pub(crate) duplicated: usize,
    /// Clicks that nobody sent, or that are stored as something else than they were.
    pub(crate) phantom: usize,
    /// By how much the counters differ from the stored clicks, link by link.
    pub(crate) difference: u64,
}

#[cfg(test)]
impl Verdict {
    /// Whether all four numbers are 0.
    pub(crate) fn is_clean(&self) -> bool {
        self.lost.is_empty() && self.duplicated == 0 && self.phantom == 0 && self.difference == 0
    }
}

/// Judges a run over links with these codes.
pub(crate) fn judge(
    run: &str,
    codes: &[String],
    entries: &BTreeMap<u64, Entry>,
    rows: &[Row],
    counted: &BTreeMap<String, Counters>,
) -> Verdict {
    let mut verdict = Verdict { rows: rows.len(), ..Verdict::default() };
    let mut stored = BTreeSet::new();
    let mut raw: BTreeMap<String, Counters> = BTreeMap::new();
    for row in rows {
        if !row.is_bot {
            let counters = raw.entry(row.code.clone()).or_default();
            *counters.entry(row.platform.clone()).or_default() += 1;
            *counters.entry("days".to_owned()).or_default() += 1;
        }
        let seq = load::seq_in(run, &row.user_agent);
        let sent = seq.and_then(|seq| entries.get(&seq)).filter(|entry| {
            codes.get(entry.link) == Some(&row.code) && load::platform(entry.seq) == row.platform
        });
        match sent {
            None => verdict.phantom += 1,
            Some(entry) if !stored.insert(entry.seq) => verdict.duplicated += 1,
            Some(_) => {}
        }
    }
    for entry in entries.values() {
        match entry.fate {
            Fate::Answered(302) => {
                verdict.acked += 1;
                if !stored.contains(&entry.seq) {
                    verdict.lost.insert(entry.seq);
                }
            }
            Fate::Answered(_) => verdict.refused += 1,
            Fate::Unanswered => verdict.unanswered += 1,
        }
    }
    let links: BTreeSet<&String> = raw.keys().chain(counted.keys()).collect();
    for link in links {
        let (raw, counted) = (raw.get(link), counted.get(link));
        for of in ["ios", "android", "web", "days"] {
            let number = |counters: Option<&Counters>| {
                counters.and_then(|counters| counters.get(of)).copied().unwrap_or(0)
            };
            verdict.difference += number(raw).abs_diff(number(counted));
        }
    }
    verdict
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn codes() -> Vec<String> {
        vec!["a".to_owned()]
    }

    fn entry(seq: u64, fate: Fate) -> (u64, Entry) {
        (seq, Entry { seq, link: 0, at: Duration::ZERO, took: Duration::ZERO, fate })
    }

    fn row(seq: u64) -> Row {
        let platform = load::platform(seq);
        Row::parse(&format!("a {platform} human Some browser lg/r/{seq}")).unwrap()
    }

    fn counted(rows: &[Row]) -> BTreeMap<String, Counters> {
        let mut counters = Counters::from([("days".to_owned(), rows.len() as u64)]);
        for row in rows {
            *counters.entry(row.platform.clone()).or_default() += 1;
        }
        BTreeMap::from([("a".to_owned(), counters)])
    }

    fn judged(entries: &[(u64, Entry)], rows: &[Row]) -> Verdict {
        judge("r", &codes(), &entries.iter().copied().collect(), rows, &counted(rows))
    }

    #[test]
    fn what_was_answered_is_there_once() {
        let entries = [entry(1, Fate::Answered(302)), entry(2, Fate::Unanswered)];
        assert!(judged(&entries, &[row(1)]).is_clean());
        assert!(judged(&entries, &[row(1), row(2)]).is_clean(), "an unanswered one may be there");
    }

    #[test]
    fn each_mistake_has_its_number() {
        let entries = [entry(1, Fate::Answered(302)), entry(2, Fate::Answered(503))];
        assert_eq!(judged(&entries, &[]).lost, BTreeSet::from([1]));
        assert_eq!(judged(&entries, &[row(1), row(1)]).duplicated, 1);
        assert_eq!(judged(&entries, &[row(1), row(9)]).phantom, 1);
        let elsewhere = Row { code: "b".to_owned(), ..row(1) };
        assert_eq!(judged(&entries, &[row(1), elsewhere]).phantom, 1);
        let entries: BTreeMap<u64, Entry> = entries.into();
        let verdict = judge("r", &codes(), &entries, &[row(1)], &counted(&[row(1), row(1)]));
        assert_eq!(verdict.difference, 2, "one by platform and one by day");
    }
}
