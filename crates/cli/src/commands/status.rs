//! `argiope status`: the state of a cluster as one of its controllers knows it.

use std::fmt::Write;
use std::time::{Duration, Instant};

use argiope::format::{count, name};
use argiope_runtime::cluster::Switch;
use argiope_runtime::cluster::client::{Client, ClientError};
use argiope_runtime::cluster::protocol::{CrawlTally, MemberStatus, Order, Status};
use argiope_wire::{DialError, Role};
use serde_json::json;

use argiope::cluster::{Security, block_on, random_number};
use argiope::failure::{CommandFailure, LIMIT};
use argiope::{output, terminal};

use crate::duration::duration;

/// Controllers tell each other how they stand twice a second.
const NEWS: Duration = Duration::from_secs(1);
/// The time between two questions.
const PAUSE: Duration = Duration::from_millis(200);

const AFTER_HELP: &str = "\
Examples (with the address of any controller):
  argiope status --cluster 127.0.0.1:7401
  argiope status --cluster 127.0.0.1:7401 --json
  argiope status --cluster 127.0.0.1:7401,127.0.0.1:7402 --wait 2m

With --json it prints one object: controllers[] (key, address, silent_ms, tabs, shares[]) and \
crawls[] (id, url, scheme, recovery, backups, stopped, finished, states, transitions, left, \
under_way, copies, replicas, crawlers, actions, resets, tab_s), and ready: whether the cluster can lose \
one controller without repeating work. Exit code 4: not ready in time.";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct StatusArgs {
    /// Ask the controller at ADDR; of several, the first that answers
    #[arg(long, value_name = "ADDR", value_delimiter = ',', required = true)]
    cluster: Vec<String>,
    /// Print one JSON object
    #[arg(long)]
    json: bool,
    /// Wait at most TIME until every controller is inside and has its replicas
    #[arg(long, value_name = "TIME", value_parser = duration)]
    wait: Option<Duration>,
    #[command(flatten)]
    security: Security,
}

/// Asks a controller and prints its answer.
pub fn run(args: &StatusArgs) -> Result<(), CommandFailure> {
    let switch = args.security.switch(Role::Client, random_number()?, None)?;
    let status = block_on(async {
        match args.wait {
            Some(longest) => await_readiness(&switch, &args.cluster, longest).await,
            None => ask(&switch, &args.cluster).await,
        }
    })?;
    let status = status.map_err(|error| CommandFailure::Failed(error.to_string()))?;
    output::print(&if args.json { as_json(&status) } else { text(&status) })?;
    match status.unreadiness() {
        Some(reason) if args.wait.is_some() => {
            terminal::message(&format!("not ready in time: {reason}"));
            Err(CommandFailure::Ended(LIMIT))
        }
        _ => Ok(()),
    }
}

async fn ask(switch: &Switch, addresses: &[String]) -> Result<Status, ClientError> {
    Client::dial_any(switch, addresses).await?.status().await
}

/// Asks until the cluster is ready for as long as news of it takes, or time is up. Returns the last
/// answer.
async fn await_readiness(
    switch: &Switch,
    addresses: &[String],
    longest: Duration,
) -> Result<Status, ClientError> {
    let until = Instant::now() + longest;
    let mut ready_since = None;
    loop {
        let answer = ask(switch, addresses).await;
        let now = Instant::now();
        match &answer {
            Ok(status) if status.unreadiness().is_none() => {
                if now - *ready_since.get_or_insert(now) >= NEWS {
                    return answer;
                }
            }
            // A controller that restarts does not answer.
            Ok(_)
            | Err(ClientError::Gone(_) | ClientError::Dial(DialError::Unreachable { .. })) => {
                ready_since = None;
            }
            Err(_) => return answer,
        }
        if now >= until {
            return answer;
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn text(status: &Status) -> String {
    let mut text = format!("{}\n", count(status.members.len() as u64, "controller"));
    for MemberStatus { member, silent_ms, tabs, .. } in &status.members {
        let silent = if *silent_ms > 0 {
            format!(", no heartbeat for {:.1} s", *silent_ms as f64 / 1e3)
        } else {
            String::new()
        };
        _ = writeln!(
            text,
            "  {:08x} at {}, {}{silent}",
            member.key.0 >> 96,
            name(&member.address),
            count((*tabs).into(), "tab")
        );
    }
    if !status.crawls.is_empty() {
        _ = match status.unreadiness() {
            None => {
                writeln!(text, "ready: every controller is inside, every fact has its replicas")
            }
            Some(reason) => writeln!(text, "not ready: {reason}"),
        };
    }
    for crawl in &status.crawls {
        let total = status.total(crawl.id);
        let end = match (crawl.stopped, total.finished) {
            (true, _) => "stopped",
            (_, true) => "complete",
            _ => "running",
        };
        _ = writeln!(text, "crawl {} of {}: {end}", crawl.id, name(&crawl.order.settings.url));
        if let Some(trouble) = &crawl.trouble {
            _ = writeln!(text, "  {}", name(trouble));
        }
        _ = writeln!(
            text,
            "  {}, {} with {}",
            policy(&crawl.order),
            count(total.spent.actions, "action"),
            count(total.crawlers.into(), "tab"),
        );
        for MemberStatus { member, shares, .. } in &status.members {
            if let Some(tally) = shares.get(&crawl.id) {
                _ = writeln!(text, "  {:08x}  {}", member.key.0 >> 96, share(tally));
            }
        }
        _ = writeln!(text, "  total     {}", share(&total));
    }
    text
}

/// The scheme, the failover policy and the replicas of a crawl.
fn policy(order: &Order) -> String {
    if let Some(division) = order.division() {
        return format!("static scheme, one coordinator, division {}", name(division));
    }
    let replicas = count(order.backups.into(), "replica");
    format!("scheme {}, recovery {}, {replicas}", order.scheme, order.recovery)
}

fn share(tally: &CrawlTally) -> String {
    format!(
        "{:>6} states, {:>7} transitions, {:>6} unexplored, {:>4} leased, {:>6} replicas, {:>3} tabs",
        tally.states, tally.transitions, tally.left, tally.leases, tally.copies, tally.crawlers
    )
}

/// Adds the figures of a tally to an object.
fn with_tally(mut about: serde_json::Value, tally: &CrawlTally) -> serde_json::Value {
    let mut figures = json!({
        "states": tally.states, "transitions": tally.transitions, "left": tally.left, "under_way": tally.leases,
        "copies": tally.copies, "replicas": tally.replicas, "crawlers": tally.crawlers, "actions": tally.spent.actions,
        "resets": tally.spent.resets, "finished": tally.finished, "inside": tally.is_inside(),
        "tab_s": (tally.times.acting + tally.times.asking) as f64 / 1e6,
    });
    if let (Some(about), Some(figures)) = (about.as_object_mut(), figures.as_object_mut()) {
        about.append(figures);
    }
    about
}

fn as_json(status: &Status) -> String {
    let controllers: Vec<_> = status
        .members
        .iter()
        .map(|one| {
            let shares: Vec<_> = one
                .shares
                .iter()
                .map(|(id, tally)| with_tally(json!({ "crawl": id.to_string() }), tally))
                .collect();
            json!({
                "key": format!("{:032x}", one.member.key.0), "address": one.member.address,
                "silent_ms": one.silent_ms, "tabs": one.tabs, "shares": shares,
            })
        })
        .collect();
    let crawls: Vec<_> = status
        .crawls
        .iter()
        .map(|crawl| {
            let about = json!({
                "id": crawl.id.to_string(), "url": *crawl.order.settings.url, "scheme": crawl.order.scheme,
                "recovery": crawl.order.recovery, "backups": crawl.order.backups, "stopped": crawl.stopped,
                "trouble": crawl.trouble,
            });
            with_tally(about, &status.total(crawl.id))
        })
        .collect();
    let ready = status.unreadiness().is_none();
    format!("{}\n", json!({ "controllers": controllers, "crawls": crawls, "ready": ready }))
}
