//! Independent work on several threads. Results have the order of the input, so that output does
//! not depend on the number of threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Processes every piece on one of `threads` threads.
pub fn do_all<T: Sync, R: Send>(
    pieces: &[T],
    threads: usize,
    work: impl Fn(&T) -> R + Sync,
) -> Vec<R> {
    let next = AtomicUsize::new(0);
    let results: Vec<Mutex<Option<R>>> = pieces.iter().map(|_| Mutex::new(None)).collect();
    let take_pieces = || {
        while let Some((piece, result)) = {
            let at = next.fetch_add(1, Ordering::Relaxed);
            pieces.get(at).zip(results.get(at))
        } {
            let done = work(piece);
            *result.lock().expect("no other thread has this piece") = Some(done);
        }
    };
    thread::scope(|scope| {
        for _ in 0..threads.clamp(1, pieces.len().max(1)) {
            scope.spawn(take_pieces);
        }
    });
    let done = results.into_iter().map(|result| result.into_inner().expect("its thread has ended"));
    done.map(|result| result.expect("every piece was taken")).collect()
}

#[cfg(test)]
mod tests {
    use super::do_all;

    #[test]
    fn results_keep_the_order_of_the_pieces() {
        let pieces: Vec<u64> = (0..100).collect();
        for threads in [1, 3, 200] {
            let done = do_all(&pieces, threads, |&piece| {
                // The first pieces take longest.
                std::thread::sleep(std::time::Duration::from_micros(100 - piece));
                piece
            });
            assert_eq!(done, pieces);
        }
        assert!(do_all(&[], 4, |&piece: &u8| piece).is_empty());
    }
}
