//! How long this thread has worked, beside how long it took: a process that was stopped or starved
//! in the middle of something did not work meanwhile, and others may have taken it for failed.

use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// What takes less counts as work. No member is taken for failed within it.
const SHORT: Duration = Duration::from_millis(100);
/// The age from which a sample of the thread's time is taken anew: a sample costs a system call.
const FRESH: Duration = Duration::from_millis(20);

/// The clock of the thread that asks it.
pub struct WorkClock {
    sampled: Instant,
    worked: Duration,
}

impl WorkClock {
    /// A clock of this thread.
    pub fn new() -> Self {
        Self { sampled: Instant::now(), worked: worked() }
    }

    /// Something begins now.
    pub fn begin(&mut self, now: Instant) {
        if now - self.sampled > FRESH {
            *self = Self { sampled: now, worked: worked() };
        }
    }

    /// How long this thread has worked since something began, at most a little too much.
    pub fn worked_since(&self, began: Instant) -> Duration {
        let took = began.elapsed();
        if took < SHORT { took } else { took.min(worked().saturating_sub(self.worked)) }
    }
}

fn worked() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standing_still_is_no_work_and_working_is() {
        let mut clock = WorkClock::new();
        let began = Instant::now();
        clock.begin(began);
        std::thread::sleep(3 * SHORT);
        assert!(clock.worked_since(began) < SHORT);
        let began = Instant::now();
        clock.begin(began);
        let before = worked();
        while worked() - before < 2 * SHORT {
            std::hint::spin_loop();
        }
        assert!(clock.worked_since(began) >= 2 * SHORT);
    }
}
