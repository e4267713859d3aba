//! The same states, whoever finds them: with one tab, with eight, by a ring, and by a ring that loses a controller.

use std::path::{Path, PathBuf};
use std::time::Duration;

use argiope_runtime::cluster::client::Client;
use argiope_runtime::store::{ContentHash, Store};
use argiope_sites::Server;

use crate::cluster::block_on;
use crate::failure::Failure;
use crate::output;
use crate::processes::{Folder, How, Processes, argiope, client};

/// The applications.
const SITES: &[(&str, &str)] = &[
    ("toggles", "?switches=7&wait=10"),
    ("demo", ""),
    ("wizard", ""),
    ("gestures", ""),
    ("storage", ""),
    ("react", ""),
    ("vue", ""),
    ("frames", ""),
    ("shadow", ""),
    ("volatile", ""),
];

pub fn run(quick: bool) -> Result<(), Failure> {
    output::print(
        "States, and the first digits of a hash over all their ids:\n\
         application        1 tab          8 tabs         3 controllers  3, one killed\n",
    )?;
    let mut all_same = true;
    for (site, query) in SITES.iter().take(if quick { 1 } else { SITES.len() }) {
        let server = Server::start(site).map_err(|error| Failure::Failed(error.to_string()))?;
        let url = format!("{}{query}", server.url());
        let folder = Folder::new()?;
        let found = [
            alone(&url, &folder.0.join("one"), "1")?,
            alone(&url, &folder.0.join("eight"), "8")?,
            together(&url, &folder.0.join("ring"), false)?,
            together(&url, &folder.0.join("killed"), true)?,
        ];
        all_same &= found.iter().all(|one| *one == found[0]);
        let cells: Vec<String> = found.iter().map(|(states, hash)| format!("{states:>4}  {hash}")).collect();
        output::print(&format!("{site:<15}{}\n", cells.join("  ")))?;
    }
    output::print("\n")?;
    if all_same { Ok(()) } else { Err(Failure::Failed("they are not the same everywhere".to_owned())) }
}

fn alone(url: &str, out: &Path, tabs: &str) -> Result<(usize, String), Failure> {
    let mut command = argiope(&[])?;
    ended(command.args(["crawl", url, "--quiet", "--tabs", tabs, "--out"]).arg(out))?;
    ids(out)
}

/// By a ring of three with two crawlers; one of them dies when a third of an earlier crawl's work is done.
fn together(url: &str, folder: &Path, one_dies: bool) -> Result<(usize, String), Failure> {
    std::fs::create_dir(folder).map_err(|error| Failure::Failed(error.to_string()))?;
    let mut ring = Processes::start(folder, 3, How::default())?;
    ring.add_crawler()?;
    ring.add_crawler()?;
    ring.wait_for_crawlers(2)?;
    let victim = one_dies.then(|| (ring.children.remove(2), ring.addresses[0].clone()));
    let dying = victim.map(|(mut victim, address)| {
        std::thread::spawn(move || {
            let at_work = || {
                let switch = client().ok()?;
                block_on(async { Client::dial(&switch, &address).await.ok()?.status().await.ok() }).ok()?
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
    let out: PathBuf = folder.join("run");
    let mut command = argiope(&[])?;
    let crawled = ended(
        command.args(["crawl", url, "--quiet", "--cluster", &ring.addresses.join(","), "--out"]).arg(&out),
    );
    if let Some(dying) = dying {
        // It has killed its victim, whatever it saw.
        let _ = dying.join();
    }
    crawled?;
    ids(&out)
}

fn ended(command: &mut std::process::Command) -> Result<(), Failure> {
    let out =
        command.output().map_err(|error| Failure::Failed(format!("a crawl does not start: {error}")))?;
    if out.status.success() {
        return Ok(());
    }
    Err(Failure::Failed(format!("a crawl failed: {}", String::from_utf8_lossy(&out.stderr).trim())))
}

/// How many states a run has, and a hash over their ids.
fn ids(out: &Path) -> Result<(usize, String), Failure> {
    let failed = |error: argiope_runtime::store::StoreError| Failure::Failed(error.to_string());
    let store = Store::read(out).map_err(failed)?;
    let mut keys = Vec::new();
    for state in store.states().map_err(failed)? {
        keys.push(state.map_err(failed)?.0);
    }
    keys.sort_unstable();
    let bytes: Vec<u8> = keys.iter().flat_map(|key| key.0.to_le_bytes()).collect();
    Ok((keys.len(), format!("{:?}", ContentHash::of(&bytes)).chars().take(8).collect()))
}
