//! Finds measured durations in texts: "Queries took 3.731ms". Such a text differs on every load and
//! says nothing about the state. Durations that people set ("Retry after 5 s") are kept.

use std::borrow::Cow;

/// What stands for the number of a duration.
const SOME: char = '#';

/// Units that people rarely set with a fraction.
const SMALL_UNITS: &[&str] =
    &["ms", "msec", "msecs", "millisecond", "milliseconds", "µs", "μs", "us", "ns"];
const SECONDS: &[&str] = &["s", "sec", "secs", "second", "seconds"];
/// Units that count only where seconds follow, or "ago".
const LARGE_UNITS: &[&str] = &[
    "m", "min", "mins", "minute", "minutes", "h", "hour", "hours", "d", "day", "days", "week",
    "weeks", "month", "months", "year", "years",
];

/// How many decimals of seconds only a program writes.
const MEASURED_DECIMALS: usize = 2;

/// The text without the numbers of measured durations.
pub fn without_durations(text: Cow<'_, str>) -> Cow<'_, str> {
    let found = durations(&text);
    if found.is_empty() {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut end = 0;
    for (from, to) in found {
        out.push_str(&text[end..from]);
        out.push(SOME);
        end = to;
    }
    out.push_str(&text[end..]);
    Cow::Owned(out)
}

/// A number with a unit of time.
struct Quantity<'a> {
    from: usize,
    to: usize,
    /// Where its unit ends.
    end: usize,
    number: &'a str,
    unit: &'a str,
}

/// Where the numbers of measured durations are.
fn durations(text: &str) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    let mut group: Vec<Quantity<'_>> = Vec::new();
    let mut from = 0;
    while let Some(first) = text[from..].find(|character: char| character.is_ascii_digit()) {
        let first = from + first;
        let quantity = quantity_at(text, first);
        from = quantity.to;
        let is_inside_word = text[..first].ends_with(|before: char| {
            before.is_alphanumeric() || matches!(before, '.' | ',' | '_' | '-' | ':' | '/')
        });
        if is_inside_word || !is_time(quantity.unit) {
            continue;
        }
        // "1 minute, 39 seconds" and "2 hours and 5 seconds" are one duration.
        let between = group.last().map(|last| text[last.end..first].trim());
        if !between.is_some_and(|between| matches!(between, "" | "," | "and")) {
            found.extend(measured(text, &group));
            group.clear();
        }
        group.push(quantity);
    }
    found.extend(measured(text, &group));
    found
}

/// The number at a place, with the word after it.
fn quantity_at(text: &str, from: usize) -> Quantity<'_> {
    let is_part = |character: char| character.is_ascii_digit() || matches!(character, '.' | ',');
    let rest = &text[from..];
    let length = rest.find(|character| !is_part(character)).unwrap_or(rest.len());
    let number = rest[..length].trim_end_matches(['.', ',']);
    let after = &rest[number.len()..];
    let word = after.strip_prefix([' ', '\u{a0}']).unwrap_or(after);
    let is_letter = |character: char| character.is_alphanumeric() || character == '_';
    let unit = &word[..word.find(|character| !is_letter(character)).unwrap_or(word.len())];
    let end = text.len() - word.len() + unit.len();
    Quantity { from, to: from + number.len(), end, number, unit }
}

fn is_time(unit: &str) -> bool {
    [SMALL_UNITS, SECONDS, LARGE_UNITS].iter().any(|units| units.contains(&unit))
}

fn is_ago(word: &str) -> bool {
    word.trim_end_matches(|character: char| !character.is_alphanumeric()) == "ago"
}

/// The numbers of adjacent quantities, if they are a measured duration.
fn measured(text: &str, group: &[Quantity<'_>]) -> Vec<(usize, usize)> {
    let (Some(first), Some(last)) = (group.first(), group.last()) else { return Vec::new() };
    let is_small = SMALL_UNITS.contains(&last.unit);
    let is_fine = is_small || SECONDS.contains(&last.unit);
    let decimals = last.number.rfind(['.', ',']).map_or(0, |point| last.number.len() - point - 1);
    let is_exact = decimals >= if is_small { 1 } else { MEASURED_DECIMALS };
    let is_taken = text[..first.from].trim_end().rsplit(' ').next() == Some("took");
    let is_past = text[last.end..].trim_start().split(' ').next().is_some_and(is_ago);
    if is_past || is_fine && (is_exact || is_taken || group.len() > 1) {
        group.iter().map(|quantity| (quantity.from, quantity.to)).collect()
    } else {
        Vec::new()
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use super::without_durations;

    #[test]
    fn measured_durations_are_left_out() {
        for (text, left) in [
            ("· Queries took 3.731ms", "· Queries took #ms"),
            ("About 1,230 results (0.34 seconds)", "About 1,230 results (# seconds)"),
            ("took 12 ms", "took # ms"),
            ("Query took 0,0004 sec.", "Query took # sec."),
            ("1,204.5 µs or 2.0\u{a0}ms", "# µs or #\u{a0}ms"),
            ("Running 1 minute, 39 seconds", "Running # minute, # seconds"),
            ("up 2d 3h 4m 5s", "up #d #h #m #s"),
            ("changed 3 minutes ago, 5 times", "changed # minutes ago, 5 times"),
            ("1 hour and 2 seconds", "# hour and # seconds"),
        ] {
            assert_eq!(without_durations(Cow::Borrowed(text)), left);
        }
    }

    #[test]
    fn other_numbers_are_kept() {
        for text in [
            "Retry after 5 s",
            "Cook for 1 hour, 30 minutes",
            "5 minutes or 10 s",
            "2 m, 3 chairs",
            "wait 500 ms",
            "1.5 s",
            "3.7 msgs",
            "version 1.25",
            "1.25 sunny",
            "v2.50s",
            "10:20.50 s",
            "took 3 steps",
            "5.",
            "ends with 7",
        ] {
            assert!(matches!(without_durations(Cow::Borrowed(text)), Cow::Borrowed(_)), "{text}");
        }
    }
}
