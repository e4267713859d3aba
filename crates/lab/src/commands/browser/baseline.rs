//! `argiope bench browser --baseline`: crawls by this program and by another one, in turns.

use std::path::Path;
use std::process::Command;

use argiope::failure::CommandFailure;
use argiope::processes::TempDir;
use argiope_sites::Server;

use super::{ACTIONS, BrowserBenchArgs, SITES, Site};
use crate::baseline::{self, Contest, PairedSpeeds};

/// Compares both programs on every site that takes much longer than the start of a browser.
pub fn measure(
    args: &BrowserBenchArgs,
    program: &Path,
) -> Result<Vec<PairedSpeeds>, CommandFailure> {
    let contest = Contest::new(program, args.rounds)?;
    let mut all = Vec::new();
    for site in SITES.iter().filter(|site| !site.is_short) {
        let server = Server::start(site.fixture)
            .map_err(|error| CommandFailure::Failed(error.to_string()))?;
        let url = server.url() + site.query;
        for tabs in ["1", "2"] {
            let label = format!("{}, {tabs} tab{}", site.name, if tabs == "1" { "" } else { "s" });
            let pairs = contest.measure(&label, |program| {
                Ok(vec![(label.clone(), speed(args, site, program, &url, tabs)?)])
            })?;
            all.extend(pairs);
        }
    }
    Ok(all)
}

/// Actions per second of one crawl, as the program itself prints them.
fn speed(
    args: &BrowserBenchArgs,
    site: &Site,
    program: &Path,
    url: &str,
    tabs: &str,
) -> Result<f64, CommandFailure> {
    let directory = TempDir::new()?;
    let mut command = Command::new(program);
    command.args(["crawl", url, "--tabs", tabs, "--quiet", "--json", "--out"]);
    command.arg(directory.0.join("run"));
    if let Some(browser) = &args.browser {
        command.arg("--browser").arg(browser);
    }
    if !site.whole || args.actions.is_some() {
        let actions = args.actions.unwrap_or(ACTIONS);
        command.args(["--max-actions", &actions.to_string()]);
    }
    baseline::number(&baseline::crawl(&mut command)?, "actions_per_s")
}
