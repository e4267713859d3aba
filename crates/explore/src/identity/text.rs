//! Normalises text: the amount of white space does not count.

use std::borrow::Cow;

/// Whether a character has no width: a zero-width space or a byte order mark.
fn is_zero_width(character: char) -> bool {
    matches!(character, '\u{200b}' | '\u{feff}')
}

/// Replaces every run of white space by one space, and removes it at both ends.
pub fn normalise(text: &str) -> Cow<'_, str> {
    if is_normalised(text) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    push_normalised(&mut out, text);
    if out.ends_with(' ') {
        out.pop();
    }
    Cow::Owned(out)
}

/// Appends a text and normalises it. The result may end with a space, which separates the next
/// text.
pub(crate) fn push_normalised(out: &mut String, text: &str) {
    for character in text.chars() {
        if character.is_whitespace() {
            if !out.is_empty() && !out.ends_with(' ') {
                out.push(' ');
            }
        } else if !is_zero_width(character) {
            out.push(character);
        }
    }
}

/// Whether the text is invisible.
pub fn is_blank(text: &str) -> bool {
    text.chars().all(|character| character.is_whitespace() || is_zero_width(character))
}

fn is_normalised(text: &str) -> bool {
    let mut space = true;
    for character in text.chars() {
        if is_zero_width(character) || (character.is_whitespace() && (space || character != ' ')) {
            return false;
        }
        space = character == ' ';
    }
    !space || text.is_empty()
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use proptest::prelude::*;

    use super::{is_blank, normalise};

    #[test]
    fn a_run_of_white_space_becomes_one_space() {
        assert_eq!(normalise(" a\u{a0}\n b\u{3000}"), "a b");
        assert_eq!(normalise("a\u{200b}b\u{feff}"), "ab");
        assert_eq!(normalise(" \t\u{200b} "), "");
        assert!(matches!(normalise("as it is"), Cow::Borrowed(_)));
        assert!(is_blank("\u{feff} \n") && !is_blank(" . "));
    }

    proptest! {
        #[test]
        fn normalised_text_does_not_change(text in "[ a\u{a0}\u{200b}\n]{0,12}") {
            let once = normalise(&text).into_owned();
            prop_assert_eq!(normalise(&once).into_owned(), once.clone());
            prop_assert_eq!(once.is_empty(), is_blank(&text));
        }
    }
}
