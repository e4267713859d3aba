//! Numbers as people read them, and text from outside made harmless for a terminal or an SVG.

use crate::summary::Spread;

/// The longest name that is printed in full; a model file may call itself anything.
const NAME_LIMIT: usize = 120;

/// A cost or a count: no decimals unless it has some.
pub fn number(value: f64) -> String {
    let text = format!("{value:.1}");
    text.strip_suffix(".0").unwrap_or(&text).to_owned()
}

/// So many of a thing.
pub fn count(number: u64, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// A ratio.
pub fn times(value: f64) -> String {
    format!("{value:.3}")
}

/// From the least to the greatest.
pub fn range(spread: &Spread, show: impl Fn(f64) -> String) -> String {
    format!("{}–{}", show(spread.min), show(spread.max))
}

/// Text from outside as one line that cannot steer a terminal: control characters, line breaks and
/// the marks that turn the direction of writing are shown as escapes.
pub fn harmless(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        let turns =
            matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        if character.is_control() || turns || matches!(character, '\u{2028}' | '\u{2029}' | '\u{feff}') {
            out.extend(character.escape_default());
        } else {
            out.push(character);
        }
    }
    out
}

/// A name from outside: harmless, and cut when it is longer than any sensible name.
pub fn name(text: &str) -> String {
    match text.char_indices().nth(NAME_LIMIT) {
        Some((end, _)) => harmless(&text[..end]) + "…",
        None => harmless(text),
    }
}

/// Text inside an SVG element or attribute.
pub fn xml(text: &str) -> String {
    harmless(text)
        .replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&apos;")
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn markup_is_escaped() {
        assert_eq!(xml("<a b=\"c\">&'"), "&lt;a b=&quot;c&quot;&gt;&amp;&apos;");
    }
}
