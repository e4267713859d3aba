//! Several jobs in one call. A step on the page takes a fraction of a millisecond, to ask for it and to hear of it takes
//! several: where it is known beforehand where a job leads, and what is to be done there, the page is told of both.

use argiope_browser::agent::PathStep;
use argiope_browser::tab::TabPosition;
use argiope_controller::job::{Ahead, Job};
use argiope_controller::outcome::{JobFailure, Outcome, Sighting};

use super::{Crawler, JobReport, Part, Stop, noted};
use crate::page_index::Known;

/// A job that others come after, spelled out.
struct Planned<'a> {
    job: &'a Job,
    /// The page that it begins on.
    before: Known,
    steps: Vec<PathStep>,
}

impl Crawler {
    /// Performs a job and then those ahead, until one does not end as foreseen. A report of each that was begun, in order.
    pub async fn perform_all(&mut self, job: &Job, ahead: &[Ahead]) -> Vec<JobReport> {
        let mut reports = Vec::new();
        let jobs: Vec<&Job> =
            [job].into_iter().chain(ahead.iter().map(|ahead| &ahead.job)).collect();
        while reports.len() < jobs.len() && self.may_begin(&reports, ahead) {
            let (job, ahead) = (jobs[reports.len()], &ahead[reports.len()..]);
            if let Err(stop) = self.set_out(job).await {
                reports.push(self.report(Err(stop), 0));
                break;
            }
            match self.plan(job, ahead) {
                Some(planned) => self.perform_together(planned, &mut reports).await,
                None => {
                    let mut went_right = 0;
                    let ended = self.follow(job, None, &mut went_right).await;
                    reports.push(self.report(ended, went_right));
                }
            }
        }
        reports
    }

    /// Whether the next job may be begun after those that were reported.
    fn may_begin(&self, reports: &[JobReport], ahead: &[Ahead]) -> bool {
        let Some(last) = reports.last() else { return true };
        let after = ahead[reports.len() - 1].after;
        matches!(&last.outcome, Outcome::Done { at, .. } if at.key == after)
    }

    /// A job that the tab stands at the beginning of, with those after it that go into the same call; none if it has to be
    /// done by itself.
    fn plan<'a>(&self, job: &'a Job, ahead: &'a [Ahead]) -> Option<Vec<Planned<'a>>> {
        if ahead.is_empty() {
            return None;
        }
        let mut planned = vec![self.planned(job, self.at.clone()?)?];
        for Ahead { after, job } in ahead.iter().take_while(|ahead| !ahead.job.reset) {
            let last = planned.last_mut()?;
            // An action that was not decided upon may have to be done a second time, by the browser's own input.
            let decided = !self.is_undecided(last.job.action);
            let Some(sheet) = self.sheet(*after).filter(|_| decided) else { break };
            let raw = sheet.raw;
            let Some(next) = self.planned(job, Known { key: *after, sheet }) else { break };
            last.steps.last_mut()?.expect = Some(raw);
            planned.push(next);
        }
        Some(planned).filter(|planned| planned.len() > 1)
    }

    fn planned<'a>(&self, job: &'a Job, before: Known) -> Option<Planned<'a>> {
        let risky = self.knowledge.lock().risky.contains(&(job.state, job.action));
        let steps = self.steps(&before, job, 0).ok().filter(|_| !risky)?;
        steps.iter().all(|step| !step.trusted).then_some(Planned { job, before, steps })
    }

    async fn perform_together(&mut self, planned: Vec<Planned<'_>>, reports: &mut Vec<JobReport>) {
        let steps: Vec<PathStep> =
            planned.iter().flat_map(|planned| planned.steps.clone()).collect();
        let performed = self.timed(&steps).await;
        let Ok(mut arrival) = performed else {
            let reason = if self.tab.lacks_frames() {
                JobFailure::Exchanged
            } else {
                // Whose fault it was is not known: each is done by itself from now on.
                let risky = planned.iter().map(|planned| (planned.job.state, planned.job.action));
                self.knowledge.lock().risky.extend(risky);
                JobFailure::Lost
            };
            self.spent.actions += steps.len() as u64;
            reports.push(self.report(Err(Stop::Failed(reason)), 0));
            return;
        };
        let mut passed = std::mem::take(&mut arrival.passed).into_iter();
        let mut done = arrival.done;
        let mut rest = planned.into_iter().peekable();
        while let Some(Planned { job, before, steps }) = rest.next() {
            let its = steps.len();
            match rest.peek() {
                // It was not the last that was done, or the next one could not be begun.
                Some(next) if done > its || (done == its && arrival.missing) => {
                    done -= its;
                    self.spent.actions += its as u64;
                    self.at = Some(next.before.clone());
                    let at = Sighting { key: next.before.key, offers: None };
                    let notes = passed.next().unwrap_or_else(|| std::mem::take(&mut arrival.notes));
                    let notes = notes.into_iter().map(noted).collect();
                    reports.push(self.report(Ok(Outcome::Done { at, notes, once: false }), 0));
                }
                Some(_) | None => {
                    self.spent.actions += done as u64;
                    self.at = Some(before.clone());
                    let part = Part { before, steps, arrival: TabPosition { done, ..arrival } };
                    let mut went_right = 0;
                    let ended = self.follow(job, Some(part), &mut went_right).await;
                    reports.push(self.report(ended, went_right));
                    return;
                }
            }
        }
    }
}
