//! The application of a command: a model file or a test-bed. No other file of the command reads
//! models or finds test-beds.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use argiope_explore::model::{Model, ModelReadOptions};
use argiope_explore::strategy::RESET_COSTS;
use argiope_sim::testbeds::{self, TestbedError, TestbedSpec, filetree};

use crate::failure::CommandFailure;
use crate::{format, names, terminal};

/// The options that name an application, as typed.
#[derive(clap::Args)]
pub struct Source {
    #[command(flatten)]
    origin: Origin,
    /// Set the cost of a reset, in actions [default: the model's]
    #[arg(long, value_name = "C", value_parser = reset_cost, allow_negative_numbers = true)]
    reset_cost: Option<f64>,
    /// Accept a model file with unreachable states
    #[arg(long)]
    allow_unreachable: bool,
}

#[derive(clap::Args)]
#[group(required = true, multiple = false)]
struct Origin {
    /// Read this model file (JSON, at most 1 GiB)
    #[arg(long, value_name = "FILE")]
    model: Option<PathBuf>,
    /// Use this test-bed; `argiope testbeds` lists them
    #[arg(long, value_name = "NAME")]
    testbed: Option<String>,
}

/// An application, checked.
pub struct CheckedModel {
    /// The model.
    pub model: Model,
    /// The cost of a reset, in actions.
    pub reset_cost: f64,
}

impl Source {
    /// Reads or builds the model.
    pub fn load(&self) -> Result<CheckedModel, CommandFailure> {
        let model = match (&self.origin.model, &self.origin.testbed) {
            (Some(path), _) => read(path, self.allow_unreachable)?,
            (None, Some(name)) => testbed(name)?,
            (None, None) => {
                return Err(CommandFailure::Input(
                    "give an application: --model FILE or --testbed NAME".to_owned(),
                ));
            }
        };
        Ok(CheckedModel { reset_cost: self.reset_cost.unwrap_or(model.reset_cost), model })
    }
}

impl CheckedModel {
    /// The name, the size and the reset cost, without a line end.
    pub fn describe(&self) -> String {
        format!(
            "{}: {} states, {} transitions, reset cost {}",
            format::name(&self.model.name),
            self.model.states(),
            self.model.transitions(),
            self.reset_cost,
        )
    }
}

/// Builds the test-bed with this name.
pub fn testbed(name: &str) -> Result<Model, CommandFailure> {
    match testbeds::find(name) {
        Ok(TestbedSpec::Made(recipe)) => Ok(recipe.model()),
        Ok(TestbedSpec::ShapeFile(file)) => shape(Path::new(&file)),
        Err(TestbedError::Unknown(name)) => {
            let known = testbeds::ALL.iter().map(|described| described.name);
            Err(CommandFailure::Input(names::unknown("test-bed", &name, known)))
        }
        Err(malformed) => Err(CommandFailure::Input(malformed.to_string())),
    }
}

/// Builds the file explorer for the tree in a shape file.
fn shape(path: &Path) -> Result<Model, CommandFailure> {
    let bytes = bytes_of(path)?;
    let text = String::from_utf8_lossy(&bytes);
    filetree::from_shape(&text)
        .map_err(|error| CommandFailure::Input(format!("{}: {error}", path.display())))
}

/// Reads a model file. Unreachable states, if allowed, are reported on standard error.
fn read(path: &Path, allow_unreachable: bool) -> Result<Model, CommandFailure> {
    let reading = ModelReadOptions { allow_unreachable, ..ModelReadOptions::default() };
    let model = Model::from_json(&bytes_of(path)?, reading)
        .map_err(|error| CommandFailure::Input(format!("{}: {error}", path.display())))?;
    let unreachable = model.unreachable();
    if let Some(first) = unreachable.first() {
        let count = format::count(unreachable.len() as u64, "state");
        terminal::message(&format!(
            "{count} of {} cannot be reached; the first is states[{first}]",
            model.states()
        ));
    }
    Ok(model)
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, CommandFailure> {
    let unreadable = |why: &dyn std::fmt::Display| {
        CommandFailure::Input(format!("cannot read {}: {why}", path.display()))
    };
    let file = File::open(path).map_err(|error| unreadable(&error))?;
    let metadata = file.metadata().map_err(|error| unreadable(&error))?;
    if metadata.is_dir() {
        return Err(unreadable(&"it is a directory"));
    }
    // A limit, so that a wrong file does not fill the memory.
    let limit = ModelReadOptions::default().limit as u64;
    let too_large = format!("it is larger than {} GiB", limit >> 30);
    if metadata.len() > limit {
        return Err(unreadable(&too_large));
    }
    let mut bytes = Vec::new();
    // A pipe has no length, so what is read is limited too.
    file.take(limit + 1).read_to_end(&mut bytes).map_err(|error| unreadable(&error))?;
    if bytes.len() as u64 > limit {
        return Err(unreadable(&too_large));
    }
    Ok(bytes)
}

/// Parses a reset cost, with the limits of a model file.
fn reset_cost(text: &str) -> Result<f64, String> {
    let cost: f64 = text.parse().map_err(|_| "write a number of actions".to_owned())?;
    if RESET_COSTS.contains(&cost) {
        return Ok(cost);
    }
    Err(format!("it must be from {} to {}", RESET_COSTS.start(), RESET_COSTS.end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reset_cost_is_a_number_above_zero() {
        assert_eq!(reset_cost("2.5"), Ok(2.5));
        for bad in ["-1", "0", "nan", "inf", "three"] {
            assert!(reset_cost(bad).is_err(), "{bad}");
        }
    }
}
