//! How much faster more crawlers with browsers are, and what their time goes into.

use std::path::Path;
use std::time::{Duration, Instant};

use argiope_runtime::cluster::client::{Client, ClientError};
use argiope_runtime::cluster::protocol::{CrawlId, CrawlTally, Order};
use argiope_sites::Server;

use super::bare;
use argiope::cluster::{block_on, chance};
use argiope::failure::CommandFailure;
use argiope::output;
use argiope::processes::{ClusterOptions, ClusterProcesses, TempDir, client};

use crate::machine;

/// With an application of so many switches whose server takes so many milliseconds to answer; and what the browsers alone
/// do there.
pub fn run(
    program: &Path,
    crawlers: &[u32],
    switches: u32,
    wait: u32,
) -> Result<(), CommandFailure> {
    let server =
        Server::start("toggles").map_err(|error| CommandFailure::Failed(error.to_string()))?;
    let url = format!("{}?switches={switches}&wait={wait}", server.url());
    output::print(&format!(
        "Crawlers with Chromium, one tab each, two controllers; {switches} switches, each answered after {wait} ms \
         ({} transitions):\n\
         crawlers  seconds  speed-up  per crawler  actions   in actions  network and controller   idle  cores busy\n",
        (1u64 << switches) * u64::from(switches),
    ))?;
    let mut one: Option<f64> = None;
    for &many in crawlers {
        let (tally, took, busy) = crawl(program, &url, many)?;
        let seconds = took.as_secs_f64();
        let speedup = *one.get_or_insert(seconds * f64::from(crawlers[0])) / seconds;
        let all = seconds * f64::from(many);
        let share = |us: u64| us as f64 / 1e6 / all * 100.0;
        let idle = 100.0 - share(tally.times.acting) - share(tally.times.asking);
        output::print(&format!(
            "{many:>8}{seconds:>9.1}{speedup:>10.2}{:>13.2}{:>9}{:>11.1} %{:>22.1} %{idle:>6.1} %{:>12.2}\n",
            speedup / f64::from(many),
            tally.spent.actions,
            share(tally.times.acting),
            share(tally.times.asking),
            busy / seconds,
        ))?;
    }
    output::print("\n")?;
    bare::run(crawlers, &url)
}

/// One crawl: what was done, how long it took, and the seconds that cores were busy meanwhile, on the whole machine.
fn crawl(
    program: &Path,
    url: &str,
    crawlers: u32,
) -> Result<(CrawlTally, Duration, f64), CommandFailure> {
    let folder = TempDir::new()?;
    let mut ring = ClusterProcesses::start(&folder.0, 2, ClusterOptions::new(program))?;
    for _ in 0..crawlers {
        ring.add_crawler()?;
    }
    ring.wait_for_crawlers(crawlers)?;
    let switch = client()?;
    let id = CrawlId(chance()? as u64);
    let order = Order::new(url.to_owned());
    let crawled = block_on(async {
        let mut client = Client::dial(&switch, &ring.addresses[0]).await?;
        client.start(id, order).await?;
        let (started, busy) = (Instant::now(), machine::busy_seconds());
        client.follow(id).await?;
        loop {
            let total = client.next_progress().await?.total(id);
            if total.finished {
                return Ok((total, started.elapsed(), machine::busy_seconds() - busy));
            }
        }
    })?;
    crawled.map_err(|error: ClientError| CommandFailure::Failed(error.to_string()))
}
