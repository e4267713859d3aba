//! Writes the queued frames of one connection, many small frames at once.
//!
//! Queued frames go out in one write, and are flushed when the queue is empty. Knows nothing of the
//! content of a frame.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use tokio::io::AsyncWriteExt;
use tokio::sync::mpsc;
use tokio::time::timeout;

use crate::connection::{ConnectionPhase, Shared};
use crate::frame::GOODBYE;
use crate::stream::ByteWriter;

/// The number of bytes that are gathered before a write. A larger frame is written without a copy.
const GATHERED: usize = 64 << 10;
/// The maximum number of frames that are taken out of the queue at once.
const BATCH: usize = 64;

/// Writes until all senders are dropped, or the connection is cut.
pub(crate) async fn run(
    writer: ByteWriter,
    mut queued: mpsc::Receiver<Bytes>,
    shared: Arc<Shared>,
    stall: Duration,
) {
    let mut progress = shared.progress.subscribe();
    let mut output = Output { writer, gathered: Vec::new(), stall };
    let written = tokio::select! {
        biased;
        // The receiving half of this connection ended it, so the rest is dropped.
        _ = progress.wait_for(|progress| *progress == ConnectionPhase::Cut) => None,
        written = drain(&mut output, &mut queued, &shared) => Some(written),
    };
    // First, so that a task that sees the new phase finds the senders closed.
    queued.close();
    shared.free_bytes.close();
    match written {
        Some(Err(Failure::Stalled)) => shared.cut(),
        Some(result) => {
            let reached =
                if result.is_ok() { ConnectionPhase::Written } else { ConnectionPhase::Lost };
            shared.progress.send_if_modified(|progress| {
                let open = *progress == ConnectionPhase::Open;
                if open {
                    *progress = reached;
                }
                open
            });
        }
        None => {}
    }
}

enum Failure {
    Stalled,
    /// The receiving half finds the same error, after the frames that still arrive.
    Network,
}

impl From<io::Error> for Failure {
    fn from(_: io::Error) -> Self {
        Self::Network
    }
}

async fn drain(
    output: &mut Output,
    queued: &mut mpsc::Receiver<Bytes>,
    shared: &Shared,
) -> Result<(), Failure> {
    let mut batch = Vec::with_capacity(BATCH);
    while queued.recv_many(&mut batch, BATCH).await > 0 {
        for frame in batch.drain(..) {
            output.write_frame(&frame).await?;
            shared.free_bytes.add_permits(shared.charge_for(&frame) as usize);
        }
        if queued.is_empty() {
            output.flush().await?;
        }
    }
    output.gathered.extend_from_slice(&GOODBYE.to_be_bytes());
    output.flush().await?;
    timeout(output.stall, output.writer.shutdown()).await.map_err(|_| Failure::Stalled)??;
    Ok(())
}

struct Output {
    writer: ByteWriter,
    gathered: Vec<u8>,
    stall: Duration,
}

impl Output {
    async fn write_frame(&mut self, frame: &Bytes) -> Result<(), Failure> {
        // Senders refuse frames that a length cannot express.
        let length = u32::try_from(frame.len()).map_err(io::Error::other)?;
        self.gathered.extend_from_slice(&length.to_be_bytes());
        if frame.len() < GATHERED {
            self.gathered.extend_from_slice(frame);
            if self.gathered.len() < GATHERED {
                return Ok(());
            }
            return self.write_gathered().await;
        }
        self.write_gathered().await?;
        write_all(&mut self.writer, frame, self.stall).await
    }

    async fn write_gathered(&mut self) -> Result<(), Failure> {
        write_all(&mut self.writer, &self.gathered, self.stall).await?;
        self.gathered.clear();
        Ok(())
    }

    async fn flush(&mut self) -> Result<(), Failure> {
        self.write_gathered().await?;
        // TLS keeps some bytes in a small buffer of its own.
        timeout(self.stall, self.writer.flush()).await.map_err(|_| Failure::Stalled)??;
        Ok(())
    }
}

/// Every write has its own deadline, because a slow reader is not a dead one.
async fn write_all(
    writer: &mut ByteWriter,
    mut bytes: &[u8],
    stall: Duration,
) -> Result<(), Failure> {
    while !bytes.is_empty() {
        let written = timeout(stall, writer.write(bytes)).await.map_err(|_| Failure::Stalled)??;
        if written == 0 {
            return Err(Failure::Network);
        }
        bytes = &bytes[written..];
    }
    Ok(())
}
