//! The time from the loss of a controller to the first job in one of its states.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use argiope_runtime::cluster::protocol::{CrawlId, Status};

use super::load::LoadCounts;
use super::{application, crawl_with};
use crate::machine;
use argiope::cluster::block_on;
use argiope::failure::CommandFailure;
use argiope::output;
use argiope::processes::{ClusterOptions, ClusterProcesses, TempDir, client};

const CONTROLLERS: usize = 3;
const CRAWLERS: u64 = 20;
/// One controller is killed when each has more states than this.
const AFTER: u64 = 100;

/// The time for a failover after which the crawl is abandoned, in microseconds.
const LONGEST: u128 = 10_000_000;

/// Microseconds since 1970, as traces have them.
fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros())
}

/// Measures several losses.
pub fn run(program: &Path, times: usize) -> Result<(), CommandFailure> {
    let mut seconds = Vec::new();
    let (began, busy) = (Instant::now(), machine::busy_seconds());
    for _ in 0..times {
        seconds.extend(once(program)?);
    }
    let busy_cores = (machine::busy_seconds() - busy) / began.elapsed().as_secs_f64();
    let measured = seconds.len();
    if measured == 0 {
        return Err(CommandFailure::Failed(
            "every crawl ended before a controller could be killed".to_owned(),
        ));
    }
    seconds.sort_by(f64::total_cmp);
    output::print(&format!(
        "Time from the loss of one of {CONTROLLERS} controllers to the first job in one of its states, \
         {measured} times: minimum {:.2} s, median {:.2} s, maximum {:.2} s; \
         {busy_cores:.1} of {} cores busy, load average {}\n",
        seconds[0],
        seconds[measured / 2],
        seconds[measured - 1],
        machine::cores(),
        machine::load_average(),
    ))?;
    if measured < times {
        let skipped = times - measured;
        output::print(&format!(
            "({skipped} more crawls ended before every controller had {AFTER} states.)\n"
        ))?;
    }
    output::print("\n")
}

/// Measures one loss; none if the crawl ends before a controller can be killed.
fn once(program: &Path) -> Result<Option<f64>, CommandFailure> {
    let world = application("random:8000:30")?;
    let directory = TempDir::new()?;
    let options = ClusterOptions { is_traced: true, ..ClusterOptions::new(program) };
    let mut cluster = ClusterProcesses::start(&directory.0, CONTROLLERS, options)?;
    let victim = RefCell::new(cluster.children.pop());
    let killed = Cell::new(0);
    let counted = Rc::new(RefCell::new(LoadCounts::default()));
    // Crawlers and the client connect to the other controllers.
    cluster.addresses.pop();
    let switch = client()?;
    let are_all_at_work = |status: &Status, id: CrawlId| {
        let shares = status.members.iter().filter_map(|member| member.shares.get(&id));
        shares.filter(|tally| tally.states > AFTER).count() == CONTROLLERS
    };
    block_on(crawl_with(&switch, &cluster, CRAWLERS, world, &counted, |status, id| {
        if are_all_at_work(status, id)
            && let Some(mut victim) = victim.borrow_mut().take()
        {
            let _ = victim.kill();
            killed.set(now());
            let _ = victim.wait();
        }
        // Long enough for the failover.
        killed.get() == 0 || now() < killed.get() + LONGEST
    }))??;
    if killed.get() == 0 {
        return Ok(None);
    }
    let had = assigned(&directory.0.join(format!("{}.trace", CONTROLLERS - 1)))?;
    let mut first: Option<u128> = None;
    for number in 0..CONTROLLERS - 1 {
        for (state, times) in assigned(&directory.0.join(format!("{number}.trace")))? {
            let after = times.into_iter().find(|&time| time > killed.get());
            if let Some(after) = after.filter(|_| had.contains_key(&state)) {
                first = Some(first.map_or(after, |first| first.min(after)));
            }
        }
    }
    let first = first.ok_or_else(|| {
        CommandFailure::Failed(
            "no job in a state of the lost controller was assigned again".to_owned(),
        )
    })?;
    Ok(Some((first - killed.get()) as f64 / 1e6))
}

/// Reads from a trace when jobs were assigned, by state.
fn assigned(trace: &Path) -> Result<BTreeMap<String, Vec<u128>>, CommandFailure> {
    let text = std::fs::read_to_string(trace);
    let text =
        text.map_err(|error| CommandFailure::Failed(format!("{}: {error}", trace.display())))?;
    let mut by_state: BTreeMap<String, Vec<u128>> = BTreeMap::new();
    for line in text.lines() {
        let words: Vec<&str> = line.split(' ').collect();
        if let [time, "assigned", state, _] = words[..]
            && let Ok(time) = time.parse()
        {
            by_state.entry(state.to_owned()).or_default().push(time);
        }
    }
    Ok(by_state)
}
