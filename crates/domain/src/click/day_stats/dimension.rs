//! Clicks per value of an open dimension, such as the browser.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::add;

/// Clicks per name, for so many names; the clicks of all other names are one sum.
///
/// The bounds hold a day's record small whatever visitors claim: names come from their user agents
/// and referrers.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Dimension {
    pub(super) named: BTreeMap<Box<str>, u64>,
    pub(super) other: u64,
}

impl Dimension {
    /// Most names.
    pub(super) const MAX_NAMES: usize = 64;
    /// Longest name, in bytes; host names end at 253 (RFC 1035 section 2.3.4), browsers far below.
    pub(super) const MAX_NAME_BYTES: usize = 255;

    /// Counts clicks of a value; a new name finds a place as long as there is one.
    pub(super) fn add(&mut self, name: &str, clicks: u64) {
        if let Some(count) = self.named.get_mut(name) {
            add(count, clicks);
        } else if self.named.len() < Self::MAX_NAMES && name.len() <= Self::MAX_NAME_BYTES {
            self.named.insert(name.into(), clicks);
        } else {
            add(&mut self.other, clicks);
        }
    }

    /// Adds another's counts; where places are few, its largest names get them.
    pub(super) fn merge(&mut self, other: &Self) {
        let mut incoming: Vec<(&Box<str>, &u64)> = other.named.iter().collect();
        incoming.sort_by_key(|(_, clicks)| Reverse(**clicks));
        for (name, clicks) in incoming {
            self.add(name, *clicks);
        }
        add(&mut self.other, other.other);
    }

    /// All clicks that have a value, unless the sum is too large for a number.
    pub(super) fn total(&self) -> Option<u64> {
        self.named.values().try_fold(self.other, |sum, clicks| sum.checked_add(*clicks))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_65th_name_is_other_and_the_first_64_go_on_counting() {
        let mut dimension = Dimension::default();
        for n in 0..70 {
            dimension.add(&n.to_string(), 2);
        }
        dimension.add("0", 1);
        assert_eq!(dimension.named.len(), 64);
        assert_eq!(dimension.named["0"], 3);
        assert_eq!(dimension.other, 12);
        assert_eq!(dimension.total(), Some(141));
    }

    #[test]
    fn an_overlong_name_is_other() {
        let mut dimension = Dimension::default();
        dimension.add(&"x".repeat(255), 1);
        dimension.add(&"x".repeat(256), 1);
        assert_eq!((dimension.named.len(), dimension.other), (1, 1));
    }

    #[test]
    fn a_full_dimension_keeps_its_names_and_the_largest_new_ones_find_the_last_places() {
        let mut dimension = Dimension::default();
        for n in 0..63 {
            dimension.add(&n.to_string(), 1);
        }
        let mut more = Dimension::default();
        more.add("small", 1);
        more.add("large", 9);
        more.add("0", 5);
        dimension.merge(&more);
        assert_eq!((dimension.named["large"], dimension.named["0"]), (9, 6));
        assert_eq!(dimension.other, 1);
        assert_eq!(dimension.total(), Some(78));
    }
}
