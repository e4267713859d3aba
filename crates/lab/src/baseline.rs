//! Comparison with an earlier program: both run in turns, and only neighbours are compared, since
//! the load of a machine changes.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use argiope::failure::CommandFailure;
use argiope::processes;
use argiope::progress::WorkProgress;
use argiope::table::Table;
use argiope_sim::summary::Spread;
use serde::Serialize;
use serde_json::Value;

/// The exit code of a crawl that reached a limit.
const LIMIT: i32 = argiope::failure::LIMIT as i32;

/// This program and the one that it is compared with.
pub struct Contest {
    this: PathBuf,
    baseline: PathBuf,
    rounds: u32,
}

/// The speeds of both programs in one respect, round by round.
#[derive(Clone, Debug, Serialize)]
pub struct PairedSpeeds {
    /// What was measured.
    pub label: String,
    /// The speeds of this program.
    pub this: Vec<f64>,
    /// The speeds of the baseline.
    pub baseline: Vec<f64>,
}

/// What one turn of a program gives: labels and speeds, in the same order each time.
pub type TurnSpeeds = Vec<(String, f64)>;

impl Contest {
    /// Checks that both programs can be run.
    pub fn new(baseline: &Path, rounds: u32) -> Result<Self, CommandFailure> {
        let this = processes::beside("argiope")?;
        for program in [&this, baseline] {
            let run = Command::new(program).arg("--version").stdin(Stdio::null()).output();
            let why = match run {
                Ok(output) if output.stdout.starts_with(b"argiope ") => continue,
                Ok(_) => "it is not argiope".to_owned(),
                Err(error) => error.to_string(),
            };
            return Err(CommandFailure::Input(format!("cannot run {}: {why}", program.display())));
        }
        Ok(Self { this, baseline: baseline.to_owned(), rounds })
    }

    /// Lets both programs do the same in turns.
    pub fn measure(
        &self,
        name: &str,
        mut turn: impl FnMut(&Path) -> Result<TurnSpeeds, CommandFailure>,
    ) -> Result<Vec<PairedSpeeds>, CommandFailure> {
        let progress = WorkProgress::new(2 * u64::from(self.rounds));
        progress.set_step(name);
        let mut pairs: Vec<PairedSpeeds> = Vec::new();
        for _ in 0..self.rounds {
            let this = turn(&self.this)?;
            progress.advance(1);
            let baseline = turn(&self.baseline)?;
            progress.advance(1);
            for (at, ((label, this), (other, baseline))) in
                this.into_iter().zip(baseline).enumerate()
            {
                if label != other {
                    return Err(CommandFailure::Failed(format!(
                        "the programs measure different things: {label} and {other}"
                    )));
                }
                if at == pairs.len() {
                    pairs.push(PairedSpeeds { label, this: vec![], baseline: vec![] });
                }
                pairs[at].this.push(this);
                pairs[at].baseline.push(baseline);
            }
        }
        Ok(pairs)
    }
}

impl PairedSpeeds {
    /// The speed of this program over that of the baseline in the same round.
    pub fn ratio(&self) -> Spread {
        Spread::of(self.this.iter().zip(&self.baseline).map(|(this, baseline)| this / baseline))
    }
}

/// A row for each pair: medians, and the ratio of neighbours with its spread.
pub fn table(unit: &str, pairs: &[PairedSpeeds]) -> String {
    let mut table = Table::new([unit, "this", "baseline", "this/baseline", "min–max"]);
    for pair in pairs {
        let ratio = pair.ratio();
        table.row([
            pair.label.clone(),
            format!("{:.1}", Spread::of(pair.this.iter().copied()).median),
            format!("{:.1}", Spread::of(pair.baseline.iter().copied()).median),
            format!("{:.3}", ratio.median),
            format!("{:.3}–{:.3}", ratio.min, ratio.max),
        ]);
    }
    table.to_string()
}

/// Runs a crawl to its end or to a limit, and reads the JSON object that it prints.
pub fn crawl(command: &mut Command) -> Result<Value, CommandFailure> {
    let output = command.stdin(Stdio::null()).output();
    let output = output.map_err(|error| {
        CommandFailure::Failed(format!("cannot start {:?}: {error}", command.get_program()))
    })?;
    if !matches!(output.status.code(), Some(0 | LIMIT)) {
        return Err(CommandFailure::Failed(format!(
            "a crawl failed: {}",
            String::from_utf8_lossy(&output.stderr).trim()
        )));
    }
    serde_json::from_slice(&output.stdout)
        .map_err(|error| CommandFailure::Failed(format!("a crawl printed no JSON: {error}")))
}

/// A number of a JSON object.
pub fn number(object: &Value, field: &str) -> Result<f64, CommandFailure> {
    object[field].as_f64().filter(|number| *number > 0.0).ok_or_else(|| {
        CommandFailure::Failed(format!("a crawl printed no {field} above 0: {object}"))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_compared() {
        let pair = PairedSpeeds {
            label: "one tab".to_owned(),
            this: vec![100.0, 300.0, 240.0],
            baseline: vec![100.0, 200.0, 200.0],
        };
        let ratio = pair.ratio();
        assert_eq!((ratio.min, ratio.median, ratio.max), (1.0, 1.2, 1.5));
        let text = table("actions/s", &[pair]);
        let row: Vec<&str> = text.lines().nth(1).expect("a row").split("  ").collect();
        assert!(row.contains(&"1.000–1.500") && text.contains("240.0"), "{text}");
    }
}
