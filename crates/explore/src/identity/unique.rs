//! Numbers that argiope puts into values which must be unique, such as the name of a new account. A
//! number makes neither a state nor an action of its own. The page agent replaces them in what a
//! page shows (`agent/numbers.js`); the address of a link must keep them, except in its signature.

use std::borrow::Cow;

/// The first digits of every such number: no area code and no time begins with them.
const UNIQUE_PREFIX: &str = "9957";

/// The digits after the prefix.
const DIGITS: usize = 8;

/// The text with `{n}` in place of each number.
pub(crate) fn without_numbers(text: &str) -> Cow<'_, str> {
    if !text.contains(UNIQUE_PREFIX) {
        return Cow::Borrowed(text);
    }
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(|one: char| one.is_ascii_digit()) {
        let end = rest[start..].find(|one: char| !one.is_ascii_digit());
        let end = end.map_or(rest.len(), |end| start + end);
        let digits = &rest[start..end];
        let is_unique =
            digits.starts_with(UNIQUE_PREFIX) && digits.len() == UNIQUE_PREFIX.len() + DIGITS;
        plain.push_str(&rest[..start]);
        plain.push_str(if is_unique { "{n}" } else { digits });
        rest = &rest[end..];
    }
    plain.push_str(rest);
    Cow::Owned(plain)
}

#[cfg(test)]
mod tests {
    use super::without_numbers;

    #[test]
    fn only_whole_numbers_of_the_right_length_are_replaced() {
        let cases = [
            ("/users/ada995700000012/edit", "/users/ada{n}/edit"),
            ("995700000012-995700000013", "{n}-{n}"),
            ("1995700000012", "1995700000012"),
            ("9957000000123", "9957000000123"),
            ("995712", "995712"),
            ("plain", "plain"),
        ];
        for (text, expected) in cases {
            assert_eq!(without_numbers(text), expected, "{text}");
        }
    }
}
