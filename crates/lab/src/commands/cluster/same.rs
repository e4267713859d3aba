//! Whether the same states are found with one tab, with eight, by a cluster, and by a cluster that
//! loses a controller.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use argiope_runtime::cluster::client::Client;
use argiope_runtime::store::{ContentHash, Store};
use argiope_sites::{Server, Site};
use serde_json::Value;

use argiope::cluster::block_on;
use argiope::failure::CommandFailure;
use argiope::output;
use argiope::processes::{ClusterOptions, ClusterProcesses, TempDir, client};

/// The query of a site. Some crawls must take longer, so that a controller can be killed meanwhile.
fn query(site: &str) -> &'static str {
    if site == "toggles" { "?switches=7&wait=10" } else { "" }
}

/// The first takes as long as all others together, and is of the same kind as a smaller one. The
/// states of the second depend on the order of actions, since its server remembers them.
const SKIPPED: [&str; 2] = ["filetree-cassandra", "visited"];

/// The result of a crawl.
#[derive(Debug, PartialEq)]
struct Found {
    /// Numbers of states, transitions and failures, for people.
    counts: String,
    /// The first digits of a hash over the ids of all states.
    ids: String,
}

/// The program, with the options that a site needs.
struct CrawlProgram<'a> {
    path: &'a Path,
    options: &'a [String],
}

/// Crawls every site in four ways and compares the results.
pub fn run(program: &Path, quick: bool) -> Result<(), CommandFailure> {
    output::print(
        "Counts, and the first digits of a hash over the ids of all states:\n\
         | application | found | 1 tab | 8 tabs | 3 controllers | 3, one killed |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    )?;
    let mut different = Vec::new();
    let expects = |name: &&str| Site::find(name).is_some_and(|site| site.expected().is_some());
    let sites = Site::names().filter(expects).filter(|name| !SKIPPED.contains(name));
    for site in sites.filter(|&site| !quick || site == "links") {
        let directory = TempDir::new()?;
        let options = Site::find(site).and_then(|site| site.expected()).map(|it| it.crawl.args);
        let options = options.unwrap_or_default();
        let program = &CrawlProgram { path: program, options: &options };
        // Each crawl gets a new server: some sites count their visitors.
        let on_new_server = |crawl: &dyn Fn(&str) -> Result<Found, CommandFailure>| {
            let server =
                Server::start(site).map_err(|error| CommandFailure::Failed(error.to_string()))?;
            crawl(&format!("{}{}", server.url(), query(site)))
        };
        let found = [
            on_new_server(&|url| alone(program, url, &directory.0.join("one"), "1"))?,
            on_new_server(&|url| alone(program, url, &directory.0.join("eight"), "8"))?,
            on_new_server(&|url| together(program, url, &directory.0.join("ring"), false))?,
            on_new_server(&|url| together(program, url, &directory.0.join("killed"), true))?,
        ];
        let cells: Vec<&str> = found.iter().map(|one| one.ids.as_str()).collect();
        output::print(&format!("| {site} | {} | {} |\n", found[0].counts, cells.join(" | ")))?;
        let others = found
            .iter()
            .filter(|one| **one != found[0])
            .map(|one| format!("{site}: {}", one.counts));
        different.extend(others);
    }
    output::print("\n")?;
    if different.is_empty() {
        return Ok(());
    }
    Err(CommandFailure::Failed(format!("the results differ; {}", different.join("; "))))
}

/// Crawls on one machine.
fn alone(
    program: &CrawlProgram<'_>,
    url: &str,
    out: &Path,
    tabs: &str,
) -> Result<Found, CommandFailure> {
    crawled(program, &["crawl", url, "--tabs", tabs], out)
}

/// Crawls with three controllers and two crawlers. One controller may be killed on the way.
fn together(
    program: &CrawlProgram<'_>,
    url: &str,
    directory: &Path,
    kills_one: bool,
) -> Result<Found, CommandFailure> {
    std::fs::create_dir(directory).map_err(|error| CommandFailure::Failed(error.to_string()))?;
    let mut cluster = ClusterProcesses::start(directory, 3, ClusterOptions::new(program.path))?;
    cluster.add_crawler()?;
    cluster.add_crawler()?;
    cluster.wait_for_crawlers(2)?;
    let victim = kills_one.then(|| (cluster.children.remove(2), cluster.addresses[0].clone()));
    let killer = victim.map(|(mut victim, address)| {
        std::thread::spawn(move || {
            let status = || {
                let switch = client().ok()?;
                block_on(async { Client::dial(&switch, &address).await.ok()?.status().await.ok() })
                    .ok()?
            };
            // Kills it as soon as all three controllers have states, or the crawl is over.
            for _ in 0..600 {
                let is_time = status().is_some_and(|status| {
                    let shares = status.members.iter().flat_map(|member| &member.shares);
                    shares.filter(|(_, tally)| tally.states > 1 || tally.finished).count() >= 3
                });
                if is_time {
                    break;
                }
                std::thread::sleep(Duration::from_millis(50));
            }
            let _ = victim.kill();
            let _ = victim.wait();
        })
    });
    let found = crawled(
        program,
        &["crawl", url, "--cluster", &cluster.addresses.join(",")],
        &directory.join("run"),
    );
    if let Some(killer) = killer {
        // It has ended, since it waits no longer than 30 s.
        let _ = killer.join();
    }
    found
}

/// Runs a crawl to its end and reads its result.
fn crawled(
    program: &CrawlProgram<'_>,
    arguments: &[&str],
    out: &Path,
) -> Result<Found, CommandFailure> {
    let ended = Command::new(program.path)
        .args(arguments)
        .args(program.options)
        .args(["--quiet", "--json", "--out"])
        .arg(out)
        .output();
    let ended =
        ended.map_err(|error| CommandFailure::Failed(format!("cannot start a crawl: {error}")))?;
    // 5: some fixtures have an action that must be given up.
    if !matches!(ended.status.code(), Some(0 | 5)) {
        return Err(CommandFailure::Failed(format!(
            "a crawl failed: {}",
            String::from_utf8_lossy(&ended.stderr).trim()
        )));
    }
    let summary: Value = serde_json::from_slice(&ended.stdout)
        .map_err(|error| CommandFailure::Failed(format!("a crawl printed no JSON: {error}")))?;
    let mut counts =
        format!("{} states, {} transitions", summary["states"], summary["transitions"]);
    // Nondeterministic transitions are not compared: their number depends on the paths taken.
    if summary["failed"] != 0 {
        counts.push_str(&format!(", {} failed", summary["failed"]));
    }
    Ok(Found { counts, ids: ids(out)? })
}

/// Hashes the ids of a run's states.
fn ids(out: &Path) -> Result<String, CommandFailure> {
    let failed =
        |error: argiope_runtime::store::StoreError| CommandFailure::Failed(error.to_string());
    let store = Store::read(out).map_err(failed)?;
    let mut keys = Vec::new();
    for state in store.states().map_err(failed)? {
        keys.push(state.map_err(failed)?.0);
    }
    keys.sort_unstable();
    let bytes: Vec<u8> = keys.iter().flat_map(|key| key.0.to_le_bytes()).collect();
    Ok(format!("{:?}", ContentHash::of(&bytes)).chars().take(8).collect())
}
