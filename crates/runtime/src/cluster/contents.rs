//! Contents of states: bytes that travel between processes under the name of their hash.
//! Controllers pass them on and never look into them; crawlers and clients do.

use argiope_controller::journal::{ContentId, Fact};
use argiope_controller::peer::message::{Envelope, PeerMessage};

use super::protocol::Blob;
use crate::store::packed::{MOST_BYTES, decode, encode, pack, unpack};
use crate::store::{ContentHash, FoundPage};

/// The content of a page that was found.
pub fn wrap(found: &FoundPage) -> Blob {
    let bytes = pack(&encode(found));
    Blob { content: name(&bytes), bytes }
}

/// The page of a content; `None` if it is broken or too large. It comes from a page through another
/// process, so that all of it may be hostile: a small content may claim to be a large page.
pub fn unwrap(bytes: &[u8]) -> Option<FoundPage> {
    let bytes = unpack(bytes, MOST_BYTES, &"a content").ok()?;
    let mut found: FoundPage = decode(&bytes, &"a content").ok()?;
    found.page = found.page.checked().ok()?;
    Some(found)
}

/// The name of bytes.
pub fn name(bytes: &[u8]) -> ContentId {
    ContentId(ContentHash::of(bytes).0)
}

/// Whether bytes have the name that they claim.
pub fn is_true(blob: &Blob) -> bool {
    name(&blob.bytes) == blob.content
}

/// How many bytes of contents go into one frame; a single larger content has a frame of its own.
pub const BYTES_AT_ONCE: usize = 1 << 20;

/// Divides contents into frames. Each frame is made when it is asked for.
pub fn frames(mut blobs: impl Iterator<Item = Blob>) -> impl Iterator<Item = Vec<Blob>> {
    std::iter::from_fn(move || {
        let mut frame = Vec::new();
        let mut bytes = 0;
        while bytes <= BYTES_AT_ONCE
            && let Some(blob) = blobs.next()
        {
            bytes += blob.bytes.len();
            frame.push(blob);
        }
        (!frame.is_empty()).then_some(frame)
    })
}

/// The contents that a message names: its receiver must have them.
pub fn of(envelope: &Envelope) -> Vec<ContentId> {
    let of = |facts: &[Fact]| facts.iter().filter_map(Fact::content).collect();
    match &envelope.message {
        PeerMessage::Reached(report) => report.content.into_iter().collect(),
        PeerMessage::Collect(collect) => of(&collect.facts),
        PeerMessage::HandOff { facts, .. }
        | PeerMessage::Bequest { facts, .. }
        | PeerMessage::Exists { facts, .. }
        | PeerMessage::Replicate(_, facts) => of(facts),
        PeerMessage::Like(_, _, content) => content.iter().copied().collect(),
        PeerMessage::Ring(_)
        | PeerMessage::Done(_)
        | PeerMessage::TaskFailed(..)
        | PeerMessage::EndedElsewhere(_)
        | PeerMessage::Seek(_)
        | PeerMessage::Search(_)
        | PeerMessage::Remember(..)
        | PeerMessage::Idle(..)
        | PeerMessage::Learned
        | PeerMessage::Marker(_)
        | PeerMessage::Finish(..)
        | PeerMessage::Elsewhere(_)
        | PeerMessage::Claim { .. }
        | PeerMessage::Claimed { .. }
        | PeerMessage::Due(_)
        | PeerMessage::Followed { .. }
        | PeerMessage::NotFollowed { .. }
        | PeerMessage::Plain(..)
        | PeerMessage::Strayed { .. }
        | PeerMessage::Acknowledge(_)
        | PeerMessage::Want(..) => Vec::new(),
    }
}

/// Whether a message acknowledges something: it must not leave before that is on disk.
pub fn acknowledges(envelope: &Envelope) -> bool {
    !envelope.done.is_empty()
        || matches!(
            envelope.message,
            PeerMessage::Done(_)
                | PeerMessage::Acknowledge(_)
                | PeerMessage::Finish(..)
                | PeerMessage::Marker(_)
        )
}

#[cfg(test)]
mod tests {
    use argiope_explore::page::{Page, PageNode};

    use super::*;

    #[test]
    fn many_contents_go_into_several_frames_and_none_is_left_out() {
        let blob = |number: u8, bytes: usize| {
            let bytes = vec![number; bytes];
            Blob { content: name(&bytes), bytes }
        };
        assert_eq!(frames([].into_iter()).count(), 0);
        let blobs = [blob(1, 10), blob(2, BYTES_AT_ONCE), blob(3, 3 * BYTES_AT_ONCE), blob(4, 10)];
        let frames: Vec<_> = frames(blobs.clone().into_iter()).collect();
        assert_eq!(frames.iter().map(Vec::len).collect::<Vec<_>>(), [2, 1, 1]);
        assert_eq!(frames.concat(), blobs);
    }

    #[test]
    fn a_content_is_what_its_name_says_and_comes_back_whole() {
        let html = PageNode {
            depth: 0,
            tag: "html".to_owned(),
            text: String::new(),
            attributes: Vec::new(),
            visible: true,
        };
        let page = Page { nodes: vec![html], ..Page::default() };
        let found = FoundPage {
            url: "http://a/".to_owned(),
            source: vec![7; 10_000],
            raw: 5,
            page,
            ..FoundPage::default()
        };
        let blob = wrap(&found);
        assert!(is_true(&blob) && blob.bytes.len() < 1_000);
        assert!(unwrap(&blob.bytes) == Some(found));
        let mut broken = blob;
        broken.bytes[20] ^= 1;
        assert!(!is_true(&broken));
        assert_eq!(unwrap(&[]), None);
        assert_eq!(unwrap(&[9, 9]), None);
    }
}
