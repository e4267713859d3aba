//! Lists and explanations of plug-ins (strategies, identities, test-beds), from their own texts.

/// Lists names with their summaries.
pub fn list<'a>(items: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let items: Vec<_> = items.into_iter().collect();
    let width = items.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
    items.iter().map(|(name, summary)| format!("{name:<width$}  {summary}\n")).collect()
}

/// Explains one plug-in.
pub fn explain(name: &str, summary: &str, help: &str) -> String {
    format!("{name}: {summary}\n\n{}\n", wrapped(help))
}

/// Wraps a paragraph at 80 columns.
fn wrapped(paragraph: &str) -> String {
    let mut lines = vec![String::new()];
    for word in paragraph.split_whitespace() {
        let line = lines.last_mut().expect("there is always a line");
        if line.is_empty() {
            *line += word;
        } else if line.chars().count() + 1 + word.chars().count() <= 80 {
            *line = format!("{line} {word}");
        } else {
            lines.push(word.to_owned());
        }
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    #[test]
    fn paragraphs_are_broken_at_words() {
        let text = super::wrapped(&"word ".repeat(40));
        assert!(text.lines().all(|line| line.len() <= 80));
        assert_eq!(text.split_whitespace().count(), 40);
    }
}
