//! What the processes of a cluster say to each other, as frames. Who may say what is decided by the role that a
//! process gave when it was greeted.

use argiope_controller::job::CrawlerId;
use argiope_controller::journal::{ContentId, Fact};
use argiope_controller::peer::message::{Envelope, LeaseRef, TaskReport, ToCrawler};
use argiope_controller::peer::schemes;
use argiope_controller::spent::Spent;
use argiope_controller::star::{self, ToNode};
use argiope_explore::id::StateKey;
use argiope_explore::identity::{Masks, StateMasks};
use argiope_explore::strategies;
use argiope_ring::Key;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::settings::CrawlSettings;

/// Which crawl; drawn by chance when it begins.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct CrawlId(pub u64);

impl std::fmt::Display for CrawlId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl std::fmt::Debug for CrawlId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

/// What somebody asks a ring to crawl.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// As on one machine, limits apart.
    pub settings: CrawlSettings,
    /// The knowledge scheme's name; of the static one with its division, `static:hash`.
    pub scheme: String,
    /// The recovery's name. The static scheme has none.
    pub recovery: String,
    /// On how many other controllers there are copies.
    pub backups: u32,
}

impl Order {
    /// Divides the work among crawlers in advance, around one coordinator.
    pub fn divided(self, division: &str) -> Self {
        Self {
            scheme: format!("{}:{division}", star::NAME),
            recovery: "none".to_owned(),
            backups: 0,
            ..self
        }
    }

    /// How the work is divided in advance, if it is.
    pub fn division(&self) -> Option<&str> {
        let (scheme, division) = self.scheme.split_once(':')?;
        (scheme == star::NAME).then_some(division)
    }

    /// The default crawl of an address by a ring.
    pub fn new(url: String) -> Self {
        let strategy = strategies::FOR_PARTIAL_GRAPHS[0].to_owned();
        Self {
            settings: CrawlSettings { strategy, ..CrawlSettings::new(url) },
            scheme: schemes::DEFAULT.to_owned(),
            recovery: "redundancy".to_owned(),
            backups: 1,
        }
    }
}

/// What a crawl is: every controller and every crawler is told the same.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrawlSpec {
    /// What was asked for.
    pub order: Order,
    /// What the first looks have shown.
    pub first: FirstLook,
}

/// What must be the same for every crawler, or they would call the same state by different names.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FirstLook {
    /// Where the application was found to be.
    pub origin: String,
    /// What of its pages changes from load to load.
    pub masks: Masks,
}

/// Bytes, and the name that says which they must be.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blob {
    /// Their name.
    pub content: ContentId,
    /// The bytes.
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for Blob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} ({} bytes)", self.content, self.bytes.len())
    }
}

/// A page that somebody has looked at: who sees it again need not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenPage {
    /// Its raw hash.
    pub raw: u128,
    /// The state that it is.
    pub state: StateKey,
    /// What it is like.
    pub content: ContentId,
}

/// A controller, as others know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownMember {
    /// Its place on the ring.
    pub key: Key,
    /// Where it can be dialled.
    pub address: String,
}

/// What the time of tabs went into, in microseconds. The rest is waiting for something to do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TabTimes {
    /// Performing tasks.
    pub acting: u64,
    /// From a report to the next task, the network and the controllers included, where that was no longer than
    /// [`Times::IDLE`].
    pub asking: u64,
}

impl TabTimes {
    /// Whoever waits longer than this for a task waits because there is none.
    pub const IDLE: u64 = 100_000;

    /// These and those together.
    pub fn plus(self, more: Self) -> Self {
        Self {
            acting: self.acting.saturating_add(more.acting),
            asking: self.asking.saturating_add(more.asking),
        }
    }
}

/// How far a controller's share of a crawl is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrawlTally {
    /// Its own states.
    pub states: u64,
    /// What was executed in them.
    pub transitions: u64,
    /// What is left in them, as far as that is known.
    pub left: u64,
    /// What is under way.
    pub leases: u64,
    /// States of others of which it keeps a copy.
    pub copies: u64,
    /// Tabs that work for the crawl and are attached here.
    pub crawlers: u32,
    /// What they have spent.
    pub spent: Spent,
    /// What their time went into.
    pub times: TabTimes,
    /// Whether it is in the crawl's ring, or coordinates it.
    pub inside: bool,
    /// The crawl is over.
    pub finished: bool,
}

/// From one controller to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Between {
    /// I am alive; this is whom I know, and how far my share of each crawl is.
    Pulse {
        /// Whom it has heard of.
        members: Vec<KnownMember>,
        /// How many tabs are attached to it.
        tabs: u32,
        /// Its shares.
        shares: Vec<(CrawlId, CrawlTally)>,
    },
    /// There is such a crawl.
    Crawl(CrawlId, CrawlSpec),
    /// Said by one peer of a crawl to another.
    Peer(CrawlId, Envelope, Vec<Blob>),
    /// What the sender kept of a crawl that nobody goes on with; you will. Some of it, and whether it is the last.
    Kept(CrawlId, Vec<Fact>, Vec<Blob>, bool),
    /// For a crawler that is attached to you.
    Tell(CrawlId, CrawlerId, ToCrawler, Vec<Blob>),
    /// A crawler gives a task of yours back.
    Returned(CrawlId, LeaseRef),
    /// Somebody wants to begin a crawl, and has no crawlers: look at the first page.
    Probe(u64, Order),
    /// What that has shown.
    Probed(u64, Result<FirstLook, String>),
    /// What was found to change in single states.
    Volatile(CrawlId, StateMasks),
    /// A crawl is to go no further.
    Stop(CrawlId),
    /// The sender is about to end in order.
    Leaving,
    /// Bytes that the next message speaks of, and that would be too many to go with it.
    Blobs(Vec<Blob>),
    /// What a crawler of the sender's says to the coordinator of a star.
    Told(CrawlId, star::NodeReport, Vec<Blob>),
    /// What the coordinator of a star says to a crawler that is attached to you.
    News(CrawlId, CrawlerId, ToNode),
    /// A crawler of the sender's wants to know what a state is like that you coordinate.
    Want(CrawlId, CrawlerId, StateKey),
    /// A crawler of a star is gone.
    Gone(CrawlId, CrawlerId),
    /// A crawler of the sender's has looked at a page.
    Page(CrawlId, SeenPage),
}

/// From a crawler (a process with tabs) to its controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromCrawler {
    /// It has so many tabs.
    Tabs(u32),
    /// What a tab says, what that has cost, and what the page is like if that was not said before.
    Report(CrawlId, TaskReport, Spent, TabTimes, Vec<Blob>),
    /// A tab gives a task back that it did not begin.
    Returned(CrawlId, LeaseRef),
    /// A tab wants to know what a state is like.
    Want(CrawlId, CrawlerId, StateKey),
    /// A tab has looked at a page, and said what it is like.
    Page(CrawlId, SeenPage),
    /// A tab sees a page with this raw hash: has anybody looked at it?
    Which(CrawlId, u128),
    /// What the first looks have shown.
    Probed(u64, Result<FirstLook, String>),
    /// What was found to change in single states.
    Volatile(CrawlId, StateMasks),
    /// It will end, and takes no more tasks.
    Leaving,
    /// Bytes that the next message speaks of, and that would be too many to go with it.
    Blobs(Vec<Blob>),
    /// What a tab says to the coordinator of a star, what that has cost, and what pages are like that were not described
    /// before.
    Told(CrawlId, star::NodeReport, Spent, TabTimes, Vec<Blob>),
}

/// From a controller to a crawler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToTabs {
    /// Other controllers, should this one be gone.
    Members(Vec<KnownMember>),
    /// A tab is to work for a crawl, under this name; without one it is to rest.
    Attach(u32, Option<(CrawlId, CrawlerId)>),
    /// What a crawl is; said before anybody is attached to it.
    Crawl(CrawlId, Box<CrawlSpec>),
    /// For a tab.
    Tell(CrawlId, CrawlerId, ToCrawler, Vec<Blob>),
    /// Look at the first page.
    Probe(u64, Order),
    /// What was found to change in single states.
    Volatile(CrawlId, StateMasks),
    /// This controller ends; go elsewhere.
    Leaving,
    /// For a tab, from the coordinator of a star.
    News(CrawlId, CrawlerId, ToNode),
    /// The state that the page with this raw hash is, and what it is like; nothing if nobody has looked at it.
    Page(CrawlId, u128, Option<(StateKey, Blob)>),
}

/// From somebody with a wish to a controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum FromClient {
    /// Crawl this.
    Start(CrawlId, Order),
    /// How does everything stand? Answered once.
    Status,
    /// How does a crawl go on? Answered from time to time until it is over.
    Follow(CrawlId),
    /// Everything that this controller itself keeps of a crawl.
    Fetch(CrawlId),
    /// Stop a crawl; what was found stays.
    Stop(CrawlId),
}

/// From a controller to somebody with a wish.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToClient {
    /// It has begun.
    Started(CrawlId),
    /// What was wished for is not to be had; why.
    No(String),
    /// How everything stands.
    Status(Status),
    /// How a crawl stands.
    Stands(Status),
    /// What it is.
    Spec(Box<CrawlSpec>, StateMasks),
    /// Facts about a crawl, also what the crawlers that are attached here have spent.
    Facts(Vec<Fact>),
    /// Bytes that belong to them.
    Blobs(Vec<Blob>),
    /// That was all.
    End,
}

/// What one controller knows of the ring.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// Everybody of whom it has heard, itself included.
    pub members: Vec<MemberStatus>,
    /// The crawls: id, address, scheme, recovery, copies.
    pub crawls: Vec<CrawlStatus>,
}

/// One controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemberStatus {
    /// Who.
    pub member: KnownMember,
    /// How long it has been silent, in milliseconds.
    pub silent_ms: u64,
    /// Tabs that are attached to it.
    pub tabs: u32,
    /// Its shares.
    pub shares: Vec<(CrawlId, CrawlTally)>,
}

/// One crawl.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrawlStatus {
    /// Which.
    pub id: CrawlId,
    /// What was asked for.
    pub order: Order,
    /// It was stopped.
    pub stopped: bool,
}

impl Status {
    /// Of a crawl: all shares together. Of those that are silent somebody else has taken over.
    pub fn total(&self, crawl: CrawlId) -> CrawlTally {
        let heard = self.members.iter().filter(|member| member.silent_ms == 0);
        let shares = heard.flat_map(|member| &member.shares);
        let tallies = shares.filter(|(id, _)| *id == crawl).map(|(_, tally)| tally);
        tallies.fold(CrawlTally { finished: false, ..CrawlTally::default() }, |sum, tally| {
            CrawlTally {
                states: sum.states + tally.states,
                transitions: sum.transitions + tally.transitions,
                left: sum.left + tally.left,
                leases: sum.leases + tally.leases,
                copies: sum.copies + tally.copies,
                crawlers: sum.crawlers + tally.crawlers,
                spent: sum.spent.plus(tally.spent),
                times: sum.times.plus(tally.times),
                inside: sum.inside || tally.inside,
                finished: sum.finished || tally.finished,
            }
        })
    }
}

/// A frame's bytes.
pub fn encode(message: &impl Serialize) -> Vec<u8> {
    postcard::to_allocvec(message).expect("messages have nothing that cannot be encoded")
}

/// What a frame says; nothing if it is broken or has bytes too many.
pub fn decode<T: DeserializeOwned>(frame: &[u8]) -> Option<T> {
    match postcard::take_from_bytes(frame) {
        Ok((message, [])) => Some(message),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use argiope_controller::outcome::{JobFailure, Note, Offered};
    use argiope_controller::peer::message::PeerMessage;
    use argiope_explore::chance::Chance;
    use argiope_explore::id::ActionSignature;

    use super::*;

    fn some() -> Vec<Vec<u8>> {
        let (from, to) = (StateKey(7), StateKey(8));
        let (action, link) = (ActionSignature(1), ActionSignature(2));
        let offers = vec![Offered { action, once: false }, Offered { action: link, once: true }];
        let content = Some(ContentId(9));
        let facts = vec![
            Fact::State { key: from, offers, route: Some([].into()), content },
            Fact::Transition { from, action, to, notes: vec![Note::Unsettled] },
            Fact::Stray { from, action, to: from },
            Fact::GivenUp { from, action: link, reason: JobFailure::Hung },
        ];
        let envelope = Envelope::new(Some(from), PeerMessage::Copy(3, facts));
        let blob = Blob { content: ContentId(9), bytes: vec![1; 40] };
        let report = TaskReport { content: Some(ContentId(9)), ..TaskReport::new(CrawlerId(5), 6) };
        vec![
            encode(&Between::Peer(CrawlId(1), envelope, vec![blob.clone()])),
            encode(&Between::Stop(CrawlId(1))),
            encode(&FromCrawler::Report(
                CrawlId(1),
                report,
                Spent::default(),
                TabTimes::default(),
                vec![blob],
            )),
            encode(&ToTabs::Attach(0, Some((CrawlId(1), CrawlerId(5))))),
            encode(&FromCrawler::Told(
                CrawlId(1),
                star::NodeReport { shares: vec![3], ..star::NodeReport::hello(CrawlerId(5)) },
                Spent::default(),
                TabTimes::default(),
                Vec::new(),
            )),
            encode(&ToClient::Status(Status::default())),
        ]
    }

    fn decode_as_all(frame: &[u8]) {
        let _ = decode::<Between>(frame);
        let _ = decode::<FromCrawler>(frame);
        let _ = decode::<ToTabs>(frame);
        let _ = decode::<FromClient>(frame);
        let _ = decode::<ToClient>(frame);
    }

    #[test]
    fn broken_frames_are_refused_and_harm_nobody() {
        let mut chance = Chance::new(&[5]);
        for frame in some() {
            for length in 0..frame.len() {
                decode_as_all(&frame[..length]);
            }
            for _ in 0..2_000 {
                let mut broken = frame.clone();
                for _ in 0..1 + chance.below(4) {
                    let at = chance.below(broken.len());
                    broken[at] = chance.word() as u8;
                }
                decode_as_all(&broken);
            }
            let mut longer = frame;
            longer.push(0);
            assert_eq!(decode::<Between>(&longer), None);
        }
    }

    #[test]
    fn what_is_said_is_understood() {
        let message = Between::Crawl(
            CrawlId(3),
            CrawlSpec {
                order: Order::new("http://localhost/".to_owned()),
                first: FirstLook { origin: "http://localhost".to_owned(), masks: Masks::default() },
            },
        );
        assert_eq!(decode(&encode(&message)), Some(message));
    }
}
