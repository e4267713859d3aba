//! A whole controller, with its dispatcher, its store and its timers, as `argiope controller` runs
//! it. Two controllers, a crawler process and a client are connected to it through pipes. They send
//! it any frames. It must go on: at the end a client asks for the status and gets it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use argiope_explore::id::StateKey;
use argiope_runtime::cluster::Switch;
use argiope_runtime::cluster::client::Client;
use argiope_runtime::cluster::controller::{self, ControllerPlan, Metrics};
use argiope_runtime::cluster::protocol::{
    Between, CrawlId, CrawlTally, FromClient, FromCrawler, decode, encode,
};
use argiope_wire::{ConnectionLimits, Hello, MemoryTransport, Role, Sender, Transport};
use tokio::sync::{Notify, oneshot};
use tokio::task::{LocalSet, yield_now};
use tokio::time::timeout;

use super::{FuzzTarget, frames as messages};
use crate::frames;
use crate::reached::{Reached, bucket};
use crate::world::{CRAWL, KEYS};

pub(super) const TARGET: FuzzTarget = FuzzTarget {
    name: "controllers",
    about: "a controller process survives any frames of certified processes and answers clients",
    framed: true,
    tokens: &["cluster", "127.0.0.1:1"],
    run,
    seeds,
};

const ADDRESS: &str = "here";
/// More than a loaded machine needs to answer.
const ANSWER: Duration = Duration::from_secs(30);
/// So often other tasks get a turn before the next frame: a frame passes through six of them.
const TURNS: usize = 24;

/// The processes that are connected to the controller. An entry begins with the number of one.
const PROCESSES: [(Role, u128); 4] = [
    (Role::Controller, KEYS[1].0),
    (Role::Controller, KEYS[2].0),
    (Role::Crawler, 11),
    (Role::Client, 12),
];

fn run(input: &[u8]) -> Reached {
    let scratch = Scratch::new();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.expect("a runtime");
    let reached = LocalSet::new().block_on(&runtime, attack(input, scratch.0.clone()));
    // Tasks end before their directory does.
    drop(runtime);
    reached
}

/// A directory of its own, removed at the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("argiope-fuzz-controller-{}-{number}", std::process::id());
        // The disk is not what is tested: memory is faster, where the system has it as a directory.
        let memory = PathBuf::from("/dev/shm");
        let parent = if memory.is_dir() { memory } else { std::env::temp_dir() };
        Self(parent.join(name))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn switch(transport: &Transport, role: Role, name: u128) -> Switch {
    let mut me = Hello::new("cluster", role, name);
    if role == Role::Controller {
        me = me.with_address(&format!("{name:x}"));
    }
    Switch { transport: transport.clone(), me: Arc::new(me), limits: ConnectionLimits::default() }
}

async fn attack(input: &[u8], data: PathBuf) -> Reached {
    let mut reached = Reached::default();
    let transport = Transport::Memory(MemoryTransport::new());
    let metrics = Arc::new(Metrics::default());
    let plan = ControllerPlan {
        data,
        me: KEYS[0],
        switch: switch(&transport, Role::Controller, KEYS[0].0),
        join: Vec::new(),
        leave: Arc::new(Notify::new()),
        metrics: Some(metrics.clone()),
        trace: None,
        open_files: 1024,
    };
    let (ready, is_ready) = oneshot::channel();
    let running = tokio::task::spawn_local(async move {
        controller::run(plan, ADDRESS, |_| _ = ready.send(())).await
    });
    is_ready.await.expect("a controller with an empty directory starts");
    let mut senders: BTreeMap<usize, Sender> = BTreeMap::new();
    for entry in frames::split(input) {
        let Some((&number, frame)) = entry.split_first() else { continue };
        let number = number as usize % PROCESSES.len();
        note(number, frame, &mut reached);
        if senders.get(&number).is_none_or(Sender::is_closed)
            && let Some(sender) = dial(&transport, number).await
        {
            senders.insert(number, sender);
        }
        if let Some(sender) = senders.get(&number) {
            let _ = sender.send(frame.to_vec()).await;
        }
        for _ in 0..TURNS {
            yield_now().await;
        }
        if running.is_finished() {
            break;
        }
    }
    if !running.is_finished() {
        let me = switch(&transport, Role::Client, 99);
        let status = timeout(ANSWER, async { Client::dial(&me, ADDRESS).await?.status().await });
        if let Ok(Ok(status)) = status.await {
            reached.note((status.members.len(), bucket(status.crawls.len())));
            let total = status.total(CRAWL);
            reached.note((bucket(total.states as usize), total.finished, total.standing as u8));
            reached.note(("metrics", bucket(metrics.text().len())));
            running.abort();
            return reached;
        }
    }
    match timeout(ANSWER, running).await {
        Err(_) => panic!("the controller does not answer"),
        Ok(Err(error)) => panic!("the controller panics: {error}"),
        Ok(Ok(ended)) => panic!("the controller ends: {ended:?}"),
    }
}

/// Connects a process to the controller. What the controller sends to it is read and dropped.
async fn dial(transport: &Transport, number: usize) -> Option<Sender> {
    let (role, name) = PROCESSES[number];
    let switch = switch(transport, role, name);
    let connection = transport.dial(ADDRESS, &switch.me, &switch.limits).await.ok()?;
    let (sender, mut receiver) = connection.split();
    tokio::task::spawn_local(async move { while let Ok(Some(_)) = receiver.recv().await {} });
    Some(sender)
}

/// Notes what a frame is to the controller.
fn note(number: usize, frame: &[u8], reached: &mut Reached) {
    let shown = match PROCESSES[number].0 {
        Role::Controller => decode::<Between>(frame).map(|message| match message {
            Between::Peer(_, envelope, _) => envelope.message.kind().to_owned(),
            other => format!("{other:?}").chars().take(12).collect(),
        }),
        Role::Crawler => decode::<FromCrawler>(frame).map(|message| format!("{message:?}")),
        Role::Client => decode::<FromClient>(frame).map(|message| format!("{message:?}")),
    };
    match shown {
        Some(shown) => reached.accept((number, shown.chars().take(12).collect::<String>())),
        None => reached.refuse((number, frame.first().copied())),
    }
}

fn seeds() -> Vec<(String, Vec<u8>)> {
    let between = |number: u8, message: &Between| [vec![number], encode(message)].concat();
    let crawler = |message: &FromCrawler| [vec![2], encode(message)].concat();
    let client = |message: &FromClient| [vec![3], encode(message)].concat();
    let starts = |order| {
        vec![
            crawler(&FromCrawler::Tabs(2)),
            client(&FromClient::Start(CRAWL, order, Default::default())),
            crawler(&FromCrawler::Probed(1, Ok(messages::spec().first))),
        ]
    };
    let follow_up = |list: &mut Vec<Vec<u8>>| {
        list.extend(messages::from_crawler().iter().skip(1).map(&crawler));
        list.push(client(&FromClient::Follow(CRAWL)));
        list.push(client(&FromClient::Fetch(CRAWL)));
    };
    // Two members that claim as much as numbers can say.
    let mut boasts = vec![between(0, &Between::Crawl(CRAWL, messages::spec(), Default::default()))];
    boasts.extend([0, 1].map(|number| between(number, &boast())));
    let other = CrawlId(CRAWL.0 + 1);
    boasts.extend(starts(messages::spec().order.divided("stride")));
    boasts.push(client(&FromClient::Start(
        other,
        messages::spec().order.divided("hash"),
        Default::default(),
    )));
    boasts.push(crawler(&FromCrawler::Probed(2, Ok(messages::spec().first))));
    boasts.push(crawler(&FromCrawler::Probed(1, Ok(messages::spec().first))));
    let mut ring = starts(messages::spec().order);
    follow_up(&mut ring);
    let mut star = starts(messages::spec().order.divided("hash"));
    follow_up(&mut star);
    star.push(between(
        0,
        &Between::Want(CRAWL, argiope_controller::job::CrawlerId(1), StateKey(7)),
    ));
    let member: Vec<Vec<u8>> = messages::between().iter().map(|it| between(0, it)).collect();
    let mut two = member[..3].to_vec();
    two.extend(messages::between().iter().map(|it| between(1, it)));
    two.extend(messages::from_client().iter().map(&client));
    let lists = [
        ("ring", ring),
        ("star", star),
        ("member", member),
        ("two-members", two),
        ("boasts", boasts),
    ];
    lists.map(|(name, list)| (name.to_owned(), frames::join(&list))).to_vec()
}

fn boast() -> Between {
    let tally = CrawlTally {
        states: u64::MAX,
        transitions: u64::MAX,
        left: u64::MAX,
        leases: u64::MAX,
        copies: u64::MAX,
        crawlers: u32::MAX,
        ..CrawlTally::default()
    };
    Between::Pulse { members: Vec::new(), tabs: u32::MAX, shares: [(CRAWL, tally)].into() }
}
