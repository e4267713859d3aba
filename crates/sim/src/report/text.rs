//! Numbers as people read them, and text from outside made harmless for a terminal or an SVG.

use argiope_explore::quoted::Escaped;

use crate::summary::Spread;

/// The longest name that is printed in full; a model file may call itself anything.
const NAME_LIMIT: usize = 120;

/// A cost or a count: one decimal, or none where it is a whole number.
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

/// Text from outside as one line that cannot steer a terminal.
pub fn harmless(text: &str) -> String {
    Escaped(text, usize::MAX).to_string()
}

/// A name from outside: harmless, and cut when it is longer than any sensible name.
pub fn name(text: &str) -> String {
    Escaped(text, NAME_LIMIT).to_string()
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
