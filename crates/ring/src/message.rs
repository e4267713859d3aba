//! What members of a ring say to each other, and what a member is told and asks for.

use serde::{Deserialize, Serialize};

use crate::key::Key;

/// The number of a request, by which its answer is known.
pub type RequestId = u64;

/// From one member to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RingMessage {
    /// Who is around you? Also: are you alive?
    GetNeighbours(RequestId),
    /// The answer.
    Neighbours {
        /// To this request.
        request: RequestId,
        /// Whom it takes for its predecessor.
        predecessor: Option<Key>,
        /// Those after it, the nearest first.
        successors: Vec<Key>,
    },
    /// I may be your predecessor.
    Notify,
    /// Whom does this key belong to? Handed on until its owner answers.
    FindOwner {
        /// Of the asker.
        request: RequestId,
        /// Who wants to know.
        asker: Key,
        /// The key.
        key: Key,
        /// How often it was handed on.
        hops: u32,
        /// Whoever hands it on takes the receiver for the owner.
        last: bool,
    },
    /// It belongs to me.
    Owner {
        /// The answer to this request.
        request: RequestId,
        /// How often the request was handed on.
        hops: u32,
    },
    /// Where is my place? Handed on until it reaches the member before it.
    Join {
        /// Of the newcomer.
        request: RequestId,
        /// Who wants to join.
        newcomer: Key,
        /// How often it was handed on.
        hops: u32,
    },
    /// Your place is after me.
    JoinPosition {
        /// The answer to this request.
        request: RequestId,
        /// Those after me; if there are none, I was alone.
        successors: Vec<Key>,
    },
    /// I go. Whoever counted on me need not wait until I am missed.
    Leave {
        /// Whom I took for my predecessor: it is my successor's now.
        predecessor: Option<Key>,
    },
}

/// What a member is told.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RingInput {
    /// Join the ring that this member is in.
    Join(Key),
    /// This member is in a ring, perhaps in another one that is to become one with this.
    Meet(Key),
    /// A message came.
    Message(Key, RingMessage),
    /// The answer to a request did not come in time.
    Timeout(RequestId),
    /// A timer went off.
    Timer(RingTimer),
    /// Somebody here wants to know whom a key belongs to; the answer carries the number.
    LookUp(Key, u64),
    /// Leave the ring.
    Leave,
}

/// What comes again and again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RingTimer {
    /// Is my successor still the one after me?
    Stabilise,
    /// Is the way to far places still right?
    Fingers,
}

/// What a member asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RingEffect {
    /// Send a message.
    Send(Key, RingMessage),
    /// Say `Silent` if this request is not answered in time.
    StartTimeout(RequestId),
    /// Say `Woken` after the usual time.
    StartTimer(RingTimer),
    /// A key that was asked for belongs to this member.
    OwnerFound {
        /// The number of the request.
        tag: u64,
        /// The owner.
        owner: Key,
        /// How often the request was handed on.
        hops: u32,
    },
    /// Nobody answered for a key that was asked for, however often it was tried.
    OwnerNotFound {
        /// The number of the request.
        tag: u64,
    },
    /// A member is dead, as far as can be told, or has left.
    MemberGone(Key),
    /// The one after this member takes somebody before it for its predecessor: it has not heard of this one yet, or took it
    /// for dead.
    SkippedBySuccessor,
    /// All members that it knew of are gone; it is not in a ring any more.
    Isolated,
}
