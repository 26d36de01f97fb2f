//! The timestamps of Azure traces: `2023-11-16 18:15:46.6805900`, with or without a zone.
//!
//! In goes text; out come milliseconds from a fixed day. Zones are read, so that a trace that changes
//! them stays in order.

/// Milliseconds of a timestamp.
pub(super) fn azure_ms(text: &str) -> Result<f64, String> {
    parse(text).ok_or_else(|| {
        format!("the timestamp `{text}` is not of the form 2023-11-16 18:15:46.6805900")
    })
}

fn parse(text: &str) -> Option<f64> {
    let (date, clock) = text.split_once([' ', 'T'])?;
    let mut parts = date.split('-');
    let mut part = || parts.next()?.parse::<i64>().ok();
    let (year, month, day) = (part()?, part()?, part()?);
    if !(1..=9999).contains(&year) || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    let (clock, zone_minutes) = zone(clock)?;
    let mut parts = clock.split(':');
    let (hour, minute): (u32, u32) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    let second: f64 = parts.next()?.parse().ok()?;
    if parts.next().is_some() || hour > 23 || minute > 59 || !(0.0..61.0).contains(&second) {
        return None;
    }
    let minutes = f64::from(hour * 60 + minute) - f64::from(zone_minutes);
    Some(days(year, month, day) as f64 * 86_400_000.0 + minutes * 60_000.0 + second * 1000.0)
}

/// Time of day and minutes east of Greenwich.
fn zone(clock: &str) -> Option<(&str, i32)> {
    if let Some(clock) = clock.strip_suffix('Z') {
        return Some((clock, 0));
    }
    let Some(at) = clock.rfind(['+', '-']) else {
        return Some((clock, 0));
    };
    let (hours, minutes) = clock[at + 1..].split_once(':').unwrap_or((&clock[at + 1..], "0"));
    let (hours, minutes): (i32, i32) = (hours.parse().ok()?, minutes.parse().ok()?);
    if hours > 14 || minutes > 59 {
        return None;
    }
    let east = hours * 60 + minutes;
    Some((&clock[..at], if clock[at..].starts_with('-') { -east } else { east }))
}

/// Days of the proleptic Gregorian calendar, counted from March of year 0 so that leap days come
/// last in a year.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_read_across_midnight_leap_days_and_zones() {
        let between = |a: &str, b: &str| azure_ms(b).unwrap() - azure_ms(a).unwrap();
        let start = "2023-11-16 18:15:46.6805900";
        assert!((between(start, "2023-11-16 18:15:50.9951690") - 4314.579).abs() < 1e-3);
        assert_eq!(between("2024-02-28 23:59:59", "2024-03-01 00:00:00"), 86_401_000.0);
        assert_eq!(between("2023-12-31T00:00:00Z", "2024-01-01 00:00:00"), 86_400_000.0);
        assert_eq!(between("2024-05-10 00:00:00+00:00", "2024-05-10 02:00:00+02:00"), 0.0);
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["", "12:00", "2023-13-01 00:00:00", "2023-11-16 25:00:00", "2023-11-16 1:2"] {
            assert!(azure_ms(text).unwrap_err().contains("timestamp"), "{text}");
        }
    }
}
