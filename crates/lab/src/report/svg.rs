//! Shared pieces of SVG drawings.

use std::fmt::Write;

use argiope::format::harmless;

/// Begins a drawing of this size on white.
pub fn begin(width: f64, height: f64) -> String {
    let mut out = String::new();
    push(
        &mut out,
        format_args!(
            "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
             height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\" fill=\"#1a1a1a\">"
        ),
    );
    push(&mut out, format_args!("<rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>"));
    out
}

/// Adds a line.
pub fn push(out: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(out, "{line}").expect("a string takes everything");
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
    fn markup_is_escaped() {
        assert_eq!(xml("<a b=\"c\">&'"), "&lt;a b=&quot;c&quot;&gt;&amp;&apos;");
    }
}
