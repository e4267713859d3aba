//! Numbers, times, names and paths as people read them. Text from outside becomes one line that
//! cannot steer a terminal.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;

use argiope_explore::quoted::Escaped;
use argiope_sim::summary::Spread;

/// The characters of a name that are printed; a model file may have a name of any length.
const NAME_LIMIT: usize = 120;

/// Formats a cost or a count with one decimal, or none for a whole number.
pub fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// Formats a number with its noun, such as `2 states`.
pub fn count(number: u64, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// Formats a cost, with its actions and resets.
pub fn effort(cost: f64, actions: u64, resets: u64) -> String {
    format!("{} ({}, {})", number(cost), count(actions, "action"), count(resets, "reset"))
}

/// Formats a ratio.
pub fn times(value: f64) -> String {
    format!("{value:.3}")
}

/// Formats the least and the greatest figure.
pub fn range(spread: &Spread, show: impl Fn(f64) -> String) -> String {
    format!("{}–{}", show(spread.min), show(spread.max))
}

/// Escapes text from outside, so that it is one line and cannot steer a terminal.
pub fn harmless(text: &str) -> String {
    Escaped(text, usize::MAX).to_string()
}

/// Escapes a name from outside, and cuts it if it is too long.
pub fn name(text: &str) -> String {
    Escaped(text, NAME_LIMIT).to_string()
}

/// Formats a duration with the precision that fits its length.
pub fn time(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 => format!("{:.1} s", time.as_secs_f64()),
        10..120 => format!("{seconds} s"),
        120..7200 => format!("{} min", (seconds + 30) / 60),
        7200..172_800 => format!("{:.1} h", time.as_secs_f64() / 3600.0),
        _ => format!("{} days", (seconds + 43_200) / 86_400),
    }
}

/// Quotes a path for a shell.
pub fn path(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |one: char| one.is_ascii_alphanumeric() || "/._-+:=@%".contains(one);
    // A leading dash would make it an option.
    let text = if text.starts_with('-') { format!("./{text}") } else { text.into_owned() };
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", harmless(&text).replace('\'', "'\\''"))
}

/// Quotes a word for a shell.
fn word(text: &str) -> String {
    let plain = |one: char| one.is_ascii_alphanumeric() || "/._-+:=@%,".contains(one);
    if !text.is_empty() && text.chars().all(plain) {
        return text.to_owned();
    }
    format!("'{}'", harmless(text).replace('\'', "'\\''"))
}

/// The present command with another address to crawl.
pub fn crawl_line(url: &str, arguments: impl Iterator<Item = OsString>) -> String {
    let arguments = arguments.map(|argument| argument.to_string_lossy().into_owned());
    // Only an address has a scheme at its beginning; patterns follow the name of their option.
    let mut is_value = false;
    let words = arguments.map(|argument| {
        let is_option = argument.starts_with('-');
        let is_address = !is_option && !is_value && argument.contains("://");
        is_value = is_option && !argument.contains('=') && !FLAGS.contains(&argument.as_str());
        if is_address { word(url) } else { word(&argument) }
    });
    let words: Vec<String> = std::iter::once(program()).chain(words).collect();
    words.join(" ")
}

/// The options of a crawl that have no value.
const FLAGS: [&str; 6] = ["--safe", "--screenshots", "--json", "--quiet", "--detach", "--demo"];

/// The command that starts argiope: what `./run` set, or its name.
pub fn program() -> String {
    std::env::var("ARGIOPE_COMMAND").map_or_else(|_| "argiope".to_owned(), |name| harmless(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_fitting_precision() {
        let shown = |ms| time(Duration::from_millis(ms));
        assert_eq!([shown(1234), shown(99_900), shown(600_000)], ["1.2 s", "99 s", "10 min"]);
        assert_eq!([shown(9_000_000), shown(259_200_000)], ["2.5 h", "3 days"]);
    }

    #[test]
    fn a_path_can_be_copied_to_a_shell() {
        assert_eq!(path(Path::new("out/demo-1")), "out/demo-1");
        assert_eq!(path(Path::new("my run's")), "'my run'\\''s'");
        assert_eq!(path(Path::new("-x")), "./-x");
    }

    #[test]
    fn the_line_to_type_has_the_other_address_and_the_same_options() {
        let line = |words: &str| {
            let words = words.split(' ').map(OsString::from);
            crawl_line("https://b.test/a?b=1&c='$(x)", words)
        };
        let there = "'https://b.test/a?b=1&c='\\''$(x)'";
        let expected = format!("argiope crawl {there} --tabs 2 --include 'https://c.test/*'");
        assert_eq!(line("crawl http://a.test/ --tabs 2 --include https://c.test/*"), expected);
        let expected = format!("argiope crawl --safe {there} --out x");
        assert_eq!(line("crawl --safe http://a.test/ --out x"), expected);
    }

    #[test]
    fn numbers_have_decimals_only_when_needed() {
        assert_eq!(
            [number(1234.0), number(2.5), number(0.1 + 0.9), times(1.0)],
            ["1234", "2.5", "1", "1.000"]
        );
    }

    #[test]
    fn text_from_outside_cannot_steer_the_terminal() {
        assert_eq!(harmless("a\u{1b}[31mb\nc\u{202e}d"), "a\\u{1b}[31mb\\nc\\u{202e}d");
        assert_eq!(harmless("Größe ✓"), "Größe ✓");
    }

    #[test]
    fn long_names_are_cut() {
        assert_eq!(name(&"é".repeat(500)).chars().count(), NAME_LIMIT + 1);
    }
}
