//! The writing thread. A crawl appends a batch and continues. The thread commits all waiting
//! batches in one durable transaction, then reports the last ticket. After a pause it commits at
//! once; under load it gathers some more batches first, but never for long.

use std::fmt;
use std::path::Path;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use redb::Database;

use super::batch::{self, Batch};
use super::error::StoreError;
use super::guarded;

/// Back-pressure: above this many waiting bytes, appending waits. A guess: some tens of new states.
const WAITING_BYTES: usize = 8 << 20;

/// The shortest time from the start of a commit to that of the next. A commit takes a quarter of a
/// millisecond of processor time whatever is in it, so more of them cost more than they gain.
const SPACING: Duration = pause(10);

/// The longest such time, while fewer than `ENOUGH` batches wait.
const LONGEST: Duration = pause(25);

/// Tests that cut the power before every single write do not wait.
const fn pause(milliseconds: u64) -> Duration {
    Duration::from_millis(if cfg!(test) { 0 } else { milliseconds })
}

/// Batches that are worth a commit. Fewer than a crawl may leave unwritten
/// ([`crate::crawl::UNWRITTEN`]), which would otherwise wait.
const ENOUGH: usize = 16;

/// What the writing thread reports.
#[derive(Debug)]
pub enum WriterEvent {
    /// Every batch up to the one with this ticket is on disk.
    Durable(u64),
    /// A write failed. The last report; nothing more is accepted.
    Failed(StoreError),
}

/// Appends batches to the queue of the writing thread. Dropping it waits until all are written.
pub struct StoreWriter {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

impl fmt::Debug for StoreWriter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer").finish_non_exhaustive()
    }
}

impl StoreWriter {
    pub(super) fn start(
        database: Arc<Database>,
        path: &Path,
        report: Box<dyn Fn(WriterEvent) + Send>,
    ) -> Result<Self, StoreError> {
        let queue = Arc::new(Queue::default());
        let thread = std::thread::Builder::new().name("store".to_owned()).spawn({
            let queue = queue.clone();
            let path = path.to_owned();
            move || write(&queue, &database, &path, &report)
        });
        let thread = thread.map_err(|error| StoreError::io(path, error))?;
        Ok(Self { queue, thread: Some(thread) })
    }

    /// Appends a batch and gives its ticket; tickets count from 1. Waits only while the disk is far
    /// behind. An error means that an earlier batch could not be written.
    pub fn append(&self, batch: Batch) -> Result<u64, StoreError> {
        let weight = batch.weight();
        let mut waiting = self.queue.lock();
        while waiting.weight > WAITING_BYTES && !waiting.stopped {
            waiting = self.queue.taken.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        if waiting.stopped {
            return Err(StoreError::Stopped);
        }
        waiting.batches.push(batch);
        waiting.weight += weight;
        waiting.ticket += 1;
        let ticket = waiting.ticket;
        let wanted = waiting.batches.len() == waiting.wanted || waiting.weight > WAITING_BYTES;
        drop(waiting);
        if wanted {
            self.queue.given.notify_one();
        }
        Ok(ticket)
    }

    /// Waits until everything is on disk, and ends the thread.
    pub fn close(mut self) -> Result<(), StoreError> {
        self.finish();
        if self.queue.lock().stopped { Err(StoreError::Stopped) } else { Ok(()) }
    }

    fn finish(&mut self) {
        self.queue.lock().closed = true;
        self.queue.given.notify_one();
        if let Some(thread) = self.thread.take() {
            // A panic that gets here came out of the report, and was said there.
            let _ = thread.join();
        }
    }
}

impl Drop for StoreWriter {
    fn drop(&mut self) {
        self.finish();
    }
}

/// The queue between the crawl and the writing thread.
#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    given: Condvar,
    taken: Condvar,
}

#[derive(Default)]
struct Waiting {
    batches: Vec<Batch>,
    weight: usize,
    /// Of the last batch handed over.
    ticket: u64,
    /// The number of batches at which the thread wakes up.
    wanted: usize,
    closed: bool,
    stopped: bool,
}

impl Queue {
    /// Nothing under the lock can panic half-way, so that poisoning says nothing here.
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until enough batches are there, but not longer than `longest`.
    fn gather(&self, enough: usize, longest: Duration) {
        let mut waiting = self.lock();
        waiting.wanted = enough;
        let missing = |waiting: &mut Waiting| {
            waiting.batches.len() < enough && waiting.weight <= WAITING_BYTES && !waiting.closed
        };
        drop(self.given.wait_timeout_while(waiting, longest, missing));
    }

    /// All that is waiting and the last ticket of it; nothing once closed and empty.
    fn take(&self) -> Option<(Vec<Batch>, u64)> {
        let mut waiting = self.lock();
        waiting.wanted = 1;
        while waiting.batches.is_empty() {
            if waiting.closed {
                return None;
            }
            waiting = self.given.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        waiting.weight = 0;
        let batches = std::mem::take(&mut waiting.batches);
        let ticket = waiting.ticket;
        drop(waiting);
        self.taken.notify_all();
        Some((batches, ticket))
    }

    fn stop(&self) {
        let mut waiting = self.lock();
        waiting.stopped = true;
        waiting.batches.clear();
        drop(waiting);
        self.taken.notify_all();
    }
}

/// The thread: commits all waiting batches, and again, with a pause between commits.
fn write(queue: &Queue, database: &Database, path: &Path, report: &(dyn Fn(WriterEvent) + Send)) {
    while let Some((batches, ticket)) = queue.take() {
        let begun = Instant::now();
        match guarded(|| batch::commit(database, &batches)) {
            Ok(()) => report(WriterEvent::Durable(ticket)),
            Err(error) => {
                queue.stop();
                report(WriterEvent::Failed(StoreError::database(path, error)));
                return;
            }
        }
        std::thread::sleep(SPACING.saturating_sub(begun.elapsed()));
        queue.gather(ENOUGH, LONGEST.saturating_sub(begun.elapsed()));
    }
}
