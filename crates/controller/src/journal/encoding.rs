//! How a fact lies on disk and on the wire: its kind, the version of that kind, and bytes. A new
//! kind keeps old journals readable. A new version of a kind needs a reader for the old one, or a
//! new format of the store and of the protocol. A program refuses a kind or a version that it does
//! not know; it never skips one.

use std::fmt;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Fact;
use crate::decoding::{DecodingError, MemoryBudget, decode};

/// A kind of fact.
struct FactKind {
    /// Its number, which no other kind ever has.
    number: u16,
    /// The latest version.
    version: u16,
    /// Its name in errors.
    name: &'static str,
    read: fn(&[u8]) -> Result<Fact, DecodingError>,
}

impl FactKind {
    const fn new(
        number: u16,
        version: u16,
        name: &'static str,
        read: fn(&[u8]) -> Result<Fact, DecodingError>,
    ) -> Self {
        Self { number, version, name, read }
    }
}

const STATE: FactKind = FactKind::new(1, 2, "state", |bytes| {
    whole(bytes).map(|(key, offers, route, content)| Fact::State { key, offers, route, content })
});
const TRANSITION: FactKind = FactKind::new(2, 2, "transition", |bytes| {
    whole(bytes).map(|(from, action, to, notes)| Fact::Transition { from, action, to, notes })
});
const GIVEN_UP: FactKind = FactKind::new(3, 2, "given-up action", |bytes| {
    whole(bytes).map(|(from, action, reason)| Fact::GivenUp { from, action, reason })
});
const STRAY: FactKind = FactKind::new(4, 2, "stray transition", |bytes| {
    whole(bytes).map(|(from, action, to)| Fact::Stray { from, action, to })
});
const APPEARED: FactKind = FactKind::new(5, 2, "appearance", |bytes| {
    whole(bytes).map(|(at, loaded)| Fact::Appeared { at, loaded })
});
const PLAIN_LINK: FactKind = FactKind::new(6, 2, "plain link", |bytes| {
    whole(bytes).map(|action| Fact::PlainLink { action })
});
const LINK_FOLLOWER: FactKind = FactKind::new(7, 2, "link follower", |bytes| {
    whole(bytes).map(|(link, state)| Fact::LinkFollower { link, state })
});
const SPENT: FactKind = FactKind::new(8, 1, "expense", |bytes| {
    whole(bytes).map(|(writer, actions, resets)| Fact::Spent { writer, actions, resets })
});

const GONE: FactKind =
    FactKind::new(9, 2, "gone state", |bytes| whole(bytes).map(|state| Fact::Gone { state }));

const ENTRY: FactKind = FactKind::new(10, 2, "entry", |bytes| {
    whole(bytes).map(|(state, address, seed)| Fact::Entry { state, address, seed })
});

const ENDED: FactKind = FactKind::new(12, 2, "ending action", |bytes| {
    whole(bytes).map(|(from, action, everywhere)| Fact::Ended { from, action, everywhere })
});

const PARTS: FactKind = FactKind::new(13, 2, "division into parts", |bytes| {
    whole(bytes).map(|(state, parts)| Fact::Parts { state, parts })
});

const UNDEFERRED: FactKind =
    FactKind::new(14, 1, "end of deferral", |bytes| whole(bytes).map(|()| Fact::Undeferred));

const KINDS: [&FactKind; 13] = [
    &STATE,
    &TRANSITION,
    &GIVEN_UP,
    &STRAY,
    &APPEARED,
    &PLAIN_LINK,
    &LINK_FOLLOWER,
    &SPENT,
    &GONE,
    &ENTRY,
    &ENDED,
    &PARTS,
    &UNDEFERRED,
];

/// A fact in its stored form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EncodedFact<'a> {
    /// The number of its kind.
    pub kind: u16,
    /// The version of that kind.
    pub version: u16,
    /// The rest, in postcard.
    #[serde(borrow, serialize_with = "as_bytes")]
    pub bytes: &'a [u8],
}

/// In one piece: the derived code writes a slice byte by byte, with the same result.
fn as_bytes<S: Serializer>(bytes: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_bytes(bytes)
}

/// Why a stored fact cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FactError {
    /// No kind has this number.
    UnknownKind(u16),
    /// A version of a known kind that this program does not read.
    UnknownVersion {
        /// The kind.
        name: &'static str,
        /// Its version.
        version: u16,
    },
    /// The bytes are not those of such a fact.
    Damaged(&'static str),
    /// The fact has a form that no program writes.
    Malformed {
        /// The kind.
        name: &'static str,
        /// What is wrong with it.
        fault: &'static str,
    },
}

impl fmt::Display for FactError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownKind(kind) => write!(
                f,
                "this argiope does not know facts of kind {kind}; use the argiope that wrote it"
            ),
            Self::UnknownVersion { name, version } => write!(
                f,
                "this argiope does not know version {version} of a {name}; \
                 use the argiope that wrote it"
            ),
            Self::Damaged(name) => write!(f, "the bytes of a {name} are damaged"),
            Self::Malformed { name, fault } => write!(f, "a {name} is malformed: {fault}"),
        }
    }
}

impl std::error::Error for FactError {}

/// Enough for a transition, so that the buffer seldom grows.
const USUAL_BYTES: usize = 64;

fn encode(body: &impl Serialize) -> Vec<u8> {
    postcard::to_extend(body, Vec::with_capacity(USUAL_BYTES))
        .expect("facts hold nothing that cannot be encoded")
}

/// A value that all of the bytes belong to. A fact may come from another process, so that its bytes
/// decide how much memory it may take.
fn whole<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, DecodingError> {
    decode(bytes, MemoryBudget::FACT)
}

impl Fact {
    fn body(&self) -> (&'static FactKind, Vec<u8>) {
        match self {
            Self::State { key, offers, route, content } => {
                (&STATE, encode(&(key, offers, route, content)))
            }
            Self::Transition { from, action, to, notes } => {
                (&TRANSITION, encode(&(from, action, to, notes)))
            }
            Self::GivenUp { from, action, reason } => (&GIVEN_UP, encode(&(from, action, reason))),
            Self::Stray { from, action, to } => (&STRAY, encode(&(from, action, to))),
            Self::Appeared { at, loaded } => (&APPEARED, encode(&(at, loaded))),
            Self::PlainLink { action } => (&PLAIN_LINK, encode(action)),
            Self::LinkFollower { link, state } => (&LINK_FOLLOWER, encode(&(link, state))),
            Self::Gone { state } => (&GONE, encode(state)),
            Self::Entry { state, address, seed } => (&ENTRY, encode(&(state, address, seed))),
            Self::Ended { from, action, everywhere } => {
                (&ENDED, encode(&(from, action, everywhere)))
            }
            Self::Parts { state, parts } => (&PARTS, encode(&(state, parts))),
            Self::Undeferred => (&UNDEFERRED, encode(&())),
            Self::Spent { writer, actions, resets } => (&SPENT, encode(&(writer, actions, resets))),
        }
    }
}

impl EncodedFact<'_> {
    /// The fact, if this program knows its kind and version.
    pub fn decode(&self) -> Result<Fact, FactError> {
        let kind = KINDS.into_iter().find(|kind| kind.number == self.kind);
        let kind = kind.ok_or(FactError::UnknownKind(self.kind))?;
        if self.version != kind.version {
            return Err(FactError::UnknownVersion { name: kind.name, version: self.version });
        }
        let fact = (kind.read)(self.bytes).map_err(|_| FactError::Damaged(kind.name))?;
        match fact.fault() {
            Some(fault) => Err(FactError::Malformed { name: kind.name, fault }),
            None => Ok(fact),
        }
    }
}

impl Serialize for Fact {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, bytes) = self.body();
        EncodedFact { kind: kind.number, version: kind.version, bytes: &bytes }
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Fact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        EncodedFact::deserialize(deserializer)?.decode().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use argiope_explore::id::{ActionSignature, StateKey};
    use argiope_explore::parts::{PartAction, PartLook, PartPlace, StatePart, StateParts};

    use super::super::ContentId;
    use super::*;
    use crate::job::Transition;
    use crate::outcome::{JobFailure, Note, Offered};
    use crate::spent::WriterId;

    const A: StateKey = StateKey(1);
    const B: StateKey = StateKey(300);
    const ACT: ActionSignature = ActionSignature(5);

    /// The bytes of a key or a signature, after their number.
    const A_BYTES: [u8; 17] = [16, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    const B_BYTES: [u8; 17] = [16, 44, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    const ACT_BYTES: [u8; 9] = [8, 5, 0, 0, 0, 0, 0, 0, 0];
    const NEXT_BYTES: [u8; 9] = [8, 6, 0, 0, 0, 0, 0, 0, 0];

    /// One example of each kind, and its bytes: a change of format cannot happen by accident.
    fn examples() -> Vec<(Fact, Vec<u8>)> {
        let step = Transition { from: A, action: ACT, to: B };
        let offers = vec![
            Offered { action: ACT, once: false },
            Offered { action: ActionSignature(6), once: true },
        ];
        let offered = [&[2], &ACT_BYTES[..], &[0], &NEXT_BYTES, &[1]].concat();
        let deed = PartAction { action: ACT, deed: 8, part: 0, item: true };
        let part = StatePart { place: PartPlace(3), look: PartLook(4) };
        let (a, b, act) = (&A_BYTES[..], &B_BYTES[..], &ACT_BYTES[..]);
        let state = |key, route, content| Fact::State {
            key,
            offers: offers.clone(),
            route: Some(route),
            content,
        };
        vec![
            (state(A, [].into(), None), [&[1, 2, 41], a, &offered, &[1, 0, 0]].concat()),
            (
                state(B, [step].into(), Some(ContentId(9))),
                [&[1, 2, 85], b, &offered, &[1, 1], a, act, b, &[1, 9]].concat(),
            ),
            (
                Fact::Transition { from: A, action: ACT, to: B, notes: vec![Note::Unsettled] },
                [&[2, 2, 45], a, act, b, &[1, 5]].concat(),
            ),
            (
                Fact::GivenUp { from: A, action: ACT, reason: JobFailure::Lost },
                [&[3, 2, 27], a, act, &[4]].concat(),
            ),
            (Fact::Stray { from: A, action: ACT, to: B }, [&[4, 2, 43], a, act, b].concat()),
            (Fact::Appeared { at: B, loaded: true }, [&[5, 2, 18], b, &[1]].concat()),
            (Fact::PlainLink { action: ACT }, [&[6, 2, 9], act].concat()),
            (Fact::LinkFollower { link: ACT, state: B }, [&[7, 2, 26], act, b].concat()),
            (Fact::Spent { writer: WriterId(7), actions: 8, resets: 9 }, vec![8, 1, 3, 7, 8, 9]),
            (Fact::Gone { state: B }, [&[9, 2, 17], b].concat()),
            (
                Fact::Entry { state: B, address: "/b".to_owned(), seed: true },
                [&[10, 2, 21], b, &[2, 47, 98, 1]].concat(),
            ),
            (
                Fact::Ended { from: A, action: ACT, everywhere: true },
                [&[12, 2, 27], a, act, &[1]].concat(),
            ),
            (
                Fact::Parts { state: A, parts: StateParts::new(&[], [(deed, part)]) },
                [&[13, 2, 33], a, &[1, 3, 4, 1], act, &[8, 0, 1]].concat(),
            ),
            (Fact::Undeferred, vec![14, 1, 0]),
        ]
    }

    #[test]
    fn the_bytes_of_each_kind_stay_as_they_are() {
        let mut kinds: Vec<u16> = Vec::new();
        for (fact, bytes) in examples() {
            let encoded = postcard::to_allocvec(&fact).unwrap();
            assert_eq!(encoded, bytes, "{fact:?}: raise the version of its kind");
            assert_eq!(postcard::from_bytes::<Fact>(&bytes).unwrap(), fact);
            kinds.push(fact.body().0.number);
        }
        kinds.dedup();
        assert_eq!(kinds, KINDS.map(|kind| kind.number), "each kind has an example");
    }

    #[test]
    fn a_kind_or_version_of_a_newer_program_is_refused() {
        let later = EncodedFact { kind: 99, version: 1, bytes: &[] };
        assert_eq!(
            later.decode().unwrap_err().to_string(),
            "this argiope does not know facts of kind 99; use the argiope that wrote it"
        );
        let later = EncodedFact { kind: 2, version: 3, bytes: &[] };
        assert_eq!(
            later.decode().unwrap_err().to_string(),
            "this argiope does not know version 3 of a transition; \
             use the argiope that wrote it"
        );
    }

    #[test]
    fn a_state_that_lists_an_action_twice_or_out_of_order_is_refused() {
        for actions in [[5, 5], [6, 5]] {
            let offered = |action| Offered { action: ActionSignature(action), once: false };
            let offers = actions.map(offered).to_vec();
            let (kind, bytes) =
                Fact::State { key: A, offers, route: Some([].into()), content: None }.body();
            let encoded = EncodedFact { kind: kind.number, version: kind.version, bytes: &bytes };
            assert_eq!(
                encoded.decode().unwrap_err().to_string(),
                "a state is malformed: its actions are not in order, each once"
            );
        }
    }

    #[test]
    fn bytes_too_few_or_too_many_are_damage() {
        for (fact, _) in examples() {
            let (kind, bytes) = fact.body();
            let decode = |bytes: &[u8]| {
                EncodedFact { kind: kind.number, version: kind.version, bytes }.decode()
            };
            assert_eq!(
                decode(&[bytes.as_slice(), &[0]].concat()),
                Err(FactError::Damaged(kind.name))
            );
            // One kind has no bytes.
            if let Some((_, fewer)) = bytes.split_last() {
                assert_eq!(decode(fewer), Err(FactError::Damaged(kind.name)));
            }
        }
    }

    #[test]
    fn a_fact_takes_no_more_memory_than_its_bytes_account_for() {
        let fact = |notes: usize| Fact::Transition {
            from: A,
            action: ACT,
            to: B,
            notes: vec![Note::Unsettled; notes],
        };
        let decoded = |notes: usize| {
            let (kind, bytes) = fact(notes).body();
            EncodedFact { kind: kind.number, version: kind.version, bytes: &bytes }.decode()
        };
        assert_eq!(decoded(2), Ok(fact(2)));
        // A note of one byte takes about 50.
        assert_eq!(decoded(1_000), Err(FactError::Damaged("transition")));
        let step = Transition { from: A, action: ACT, to: A };
        let far = Fact::State {
            key: A,
            offers: Vec::new(),
            route: Some([step; 999].into()),
            content: None,
        };
        assert_eq!(postcard::from_bytes::<Fact>(&postcard::to_allocvec(&far).unwrap()), Ok(far));
    }
}
