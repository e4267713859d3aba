//! `argiope bench cluster`: real processes that communicate over loopback.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::time::{Duration, Instant};

use argiope_runtime::cluster::Switch;
use argiope_runtime::cluster::client::Client;
use argiope_runtime::cluster::protocol::{CrawlId, Order, Status};
use argiope_sim::crawler::World;

use argiope::cluster::{block_on, random_number};
use argiope::failure::CommandFailure;
use argiope::processes::{self, ClusterOptions, ClusterProcesses, TempDir, client};
use argiope::{output, source};

mod bare;
mod baseline;
mod load;
mod loss;
mod same;
mod speedup;

use load::{LoadApplication, LoadCounts};
use speedup::SpeedUpPlan;

use crate::baseline::Contest;

const AFTER_HELP: &str = "\
Examples:
  argiope bench cluster --quick --only capacity
  argiope bench cluster --only same --times 2 --application links
  argiope bench cluster --quick --only speed-up --baseline ../before/argiope --rounds 1

It measures processes on this machine:
  capacity  jobs per second that one controller on one core assigns to simulated crawlers
  same      whether one tab, eight tabs, a cluster, and a cluster with a failover find the same states
  loss      time from the loss of a controller to the first job in one of its states
  speed-up  gain of more crawlers with Chromium, with servers that answer after 50 ms and 300 ms

With --baseline it compares this program with another one, such as an earlier build, in turns. For \
capacity both run `PROGRAM bench cluster --only capacity`: each is loaded by its own crawlers, \
since the protocols may differ. For speed-up both run `PROGRAM local-cluster -- crawl URL --json`; \
the speed is transitions over wall_s. The ratio this/baseline is the median over the rounds, \
followed by the lowest and the highest one.";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct ClusterBenchArgs {
    /// Measure a small application with few crawlers, in seconds instead of minutes
    #[arg(long)]
    quick: bool,
    /// Measure only this
    #[arg(long, value_name = "NAME", value_parser = ["capacity", "loss", "same", "speed-up"])]
    only: Option<String>,
    /// Repeat `same` N times, and report every difference
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    times: u32,
    /// Crawl N applications of `same` at once: it takes less time, and the machine is busier
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=16))]
    at_once: u32,
    /// Restrict `same` to this application (may be given several times)
    #[arg(long, value_name = "NAME")]
    application: Vec<String>,
    /// Compare with this executable of argiope; requires --only capacity or --only speed-up
    #[arg(long, value_name = "PROGRAM")]
    baseline: Option<PathBuf>,
    /// Compare N times
    #[arg(long, value_name = "N", default_value_t = 5, requires = "baseline", value_parser = clap::value_parser!(u32).range(1..=100))]
    rounds: u32,
}

pub fn run(args: &ClusterBenchArgs) -> Result<(), CommandFailure> {
    // Many crawlers share the cores of one machine; a slower server leaves them idle cores.
    let plans: &[SpeedUpPlan<'_>] = if args.quick {
        &[SpeedUpPlan { crawlers: &[1, 2], switches: 4, wait: 50 }]
    } else {
        &[
            SpeedUpPlan { crawlers: &[1, 2, 4, 8, 15], switches: 9, wait: 50 },
            SpeedUpPlan { crawlers: &[1, 15], switches: 8, wait: 300 },
        ]
    };
    if let Some(program) = &args.baseline {
        return compare(args, program, plans);
    }
    let program = processes::beside("argiope")?;
    let is_wanted = |name: &str| args.only.as_deref().is_none_or(|only| only == name);
    if is_wanted("capacity") {
        let crawlers: &[u64] = if args.quick { &[20, 100] } else { &[20, 200, 2_000] };
        let testbed = if args.quick { "random:400:50" } else { "random:8000:50" };
        capacity(&program, testbed, crawlers)?;
    }
    if is_wanted("same") {
        let quick = if args.quick { vec!["links".to_owned()] } else { Vec::new() };
        let only = if args.application.is_empty() { &quick } else { &args.application };
        let rounds = same::Rounds { times: args.times, at_once: args.at_once };
        same::run(&program, only, &rounds)?;
    }
    if is_wanted("loss") {
        loss::run(&program, if args.quick { 2 } else { 10 })?;
    }
    if is_wanted("speed-up") {
        plans.iter().try_for_each(|plan| speedup::run(&program, plan))?;
    }
    Ok(())
}

/// Compares this program with a baseline.
fn compare(
    args: &ClusterBenchArgs,
    program: &Path,
    plans: &[SpeedUpPlan<'_>],
) -> Result<(), CommandFailure> {
    let only = args.only.as_deref();
    if !matches!(only, Some("capacity" | "speed-up")) {
        return Err(CommandFailure::Input(
            "--baseline requires --only capacity or --only speed-up".to_owned(),
        ));
    }
    let contest = Contest::new(program, args.rounds)?;
    if only == Some("capacity") {
        baseline::capacity(&contest, args.quick)
    } else {
        baseline::speed_up(&contest, plans)
    }
}

/// Measures how many jobs one controller assigns.
fn capacity(program: &Path, testbed: &str, crawlers: &[u64]) -> Result<(), CommandFailure> {
    let world = application(testbed)?;
    output::print(&format!(
        "One controller on one core, simulated crawlers on the others; {testbed}, {} transitions:\n\
         crawlers    jobs/s   frames/job   bytes/job   median wait   99 % wait\n",
        world.transitions()
    ))?;
    for &many in crawlers {
        let directory = TempDir::new()?;
        let options =
            ClusterOptions { wrapper: &["taskset", "-c", "0"], ..ClusterOptions::new(program) };
        let cluster = ClusterProcesses::start(&directory.0, 1, options)?;
        let switch = client()?;
        let counted = Rc::new(RefCell::new(LoadCounts::default()));
        let took = block_on(crawl_with(&switch, &cluster, many, world, &counted, |_, _| true))??;
        let mut counted = counted.take();
        counted.waits.sort_unstable();
        let wait = |share: f64| {
            let at = (counted.waits.len() as f64 * share) as usize;
            counted
                .waits
                .get(at.min(counted.waits.len().saturating_sub(1)))
                .copied()
                .unwrap_or_default()
        };
        output::print(&format!(
            "{many:>8}{:>10.0}{:>13.2}{:>12.0}{:>11.2} ms{:>9.2} ms\n",
            counted.jobs as f64 / took.as_secs_f64(),
            counted.frames as f64 / counted.jobs.max(1) as f64,
            counted.bytes as f64 / counted.jobs.max(1) as f64,
            wait(0.5).as_secs_f64() * 1e3,
            wait(0.99).as_secs_f64() * 1e3,
        ))?;
    }
    output::print("\n")
}

/// Lets simulated crawlers crawl to the end, or as long as `goes_on` holds. Returns the time taken.
async fn crawl_with(
    switch: &Switch,
    cluster: &ClusterProcesses<'_>,
    many: u64,
    world: LoadApplication,
    counted: &Rc<RefCell<LoadCounts>>,
    mut goes_on: impl FnMut(&Status, CrawlId) -> bool,
) -> Result<Duration, CommandFailure> {
    let failed = |error: argiope_runtime::cluster::client::ClientError| {
        CommandFailure::Failed(error.to_string())
    };
    // As the tabs of one process do: a state's actions are sent once, and again on request.
    let told = Rc::default();
    for number in 0..many {
        let address = cluster.addresses[number as usize % cluster.addresses.len()].clone();
        tokio::task::spawn_local(load::crawl(
            switch.clone(),
            address,
            number,
            world,
            counted.clone(),
            Rc::clone(&told),
        ));
    }
    let until = Instant::now() + Duration::from_secs(60);
    while (counted.borrow().connected as u64) < many {
        if Instant::now() > until {
            return Err(CommandFailure::Failed(format!(
                "only {} of {many} crawlers have a connection after 60 s",
                counted.borrow().connected
            )));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut client = Client::dial(switch, &cluster.addresses[0]).await.map_err(failed)?;
    let id = CrawlId(random_number()? as u64);
    let order = Order::new("http://simulated.invalid/");
    let started = Instant::now();
    client.start(id, order).await.map_err(failed)?;
    client.follow(id).await.map_err(failed)?;
    loop {
        let status = client.next_progress().await.map_err(failed)?;
        if !goes_on(&status, id) {
            return Ok(started.elapsed());
        }
        if status.total(id).finished {
            let last = counted.borrow().last.unwrap_or(started);
            return Ok(last - started);
        }
    }
}

/// Makes a test-bed.
fn application(testbed: &str) -> Result<LoadApplication, CommandFailure> {
    // It lives as long as the process, since crawlers are tasks of their own.
    let model = Box::leak(Box::new(source::testbed(testbed)?));
    Ok(Box::leak(Box::new(World::new(model))))
}
