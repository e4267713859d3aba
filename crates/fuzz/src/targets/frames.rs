//! The bytes of a socket: a listener handshakes with them and reads frames. Each frame is read as
//! every kind of message; a message that decodes is encoded and decoded again without a change.

use std::fmt::Debug;
use std::time::Duration;

use argiope_controller::job::CrawlerId;
use argiope_controller::lifecycle::Standing;
use argiope_controller::peer::message::{LeaseRef, ToCrawler};
use argiope_controller::spent::{Spent, WriterId};
use argiope_explore::id::StateKey;
use argiope_explore::identity::Masks;
use argiope_runtime::cluster::contents;
use argiope_runtime::cluster::protocol::{
    Between, Blob, CrawlSpec, CrawlTally, FirstLook, FromClient, FromCrawler, KnownMember, Order,
    SeenPage, Status, TabTimes, ToClient, ToTabs, decode, encode,
};
use argiope_runtime::learned::PageFindings;
use argiope_runtime::store::FoundPage;
use argiope_wire::{
    ConnectionLimits, HandshakeError, Hello, MemoryTransport, RecvError, Role, Side, Transport,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use super::FuzzTarget;
use super::machines::MachineStep;
use crate::MAX_INPUT;
use crate::frames::{join, split};
use crate::reached::{Reached, bucket};
use crate::world::{CRAWL, KEYS};

pub(super) const TARGET: FuzzTarget = FuzzTarget {
    name: "frames",
    about: "the bytes of a socket: handshake, frames, and every message, in both directions",
    framed: true,
    tokens: &["cluster", "127.0.0.1:1"],
    run,
    seeds,
};

/// The length of a goodbye: it ends the seeds in order.
const GOODBYE: [u8; 4] = [0xff; 4];
const ADDRESS: &str = "here";

fn me() -> Hello {
    Hello::new("cluster", Role::Controller, 1).with_address(ADDRESS)
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread().enable_time().build().expect("a runtime")
}

fn run(input: &[u8]) -> Reached {
    let mut reached = Reached::default();
    let read = runtime().block_on(receive(input, &mut reached));
    for frame in &read {
        check_messages(frame, &mut reached);
    }
    assert!(read.iter().map(Vec::len).sum::<usize>() <= input.len());
    // Frames behind a refused hello are read too: another hello may let them in.
    for frame in split(input).iter().skip(read.len() + 2) {
        check_messages(frame, &mut Reached::default());
    }
    reached
}

/// Lets a listener read bytes. Returns the frames that it received after the handshake.
async fn receive(input: &[u8], reached: &mut Reached) -> Vec<Vec<u8>> {
    let memory = MemoryTransport::new();
    let mut listener =
        Transport::Memory(memory.clone()).listen(ADDRESS).await.expect("the address is free");
    let mut pipe = memory.open(ADDRESS).await.expect("there is a listener");
    let sent = input.to_vec();
    let sends = async move {
        // The listener may hang up at any byte. It must be able to send, so its bytes are read.
        let (mut reads, mut writes) = tokio::io::split(&mut pipe);
        let mut received = Vec::new();
        let _ = tokio::join!(
            async {
                let _ = writes.write_all(&sent).await;
                writes.shutdown().await
            },
            reads.read_to_end(&mut received)
        );
    };
    let reads = async {
        let incoming = listener.accept().await;
        let limits = ConnectionLimits {
            frame: MAX_INPUT / 2,
            hello: Duration::from_secs(50),
            ..ConnectionLimits::default()
        };
        let mut frames = Vec::new();
        match incoming.handshake(&me(), &limits, &|_| Ok(())).await {
            Err(error) => reached.refuse(refused(&error)),
            Ok(connection) => {
                let hello = &connection.peer;
                assert_eq!(hello.cluster, "cluster");
                assert_ne!(hello.name, me().name, "it talks to itself");
                reached.accept(("hello", hello.role as u8, hello.address.is_some()));
                let (_sender, mut receiver) = connection.split();
                let end = loop {
                    match receiver.recv().await {
                        Ok(Some(frame)) => {
                            assert!(frame.len() <= limits.frame);
                            frames.push(frame.to_vec());
                        }
                        Ok(None) => break "goodbye",
                        Err(RecvError::TooLarge { size, limit }) => {
                            assert!(size > limit);
                            break "too large";
                        }
                        Err(RecvError::Broken) => break "broken",
                        Err(RecvError::Stalled) => break "stalled",
                        Err(RecvError::Io(error)) => panic!("a pipe does not fail: {error}"),
                    }
                };
                reached.note((end, bucket(frames.len())));
            }
        }
        frames
    };
    tokio::join!(sends, reads).1
}

/// The kind of a refusal. Its text must be safe to print.
fn refused(error: &HandshakeError) -> String {
    let text = error.to_string();
    match error {
        HandshakeError::Refused(refusal) if refusal.by == Side::Other => {
            assert!(!refusal.reason.chars().any(char::is_control), "{text:?}");
            "refused by the other side".to_owned()
        }
        HandshakeError::Io(error) => panic!("a pipe does not fail: {error}"),
        HandshakeError::Deadline => panic!("all bytes were there"),
        _ => text.chars().take(30).collect(),
    }
}

/// Reads a frame as every kind of message.
fn check_messages(frame: &[u8], reached: &mut Reached) {
    let known = [
        check_message::<Between>(frame, reached),
        check_message::<FromCrawler>(frame, reached),
        check_message::<ToTabs>(frame, reached),
        check_message::<FromClient>(frame, reached),
        check_message::<ToClient>(frame, reached),
    ];
    if !known.contains(&true) {
        reached.refuse(("message", frame.first().copied()));
    }
}

fn check_message<T>(frame: &[u8], reached: &mut Reached) -> bool
where
    T: Serialize + DeserializeOwned + PartialEq + Debug,
{
    let Some(message) = decode::<T>(frame) else { return false };
    let bytes = encode(&message);
    let again = decode::<T>(&bytes);
    // Not a number is not equal to itself: then the bytes must be.
    assert!(
        again.as_ref() == Some(&message) || again.is_some_and(|again| encode(&again) == bytes),
        "{message:?} changes on its way"
    );
    let shown: String = format!("{message:?}").chars().take(28).collect();
    reached.accept((std::any::type_name::<T>(), shown, bucket(frame.len())));
    true
}

/// What a process sends at the beginning of a connection: its hello, and that it accepts the other.
fn greeting(hello: &Hello) -> Vec<Vec<u8>> {
    let sent = runtime().block_on(async {
        let memory = MemoryTransport::new();
        let transport = Transport::Memory(memory.clone());
        let mut listener = transport.listen(ADDRESS).await.expect("the address is free");
        let mut pipe = memory.open(ADDRESS).await.expect("there is a listener");
        let incoming = listener.accept().await;
        let limits = ConnectionLimits { hello: Duration::from_millis(50), ..Default::default() };
        let refuses = incoming.handshake(hello, &limits, &|_| Ok(()));
        let mut sent = Vec::new();
        let _ = tokio::join!(refuses, pipe.read_to_end(&mut sent));
        sent
    });
    vec![split(&sent).swap_remove(0), vec![0]]
}

fn seeds() -> Vec<(String, Vec<u8>)> {
    let hello = |role| Hello::new("cluster", role, 2).with_address("127.0.0.1:1");
    let mut seeds = Vec::new();
    let mut add = |name: &str, role, frames: Vec<Vec<u8>>| {
        let mut list = greeting(&hello(role));
        list.extend(frames);
        seeds.push((name.to_owned(), [join(&list), GOODBYE.to_vec()].concat()));
    };
    add("between", Role::Controller, between().iter().map(encode).collect());
    add("from-crawler", Role::Crawler, from_crawler().iter().map(encode).collect());
    add("to-tabs", Role::Crawler, to_tabs().iter().map(encode).collect());
    add("from-client", Role::Client, from_client().iter().map(encode).collect());
    add("to-client", Role::Client, to_client().iter().map(encode).collect());
    add("large", Role::Controller, vec![encode(&Between::Blobs(vec![blob(20_000)]))]);
    seeds.push(("silent".to_owned(), Vec::new()));
    seeds
}

pub(super) fn blob(size: usize) -> Blob {
    let bytes = vec![7; size];
    Blob { content: contents::name(&bytes), bytes }
}

pub(super) fn spec() -> CrawlSpec {
    let order = Order::new("http://localhost/");
    CrawlSpec {
        order,
        first: FirstLook {
            origin: "http://localhost".into(),
            masks: Masks::NONE,
            endless: Default::default(),
        },
    }
}

fn tally() -> CrawlTally {
    let mut tally = CrawlTally { states: 3, standing: Standing::Inside, ..CrawlTally::default() };
    tally.writers.record(WriterId(3), Spent { actions: 5, resets: 1 });
    tally
}

fn page() -> SeenPage {
    let content = contents::wrap(&FoundPage::default()).content;
    SeenPage { raw: 1 << 100, state: StateKey(7), content }
}

/// One message of each kind between controllers, and those that a ring and a star send.
pub(super) fn between() -> Vec<Between> {
    let member = KnownMember { key: KEYS[1], address: "127.0.0.1:2".to_owned() };
    let (crawler, lease) =
        (CrawlerId(5), LeaseRef { by: KEYS[0], job: argiope_controller::job::JobId(3) });
    let shares = [(CRAWL, tally())].into();
    let mut messages = vec![
        Between::Crawl(CRAWL, spec(), Default::default()),
        Between::Pulse { members: vec![member], tabs: 2, shares },
        Between::Kept(CRAWL, crate::world::lone_journal()[..3].to_vec(), vec![blob(30)], true),
        Between::ForCrawler(CRAWL, crawler, ToCrawler::Finished, Vec::new()),
        Between::Returned(CRAWL, lease),
        Between::Probe(4, spec().order, Default::default()),
        Between::Probed(4, Ok(spec().first)),
        Between::Probed(5, Err("no".to_owned())),
        Between::Volatile(CRAWL, PageFindings::default()),
        Between::Stop(CRAWL),
        Between::Blobs(vec![blob(300)]),
        Between::Want(CRAWL, crawler, StateKey(7)),
        Between::Gone(CRAWL, crawler),
        Between::Page(CRAWL, page()),
        Between::Leaving,
    ];
    for step in recorded() {
        if let super::machines::MachineEvent::Controller(_, message) = step.event {
            messages.push(message);
        }
    }
    messages
}

/// What the first members of a ring and of a star receive.
fn recorded() -> Vec<MachineStep> {
    use super::machines::{MachineSetup, Start};
    use crate::world::{Incident, RecordedRing, RecordedStar};
    let setup = MachineSetup { scheme: 6, backups: 1, ..MachineSetup::new(Start::Founders) };
    let mut steps = RecordedRing::run(&setup, Incident::Leave, 100).steps;
    let star = RecordedStar::run(&setup);
    steps.extend(star.reports.into_iter().take(4));
    steps.extend(star.news.into_iter().take(6));
    steps
}

pub(super) fn from_crawler() -> Vec<FromCrawler> {
    let (crawler, spent) = (CrawlerId(5), (WriterId(3), Spent { actions: 2, resets: 1 }));
    let lease = LeaseRef { by: KEYS[0], job: argiope_controller::job::JobId(3) };
    let mut messages = vec![
        FromCrawler::Tabs(2),
        FromCrawler::Returned(CRAWL, lease),
        FromCrawler::Want(CRAWL, crawler, StateKey(7)),
        FromCrawler::Page(CRAWL, page()),
        FromCrawler::Which(CRAWL, 1 << 100),
        FromCrawler::Probed(1, Ok(spec().first)),
        FromCrawler::Volatile(CRAWL, PageFindings::default()),
        FromCrawler::Blobs(vec![contents::wrap(&FoundPage::default())]),
        FromCrawler::Leaving,
    ];
    for step in recorded() {
        match step.event {
            super::machines::MachineEvent::Crawler(message) => messages.push(message),
            super::machines::MachineEvent::Controller(_, Between::NodeReport(id, report, _)) => {
                let times = TabTimes { acting: 3, asking: 4 };
                messages.push(FromCrawler::NodeReport(id, report, spent, times, Vec::new()));
            }
            _ => {}
        }
    }
    messages
}

fn to_tabs() -> Vec<ToTabs> {
    let member = KnownMember { key: KEYS[1], address: "127.0.0.1:2".to_owned() };
    let crawler = CrawlerId(5);
    let mut messages = vec![
        ToTabs::Members(vec![member]),
        ToTabs::Crawl(CRAWL, Box::new(spec()), Default::default()),
        ToTabs::Attach(0, Some((CRAWL, crawler))),
        ToTabs::Attach(1, None),
        ToTabs::ForTab(CRAWL, crawler, ToCrawler::Like(StateKey(7), None), vec![blob(3)]),
        ToTabs::Probe(1, Box::new(spec().order), Default::default()),
        ToTabs::Page(CRAWL, 1, Some((StateKey(7), blob(9)))),
        ToTabs::Leaving,
    ];
    for step in recorded() {
        if let super::machines::MachineEvent::Tab(message) = step.event {
            messages.push(message);
        }
    }
    messages
}

pub(super) fn from_client() -> Vec<FromClient> {
    vec![
        FromClient::Start(CRAWL, spec().order.clone(), Default::default()),
        FromClient::Start(CRAWL, spec().order.divided("hash"), Default::default()),
        FromClient::Status,
        FromClient::Follow(CRAWL),
        FromClient::Fetch(CRAWL),
        FromClient::Stop(CRAWL),
    ]
}

fn to_client() -> Vec<ToClient> {
    vec![
        ToClient::Started(CRAWL),
        ToClient::Refused("no".to_owned()),
        ToClient::Status(Status::default()),
        ToClient::Spec(Box::new(spec()), PageFindings::default()),
        ToClient::Facts(crate::world::lone_journal()[..5].to_vec()),
        ToClient::Blobs(vec![blob(40)]),
        ToClient::End,
    ]
}
