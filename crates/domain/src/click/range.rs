//! The days a statistic covers.

use chrono::{DateTime, Days, NaiveDate, Utc};

use crate::time::{DayOrMoment, parse_day_or_moment};

/// How fine a series is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Interval {
    /// One entry a day.
    #[default]
    Day,
    /// One entry an hour.
    Hour,
}

/// A span of UTC days, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DateRange {
    start: NaiveDate,
    end: NaiveDate,
}

impl DateRange {
    /// Longest range, in days: a leap year.
    pub const MAX_DAYS: i64 = 366;
    /// Length of the range when none or only its end is given.
    pub const DEFAULT_DAYS: u64 = 30;
    /// Longest range with hours.
    pub const MAX_HOURLY_DAYS: i64 = 7;

    /// The range that two query parameters name, on the day of `now`.
    ///
    /// None given: the last 30 days with today. Only a start: until today. Only an end: the 30 days
    /// up to it. An end after today ends today, so a range doesn't claim days that have not been.
    pub fn parse(
        start: Option<&str>,
        end: Option<&str>,
        now: DateTime<Utc>,
    ) -> Result<Self, RangeError> {
        let today = now.date_naive();
        let day = |text: &str| parse_day_or_moment(text).map(DayOrMoment::day);
        let start = start.map(day).transpose().map_err(RangeError::Start)?;
        let end = end.map(day).transpose().map_err(RangeError::End)?;
        if let (Some(start), Some(end)) = (start, end)
            && start > end
        {
            return Err(RangeError::Reversed);
        }
        let end = end.unwrap_or(today).min(today);
        let before = |end: NaiveDate| {
            end.checked_sub_days(Days::new(Self::DEFAULT_DAYS - 1)).unwrap_or(NaiveDate::MIN)
        };
        let start = start.unwrap_or_else(|| before(end));
        if start > end {
            return Err(RangeError::Future);
        }
        if (end - start).num_days() >= Self::MAX_DAYS {
            return Err(RangeError::TooLong);
        }
        Ok(Self { start, end })
    }

    /// The first day.
    pub fn start(self) -> NaiveDate {
        self.start
    }

    /// The last day.
    pub fn end(self) -> NaiveDate {
        self.end
    }

    /// The number of days.
    pub fn days(self) -> i64 {
        (self.end - self.start).num_days() + 1
    }

    /// Every day, in order.
    pub fn each_day(self) -> impl Iterator<Item = NaiveDate> {
        self.start.iter_days().take_while(move |day| *day <= self.end)
    }

    /// The first moment that belongs to the range, and the first after it.
    pub fn bounds(self) -> (DateTime<Utc>, DateTime<Utc>) {
        let midnight = |day: NaiveDate| day.and_time(chrono::NaiveTime::MIN).and_utc();
        let after = self.end.succ_opt().map_or(DateTime::<Utc>::MAX_UTC, midnight);
        (midnight(self.start), after)
    }
}

/// Why two parameters make no range.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RangeError {
    /// The start is no date.
    #[error("{0}")]
    Start(crate::Invalid),
    /// The end is no date.
    #[error("{0}")]
    End(crate::Invalid),
    /// The start lies after the end.
    #[error("startDate lies after endDate")]
    Reversed,
    /// The start lies after today.
    #[error("startDate lies in the future")]
    Future,
    /// More days than a year has.
    #[error("the range is longer than {} days", DateRange::MAX_DAYS)]
    TooLong,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn range(start: Option<&str>, end: Option<&str>) -> Result<(String, String), RangeError> {
        let now = crate::time::parse_moment("2026-01-05T23:59:59Z").unwrap();
        let range = DateRange::parse(start, end, now)?;
        Ok((range.start().to_string(), range.end().to_string()))
    }

    #[expect(clippy::unnecessary_wraps, reason = "it is compared with results")]
    fn days(start: &str, end: &str) -> Result<(String, String), RangeError> {
        Ok((start.to_owned(), end.to_owned()))
    }

    #[test]
    fn missing_ends_are_filled_in() {
        assert_eq!(range(None, None), days("2025-12-07", "2026-01-05"));
        assert_eq!(range(Some("2026-01-01"), None), days("2026-01-01", "2026-01-05"));
        assert_eq!(range(None, Some("2025-06-30")), days("2025-06-01", "2025-06-30"));
        assert_eq!(range(Some("2026-01-01"), Some("2027-01-01")), days("2026-01-01", "2026-01-05"));
    }

    #[test]
    fn a_date_time_stands_for_its_utc_day() {
        assert_eq!(
            range(Some("2026-01-02T23:30:00-01:00"), Some("2026-01-04T00:00:00Z")),
            days("2026-01-03", "2026-01-04")
        );
    }

    #[test]
    fn impossible_ranges_are_refused() {
        assert_eq!(range(Some("2026-01-03"), Some("2026-01-02")), Err(RangeError::Reversed));
        assert_eq!(range(Some("2026-01-06"), None), Err(RangeError::Future));
        assert_eq!(range(Some("2025-01-04"), None), Err(RangeError::TooLong));
        assert!(range(Some("2025-01-05"), None).is_ok());
        assert!(matches!(range(Some("yesterday"), None), Err(RangeError::Start(_))));
        assert!(matches!(range(None, Some("2026-02-30")), Err(RangeError::End(_))));
    }

    #[test]
    fn bounds_cover_whole_days() {
        let now = crate::time::parse_moment("2026-01-05T12:00:00Z").unwrap();
        let range = DateRange::parse(Some("2026-01-04"), None, now).unwrap();
        let (from, to) = range.bounds();
        assert_eq!(from.to_rfc3339(), "2026-01-04T00:00:00+00:00");
        assert_eq!(to.to_rfc3339(), "2026-01-06T00:00:00+00:00");
        assert_eq!(range.each_day().count(), 2);
        assert_eq!(range.days(), 2);
    }
}
