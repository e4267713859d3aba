//! How long it is from the death of a controller to the first job in a state that it had.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use argiope_runtime::cluster::protocol::{CrawlId, Status};

use super::load::Counted;
use super::{application, crawl_with};
use argiope::cluster::block_on;
use argiope::failure::CommandFailure;
use argiope::output;
use argiope::processes::{ClusterOptions, ClusterProcesses, TempDir, client};

const CONTROLLERS: usize = 3;
const CRAWLERS: u64 = 20;
/// When each of them has so many states, one is killed.
const AFTER: u64 = 100;

/// Nobody waits longer than this, in microseconds.
const LONGEST: u128 = 10_000_000;

fn now() -> u128 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_micros())
}

pub fn run(program: &Path, times: usize) -> Result<(), CommandFailure> {
    let mut seconds = Vec::new();
    for _ in 0..times {
        seconds.extend(once(program)?);
    }
    let measured = seconds.len();
    if measured == 0 {
        return Err(CommandFailure::Failed(
            "every crawl was over before a controller could be killed".to_owned(),
        ));
    }
    seconds.sort_by(f64::total_cmp);
    output::print(&format!(
        "From the death of one of {CONTROLLERS} controllers to the first job in a state that it had, {measured} times: \
         {:.2} s at least, {:.2} s in the middle, {:.2} s at most\n",
        seconds[0],
        seconds[measured / 2],
        seconds[measured - 1]
    ))?;
    if measured < times {
        let over = times - measured;
        output::print(&format!(
            "(In {over} more crawls not all of them had {AFTER} states before the end.)\n"
        ))?;
    }
    output::print("\n")
}

/// None if the crawl was over before anybody could be killed.
fn once(program: &Path) -> Result<Option<f64>, CommandFailure> {
    let world = application("random:8000:30")?;
    let folder = TempDir::new()?;
    let options = ClusterOptions { is_traced: true, ..ClusterOptions::new(program) };
    let mut ring = ClusterProcesses::start(&folder.0, CONTROLLERS, options)?;
    let victim = RefCell::new(ring.children.pop());
    let killed = Cell::new(0);
    let counted = Rc::new(RefCell::new(Counted::default()));
    // Crawlers and whoever follows the crawl are attached to the others.
    ring.addresses.pop();
    let switch = client()?;
    let all_at_work = |status: &Status, id: CrawlId| {
        let shares = status.members.iter().flat_map(|member| &member.shares);
        shares.filter(|(crawl, tally)| *crawl == id && tally.states > AFTER).count() == CONTROLLERS
    };
    block_on(crawl_with(&switch, &ring, CRAWLERS, world, &counted, |status, id| {
        if all_at_work(status, id)
            && let Some(mut victim) = victim.borrow_mut().take()
        {
            let _ = victim.kill();
            killed.set(now());
            let _ = victim.wait();
        }
        // Long enough for whoever takes over.
        killed.get() == 0 || now() < killed.get() + LONGEST
    }))??;
    if killed.get() == 0 {
        return Ok(None);
    }
    let had = assigned(&folder.0.join(format!("{}.trace", CONTROLLERS - 1)))?;
    let mut first: Option<u128> = None;
    for number in 0..CONTROLLERS - 1 {
        for (state, times) in assigned(&folder.0.join(format!("{number}.trace")))? {
            let after = times.into_iter().find(|&time| time > killed.get());
            if let Some(after) = after.filter(|_| had.contains_key(&state)) {
                first = Some(first.map_or(after, |first| first.min(after)));
            }
        }
    }
    let first = first
        .ok_or_else(|| CommandFailure::Failed("nothing was served after the loss".to_owned()))?;
    Ok(Some((first - killed.get()) as f64 / 1e6))
}

/// When jobs were given out, by state.
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
