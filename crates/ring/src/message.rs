//! The messages between members of a ring, and the inputs and effects of one member.

use serde::{Deserialize, Serialize};

use crate::key::Key;

/// The number of a request, which its answer repeats.
pub type RequestId = u64;

/// A message from one member to another.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum RingMessage {
    /// Asks for the receiver's neighbours. Also checks that the receiver is alive.
    GetNeighbours(RequestId),
    /// Answers [`RingMessage::GetNeighbours`].
    Neighbours {
        /// The request that it answers.
        request: RequestId,
        /// The sender's predecessor.
        predecessor: Option<Key>,
        /// The sender's successors, the nearest first.
        successors: Vec<Key>,
    },
    /// Tells the receiver that the sender may be its predecessor.
    Notify,
    /// Asks for the owner of a key. Members forward it until the owner answers.
    FindOwner {
        /// The number that the requester gave it.
        request: RequestId,
        /// The requester, which gets the answer.
        asker: Key,
        /// The key.
        key: Key,
        /// The number of times it was forwarded.
        hops: u32,
        /// Whether the sender believes that the receiver is the owner.
        last: bool,
    },
    /// Answers [`RingMessage::FindOwner`]: the sender owns the key.
    Owner {
        /// The request that it answers.
        request: RequestId,
        /// The number of times the request was forwarded.
        hops: u32,
    },
    /// Asks for the newcomer's position. Members forward it to the newcomer's predecessor.
    Join {
        /// The number that the newcomer gave it.
        request: RequestId,
        /// The member that wants to join.
        newcomer: Key,
        /// The number of times it was forwarded.
        hops: u32,
    },
    /// Answers [`RingMessage::Join`]: the newcomer's position is after the sender.
    JoinPosition {
        /// The request that it answers.
        request: RequestId,
        /// The sender's successors. Empty if the sender was alone.
        successors: Vec<Key>,
    },
    /// Tells neighbours that the sender leaves, so that they need not wait for a timeout.
    Leave {
        /// The sender's predecessor, which becomes its successor's predecessor.
        predecessor: Option<Key>,
    },
}

impl RingMessage {
    /// The request that it answers, if it is an answer.
    pub fn answered_request(&self) -> Option<RequestId> {
        match self {
            Self::Neighbours { request, .. }
            | Self::Owner { request, .. }
            | Self::JoinPosition { request, .. } => Some(*request),
            Self::GetNeighbours(_)
            | Self::Notify
            | Self::FindOwner { .. }
            | Self::Join { .. }
            | Self::Leave { .. } => None,
        }
    }
}

/// An input of a member.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RingInput {
    /// Join the ring of this member.
    Join(Key),
    /// Contact this member. It may be in another ring, which then merges with this one.
    Meet(Key),
    /// A message arrived from this member.
    Message(Key, RingMessage),
    /// The answer to a request did not arrive in time.
    Timeout(RequestId),
    /// A timer fired.
    Timer(RingTimer),
    /// Find the owner of a key. The result repeats the tag.
    LookUp(Key, u64),
    /// Leave the ring.
    Leave,
}

/// The periodic timers of a member.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum RingTimer {
    /// Check the successor.
    Stabilise,
    /// Refresh one finger.
    Fingers,
}

/// An effect of a member: what its driver must do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RingEffect {
    /// Send a message to this member.
    Send(Key, RingMessage),
    /// Deliver [`RingInput::Timeout`] if this request is not answered in time. A timeout after the
    /// answer does no harm.
    StartTimeout(RequestId),
    /// Deliver [`RingInput::Timer`] after the period of this timer.
    StartTimer(RingTimer),
    /// Reports the owner of a key.
    OwnerFound {
        /// The tag of the lookup.
        tag: u64,
        /// The owner.
        owner: Key,
        /// The number of times the request was forwarded.
        hops: u32,
    },
    /// Reports that no owner answered, after all retries.
    OwnerNotFound {
        /// The tag of the lookup.
        tag: u64,
    },
    /// Reports that a member does not answer or has left.
    MemberGone(Key),
    /// Reports that the successor has another predecessor, further back than this member. The
    /// successor has not heard of this member yet, or believes that it failed.
    SkippedBySuccessor,
    /// Reports that all known members are gone. The member is alone.
    Isolated,
}
