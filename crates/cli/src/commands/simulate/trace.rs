//! Every event of a simulated ring in a file, to be replayed and checked.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Write};
use std::path::Path;

use argiope_explore::strategies;
use argiope_sim::cluster::Cluster;
use argiope_sim::crawler::World;
use serde::{Deserialize, Serialize};

use super::ring::{ScenarioOptions, scenario};
use argiope::failure::CommandFailure;
use argiope::output;
use argiope::source::CheckedModel;

const FORMAT: &str = "argiope-trace/2";

/// The first line of a trace: everything that determines the crawl.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    format: String,
    application: String,
    strategy: String,
    seed: u64,
    scenario: ScenarioOptions,
}

impl Header {
    /// The header of a crawl.
    pub fn new(app: &CheckedModel, strategy: &str, seed: u64, scenario: ScenarioOptions) -> Self {
        let (format, application, strategy) =
            (FORMAT.to_owned(), app.describe(), strategy.to_owned());
        Self { format, application, strategy, seed, scenario }
    }
}

/// Crawls to the end and writes every event.
pub fn write(
    path: &Path,
    header: &Header,
    cluster: &mut Cluster<'_>,
) -> Result<(), CommandFailure> {
    let failed = |error: io::Error| {
        CommandFailure::Failed(format!("cannot write {}: {error}", path.display()))
    };
    let mut file = BufWriter::new(File::create(path).map_err(failed)?);
    let header = serde_json::to_string(header).expect("a header is plain data");
    writeln!(file, "{header}").map_err(failed)?;
    while let Some(words) = cluster.step_traced() {
        for line in words {
            writeln!(file, "{line}").map_err(failed)?;
        }
    }
    file.flush().map_err(failed)
}

/// Crawls again and compares every event with the trace. On a terminal it waits for Enter after
/// each line; `a` and Enter replays the rest at once.
pub fn replay(path: &Path, app: &CheckedModel) -> Result<(), CommandFailure> {
    let wrong = |what: String| CommandFailure::Input(format!("{}: {what}", path.display()));
    let file = File::open(path).map_err(|error| wrong(error.to_string()))?;
    let mut recorded = BufReader::new(file).lines();
    let first =
        recorded.next().transpose().map_err(|error| wrong(error.to_string()))?.unwrap_or_default();
    let header: Header = serde_json::from_str(&first)
        .map_err(|error| wrong(format!("it is no trace of argiope: {error}")))?;
    if header.format != FORMAT {
        return Err(wrong(format!("the trace has another version: {:?}", header.format)));
    }
    if header.application != app.describe() {
        return Err(wrong(format!(
            "the trace is of another application: {:?}",
            header.application
        )));
    }
    let strategy = strategies::find(&header.strategy)
        .ok_or_else(|| wrong(format!("unknown strategy {:?}", header.strategy)))?;
    let world = World::new(&app.model);
    let mut cluster = Cluster::new(&world, scenario(&header.scenario, app, strategy, header.seed)?);
    let mut waits = io::stdin().is_terminal() && io::stdout().is_terminal();
    let mut number = 1;
    while let Some(words) = cluster.step_traced() {
        for line in words {
            number += 1;
            output::print(&format!("{line}\n"))?;
            let then = recorded.next().transpose().map_err(|error| wrong(error.to_string()))?;
            if then.as_ref() != Some(&line) {
                let then = then.unwrap_or_else(|| "nothing".to_owned());
                return Err(CommandFailure::Failed(format!(
                    "the replay differs: line {number} of {} has: {}",
                    path.display(),
                    argiope::format::name(&then)
                )));
            }
            if waits {
                let mut answer = String::new();
                let read = io::stdin().read_line(&mut answer);
                waits = read.is_ok_and(|bytes| bytes > 0) && answer.trim() != "a";
            }
        }
    }
    match recorded.next() {
        None => Ok(()),
        Some(_) => Err(CommandFailure::Failed(format!(
            "the replay differs: {} has more events",
            path.display()
        ))),
    }
}
