//! Distinct visitors of a day: exact while they are few, a sketch of constant size beyond.

mod sketch;
mod sketch_wire;

use std::collections::BTreeSet;

use self::sketch::Sketch;
use crate::click::WireError;
use crate::click::packed::{Reader, put_number};

/// A set of visitors, each one a 64-bit hash.
///
/// Which form a set has, and every byte of it, depends on its members only, never on the order in
/// which they came or on how parts were merged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Visitors {
    /// The hashes themselves, at most [`MAX_EXACT`] of them.
    Exact(BTreeSet<u64>),
    /// What is remembered of more.
    Sketch(Sketch),
}

/// Most visitors that are counted exactly; 2 KiB of hashes.
const MAX_EXACT: usize = 256;

/// The first byte of each form.
const EXACT: u8 = 0;
const SKETCH: u8 = 1;

impl Default for Visitors {
    fn default() -> Self {
        Self::Exact(BTreeSet::new())
    }
}

impl Visitors {
    pub(super) fn add(&mut self, visitor: u64) {
        match self {
            Self::Exact(hashes) => {
                hashes.insert(visitor);
                if hashes.len() > MAX_EXACT {
                    *self = Self::Sketch(hashes.iter().copied().collect());
                }
            }
            Self::Sketch(sketch) => sketch.add(visitor),
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        match (&mut *self, other) {
            (_, Self::Exact(more)) => {
                for visitor in more {
                    self.add(*visitor);
                }
            }
            (Self::Sketch(sketch), Self::Sketch(more)) => sketch.merge(more),
            (Self::Exact(hashes), Self::Sketch(more)) => {
                let mut sketch = more.clone();
                for visitor in hashes.iter() {
                    sketch.add(*visitor);
                }
                *self = Self::Sketch(sketch);
            }
        }
    }

    pub(super) fn estimate(&self) -> u64 {
        match self {
            Self::Exact(hashes) => hashes.len() as u64,
            Self::Sketch(sketch) => sketch.estimate(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        matches!(self, Self::Exact(hashes) if hashes.is_empty())
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Exact(hashes) => {
                out.push(EXACT);
                put_number(out, hashes.len() as u64);
                for hash in hashes {
                    out.extend_from_slice(&hash.to_be_bytes());
                }
            }
            Self::Sketch(sketch) => {
                out.push(SKETCH);
                sketch_wire::encode(sketch, out);
            }
        }
    }

    pub(super) fn decode(reader: &mut Reader<'_>) -> Result<Self, WireError> {
        match reader.byte()? {
            EXACT => {
                let impossible = WireError::Impossible("set of visitors");
                let mut hashes = BTreeSet::new();
                for _ in 0..reader.length(MAX_EXACT, "number of visitors")? {
                    let hash = u64::from_be_bytes(reader.array()?);
                    if hashes.last().is_some_and(|last| *last >= hash) {
                        return Err(impossible);
                    }
                    hashes.insert(hash);
                }
                Ok(Self::Exact(hashes))
            }
            SKETCH => sketch_wire::decode(reader).map(Self::Sketch),
            _ => Err(WireError::Impossible("form of visitors")),
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `SplitMix64` (Steele, Lea, Flood 2014): well mixed numbers from a seed.
    pub(in crate::click::day_stats) fn hashes(seed: u64) -> impl Iterator<Item = u64> {
        let mut state = seed;
        std::iter::repeat_with(move || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        })
    }

    fn set(hashes: impl Iterator<Item = u64>) -> Visitors {
        let mut visitors = Visitors::default();
        for hash in hashes {
            visitors.add(hash);
        }
        visitors
    }

    fn bytes_of(visitors: &Visitors) -> Vec<u8> {
        let mut out = vec![1];
        visitors.encode(&mut out);
        out
    }

    fn read(bytes: &[u8]) -> Result<Visitors, WireError> {
        let mut reader = Reader::versioned(bytes, 1)?;
        let visitors = Visitors::decode(&mut reader)?;
        reader.finish().map(|()| visitors)
    }

    #[test]
    fn up_to_256_visitors_are_exact_and_repeats_do_not_count() {
        for count in [0, 1, 255, 256] {
            let twice = hashes(7).take(count).chain(hashes(7).take(count));
            assert_eq!(set(twice).estimate(), count as u64);
        }
    }

    #[test]
    fn beyond_256_the_estimate_is_within_2_percent() {
        for seed in 0..8 {
            for count in [257_u32, 1_000, 3_000, 10_000, 30_000, 60_000, 100_000, 300_000] {
                let estimate = set(hashes(seed).take(count as usize)).estimate();
                let error = estimate.abs_diff(u64::from(count)) * 100;
                assert!(error <= u64::from(count) * 2, "{count}: {estimate}");
            }
        }
    }

    #[test]
    fn a_record_of_many_visitors_stays_small() {
        for (count, most) in [(257, 700), (1_000, 2_100), (10_000, 6_500), (1_000_000, 14_500)] {
            let visitors = set(hashes(1).take(count));
            let bytes = bytes_of(&visitors);
            assert!(bytes.len() <= most, "{count}: {}", bytes.len());
            assert_eq!(read(&bytes), Ok(visitors));
        }
    }

    #[test]
    fn an_unsorted_or_overlong_set_is_refused() {
        let two = |a: u64, b: u64| [&[1, 0, 2][..], &a.to_be_bytes(), &b.to_be_bytes()].concat();
        assert!(read(&two(1, 2)).is_ok());
        for bytes in [two(2, 1), two(1, 1), [vec![1, 0, 0x81, 2], vec![0; 8 * 257]].concat()] {
            assert!(matches!(read(&bytes), Err(WireError::Impossible(_))));
        }
        assert_eq!(read(&two(1, 2)[..10]), Err(WireError::Truncated));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn neither_order_nor_grouping_changes_a_set(
            seed: u64,
            sizes in prop::array::uniform3(prop_oneof![0_usize..300, 2000_usize..4000]),
        ) {
            let part = |n: usize| hashes(seed.wrapping_add(n as u64)).take(sizes[n]);
            let [a, b, c] = [0, 1, 2].map(|n| set(part(n)));
            let all = set(part(2).chain(part(0)).chain(part(1)));
            let mut left = a.clone();
            left.merge(&b);
            left.merge(&c);
            let mut right = c;
            right.merge(&b);
            right.merge(&a);
            prop_assert_eq!(&left, &all);
            prop_assert_eq!(&right, &all);
            prop_assert_eq!(read(&bytes_of(&all)), Ok(all));
        }

        #[test]
        fn damaged_bytes_are_read_or_refused(
            seed: u64,
            size in 0_usize..6000,
            damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..4),
        ) {
            let mut bytes = bytes_of(&set(hashes(seed).take(size)));
            for (at, value) in damage {
                let at = at.index(bytes.len());
                bytes[at] = value;
            }
            if let Ok(visitors) = read(&bytes) {
                visitors.estimate();
                prop_assert_eq!(bytes_of(&visitors), bytes);
            }
        }
    }
}
