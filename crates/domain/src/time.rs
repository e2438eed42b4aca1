//! Moments and days as clients write them.

use chrono::{DateTime, Datelike, Duration, NaiveDate, NaiveTime, SubsecRound, Utc};

use crate::{Invalid, InvalidCode};

/// Microseconds in a UTC day. Days of statistics are UTC days and leap seconds don't count.
pub const MICROS_PER_DAY: i64 = 86_400_000_000;

/// A date, or a date with a time, as a range may name either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DayOrMoment {
    /// A bare date: the whole UTC day.
    Day(NaiveDate),
    /// A moment.
    Moment(DateTime<Utc>),
}

impl DayOrMoment {
    /// The UTC day this falls on.
    pub fn day(self) -> NaiveDate {
        match self {
            Self::Day(day) => day,
            Self::Moment(moment) => moment.date_naive(),
        }
    }
}

/// Reads an ISO 8601 date-time; the result is cut to milliseconds.
///
/// Seconds and their fraction are optional; the offset may be `Z`, `+01:00`, `+0100`, `+01` or
/// absent, which means UTC. A bare date is refused: it would be a guess which end of the day its
/// writer meant. The year has four digits and stays within 0000–9999 in UTC too, because RFC 3339
/// can't write any other.
pub fn parse_moment(text: &str) -> Result<DateTime<Utc>, Invalid> {
    match parse_day_or_moment(text)? {
        DayOrMoment::Moment(moment) => Ok(moment),
        DayOrMoment::Day(_) => Err(malformed()),
    }
}

/// Reads an ISO 8601 date or date-time, by the rules of [`parse_moment`].
pub fn parse_day_or_moment(text: &str) -> Result<DayOrMoment, Invalid> {
    let bytes = text.as_bytes();
    if !text.is_ascii() || bytes.len() < 10 || bytes[4] != b'-' || bytes[7] != b'-' {
        return Err(malformed());
    }
    let day = NaiveDate::from_ymd_opt(
        digits(&text[..4])?.try_into().map_err(|_| malformed())?,
        digits(&text[5..7])?,
        digits(&text[8..10])?,
    )
    .ok_or_else(malformed)?;
    if bytes.len() == 10 {
        return Ok(DayOrMoment::Day(day));
    }
    if !matches!(bytes[10], b'T' | b't') {
        return Err(malformed());
    }
    let rest = &text[11..];
    let zone_at = rest.find(['Z', 'z', '+', '-']).unwrap_or(rest.len());
    let local = day.and_time(time_of_day(&rest[..zone_at])?).and_utc();
    let moment = local
        .checked_sub_signed(offset(&rest[zone_at..])?)
        .filter(|m| (0..=9999).contains(&m.year()))
        .ok_or_else(malformed)?;
    Ok(DayOrMoment::Moment(moment.trunc_subsecs(3)))
}

fn time_of_day(text: &str) -> Result<NaiveTime, Invalid> {
    let (clock, fraction) = text.split_once('.').unwrap_or((text, ""));
    let mut parts = clock.split(':');
    let mut part = || -> Result<Option<u32>, Invalid> {
        parts.next().map(|p| if p.len() == 2 { digits(p) } else { Err(malformed()) }).transpose()
    };
    let (hour, minute, second) =
        (part()?.ok_or_else(malformed)?, part()?.ok_or_else(malformed)?, part()?);
    if parts.next().is_some() || (second.is_none() && text.contains('.')) {
        return Err(malformed());
    }
    let millis = if text.contains('.') {
        if fraction.is_empty() || fraction.len() > 18 {
            return Err(malformed());
        }
        digits(fraction.get(..9).unwrap_or(fraction))?;
        let shown: String = fraction.chars().chain("000".chars()).take(3).collect();
        if !fraction.bytes().all(|b| b.is_ascii_digit()) {
            return Err(malformed());
        }
        digits(&shown)?
    } else {
        0
    };
    // A leap second has no place in UTC days of 86,400 seconds; it becomes the second before it.
    let second = second.map_or(0, |s| if s == 60 { 59 } else { s });
    NaiveTime::from_hms_milli_opt(hour, minute, second, millis).ok_or_else(malformed)
}

fn offset(text: &str) -> Result<Duration, Invalid> {
    if text.is_empty() || text.eq_ignore_ascii_case("z") {
        return Ok(Duration::zero());
    }
    let (sign, rest) = text.split_at(1);
    let (hours, minutes) = match rest.len() {
        2 => (rest, "00"),
        4 => rest.split_at(2),
        5 if rest.as_bytes()[2] == b':' => (&rest[..2], &rest[3..]),
        _ => return Err(malformed()),
    };
    let (hours, minutes) = (digits(hours)?, digits(minutes)?);
    if hours > 23 || minutes > 59 {
        return Err(malformed());
    }
    let ahead = Duration::minutes(i64::from(hours * 60 + minutes));
    match sign {
        "+" => Ok(ahead),
        "-" => Ok(-ahead),
        _ => Err(malformed()),
    }
}

fn digits(text: &str) -> Result<u32, Invalid> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(malformed());
    }
    text.parse().map_err(|_| malformed())
}

fn malformed() -> Invalid {
    Invalid::new(
        InvalidCode::InvalidFormat,
        "is not an ISO 8601 date-time such as 2026-01-05T09:00:00Z",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moment(text: &str) -> String {
        parse_moment(text).map_or_else(|_| "refused".to_owned(), |m| format!("{m:?}"))
    }

    #[test]
    fn offsets_and_missing_parts_are_understood() {
        for (text, expected) in [
            ("2026-01-05T09:00:00Z", "2026-01-05T09:00:00Z"),
            ("2026-01-05T09:00", "2026-01-05T09:00:00Z"),
            ("2026-01-05t09:00z", "2026-01-05T09:00:00Z"),
            ("2026-01-05T09:00:00+01:00", "2026-01-05T08:00:00Z"),
            ("2026-01-05T09:00:00-0130", "2026-01-05T10:30:00Z"),
            ("2026-01-05T09:00:00+01", "2026-01-05T08:00:00Z"),
            ("2026-01-05T09:00:00.5", "2026-01-05T09:00:00.500Z"),
            ("2026-01-05T09:00:00.123999Z", "2026-01-05T09:00:00.123Z"),
            ("2024-02-29T23:59:60Z", "2024-02-29T23:59:59Z"),
            ("9999-12-31T23:59:59Z", "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(moment(text), expected, "{text}");
        }
    }

    #[test]
    fn everything_else_is_refused() {
        for text in [
            "",
            "2026-01-05",
            "2026-1-5T09:00:00Z",
            "2026-02-30T09:00:00Z",
            "2026-01-05T24:00:00Z",
            "2026-01-05T09Z",
            "2026-01-05T09:00.5Z",
            "2026-01-05T09:00:00.Z",
            "2026-01-05T09:00:00.5x1Z",
            "2026-01-05 09:00:00Z",
            "2026-01-05T09:00:00+25:00",
            "2026-01-05T09:00:00+1",
            "2026-01-05T09:00:00Zulu",
            "9999-12-31T23:59:59-01:00",
            "10000-01-01T00:00:00Z",
            "٢٠٢٦-01-05T09:00:00Z",
            "1767603600",
        ] {
            assert_eq!(moment(text), "refused", "{text}");
        }
    }

    #[test]
    fn a_range_may_name_a_day_or_a_moment() {
        let day = NaiveDate::from_ymd_opt(2026, 1, 5).unwrap();
        assert_eq!(parse_day_or_moment("2026-01-05").unwrap(), DayOrMoment::Day(day));
        assert_eq!(
            parse_day_or_moment("2026-01-05T23:30:00-01:00").unwrap().day(),
            day.succ_opt().unwrap()
        );
    }
}
