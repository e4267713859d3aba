//! Text as a reader perceives it: how much white space there is does not matter.

use std::borrow::Cow;

/// Characters that take no room: they mark where a line may break and the order of bytes.
fn is_zero_width(character: char) -> bool {
    matches!(character, '\u{200b}' | '\u{feff}')
}

/// The text with every run of white space as one space, and none at the ends.
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

/// Appends a text to one that is being put together. The result may end with one space, which a text
/// that follows would need.
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

/// Whether nothing of it can be seen.
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
    fn white_space_is_one_space() {
        assert_eq!(normalise(" a\u{a0}\n b\u{3000}"), "a b");
        assert_eq!(normalise("a\u{200b}b\u{feff}"), "ab");
        assert_eq!(normalise(" \t\u{200b} "), "");
        assert!(matches!(normalise("as it is"), Cow::Borrowed(_)));
        assert!(is_blank("\u{feff} \n") && !is_blank(" . "));
    }

    proptest! {
        #[test]
        fn normal_text_stays_as_it_is(text in "[ a\u{a0}\u{200b}\n]{0,12}") {
            let once = normalise(&text).into_owned();
            prop_assert_eq!(normalise(&once).into_owned(), once.clone());
            prop_assert_eq!(once.is_empty(), is_blank(&text));
        }
    }
}
