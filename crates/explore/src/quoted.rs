//! Makes untrusted text from a file or a page safe to print: quoted, escaped and cut. Every message
//! that repeats such text uses this module, so that no text can control the terminal.

use std::fmt;

/// The number of characters of a text that are shown.
const SHOWN: usize = 60;

/// Shows a text in quotation marks, cut after sixty characters. Escapes control characters,
/// quotation marks and invisible characters.
pub struct Quoted<'a>(pub &'a str);

impl fmt::Display for Quoted<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "\"")?;
        write_cut(f, self.0, SHOWN, "'")?;
        write!(f, "\"")
    }
}

/// Shows a sentence that may repeat untrusted text, cut after a number of characters. Escapes the
/// same characters as [`Quoted`], but keeps quotation marks and backslashes.
pub struct Escaped<'a>(pub &'a str, pub usize);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_cut(f, self.0, self.1, "'\"\\")
    }
}

fn write_cut(f: &mut fmt::Formatter<'_>, text: &str, shown: usize, plain: &str) -> fmt::Result {
    let mut characters = text.chars();
    for character in characters.by_ref().take(shown) {
        if plain.contains(character) {
            write!(f, "{character}")?;
        } else {
            write!(f, "{}", character.escape_debug())?;
        }
    }
    if characters.next().is_some() {
        write!(f, "…")?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{Escaped, Quoted};

    #[test]
    fn control_characters_are_escaped() {
        let shown = Quoted("a\u{1b}[31m\u{7}\n\u{202e}\u{9b}\"b").to_string();
        assert_eq!(shown, r#""a\u{1b}[31m\u{7}\n\u{202e}\u{9b}\"b""#);
    }

    #[test]
    fn long_texts_are_cut() {
        assert_eq!(Escaped("it's\n \"long\"", 7).to_string(), "it's\\n \"…");
        assert_eq!(Quoted(&"x".repeat(1000)).to_string().chars().count(), 63);
        assert_eq!(Quoted(&"x".repeat(60)).to_string().chars().count(), 62);
    }
}
