//! Everything that happened in the crawl of a ring, in a file: written once, then stepped through.

use std::fs::File;
use std::io::{self, BufRead, BufReader, BufWriter, IsTerminal, Write};
use std::path::Path;

use argiope_explore::strategies;
use argiope_sim::cluster::Cluster;
use argiope_sim::crawler::World;
use serde::{Deserialize, Serialize};

use super::ring::{ScenarioFile, scenario};
use argiope::failure::CommandFailure;
use argiope::output;
use argiope::source::CheckedModel;

const FORMAT: &str = "argiope-trace/1";

/// The first line of a trace: what it takes for the same to happen again.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    format: String,
    application: String,
    strategy: String,
    seed: u64,
    scenario: ScenarioFile,
}

impl Header {
    /// Of a crawl to be.
    pub fn new(app: &CheckedModel, strategy: &str, seed: u64, scenario: ScenarioFile) -> Self {
        let (format, application, strategy) =
            (FORMAT.to_owned(), app.describe(), strategy.to_owned());
        Self { format, application, strategy, seed, scenario }
    }
}

/// Crawls to the end and writes down what happens.
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

/// Lets everything happen again, line by line, and sees whether it is as it was. On a terminal every line waits for
/// Enter; an `a` before it lets all the rest happen at once.
pub fn replay(path: &Path, app: &CheckedModel) -> Result<(), CommandFailure> {
    let wrong = |what: String| CommandFailure::Input(format!("{}: {what}", path.display()));
    let file = File::open(path).map_err(|error| wrong(error.to_string()))?;
    let mut recorded = BufReader::new(file).lines();
    let first =
        recorded.next().transpose().map_err(|error| wrong(error.to_string()))?.unwrap_or_default();
    let header: Header = serde_json::from_str(&first)
        .map_err(|error| wrong(format!("no trace of argiope: {error}")))?;
    if header.format != FORMAT {
        return Err(wrong(format!("a trace of another version: {:?}", header.format)));
    }
    if header.application != app.describe() {
        return Err(wrong(format!("a trace of another application: {:?}", header.application)));
    }
    let strategy = strategies::find(&header.strategy)
        .ok_or_else(|| wrong(format!("there is no strategy {:?}", header.strategy)))?;
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
                    "not as it was: line {number} of {} says: {}",
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
        Some(_) => {
            Err(CommandFailure::Failed(format!("not as it was: {} goes on", path.display())))
        }
    }
}
