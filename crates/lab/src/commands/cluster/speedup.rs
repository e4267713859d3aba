//! The gain of more crawlers with browsers, and how they spend their time.

use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use argiope_runtime::cluster::client::{Client, ClientError};
use argiope_runtime::cluster::protocol::{CrawlId, CrawlTally, Order};
use argiope_sites::Server;

use super::bare;
use argiope::cluster::{block_on, random_number};
use argiope::failure::CommandFailure;
use argiope::output;
use argiope::processes::{ClusterOptions, ClusterProcesses, TempDir, client};

use crate::machine;

/// The controllers of each crawl.
pub const CONTROLLERS: usize = 2;

/// The application and the numbers of crawlers.
pub struct SpeedUpPlan<'a> {
    /// Crawlers with one tab each, one crawl for each number.
    pub crawlers: &'a [u32],
    /// Switches of the application.
    pub switches: u32,
    /// Milliseconds that its server takes to answer.
    pub wait: u32,
}

impl SpeedUpPlan<'_> {
    /// The address of the application.
    pub fn url(&self, server: &Server) -> String {
        format!("{}?switches={}&wait={}", server.url(), self.switches, self.wait)
    }
}

impl fmt::Display for SpeedUpPlan<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let transitions = (1u64 << self.switches) * u64::from(self.switches);
        let Self { switches, wait, .. } = self;
        write!(f, "{switches} switches, each answered after {wait} ms ({transitions} transitions)")
    }
}

/// Measures crawls, and what the same browsers do without crawlers.
pub fn run(program: &Path, plan: &SpeedUpPlan<'_>) -> Result<(), CommandFailure> {
    let server =
        Server::start("toggles").map_err(|error| CommandFailure::Failed(error.to_string()))?;
    let url = plan.url(&server);
    let crawlers = plan.crawlers;
    output::print(&format!(
        "Crawlers with Chromium, one tab each, {CONTROLLERS} controllers; {plan}:\n\
         crawlers  seconds  speed-up  per crawler  actions   in actions  network and controller   \
         idle  cores busy\n",
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

/// Crawls once. Returns the tally, the time taken, and the busy seconds of all cores.
fn crawl(
    program: &Path,
    url: &str,
    crawlers: u32,
) -> Result<(CrawlTally, Duration, f64), CommandFailure> {
    let directory = TempDir::new()?;
    let mut cluster =
        ClusterProcesses::start(&directory.0, CONTROLLERS, ClusterOptions::new(program))?;
    for _ in 0..crawlers {
        cluster.add_crawler()?;
    }
    cluster.wait_for_crawlers(crawlers)?;
    let switch = client()?;
    let id = CrawlId(random_number()? as u64);
    let order = Order::new(url);
    let crawled = block_on(async {
        let mut client = Client::dial(&switch, &cluster.addresses[0]).await?;
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
