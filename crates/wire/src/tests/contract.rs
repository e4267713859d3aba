//! The contract of every transport for processes that behave. Each claim is tested over all of
//! them.

use std::time::Duration;

use bytes::Bytes;
use tokio::time::timeout;

use super::bed::{Bed, acceptor, contract, dialer};
use crate::{ConnectionLimits, DialError, HandshakeError, Hello, PROTOCOL, Refusal, Side};

contract!(
    each_side_receives_the_hello_of_the_other,
    frames_arrive_whole_and_in_order,
    both_directions_work_at_once,
    a_receive_can_be_cancelled_at_any_time,
    an_orderly_end_follows_all_queued_frames,
    a_sender_can_wait_until_all_frames_are_written,
    another_version_is_refused_and_both_sides_know_why,
    another_cluster_is_refused_and_both_sides_know_why,
    a_process_that_dials_itself_is_refused,
    a_check_of_the_acceptor_refuses_and_both_sides_know_why,
    an_address_without_a_listener_is_unreachable,
    an_address_in_use_cannot_be_shared,
);

fn refusal(by: Side, reason: &str) -> Refusal {
    Refusal { by, reason: reason.to_owned() }
}

fn refusals((dialed, accepted): (DialError, HandshakeError)) -> (Refusal, Refusal) {
    match (dialed, accepted) {
        (DialError::Refused(dialed), HandshakeError::Refused(accepted)) => (dialed, accepted),
        other => panic!("both should be refusals: {other:?}"),
    }
}

async fn each_side_receives_the_hello_of_the_other(bed: Bed) {
    let (dialed, accepted) = bed.pair(&ConnectionLimits::default()).await;
    assert_eq!((dialed.peer, accepted.peer), (acceptor(), dialer()));
}

async fn frames_arrive_whole_and_in_order(bed: Bed) {
    let (dialed, accepted) = bed.pair(&ConnectionLimits::default()).await;
    let mut frames = vec![Bytes::new(), Bytes::from(vec![7; 5 << 20]), Bytes::new()];
    frames.extend((0..2000_u32).map(|number| Bytes::copy_from_slice(&number.to_le_bytes())));
    frames.extend(
        [64 << 10, 16 << 10, 16_383, 65_535, 200_000].map(|size| Bytes::from(vec![8; size])),
    );
    let (sender, _receiver) = dialed.split();
    let (_sender, mut receiver) = accepted.split();
    let sent = async {
        for frame in &frames {
            sender.send(frame.clone()).await.expect("sent");
        }
    };
    let received = async {
        for frame in &frames {
            assert!(receiver.recv().await.expect("received").as_ref() == Some(frame));
        }
    };
    tokio::join!(sent, received);
}

async fn both_directions_work_at_once(bed: Bed) {
    const FRAMES: usize = 100;
    let (dialed, accepted) =
        bed.pair(&ConnectionLimits { queue: 2, ..ConnectionLimits::default() }).await;
    let ((one, mut one_hears), (two, mut two_hears)) = (dialed.split(), accepted.split());
    let say = async |sender: crate::Sender, byte| {
        for _ in 0..FRAMES {
            sender.send(vec![byte; 70_000]).await.expect("sent");
        }
    };
    let hear = async |receiver: &mut crate::Receiver, byte| {
        let mut heard = 0;
        while let Some(frame) = receiver.recv().await.expect("received") {
            assert!(frame.len() == 70_000 && frame.iter().all(|found| *found == byte));
            heard += 1;
        }
        assert_eq!(heard, FRAMES);
    };
    tokio::join!(say(one, 1), say(two, 2), hear(&mut one_hears, 2), hear(&mut two_hears, 1));
}

async fn a_receive_can_be_cancelled_at_any_time(bed: Bed) {
    let (dialed, accepted) = bed.pair(&ConnectionLimits::default()).await;
    let (sender, _receiver) = dialed.split();
    let (_sender, mut receiver) = accepted.split();
    let sent = async {
        for number in 0..40_u8 {
            sender.send(vec![number; 50_000]).await.expect("sent");
            tokio::task::yield_now().await;
        }
    };
    let received = async {
        let mut number = 0;
        while number < 40 {
            let abandoned = async {
                tokio::task::yield_now().await;
            };
            tokio::select! {
                biased;
                frame = receiver.recv() => {
                    assert!(frame.expect("received").expect("a frame") == vec![number; 50_000]);
                    number += 1;
                }
                () = abandoned => {}
            }
        }
    };
    tokio::join!(sent, received);
}

async fn an_orderly_end_follows_all_queued_frames(bed: Bed) {
    let (dialed, accepted) = bed.pair(&ConnectionLimits::default()).await;
    let (sender, mut back) = dialed.split();
    let (other, mut receiver) = accepted.split();
    for number in 0..200_u8 {
        sender.try_send(vec![number; 1000]).expect("room");
    }
    drop(sender);
    for number in 0..200_u8 {
        assert!(receiver.recv().await.expect("received").expect("a frame") == vec![number; 1000]);
    }
    assert!(receiver.recv().await.expect("an orderly end").is_none());
    assert!(receiver.recv().await.expect("the same end again").is_none());
    // The other direction is still open.
    other.send("still here").await.expect("sent");
    assert_eq!(back.recv().await.expect("received"), Some(Bytes::from("still here")));
}

async fn a_sender_can_wait_until_all_frames_are_written(bed: Bed) {
    let (dialed, accepted) = bed.pair(&ConnectionLimits::default()).await;
    let (sender, _back) = dialed.split();
    let (_sender, mut receiver) = accepted.split();
    let clone = sender.clone();
    clone.try_send("last words").expect("room");
    drop(clone);
    sender.finish().await.expect("all of it was written");
    assert_eq!(receiver.recv().await.expect("received"), Some(Bytes::from("last words")));
    assert!(receiver.recv().await.expect("an orderly end").is_none());
}

async fn another_version_is_refused_and_both_sides_know_why(bed: Bed) {
    let other = PROTOCOL + 1;
    let (dialed, accepted) =
        refusals(bed.refused_pair(&Hello { protocol: other, ..dialer() }, &acceptor()).await);
    let says = |it: u32, this: u32| format!("it uses protocol version {it}, this side uses {this}");
    assert_eq!(dialed, refusal(Side::This, &says(PROTOCOL, other)));
    assert_eq!(accepted, refusal(Side::This, &says(other, PROTOCOL)));
}

async fn another_cluster_is_refused_and_both_sides_know_why(bed: Bed) {
    let stranger = Hello { cluster: "desert".to_owned(), ..dialer() };
    let (dialed, accepted) = refusals(bed.refused_pair(&stranger, &acceptor()).await);
    let reason = r#"it belongs to cluster "garden", this side belongs to cluster "desert""#;
    assert_eq!(dialed, refusal(Side::This, reason));
    let reason = r#"it belongs to cluster "desert", this side belongs to cluster "garden""#;
    assert_eq!(accepted, refusal(Side::This, reason));
}

async fn a_process_that_dials_itself_is_refused(bed: Bed) {
    let (dialed, accepted) = refusals(bed.refused_pair(&acceptor(), &acceptor()).await);
    assert_eq!(dialed.reason, "it is the same process");
    assert_eq!(accepted.reason, "it is the same process");
}

async fn a_check_of_the_acceptor_refuses_and_both_sides_know_why(bed: Bed) {
    let mut listener = bed.listen().await;
    let (address, limits, me) = (listener.address.clone(), ConnectionLimits::default(), dialer());
    let accepted = async {
        let check = |hello: &Hello| Err(format!("{:?}s are not wanted", hello.role));
        listener.accept().await.handshake(&acceptor(), &limits, &check).await.map(drop)
    };
    let (dialed, accepted) = tokio::join!(bed.transport.dial(&address, &me, &limits), accepted);
    let (dialed, accepted) = (dialed.expect_err("refused"), accepted.expect_err("refused"));
    assert_eq!(dialed.to_string(), "refused by the other side: Crawlers are not wanted");
    let (dialed, accepted) = refusals((dialed, accepted));
    assert_eq!(dialed, refusal(Side::Other, "Crawlers are not wanted"));
    assert_eq!(accepted, refusal(Side::This, "Crawlers are not wanted"));
}

async fn an_address_without_a_listener_is_unreachable(bed: Bed) {
    let listener = bed.listen().await;
    let address = listener.address.clone();
    drop(listener);
    let error = bed
        .transport
        .dial(&address, &dialer(), &ConnectionLimits::default())
        .await
        .expect_err("no process listens");
    assert!(matches!(error, DialError::Unreachable { .. }), "{error:?}");
}

async fn an_address_in_use_cannot_be_shared(bed: Bed) {
    let listener = bed.listen().await;
    let address = listener.address.clone();
    assert!(bed.transport.listen(&address).await.is_err());
    drop(listener);
    let again =
        timeout(Duration::from_secs(5), bed.transport.listen(&address)).await.expect("in time");
    assert_eq!(again.expect("free again").address, address);
}

#[test]
fn dialing_and_accepting_can_run_as_tasks() {
    fn is_task<F: Future + Send>(_: F) {}
    let (bed, me, limits) = (Bed::memory(), dialer(), ConnectionLimits::default());
    is_task(bed.transport.dial("nowhere", &me, &limits));
    is_task(async { bed.listen().await.accept().await.handshake(&me, &limits, &|_| Ok(())).await });
}
