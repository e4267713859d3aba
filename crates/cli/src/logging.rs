//! Log lines on standard error: events of `tracing`, as text or as JSON. `RUST_LOG` selects levels
//! and targets.

use std::fmt;
use std::io::{self, Write};

use clap::ValueEnum;
use tracing::{Event, Level, Subscriber, level_filters::LevelFilter};
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::format::Writer;
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::registry::LookupSpan;

use crate::failure::CommandFailure;
use crate::format::harmless;
use crate::terminal;

/// The variable that selects levels and targets.
const VARIABLE: &str = "RUST_LOG";

/// The options for log lines, which every command has.
#[derive(clap::Args, Clone, Copy, Debug)]
pub struct LogArgs {
    /// Write log lines as text or json; RUST_LOG selects them
    #[arg(long, global = true, value_name = "FORMAT", default_value = "text")]
    #[arg(hide_possible_values = true, display_order = 1000)]
    pub log_format: LogFormat,
}

/// How a log line is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum LogFormat {
    /// A line for people
    Text,
    /// A JSON object on a line: timestamp, level, target, message and further fields
    Json,
}

impl LogFormat {
    /// The name that the option takes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
        }
    }
}

/// Writes the events of this process from now on: those that `RUST_LOG` selects, by default
/// argiope's own from `level` on.
pub fn start(args: LogArgs, level: Level) -> Result<(), CommandFailure> {
    let targets = match std::env::var(VARIABLE) {
        Ok(text) if !text.trim().is_empty() => selection(&text)?,
        Ok(_) | Err(std::env::VarError::NotPresent) => Targets::new().with_target("argiope", level),
        Err(std::env::VarError::NotUnicode(_)) => return Err(unreadable("it is not UTF-8")),
    };
    let lines = tracing_subscriber::registry().with(targets);
    let writer = move || LineWriter(args.log_format);
    let started = match args.log_format {
        LogFormat::Text => {
            let layer = tracing_subscriber::fmt::layer().event_format(TextLine);
            tracing::subscriber::set_global_default(lines.with(layer.with_writer(writer)))
        }
        LogFormat::Json => {
            let layer = tracing_subscriber::fmt::layer().json().flatten_event(true);
            let layer = layer.with_current_span(false).with_span_list(false);
            tracing::subscriber::set_global_default(lines.with(layer.with_writer(writer)))
        }
    };
    started.map_err(|error| CommandFailure::Failed(format!("cannot start logging: {error}")))
}

/// Reads directives such as `warn,argiope_browser::protocol=trace`.
fn selection(text: &str) -> Result<Targets, CommandFailure> {
    // A misspelt level would otherwise be taken for a target and select nothing.
    for word in text.split(',').map(str::trim) {
        let is_target = word.starts_with("argiope") || word.contains('=');
        if word.is_empty() || !is_target && word.parse::<LevelFilter>().is_err() {
            return Err(unreadable(&format!("{word:?} is no level")));
        }
    }
    text.parse()
        .map_err(|error: tracing_subscriber::filter::ParseError| unreadable(&error.to_string()))
}

fn unreadable(why: &str) -> CommandFailure {
    CommandFailure::Input(format!(
        "cannot read {VARIABLE}: {why}; write a level (off, error, warn, info, debug, trace), or \
         TARGET=LEVEL, several with commas between them"
    ))
}

/// A line for people: the message and its fields. Levels other than `info` are named with the
/// target.
struct TextLine;

impl<S, N> FormatEvent<S, N> for TextLine
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        write!(writer, "argiope: ")?;
        let metadata = event.metadata();
        if *metadata.level() != Level::INFO {
            let level = metadata.level().as_str().to_lowercase();
            write!(writer, "{level} {}: ", metadata.target())?;
        }
        context.format_fields(writer.by_ref(), event)?;
        writeln!(writer)
    }
}

/// Writes lines to standard error, with everything escaped that could steer a terminal.
struct LineWriter(LogFormat);

impl Write for LineWriter {
    /// Gets a whole line at a time.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let text = escaped(self.0, line);
        terminal::aside(|| writeln!(io::stderr().lock(), "{text}"))?;
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn escaped(format: LogFormat, line: &[u8]) -> String {
    let text = String::from_utf8_lossy(line);
    let text = text.strip_suffix('\n').unwrap_or(&text);
    match format {
        LogFormat::Text => harmless(text),
        LogFormat::Json => harmless_json(text),
    }
}

/// JSON leaves some characters as they are that steer a terminal, such as U+009B and U+202E.
fn harmless_json(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        if character.is_ascii_graphic() || character.escape_debug().len() == 1 {
            out.push(character);
        } else {
            for unit in character.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_stays_json_and_cannot_steer_a_terminal() {
        let line = "{\"message\":\"a\u{9b}31m\u{202e}\u{7f} ü \\u001b \\\"\"}";
        let shown = escaped(LogFormat::Json, format!("{line}\n").as_bytes());
        assert_eq!(shown, r#"{"message":"a\u009b31m\u202e\u007f ü \u001b \""}"#);
        let read: serde_json::Value = serde_json::from_str(&shown).expect("it is JSON");
        assert_eq!(read["message"], "a\u{9b}31m\u{202e}\u{7f} ü \u{1b} \"");
    }

    #[test]
    fn a_line_of_text_stays_one_line_and_cannot_steer_a_terminal() {
        let line = "argiope: page \u{1b}[31m says \"a\"\nargiope: forged\u{202e}\n";
        let shown = r#"argiope: page \u{1b}[31m says "a"\nargiope: forged\u{202e}"#;
        assert_eq!(escaped(LogFormat::Text, line.as_bytes()), shown);
    }

    #[test]
    fn directives_are_levels_and_targets() {
        for good in ["info", "off", "warn,argiope_browser::protocol=trace", "argiope_runtime"] {
            assert!(selection(good).is_ok(), "{good}");
        }
        for bad in ["loud", "argiope=loud", "warn,loud"] {
            assert!(selection(bad).is_err(), "{bad}");
        }
    }
}
