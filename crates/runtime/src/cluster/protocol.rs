//! The messages between processes of a cluster, each one frame. The role that a process names in
//! the handshake decides which messages it may send. `docs/protocol.md` explains each of them.

use std::collections::{BTreeMap, BTreeSet};

use argiope_browser::Access;
use argiope_controller::decoding::{self, MemoryBudget};
use argiope_controller::job::CrawlerId;
use argiope_controller::journal::{ContentId, Fact};
use argiope_controller::lifecycle::Standing;
use argiope_controller::peer::message::{Envelope, FinalCounts, LeaseRef, TaskReport, ToCrawler};
use argiope_controller::peer::schemes;
use argiope_controller::spent::{Spent, SpentByWriter, WriterId};
use argiope_controller::star::{self, ToNode};
use argiope_explore::id::StateKey;
use argiope_explore::identity::Masks;
use argiope_explore::quoted::Escaped;
use argiope_explore::strategies;
use argiope_ring::Key;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::learned::PageFindings;
use crate::settings::CrawlSettings;

/// The name of a crawl: drawn at random when it starts.
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

/// What a client asks a cluster to crawl.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Order {
    /// The settings of the crawl. Controllers ignore its tabs and limits; the client enforces the
    /// limits.
    pub settings: CrawlSettings,
    /// The name of the knowledge scheme; for the static one with its division, `static:hash`.
    pub scheme: String,
    /// The name of the failover policy. The static scheme has none.
    pub recovery: String,
    /// The number of replicas of each state.
    pub backups: u32,
}

impl Order {
    /// The same order with the secrets that came with it. An order that is sent or stored has none.
    pub fn with_access(mut self, access: Access) -> Self {
        self.settings.access = access;
        self
    }

    /// The secrets of the login.
    pub fn access(&self) -> Access {
        self.settings.access.clone()
    }

    /// Whether the crawl needs secrets that are not here.
    pub fn lacks_access(&self) -> bool {
        self.settings.login.needs_access() && self.settings.access.is_empty()
    }

    /// Makes it a star: one coordinator divides the work among crawlers in advance.
    pub fn divided(self, division: &str) -> Self {
        Self {
            scheme: format!("{}:{division}", star::NAME),
            recovery: "none".to_owned(),
            backups: 0,
            ..self
        }
    }

    /// The division of a star; `None` for a ring.
    pub fn division(&self) -> Option<&str> {
        let (scheme, division) = self.scheme.split_once(':')?;
        (scheme == star::NAME).then_some(division)
    }

    /// The replicas that each fact is to have.
    pub fn replicas(&self) -> u32 {
        if self.recovery == "retry" { 0 } else { self.backups }
    }

    /// The default crawl of an address by a cluster.
    pub fn new(url: impl AsRef<str>) -> Self {
        let strategy = strategies::FOR_PARTIAL_GRAPHS[0].to_owned();
        Self {
            settings: CrawlSettings { strategy, ..CrawlSettings::new(url) },
            scheme: schemes::DEFAULT.to_owned(),
            recovery: "redundancy".to_owned(),
            backups: 1,
        }
    }
}

/// What a crawl is: the same for every controller and every crawler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrawlSpec {
    /// What the client asked for.
    pub order: Order,
    /// What the probe has shown.
    pub first: FirstLook,
}

/// The result of the probe. It is the same for every crawler, so that all give a state one name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FirstLook {
    /// The origin of the address.
    pub origin: String,
    /// Masks of what changes from load to load.
    pub masks: Masks,
    /// Addresses whose requests do not end.
    pub endless: BTreeSet<String>,
}

/// A content: bytes, and the hash that is their name.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Blob {
    /// Their name.
    pub content: ContentId,
    /// The bytes.
    #[serde(with = "crate::store::byte_buf")]
    pub bytes: Vec<u8>,
}

impl std::fmt::Debug for Blob {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?} ({} bytes)", self.content, self.bytes.len())
    }
}

/// A page that a crawler has looked at; others that see it need not look.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenPage {
    /// Its raw hash.
    pub raw: u128,
    /// Its state.
    pub state: StateKey,
    /// The content of that state.
    pub content: ContentId,
}

/// A controller, as others know it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownMember {
    /// Its place on the ring.
    pub key: Key,
    /// The address at which it listens.
    pub address: String,
}

/// The time of tabs in microseconds. The rest is idle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TabTimes {
    /// The time in which tabs perform tasks.
    pub acting: u64,
    /// The time from reports to the next tasks, where it is at most [`TabTimes::IDLE`]: network and
    /// controllers.
    pub asking: u64,
}

impl TabTimes {
    /// A tab that waits longer than this for a task is idle: there is none.
    pub const IDLE: u64 = 100_000;

    /// The sum of both.
    pub fn plus(self, more: Self) -> Self {
        Self {
            acting: self.acting.saturating_add(more.acting),
            asking: self.asking.saturating_add(more.asking),
        }
    }
}

/// The progress of a controller's share of a crawl.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CrawlTally {
    /// States that it owns.
    pub states: u64,
    /// Transitions from them.
    pub transitions: u64,
    /// Candidates left in them.
    pub left: u64,
    /// Tasks under way.
    pub leases: u64,
    /// Replicas of other controllers' states.
    pub copies: u64,
    /// The controllers that hold replicas of every acknowledged fact of the share.
    pub replicas: u32,
    /// Tabs that work for the crawl and are attached here.
    pub crawlers: u32,
    /// What crawlers have spent, as far as this controller heard of it first.
    pub spent: Spent,
    /// What each crawler process has spent, as far as it knows. Controllers tell each other, so
    /// that nothing is lost with one of them.
    pub writers: SpentByWriter,
    /// The time of those tabs.
    pub times: TabTimes,
    /// How it stands in the crawl.
    pub standing: Standing,
    /// The crawl is over: it has ended, or a client has stopped it.
    pub finished: bool,
    /// The counts of the whole crawl, if it has ended.
    pub ended: Option<FinalCounts>,
}

impl CrawlTally {
    /// Whether it is in the crawl's ring, or coordinates it.
    pub fn is_inside(&self) -> bool {
        self.standing == Standing::Inside
    }
}

/// From one controller to another.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Between {
    /// A heartbeat, with the controllers and the crawls that the sender knows.
    Pulse {
        /// The controllers that it knows.
        members: Vec<KnownMember>,
        /// The number of tabs that are attached to it.
        tabs: u32,
        /// Its progress in each crawl.
        shares: BTreeMap<CrawlId, CrawlTally>,
    },
    /// Introduces a crawl, with the secrets of its login as far as the sender has them.
    Crawl(CrawlId, CrawlSpec, Access),
    /// A message from one peer of a crawl to another.
    Peer(CrawlId, Envelope, Vec<Blob>),
    /// What the sender kept of a crawl that the receiver will resume, and whether it is the last.
    Kept(CrawlId, Vec<Fact>, Vec<Blob>, bool),
    /// A message for a crawler that is attached to the receiver.
    ForCrawler(CrawlId, CrawlerId, ToCrawler, Vec<Blob>),
    /// A crawler returns a task of the receiver.
    Returned(CrawlId, LeaseRef),
    /// Asks for a probe of the first page; the sender has no crawlers.
    Probe(u64, Order, Access),
    /// The result of the probe.
    Probed(u64, Result<FirstLook, String>),
    /// What crawlers have learned about pages.
    Volatile(CrawlId, PageFindings),
    /// Stops a crawl.
    Stop(CrawlId),
    /// A crawl cannot go on; why. It is stopped.
    Trouble(CrawlId, String),
    /// The sender leaves in order.
    Leaving,
    /// Contents that the next message names, and that do not fit into its frame.
    Blobs(Vec<Blob>),
    /// A report of a crawler of the sender, for the coordinator of a star.
    NodeReport(CrawlId, star::NodeReport, Vec<Blob>),
    /// An answer of the coordinator, for a crawler that is attached to the receiver.
    News(CrawlId, CrawlerId, ToNode),
    /// A crawler of the sender asks what a state is like.
    Want(CrawlId, CrawlerId, StateKey),
    /// A crawler of a star is lost.
    Gone(CrawlId, CrawlerId),
    /// A crawler of the sender has looked at a page.
    Page(CrawlId, SeenPage),
}

/// From a crawler (a process with tabs) to its controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum FromCrawler {
    /// The number of its tabs.
    Tabs(u32),
    /// The report of a tab, what its process has spent, the tab's time since its last report, and
    /// contents that the controller lacks.
    Report(CrawlId, TaskReport, ProcessSpent, TabTimes, Vec<Blob>),
    /// A tab returns a task that it has not performed.
    Returned(CrawlId, LeaseRef),
    /// A tab asks what a state is like.
    Want(CrawlId, CrawlerId, StateKey),
    /// A tab has looked at a page whose content it has sent.
    Page(CrawlId, SeenPage),
    /// A tab asks which state a page is, by its raw hash.
    Which(CrawlId, u128),
    /// The result of a probe.
    Probed(u64, Result<FirstLook, String>),
    /// What crawlers have learned about pages.
    Volatile(CrawlId, PageFindings),
    /// A crawl cannot go on; why.
    Trouble(CrawlId, String),
    /// It leaves, and takes no more tasks.
    Leaving,
    /// Contents that the next message names, and that do not fit into its frame.
    Blobs(Vec<Blob>),
    /// The same for the coordinator of a star.
    NodeReport(CrawlId, star::NodeReport, ProcessSpent, TabTimes, Vec<Blob>),
}

/// What a crawler process has spent on a crawl since it started. A total, so that a controller that
/// missed reports still counts right.
pub type ProcessSpent = (WriterId, Spent);

/// From a controller to a crawler.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToTabs {
    /// Other controllers, in case this one is lost.
    Members(Vec<KnownMember>),
    /// Attaches a tab to a crawl, under this name; without a crawl the tab rests.
    Attach(u32, Option<(CrawlId, CrawlerId)>),
    /// Introduces a crawl, before a tab is attached to it.
    Crawl(CrawlId, Box<CrawlSpec>, Access),
    /// A message for a tab, from a controller of a ring.
    ForTab(CrawlId, CrawlerId, ToCrawler, Vec<Blob>),
    /// Asks for a probe of the first page.
    Probe(u64, Box<Order>, Access),
    /// What crawlers have learned about pages.
    Volatile(CrawlId, PageFindings),
    /// This controller leaves: the crawler dials another.
    Leaving,
    /// A message for a tab, from the coordinator of a star.
    News(CrawlId, CrawlerId, ToNode),
    /// The state of the page with this raw hash and its content; `None` if no crawler has looked at
    /// it.
    Page(CrawlId, u128, Option<(StateKey, Blob)>),
}

/// From a client to a controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::large_enum_variant, reason = "there is one at a time")]
pub enum FromClient {
    /// Starts a crawl. Only from clients, to crawlers and between controllers do secrets travel.
    Start(CrawlId, Order, Access),
    /// Gives the secrets of a crawl's login again: no controller keeps them on its disk.
    GiveAccess(CrawlId, Access),
    /// Asks for the status. Answered once.
    Status,
    /// Follows a crawl. Answered from time to time until it is over.
    Follow(CrawlId),
    /// Asks for everything that this controller keeps of a crawl.
    Fetch(CrawlId),
    /// Stops a crawl; what was found stays.
    Stop(CrawlId),
}

/// From a controller to a client.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ToClient {
    /// The crawl has started.
    Started(CrawlId),
    /// The request is refused; why.
    Refused(String),
    /// The status of the cluster.
    Status(Status),
    /// The progress of a crawl that is followed.
    Progress(Status),
    /// What the crawl is, and what crawlers have learned about pages.
    Spec(Box<CrawlSpec>, PageFindings),
    /// Facts about a crawl, also what the crawlers that are attached here have spent.
    Facts(Vec<Fact>),
    /// Bytes that belong to them.
    Blobs(Vec<Blob>),
    /// The end of the answer.
    End,
}

/// The cluster, as one controller knows it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Status {
    /// The controllers that it knows, itself included.
    pub members: Vec<MemberStatus>,
    /// The crawls.
    pub crawls: Vec<CrawlStatus>,
}

/// One controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemberStatus {
    /// Its key and its address.
    pub member: KnownMember,
    /// How long it has been silent, in milliseconds; 0 while it is connected.
    pub silent_ms: u64,
    /// Tabs that are attached to it.
    pub tabs: u32,
    /// Its progress in each crawl.
    pub shares: BTreeMap<CrawlId, CrawlTally>,
}

/// One crawl.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrawlStatus {
    /// Its name.
    pub id: CrawlId,
    /// What the client asked for.
    pub order: Order,
    /// A client has stopped it.
    pub stopped: bool,
    /// Why it cannot go on, or was stopped, if it is so.
    pub trouble: Option<String>,
}

impl Status {
    /// Why the loss of one more controller may repeat work; `None` if the cluster is ready for it.
    /// What a controller says of the others may be older than a heartbeat.
    pub fn unreadiness(&self) -> Option<String> {
        let named =
            |one: &MemberStatus| format!("the controller at {}", Escaped(&one.member.address, 100));
        if let Some(silent) = self.members.iter().find(|one| one.silent_ms > 0) {
            return Some(format!("{} is not connected", named(silent)));
        }
        let running = self.crawls.iter().filter(|crawl| {
            crawl.order.division().is_none() && !crawl.stopped && !self.total(crawl.id).finished
        });
        running.flat_map(|crawl| self.members.iter().map(move |one| (crawl, one))).find_map(
            |(crawl, one)| {
                let wanted = crawl.order.replicas();
                let id = crawl.id;
                match one.shares.get(&id).filter(|tally| tally.is_inside()) {
                    None => Some(format!("{} is outside the ring of crawl {id}", named(one))),
                    Some(tally) if tally.replicas < wanted => Some(format!(
                        "{} has {} of {wanted} replicas of crawl {id}",
                        named(one),
                        tally.replicas
                    )),
                    Some(_) => None,
                }
            },
        )
    }

    /// The progress of a crawl: the sum of all shares, or the counts at its end. Controllers
    /// without a connection do not count, so that the sum may drop until a failover is complete.
    pub fn total(&self, crawl: CrawlId) -> CrawlTally {
        let heard = self.members.iter().filter(|member| member.silent_ms == 0);
        let mut total = CrawlTally::default();
        for tally in heard.filter_map(|member| member.shares.get(&crawl)) {
            // A controller may say anything of itself.
            total.states = total.states.saturating_add(tally.states);
            total.transitions = total.transitions.saturating_add(tally.transitions);
            total.left = total.left.saturating_add(tally.left);
            total.leases = total.leases.saturating_add(tally.leases);
            total.copies = total.copies.saturating_add(tally.copies);
            total.crawlers = total.crawlers.saturating_add(tally.crawlers);
            total.writers.merge(&tally.writers);
            total.times = total.times.plus(tally.times);
            total.finished |= tally.finished;
            total.ended = total.ended.or(tally.ended);
            if tally.is_inside() {
                total.standing = Standing::Inside;
            }
        }
        total.spent = total.writers.total();
        if let Some(FinalCounts { states, transitions }) = total.ended {
            (total.states, total.transitions) = (states, transitions);
            (total.left, total.leases) = (0, 0);
        }
        total
    }
}

/// Enough for a task or a report, so that the buffer seldom grows.
const USUAL_BYTES: usize = 512;

/// The bytes of a frame.
pub fn encode(message: &impl Serialize) -> Vec<u8> {
    postcard::to_extend(message, Vec::with_capacity(USUAL_BYTES))
        .expect("messages have nothing that cannot be encoded")
}

/// The message of a frame; `None` if it is broken, has extra bytes, or would take far more memory
/// than its bytes account for.
pub fn decode<T: DeserializeOwned>(frame: &[u8]) -> Option<T> {
    decoding::decode(frame, MemoryBudget::MESSAGE).ok()
}

#[cfg(test)]
mod tests {
    use argiope_controller::job::Transition;
    use argiope_controller::outcome::{JobFailure, Note, Offered};
    use argiope_controller::peer::message::{PeerMessage, RouteHint};
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
        let envelope = Envelope::new(Some(from), PeerMessage::Replicate(3, facts));
        let blob = Blob { content: ContentId(9), bytes: vec![1; 40] };
        let report = TaskReport { content: Some(ContentId(9)), ..TaskReport::new(CrawlerId(5), 6) };
        vec![
            encode(&Between::Peer(CrawlId(1), envelope, vec![blob.clone()])),
            encode(&Between::Stop(CrawlId(1))),
            encode(&FromCrawler::Report(
                CrawlId(1),
                report,
                (WriterId(3), Spent::default()),
                TabTimes::default(),
                vec![blob],
            )),
            encode(&ToTabs::Attach(0, Some((CrawlId(1), CrawlerId(5))))),
            encode(&FromCrawler::NodeReport(
                CrawlId(1),
                star::NodeReport { shares: vec![3], ..star::NodeReport::hello(CrawlerId(5)) },
                (WriterId(3), Spent::default()),
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
    fn decoding_broken_frames_does_not_panic() {
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

    /// A list of the shortest elements that a message can have, and the size of one in memory.
    fn shortest<T: Serialize + Clone>(element: &T) -> (Vec<T>, usize) {
        (vec![element.clone(); 1_000_000], size_of::<T>())
    }

    fn peer(message: PeerMessage) -> Between {
        Between::Peer(CrawlId(0), Envelope::new(None, message), Vec::new())
    }

    #[test]
    fn a_frame_takes_at_most_32_times_its_size() {
        let zero = StateKey(0);
        let step = Transition { from: zero, action: ActionSignature(0), to: zero };
        let (facts, fact) = shortest(&Fact::PlainLink { action: ActionSignature(0) });
        let (notes, note) = shortest(&Note::Unsettled);
        let (hints, hint) = shortest(&RouteHint::Open(zero));
        let (walked, walked_step) = shortest(&step);
        let (blobs, blob) = shortest(&Blob { content: ContentId(0), bytes: Vec::new() });
        let address = String::new();
        let (members, member) = shortest(&KnownMember { key: Key(0), address });
        let report = TaskReport::new(CrawlerId(0), 0);
        let noted = TaskReport { notes, ..report.clone() };
        let walked = TaskReport { walked, ..report };
        let hinted = Envelope { hints, ..Envelope::new(None, PeerMessage::Learned) };
        let messages = [
            (peer(PeerMessage::Replicate(0, facts)), fact),
            (peer(PeerMessage::Reached(noted)), note),
            (peer(PeerMessage::Reached(walked)), walked_step),
            (Between::Peer(CrawlId(0), hinted, Vec::new()), hint),
            (Between::Blobs(blobs), blob),
            (Between::Pulse { members, tabs: 0, shares: BTreeMap::new() }, member),
        ];
        let mut refused = 0;
        for (message, size) in messages {
            let frame = encode(&message);
            let factor = size as f64 * 1e6 / frame.len() as f64;
            let is_refused = decode::<Between>(&frame).is_none();
            assert_eq!(is_refused, factor > 32.0, "{size} bytes each, {factor:.1} times the frame");
            refused += usize::from(is_refused);
        }
        assert!(refused > 0, "no list takes more than its frame allows");
    }

    #[test]
    fn a_message_survives_its_frame() {
        let order = Order::new("http://localhost/");
        let first = FirstLook {
            origin: "http://localhost".to_owned(),
            masks: Masks::default(),
            endless: ["http://localhost/poll".to_owned()].into(),
        };
        let access = Access { headers: vec![("a".into(), "b".into())], ..Access::default() };
        let message = Between::Crawl(CrawlId(3), CrawlSpec { order, first }, access);
        assert_eq!(decode(&encode(&message)), Some(message));
    }

    #[test]
    fn only_a_message_that_names_the_login_carries_it() {
        let order = Order::new("http://ada:whisper@localhost/");
        let carries = |frame: Vec<u8>| frame.windows(7).any(|bytes| bytes == b"whisper");
        let access = order.access();
        assert!(carries(encode(&FromClient::Start(CrawlId(3), order.clone(), access.clone()))));
        let crawls = vec![CrawlStatus {
            id: CrawlId(3),
            order: order.clone(),
            stopped: false,
            trouble: None,
        }];
        let status = Status { crawls, ..Status::default() };
        assert!(!carries(encode(&ToClient::Status(status))));
        let first = FirstLook {
            origin: "http://localhost".to_owned(),
            masks: Masks::default(),
            endless: BTreeSet::new(),
        };
        let spec = CrawlSpec { order: order.clone(), first };
        let debug = format!("{spec:?} {access:?}");
        assert!(!carries(debug.into_bytes()));
        assert!(!carries(encode(&ToClient::Spec(Box::new(spec), PageFindings::default()))));
        let sent: Order = decode(&encode(&order)).expect("it can be read");
        assert!(sent.lacks_access() && sent.access().is_empty());
        assert_eq!(sent.with_access(access), order);
    }
}
