//! How long members of the ring take to answer, and so how long to wait for an answer before a
//! member counts as failed. A busy machine answers late; a fixed wait would take it for dead.

use std::collections::BTreeMap;

use argiope_ring::RequestId;

/// The longest wait, as a multiple of the shortest. A guess: a member that needs longer than this
/// for a few bytes cannot serve its range either.
const LONGEST: u64 = 4;
/// A new measurement counts for 1/8 of the mean and 1/4 of the deviation, as in TCP (RFC 6298).
const MEAN_SHARE: u64 = 8;
const DEVIATION_SHARE: u64 = 4;

/// Measured answer times, in microseconds.
#[derive(Clone, Debug)]
pub(super) struct AnswerDelays {
    /// The wait while answers come fast, and before the first answer.
    shortest: u64,
    /// When each open question was asked. Late answers count too: they show that waits are short.
    asked: BTreeMap<RequestId, u64>,
    mean: u64,
    deviation: u64,
}

impl AnswerDelays {
    pub(super) fn new(shortest: u64) -> Self {
        Self { shortest, asked: BTreeMap::new(), mean: 0, deviation: 0 }
    }

    /// How long to wait for an answer: the usual time and four deviations, within the limits.
    pub(super) fn wait(&self) -> u64 {
        let longest = self.shortest.saturating_mul(LONGEST);
        let usual = self.mean.saturating_add(self.deviation.saturating_mul(4));
        usual.clamp(self.shortest, longest)
    }

    /// A question was asked.
    pub(super) fn on_question(&mut self, request: RequestId, now: u64) {
        // Questions to dead members are never answered. Twice the longest wait is late enough.
        let oldest = now.saturating_sub(self.shortest.saturating_mul(2 * LONGEST));
        self.asked.retain(|_, &mut at| at >= oldest);
        self.asked.insert(request, now);
    }

    /// An answer has arrived, perhaps after the wait for it was over.
    pub(super) fn on_answer(&mut self, request: RequestId, now: u64) {
        let Some(at) = self.asked.remove(&request) else { return };
        let delay = now.saturating_sub(at);
        let error = delay.abs_diff(self.mean);
        self.deviation =
            self.deviation - self.deviation / DEVIATION_SHARE + error / DEVIATION_SHARE;
        self.mean = self.mean - self.mean / MEAN_SHARE + delay / MEAN_SHARE;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORTEST: u64 = 700_000;

    fn after(delays: &[u64]) -> u64 {
        let mut measured = AnswerDelays::new(SHORTEST);
        let mut now = 0;
        for (request, &delay) in (0..).zip(delays) {
            measured.on_question(request, now);
            now += delay;
            measured.on_answer(request, now);
        }
        measured.wait()
    }

    #[test]
    fn fast_answers_keep_the_shortest_wait() {
        assert_eq!(after(&[]), SHORTEST);
        assert_eq!(after(&[1_000; 50]), SHORTEST);
    }

    #[test]
    fn slow_answers_lengthen_the_wait_up_to_a_limit() {
        // 0.5 s is within the shortest wait, but not by much: the next answer may take longer.
        let slow = after(&[500_000; 3]);
        assert!(slow > SHORTEST, "{slow}");
        assert_eq!(after(&[60_000_000; 3]), LONGEST * SHORTEST);
    }

    #[test]
    fn the_wait_shrinks_when_answers_are_fast_again() {
        let delays = [[500_000; 10], [1_000; 10], [1_000; 10], [1_000; 10]].concat();
        assert_eq!(after(&delays), SHORTEST);
    }

    #[test]
    fn a_question_that_is_never_answered_is_forgotten() {
        let mut measured = AnswerDelays::new(SHORTEST);
        for request in 0..1_000 {
            measured.on_question(request, request * 300_000);
        }
        assert!(measured.asked.len() < 30, "{}", measured.asked.len());
    }
}
