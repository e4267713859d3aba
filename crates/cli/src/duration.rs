//! Durations (`90s`, `1h30m`) and moments (`2024-01-15T10:30:00Z`) as people type them.

use std::time::Duration;

const UNITS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60_000), ("h", 3_600_000), ("d", 86_400_000)];

/// Parses a duration: numbers with units, the largest unit first.
pub fn duration(text: &str) -> Result<Duration, String> {
    let wrong = || "write a duration such as 90s, 10m or 1h30m (units: ms, s, m, h, d)".to_owned();
    let mut rest = text.trim();
    let mut total: u64 = 0;
    let mut last = u64::MAX;
    while !rest.is_empty() {
        let digits = rest.len() - rest.trim_start_matches(|one: char| one.is_ascii_digit()).len();
        let (number, after) = rest.split_at(digits);
        let letters =
            after.len() - after.trim_start_matches(|one: char| one.is_ascii_alphabetic()).len();
        let (unit, after) = after.split_at(letters);
        let &(_, unit) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?;
        let number: u64 = number.parse().map_err(|_| wrong())?;
        if unit >= last {
            return Err(wrong());
        }
        last = unit;
        total =
            number.checked_mul(unit).and_then(|more| total.checked_add(more)).ok_or_else(wrong)?;
        rest = after;
    }
    // Rejects durations that could overflow when added to the clock.
    const LONGEST: u64 = 10 * 366 * 86_400_000;
    match total {
        0 => Err(wrong()),
        LONGEST.. => Err("it must be less than ten years".to_owned()),
        _ => Ok(Duration::from_millis(total)),
    }
}

/// Parses a moment as milliseconds since 1970: a date, a date and time in UTC, or the number
/// itself.
pub fn moment(text: &str) -> Result<i64, String> {
    let wrong = || "write a moment such as 2024-01-15T10:30:00Z or 2024-01-15".to_owned();
    if let Ok(number) = text.parse::<i64>() {
        // The range of a JavaScript `Date`.
        let shown = -8_640_000_000_000_000..=8_640_000_000_000_000;
        return if shown.contains(&number) { Ok(number) } else { Err(wrong()) };
    }
    let (date, time) = text.split_once('T').unwrap_or((text, "00:00:00Z"));
    let numbers = |text: &str, by: char| -> Option<Vec<i64>> {
        let plain = |part: &&str| part.len() >= 2 && part.bytes().all(|byte| byte.is_ascii_digit());
        text.split(by).map(|part| Some(part).filter(plain)?.parse().ok()).collect()
    };
    let date = numbers(date, '-').ok_or_else(wrong)?;
    let time = numbers(time.strip_suffix('Z').unwrap_or(time), ':').ok_or_else(wrong)?;
    let (&[year, month, day], &[hour, minute, ref second @ ..]) = (&date[..], &time[..]) else {
        return Err(wrong());
    };
    let second = match second {
        [] => 0,
        &[second] => second,
        _ => return Err(wrong()),
    };
    let fits = (1..=9999).contains(&year)
        && (1..=12).contains(&month)
        && (1..=31).contains(&day)
        && hour < 24
        && minute < 60
        && second < 60;
    if !fits {
        return Err(wrong());
    }
    Ok((((days(year, month, day) * 24 + hour) * 60 + minute) * 60 + second) * 1000)
}

/// Counts the days since 1970-01-01. Years begin in March here, so that a leap day comes last.
fn days(year: i64, month: i64, day: i64) -> i64 {
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let of_years = year * 365 + year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    of_years + (month * 153 + 2) / 5 + day - 1 - 719_468
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let ms = |text| duration(text).map(|found| found.as_millis());
        assert_eq!(ms("90s"), Ok(90_000));
        assert_eq!(ms("1h30m"), Ok(5_400_000));
        assert_eq!(ms("250ms"), Ok(250));
        for bad in [
            "",
            "5",
            "s",
            "0s",
            "5x",
            "1m1h",
            "-3s",
            "1.5h",
            "99999999999999999999s",
            "9999999d",
            "1s1s",
        ] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn moments_are_counted_from_1970() {
        assert_eq!(moment("1970-01-01"), Ok(0));
        assert_eq!(moment("2024-01-15T10:30:00Z"), Ok(1_705_314_600_000));
        assert_eq!(moment("2000-02-29T00:00"), Ok(951_782_400_000));
        assert_eq!(moment("1969-12-31T23:59:59"), Ok(-1000));
        assert_eq!(moment("1234"), Ok(1234));
        for bad in
            ["", "now", "2024-13-01", "2024-01-15 10:30", "2024-01-15T25:00", "http://x/", "T"]
        {
            assert!(moment(bad).is_err(), "{bad}");
        }
    }
}
