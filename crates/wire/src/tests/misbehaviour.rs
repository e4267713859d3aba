//! The contract of every transport when the other side misbehaves. Each claim is tested over all of
//! them.

use std::time::Duration;

use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use super::bed::{Bed, accept_next, acceptor, contract, dialer};
use crate::frame::Frames;
use crate::handshake::send_frame;
use crate::hello::encode_verdict;
use crate::stream::{ByteReader, ByteWriter};
use crate::{ConnectionLimits, HandshakeError, RecvError, SendError, Transport};

contract!(
    a_frame_over_the_limit_ends_only_that_connection,
    a_frame_over_the_senders_own_limit_is_not_sent,
    a_connection_dropped_inside_a_frame_is_broken,
    a_process_that_dies_between_frames_is_broken,
    a_slow_reader_fills_the_queue_and_a_dead_one_ends_the_connection,
    queued_bytes_are_bounded,
    a_silent_dialer_is_dropped_and_others_are_accepted,
);

async fn a_frame_over_the_limit_ends_only_that_connection(bed: Bed) {
    let mut listener = bed.listen().await;
    let narrow = ConnectionLimits { frame: 1000, ..ConnectionLimits::default() };
    let (good, good_accepted) =
        bed.pair_on(&mut listener, &ConnectionLimits::default(), &narrow).await;
    let (bad, bad_accepted) =
        bed.pair_on(&mut listener, &ConnectionLimits::default(), &narrow).await;

    let ((sender, mut receiver), (bad_sender, mut bad_receiver)) =
        (bad.split(), bad_accepted.split());
    sender.send(vec![0; 1001]).await.expect("sent");
    let error = bad_receiver.recv().await.expect_err("too large");
    assert!(matches!(error, RecvError::TooLarge { size: 1001, limit: 1000 }), "{error:?}");
    bad_sender.closed().await;
    assert_eq!(bad_sender.try_send("more"), Err(SendError::Closed));
    assert!(matches!(receiver.recv().await, Err(RecvError::Broken)));
    sender.closed().await;

    let ((sender, _receiver), (_sender, mut receiver)) = (good.split(), good_accepted.split());
    sender.send(vec![0; 1000]).await.expect("sent");
    assert_eq!(receiver.recv().await.expect("received").expect("a frame").len(), 1000);
    bed.pair_on(&mut listener, &narrow, &narrow).await;
}

async fn a_frame_over_the_senders_own_limit_is_not_sent(bed: Bed) {
    let (dialed, _accepted) =
        bed.pair(&ConnectionLimits { frame: 1000, ..ConnectionLimits::default() }).await;
    let (sender, _receiver) = dialed.split();
    let too_large = SendError::TooLarge { size: 1001, limit: 1000 };
    assert_eq!(sender.try_send(vec![0; 1001]), Err(too_large));
    assert_eq!(sender.try_send(vec![0; 1000]), Ok(()));
}

/// Dials and performs the handshake by hand, to misbehave afterwards.
async fn dial_by_hand(bed: &Bed, address: &str) -> (Frames<ByteReader>, ByteWriter) {
    let stream = bed.transport.open(address).await.expect("a stream");
    let (mut frames, mut writer) = (Frames::new(stream.reader, 4096), stream.writer);
    send_frame(&mut writer, &dialer().encode().expect("short")).await.expect("sent");
    frames.next().await.expect("read").expect("a hello");
    send_frame(&mut writer, &encode_verdict(&Ok(()))).await.expect("sent");
    frames.next().await.expect("read").expect("a verdict");
    (frames, writer)
}

async fn broken_after(bed: Bed, last_bytes: &[u8]) {
    let mut listener = bed.listen().await;
    let address = listener.address.clone();
    let (me, limits) = (acceptor(), ConnectionLimits::default());
    let by_hand = dial_by_hand(&bed, &address);
    let ((frames, mut writer), accepted) =
        tokio::join!(by_hand, accept_next(&mut listener, &me, &limits));
    let (sender, mut receiver) = accepted.expect("accepted").split();
    writer.write_all(last_bytes).await.expect("written");
    writer.flush().await.expect("written");
    drop((frames, writer));
    assert_eq!(receiver.recv().await.expect("whole"), Some(Bytes::from_static(&[5])));
    let error = receiver.recv().await.expect_err("not an orderly end");
    assert!(matches!(error, RecvError::Broken), "{error:?}");
    sender.closed().await;
}

async fn a_connection_dropped_inside_a_frame_is_broken(bed: Bed) {
    broken_after(bed, &[0, 0, 0, 1, 5, 0, 0, 0, 100, 6, 7]).await;
}

async fn a_process_that_dies_between_frames_is_broken(bed: Bed) {
    broken_after(bed, &[0, 0, 0, 1, 5]).await;
}

async fn a_slow_reader_fills_the_queue_and_a_dead_one_ends_the_connection(bed: Bed) {
    let limits = ConnectionLimits {
        queue: 4,
        stall: Duration::from_millis(200),
        ..ConnectionLimits::default()
    };
    let (dialed, accepted) = bed.pair(&limits).await;
    let (sender, mut receiver) = dialed.split();
    let frame = Bytes::from(vec![0; 64 << 10]);
    let mut full = 0;
    loop {
        match sender.try_send(frame.clone()) {
            Ok(()) => {}
            Err(SendError::Full(given_back)) => {
                assert_eq!(given_back, frame);
                full += 1;
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
            Err(SendError::Closed) => break,
            Err(error) => panic!("{error}"),
        }
    }
    assert!(full > 0);
    assert!(matches!(receiver.recv().await, Err(RecvError::Stalled)));
    drop((sender, receiver));
    // The other side then finds some of the frames, and no orderly end.
    let (_sender, mut receiver) = accepted.split();
    let end = loop {
        match receiver.recv().await {
            Ok(Some(_)) => {}
            end => break end,
        }
    };
    assert!(matches!(end, Err(RecvError::Broken)), "{end:?}");
}

async fn queued_bytes_are_bounded(bed: Bed) {
    let (dialed, accepted) =
        bed.pair(&ConnectionLimits { unsent_bytes: 1000, ..ConnectionLimits::default() }).await;
    let ((sender, _back), (_sender, mut receiver)) = (dialed.split(), accepted.split());
    // The writer runs only when this task waits.
    sender.try_send(vec![1; 600]).expect("room");
    assert_eq!(sender.try_send(vec![2; 600]), Err(SendError::Full(Bytes::from(vec![2; 600]))));
    sender.try_send(vec![3; 400]).expect("room");
    // A frame larger than the capacity is sent when the queue is empty.
    sender.send(vec![4; 5000]).await.expect("sent");
    for (byte, size) in [(1, 600), (3, 400), (4, 5000)] {
        assert!(receiver.recv().await.expect("received").expect("a frame") == vec![byte; size]);
    }
}

async fn a_silent_dialer_is_dropped_and_others_are_accepted(bed: Bed) {
    let mut listener = bed.listen().await;
    let address = listener.address.clone();
    let mut silent: ByteReader = match &bed.transport {
        Transport::Net(_) => Box::new(TcpStream::connect(&address).await.expect("connected")),
        Transport::Memory(memory) => Box::new(memory.open(&address).await.expect("connected")),
    };
    let incoming = listener.accept().await;
    let waiting = tokio::spawn(async move {
        let limits =
            ConnectionLimits { hello: Duration::from_millis(300), ..ConnectionLimits::default() };
        incoming.handshake(&acceptor(), &limits, &|_| Ok(())).await.map(drop)
    });
    bed.pair_on(&mut listener, &ConnectionLimits::default(), &ConnectionLimits::default()).await;
    let error = waiting.await.expect("no panic").expect_err("the dialer sent nothing");
    assert!(matches!(error, HandshakeError::Deadline), "{error:?}");
    silent.read_to_end(&mut Vec::new()).await.expect("the connection was closed");
}
