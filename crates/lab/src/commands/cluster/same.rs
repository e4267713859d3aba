//! The same states, whoever finds them: with one tab, with eight, by a ring, and by a ring that loses a controller.

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

/// With a longer query where a crawl would be over before anything can be killed.
fn query(site: &str) -> &'static str {
    if site == "toggles" { "?switches=7&wait=10" } else { "" }
}

/// Takes as long as all others together, and shows nothing that the smaller one does not.
const TOO_LARGE: &str = "filetree-cassandra";

/// What a crawl has found.
#[derive(Debug, PartialEq)]
struct Found {
    /// How many of what, in words.
    counts: String,
    /// The first digits of a hash over the ids of all states.
    ids: String,
}

pub fn run(program: &Path, quick: bool) -> Result<(), CommandFailure> {
    output::print(
        "What is found, and the first digits of a hash over the ids of all states:\n\
         | application | found | 1 tab | 8 tabs | 3 controllers | 3, one killed |\n\
         | --- | --- | --- | --- | --- | --- |\n",
    )?;
    let mut different = Vec::new();
    let expects = |name: &&str| Site::find(name).is_some_and(|site| site.expected().is_some());
    let sites = Site::names().filter(expects).filter(|&name| name != TOO_LARGE);
    for site in sites.filter(|&site| !quick || site == "links") {
        let folder = TempDir::new()?;
        // Nobody has visited the application before: some of them count their visitors.
        let on_new = |crawl: &dyn Fn(&str) -> Result<Found, CommandFailure>| {
            let server =
                Server::start(site).map_err(|error| CommandFailure::Failed(error.to_string()))?;
            crawl(&format!("{}{}", server.url(), query(site)))
        };
        let found = [
            on_new(&|url| alone(program, url, &folder.0.join("one"), "1"))?,
            on_new(&|url| alone(program, url, &folder.0.join("eight"), "8"))?,
            on_new(&|url| together(program, url, &folder.0.join("ring"), false))?,
            on_new(&|url| together(program, url, &folder.0.join("killed"), true))?,
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
    Err(CommandFailure::Failed(format!(
        "they are not the same everywhere; {}",
        different.join("; ")
    )))
}

fn alone(program: &Path, url: &str, out: &Path, tabs: &str) -> Result<Found, CommandFailure> {
    crawled(program, &["crawl", url, "--tabs", tabs], out)
}

/// By a ring of three with two crawlers; one of them dies when a third of an earlier crawl's work is done.
fn together(
    program: &Path,
    url: &str,
    folder: &Path,
    one_dies: bool,
) -> Result<Found, CommandFailure> {
    std::fs::create_dir(folder).map_err(|error| CommandFailure::Failed(error.to_string()))?;
    let mut ring = ClusterProcesses::start(folder, 3, ClusterOptions::new(program))?;
    ring.add_crawler()?;
    ring.add_crawler()?;
    ring.wait_for_crawlers(2)?;
    let victim = one_dies.then(|| (ring.children.remove(2), ring.addresses[0].clone()));
    let dying = victim.map(|(mut victim, address)| {
        std::thread::spawn(move || {
            let at_work = || {
                let switch = client().ok()?;
                block_on(async { Client::dial(&switch, &address).await.ok()?.status().await.ok() })
                    .ok()?
            };
            // As soon as all three have a share, or the crawl is over.
            for _ in 0..600 {
                let busy = at_work().is_some_and(|status| {
                    let shares = status.members.iter().flat_map(|member| &member.shares);
                    shares.filter(|(_, tally)| tally.states > 1 || tally.finished).count() >= 3
                });
                if busy {
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
        &["crawl", url, "--cluster", &ring.addresses.join(",")],
        &folder.join("run"),
    );
    if let Some(dying) = dying {
        // It has killed its victim, whatever it saw.
        let _ = dying.join();
    }
    found
}

/// Lets a crawl run to its end.
fn crawled(program: &Path, arguments: &[&str], out: &Path) -> Result<Found, CommandFailure> {
    let ended = Command::new(program)
        .args(arguments)
        .args(["--quiet", "--json", "--out"])
        .arg(out)
        .output();
    let ended = ended
        .map_err(|error| CommandFailure::Failed(format!("a crawl does not start: {error}")))?;
    if !ended.status.success() {
        return Err(CommandFailure::Failed(format!(
            "a crawl failed: {}",
            String::from_utf8_lossy(&ended.stderr).trim()
        )));
    }
    let summary: Value = serde_json::from_slice(&ended.stdout).map_err(|error| {
        CommandFailure::Failed(format!("a crawl says something else than was asked: {error}"))
    })?;
    let mut counts =
        format!("{} states, {} transitions", summary["states"], summary["transitions"]);
    // How often a transition is seen to lead elsewhere depends on who walks there, and is not compared.
    if summary["failed"] != 0 {
        counts.push_str(&format!(", {} given up", summary["failed"]));
    }
    Ok(Found { counts, ids: ids(out)? })
}

/// A hash over the ids of a run's states.
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
