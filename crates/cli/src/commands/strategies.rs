//! `argiope strategies`: what the strategies say of themselves.

use argiope_explore::strategies;

use crate::args::strategy_names;
use crate::commands::testbeds::list;
use crate::failure::Failure;
use crate::output;

/// As typed.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  argiope strategies\n  argiope strategies greedy")]
pub struct Args {
    /// Explain this strategy
    #[arg(value_name = "NAME", value_parser = strategy_names(&[]), hide_possible_values = true)]
    name: Option<String>,
}

pub fn run(args: &Args) -> Result<(), Failure> {
    match args.name.as_deref().and_then(strategies::find) {
        Some(described) => output::print(&format!(
            "{}: {}\n\n{}\n",
            described.name,
            described.summary,
            wrapped(described.help)
        )),
        None => {
            output::print(&list(strategies::ALL.iter().map(|described| (described.name, described.summary))))
        }
    }
}

/// Breaks a paragraph at words, at a width that is easy to read.
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
