//! Words for people that several commands use: how long something took, a path as a shell reads it, and
//! the command itself as it was called.

use std::path::Path;
use std::time::Duration;

use argiope_sim::report::text::harmless;

/// A time, as exact as it is interesting.
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

/// A path as it would be typed.
pub fn path(path: &Path) -> String {
    let text = path.to_string_lossy();
    let plain = |one: char| one.is_ascii_alphanumeric() || "/._-+:=@%".contains(one);
    // What begins with a dash would be taken for an option.
    let text = if text.starts_with('-') { format!("./{text}") } else { text.into_owned() };
    if !text.is_empty() && text.chars().all(plain) {
        return text;
    }
    format!("'{}'", harmless(&text).replace('\'', "'\\''"))
}

/// How to call argiope: as `./run` says it is called, or by its name.
pub fn program() -> String {
    std::env::var("ARGIOPE_COMMAND").map_or_else(|_| "argiope".to_owned(), |name| harmless(&name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_as_exact_as_they_are_interesting() {
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
}
