//! Whether the same states are found with one tab, with eight, by a cluster, and by a cluster that
//! loses a controller.

use std::collections::BTreeMap;
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

use crate::parallel::do_all;

/// The query of a site. Some crawls must take longer, so that a controller can be killed meanwhile.
fn query(site: &str) -> &'static str {
    if site == "toggles" { "?switches=7&wait=10" } else { "" }
}

/// It takes as long as all others together, and is of the same kind as a smaller one.
const SKIPPED: [&str; 1] = ["filetree-cassandra"];

/// The server remembers what was done there, so that states depend on the order of actions. Only
/// those are compared that offer nothing: they are the same in any order.
const REMEMBERING: [&str; 2] = ["recent", "visited"];

/// The result of a crawl.
#[derive(Clone, Debug, PartialEq)]
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
    /// Whether only states that offer nothing are compared.
    is_remembering: bool,
}

/// The four ways to crawl.
const WAYS: [&str; 4] = ["1 tab", "8 tabs", "3 controllers", "3, one killed"];

/// How often the sites are crawled, and how many of them at once.
pub struct Rounds {
    pub times: u32,
    pub at_once: u32,
}

/// Crawls sites in four ways, some times each, and compares all results. All sites if none is
/// named.
pub fn run(program: &Path, only: &[String], rounds: &Rounds) -> Result<(), CommandFailure> {
    let Rounds { times, at_once } = *rounds;
    if let Some(unknown) = only.iter().find(|name| Site::find(name).is_none()) {
        return Err(CommandFailure::Input(format!("there is no application {unknown:?}")));
    }
    output::print(&format!(
        "Counts, and the first digits of a hash over the ids of all states:\n\
         | application | found | {} |\n\
         | --- | --- | --- | --- | --- | --- |\n",
        WAYS.join(" | ")
    ))?;
    let expects = |name: &&str| Site::find(name).is_some_and(|site| site.expected().is_some());
    let is_wanted = |name: &&str| match only {
        [] => !SKIPPED.contains(name),
        _ => only.iter().any(|only| only == name),
    };
    let sites: Vec<&str> = Site::names().filter(expects).filter(is_wanted).collect();
    let mut compared: BTreeMap<&str, Comparison> = BTreeMap::new();
    for round in 1..=times {
        // Rows are printed a few at a time.
        let crawl = |site: &&str| crawl_in_all_ways(program, site);
        let at_once = at_once as usize;
        let found = sites.chunks(at_once * 3).flat_map(|some| do_all(some, at_once, crawl));
        for (&site, found) in sites.iter().zip(found) {
            let found = found?;
            let cells: Vec<&str> = found.iter().map(|one| one.ids.as_str()).collect();
            let comparison = compared.entry(site).or_default();
            let news = comparison.add(round, found.iter());
            // A table of many rounds has one row for each application, and one for each difference.
            if round == 1 || news {
                let cells = cells.join(" | ");
                output::print(&format!("| {site} | {} | {cells} |\n", found[0].counts))?;
            }
        }
    }
    output::print("\n")?;
    let different: Vec<String> = compared
        .iter()
        .flat_map(|(site, one)| one.different.iter().map(move |what| format!("{site}: {what}")))
        .collect();
    if different.is_empty() {
        if times > 1 {
            output::print(&format!("{times} rounds, all alike\n"))?;
        }
        return Ok(());
    }
    Err(CommandFailure::Failed(format!("the results differ; {}", different.join("; "))))
}

/// What the crawls of one site have found.
#[derive(Default)]
struct Comparison {
    first: Option<Found>,
    /// Results that differ from the first one.
    different: Vec<String>,
}

impl Comparison {
    /// Adds the results of one round, in the order of the ways. Says whether any differs.
    fn add<'a>(&mut self, round: u32, found: impl Iterator<Item = &'a Found>) -> bool {
        let before = self.different.len();
        for (one, way) in found.zip(WAYS) {
            let first = self.first.get_or_insert_with(|| one.clone());
            if one != first {
                let what = format!("{} ({}) with {way} in round {round}", one.counts, one.ids);
                self.different.push(what);
            }
        }
        self.different.len() > before
    }
}

/// Crawls a site in each way. Each crawl gets a new server: some sites count their visitors.
fn crawl_in_all_ways(program: &Path, site: &str) -> Result<[Found; 4], CommandFailure> {
    let directory = TempDir::new()?;
    let options = Site::find(site).map(|site| site.crawl_arguments(&directory.0)).transpose();
    let options = options.map_err(|error| CommandFailure::Failed(error.to_string()))?;
    let options = options.unwrap_or_default();
    let is_remembering = REMEMBERING.contains(&site);
    let program = &CrawlProgram { path: program, options: &options, is_remembering };
    let on_new_server = |crawl: &dyn Fn(&str) -> Result<Found, CommandFailure>| {
        let server =
            Server::start(site).map_err(|error| CommandFailure::Failed(error.to_string()))?;
        crawl(&format!("{}{}", server.url(), query(site)))
    };
    Ok([
        on_new_server(&|url| alone(program, url, &directory.0.join("one"), "1"))?,
        on_new_server(&|url| alone(program, url, &directory.0.join("eight"), "8"))?,
        on_new_server(&|url| together(program, url, &directory.0.join("ring"), false))?,
        on_new_server(&|url| together(program, url, &directory.0.join("killed"), true))?,
    ])
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
    let (ids, ends) = ids(out, program.is_remembering)?;
    let mut counts = if program.is_remembering {
        format!("{ends} states without actions, complete: {}", summary["complete"])
    } else {
        format!("{} states, {} transitions", summary["states"], summary["transitions"])
    };
    // Nondeterministic transitions are not compared: their number depends on the paths taken.
    if summary["failed"] != 0 {
        counts.push_str(&format!(", {} failed", summary["failed"]));
    }
    if !program.is_remembering && summary["gone"] != 0 {
        counts.push_str(&format!(", {} gone", summary["gone"]));
    }
    Ok(Found { counts, ids })
}

/// Hashes the ids of a run's states, perhaps only of those that offer nothing, and counts them.
fn ids(out: &Path, without_actions: bool) -> Result<(String, usize), CommandFailure> {
    let failed =
        |error: argiope_runtime::store::StoreError| CommandFailure::Failed(error.to_string());
    let store = Store::read(out).map_err(failed)?;
    let mut keys = Vec::new();
    for state in store.states().map_err(failed)? {
        let (key, detail) = state.map_err(failed)?;
        if !without_actions || detail.offers.is_empty() {
            keys.push(key);
        }
    }
    keys.sort_unstable();
    let bytes: Vec<u8> = keys.iter().flat_map(|key| key.0.to_le_bytes()).collect();
    let hash = format!("{:?}", ContentHash::of(&bytes)).chars().take(8).collect();
    Ok((hash, keys.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_result_that_differs_from_the_first_is_reported_with_its_way_and_round() {
        let found = |counts: &str| Found { counts: counts.to_owned(), ids: "abc".to_owned() };
        let mut comparison = Comparison::default();
        let alike = [found("5 states"), found("5 states")];
        assert!(!comparison.add(1, alike.iter()));
        let different = [found("5 states"), found("6 states")];
        assert!(comparison.add(2, different.iter()));
        assert_eq!(comparison.different, ["6 states (abc) with 8 tabs in round 2"]);
    }
}
