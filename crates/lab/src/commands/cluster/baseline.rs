//! `argiope bench cluster --baseline`: processes of this program and of another one, in turns. A
//! cluster never mixes the two, since they may speak different versions of the protocol.

use std::path::Path;
use std::process::{Command, Stdio};

use argiope::failure::CommandFailure;
use argiope::output;
use argiope::processes::TempDir;
use argiope_sites::Server;

use super::speedup::{self, SpeedUpPlan};
use crate::baseline::{self, Contest, TurnSpeeds};

/// Compares the jobs per second of one controller, by the programs' own benches.
pub fn capacity(contest: &Contest, quick: bool) -> Result<(), CommandFailure> {
    let pairs = contest.measure("capacity", |program| {
        let mut command = Command::new(program);
        command.args(["bench", "cluster", "--only", "capacity"]);
        if quick {
            command.arg("--quick");
        }
        let output = command.stdin(Stdio::null()).output();
        let output = output.map_err(|error| {
            CommandFailure::Failed(format!("cannot start {}: {error}", program.display()))
        })?;
        if !output.status.success() {
            return Err(CommandFailure::Failed(format!(
                "{} bench cluster failed: {}",
                program.display(),
                String::from_utf8_lossy(&output.stderr).trim()
            )));
        }
        rows(&String::from_utf8_lossy(&output.stdout))
    })?;
    output::print(&format!(
        "Jobs per second of one controller on one core:\n{}\n",
        baseline::table("jobs/s", &pairs)
    ))
}

/// The first two columns of the table that `bench cluster --only capacity` prints.
fn rows(text: &str) -> Result<TurnSpeeds, CommandFailure> {
    let row = |line: &str| {
        let mut cells = line.split_whitespace();
        let crawlers: u32 = cells.next()?.parse().ok()?;
        Some((format!("{crawlers} crawlers"), cells.next()?.parse().ok()?))
    };
    let rows: TurnSpeeds = text.lines().filter_map(row).collect();
    if rows.is_empty() {
        return Err(CommandFailure::Failed(format!("a bench printed no table: {text}")));
    }
    Ok(rows)
}

/// Compares crawls by two controllers and more and more crawlers with Chromium.
pub fn speed_up(contest: &Contest, plans: &[SpeedUpPlan<'_>]) -> Result<(), CommandFailure> {
    for plan in plans {
        let server =
            Server::start("toggles").map_err(|error| CommandFailure::Failed(error.to_string()))?;
        let url = plan.url(&server);
        let mut pairs = Vec::new();
        for crawlers in plan.crawlers {
            let label = format!("{crawlers} crawlers");
            pairs.extend(contest.measure(&label, |program| {
                Ok(vec![(label.clone(), speed(program, &url, *crawlers)?)])
            })?);
        }
        output::print(&format!(
            "Two controllers, crawlers with one tab each; {plan}:\n{}\n",
            baseline::table("transitions/s", &pairs)
        ))?;
    }
    Ok(())
}

/// Transitions per second of one crawl, from its start to its result in the run directory.
fn speed(program: &Path, url: &str, crawlers: u32) -> Result<f64, CommandFailure> {
    let directory = TempDir::new()?;
    let mut command = Command::new(program);
    command.args(["local-cluster", "--controllers", &speedup::CONTROLLERS.to_string()]);
    command.args(["--crawlers", &crawlers.to_string(), "--", "crawl", url, "--quiet", "--json"]);
    command.arg("--out").arg(directory.0.join("run"));
    let summary = baseline::crawl(&mut command)?;
    Ok(baseline::number(&summary, "transitions")? / baseline::number(&summary, "wall_s")?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_and_everything_else_is_skipped() {
        let text = "One controller on one core, random (20 transitions):\n\
                    crawlers    jobs/s   frames/job\n      20      1234         2.00\n\n";
        assert_eq!(rows(text).expect("a table"), [("20 crawlers".to_owned(), 1234.0)]);
        assert!(rows("nothing\n").is_err());
    }
}
