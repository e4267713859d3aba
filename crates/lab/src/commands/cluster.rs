//! `argiope bench cluster`: what real processes over a real network can do.

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;
use std::time::{Duration, Instant};

use argiope_runtime::cluster::Switch;
use argiope_runtime::cluster::client::Client;
use argiope_runtime::cluster::protocol::{CrawlId, Order, Status};
use argiope_sim::crawler::World;

use argiope::cluster::{block_on, chance};
use argiope::failure::CommandFailure;
use argiope::processes::{self, ClusterOptions, ClusterProcesses, TempDir, client};
use argiope::{output, source};

mod bare;
mod load;
mod loss;
mod same;
mod speedup;

use load::{Counted, LoadApplication};

const AFTER_HELP: &str = "\
Examples:
  argiope bench cluster --quick --only capacity

Four things, on this machine (--only WHAT for one of them): how many jobs one controller on one core gives out over \
the network, to simulated crawlers that answer at once (capacity); whether the same states are found with one tab, with \
eight, by a ring, and by a ring that loses a controller (same); how long it is from the death of a controller to the first \
job in a state that it had (loss); and (speed-up) how much faster more crawlers with Chromium are on an application whose server takes 50 ms (and 300 ms) to \
answer, with what their time goes into, and what as many browsers do without a crawler.";

/// As typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct ClusterBenchArgs {
    /// A small application and few crawlers: seconds instead of minutes
    #[arg(long)]
    quick: bool,
    /// Only this
    #[arg(long, value_name = "WHAT", value_parser = ["capacity", "loss", "same", "speed-up"])]
    only: Option<String>,
}

pub fn run(args: &ClusterBenchArgs) -> Result<(), CommandFailure> {
    let program = processes::beside("argiope")?;
    let wanted = |what: &str| args.only.as_deref().is_none_or(|only| only == what);
    if wanted("capacity") {
        let crawlers: &[u64] = if args.quick { &[20, 100] } else { &[20, 200, 2_000] };
        let testbed = if args.quick { "random:400:50" } else { "random:8000:50" };
        capacity(&program, testbed, crawlers)?;
    }
    if wanted("same") {
        same::run(&program, args.quick)?;
    }
    if wanted("loss") {
        loss::run(&program, if args.quick { 2 } else { 10 })?;
    }
    if wanted("speed-up") {
        let crawlers: &[u32] = if args.quick { &[1, 2] } else { &[1, 2, 4, 8, 15] };
        speedup::run(&program, crawlers, if args.quick { 4 } else { 9 }, 50)?;
        if !args.quick {
            // The browsers of many crawlers share the cores of one machine: with a slower server they have room.
            speedup::run(&program, &[1, 15], 8, 300)?;
        }
    }
    Ok(())
}

/// How many jobs one controller gives out.
fn capacity(program: &Path, testbed: &str, crawlers: &[u64]) -> Result<(), CommandFailure> {
    let world = application(testbed)?;
    output::print(&format!(
        "One controller on one core, {testbed} ({} transitions), simulated crawlers on the others:\n\
         crawlers    jobs/s   frames/job   bytes/job   median wait   99 % wait\n",
        world.transitions()
    ))?;
    for &many in crawlers {
        let folder = TempDir::new()?;
        let options =
            ClusterOptions { wrapper: &["taskset", "-c", "0"], ..ClusterOptions::new(program) };
        let ring = ClusterProcesses::start(&folder.0, 1, options)?;
        let switch = client()?;
        let counted = Rc::new(RefCell::new(Counted::default()));
        let took = block_on(crawl_with(&switch, &ring, many, world, &counted, |_, _| true))??;
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

/// Lets simulated crawlers crawl to the end; or as long as it `goes_on`; how long that took.
async fn crawl_with(
    switch: &Switch,
    ring: &ClusterProcesses<'_>,
    many: u64,
    world: LoadApplication,
    counted: &Rc<RefCell<Counted>>,
    mut goes_on: impl FnMut(&Status, CrawlId) -> bool,
) -> Result<Duration, CommandFailure> {
    let failed = |error: argiope_runtime::cluster::client::ClientError| {
        CommandFailure::Failed(error.to_string())
    };
    // As the tabs of one process do: what a state offers is said once, and again when somebody asks.
    let told = Rc::default();
    for number in 0..many {
        let address = ring.addresses[number as usize % ring.addresses.len()].clone();
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
            return Err(CommandFailure::Failed(
                "the crawlers do not all get a connection".to_owned(),
            ));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let mut client = Client::dial(switch, &ring.addresses[0]).await.map_err(failed)?;
    let id = CrawlId(chance()? as u64);
    let order = Order::new("http://simulated.invalid/".to_owned());
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

fn application(testbed: &str) -> Result<LoadApplication, CommandFailure> {
    // For as long as the process lives: crawlers are tasks of their own.
    let model = Box::leak(Box::new(source::testbed(testbed)?));
    Ok(Box::leak(Box::new(World::new(model))))
}
