//! Predicted jobs are batched into one call. A step takes a fraction of a millisecond on the page,
//! but a call takes several. So a job and those ahead of it go into one call while the destination
//! of each is predicted (decision 15).

use argiope_browser::agent::PathStep;
use argiope_browser::tab::TabPosition;
use argiope_controller::job::{Ahead, Job};
use argiope_controller::outcome::{JobFailure, Outcome, Sighting};

use super::{Crawler, JobReport, PerformedSteps, Stop, noted};
use crate::page_index::KnownPage;

/// A job of a batch, as steps.
struct Planned<'a> {
    job: &'a Job,
    /// The page on which it begins.
    before: KnownPage,
    steps: Vec<PathStep>,
}

impl Crawler {
    /// Performs a job and those ahead of it, until one does not end as predicted. Returns a report
    /// of each that was begun, in order.
    pub async fn perform_all(&mut self, job: &Job, ahead: &[Ahead]) -> Vec<JobReport> {
        let mut reports = Vec::new();
        let jobs: Vec<&Job> =
            [job].into_iter().chain(ahead.iter().map(|ahead| &ahead.job)).collect();
        while reports.len() < jobs.len() && self.may_begin(&reports, ahead) {
            let (job, ahead) = (jobs[reports.len()], &ahead[reports.len()..]);
            if let Some(seed) = self.context.seeds.get(&job.action).cloned() {
                let ended = self.follow_seed(&seed).await;
                let all = u32::try_from(job.walk.len()).unwrap_or(u32::MAX);
                reports.push(self.report(ended, all));
                break;
            }
            let saved = match self.go_to_start(job).await {
                Ok(saved) => saved,
                Err(stop) => {
                    let went_right = self.steps_before_seed(job);
                    reports.push(self.report(Err(stop), went_right));
                    break;
                }
            };
            let rest = (saved > 0).then(|| Job { walk: job.walk[saved..].to_vec(), ..job.clone() });
            let (job, first) = (rest.as_ref().unwrap_or(job), reports.len());
            match self.plan(job, ahead) {
                Some(planned) => self.perform_batch(planned, &mut reports).await,
                None => {
                    let mut went_right = 0;
                    let ended = self.follow(job, None, &mut went_right).await;
                    reports.push(self.report(ended, went_right));
                }
            }
            reports[first].add_saved(saved);
        }
        reports
    }

    /// Whether the next job may begin: the last one ended where predicted.
    fn may_begin(&self, reports: &[JobReport], ahead: &[Ahead]) -> bool {
        let Some(last) = reports.last() else { return true };
        let after = ahead[reports.len() - 1].after;
        self.at.is_some() && matches!(&last.outcome, Outcome::Done { at, .. } if at.key == after)
    }

    /// A job that begins where the tab stands, and those after it that fit into the same call;
    /// `None` if the job must be performed by itself.
    fn plan<'a>(&self, job: &'a Job, ahead: &'a [Ahead]) -> Option<Vec<Planned<'a>>> {
        if ahead.is_empty() {
            return None;
        }
        let mut planned = vec![self.planned(job, self.at.clone()?)?];
        for Ahead { after, job } in ahead.iter().take_while(|ahead| !ahead.job.reset) {
            let last = planned.last_mut()?;
            // An undecided action may have to be repeated with trusted input.
            let placed = self.placed(last.job.state, last.job.action);
            let decided = !self.is_undecided(placed);
            let Some(actions) = self.actions_of(*after).filter(|_| decided) else { break };
            let raw = actions.raw;
            let Some(next) = self.planned(job, KnownPage { key: *after, actions }) else { break };
            last.steps.last_mut()?.expect = Some(raw);
            planned.push(next);
        }
        Some(planned).filter(|planned| planned.len() > 1)
    }

    fn planned<'a>(&self, job: &'a Job, before: KnownPage) -> Option<Planned<'a>> {
        let risky = self.context.pages.lock().risky.contains(&(job.state, job.action));
        // What is dangerous is performed by itself, so that it is clear what it did.
        let alone = risky || self.is_allowed(job);
        let steps = self.steps(&before, job, 0).ok().filter(|_| !alone)?;
        steps.iter().all(|step| !step.trusted).then_some(Planned { job, before, steps })
    }

    async fn perform_batch(&mut self, planned: Vec<Planned<'_>>, reports: &mut Vec<JobReport>) {
        let steps: Vec<PathStep> =
            planned.iter().flat_map(|planned| planned.steps.clone()).collect();
        let performed = self.timed(&steps).await;
        let Ok(mut arrival) = performed else {
            let reason = if self.tab.must_be_exchanged() {
                JobFailure::Exchanged
            } else {
                // Which job failed is unknown: from now on each is performed by itself.
                let risky = planned.iter().map(|planned| (planned.job.state, planned.job.action));
                self.context.pages.lock().risky.extend(risky);
                JobFailure::Lost
            };
            self.cost.spent.actions += steps.len() as u64;
            reports.push(self.report(Err(Stop::Failed(reason)), 0));
            return;
        };
        let mut passed = std::mem::take(&mut arrival.passed).into_iter();
        let mut done = arrival.done;
        let mut rest = planned.into_iter().peekable();
        while let Some(Planned { job, before, steps }) = rest.next() {
            let its = steps.len();
            match rest.peek() {
                // A later job was begun, or the next one is missing from the page.
                Some(next) if done > its || (done == its && arrival.missing) => {
                    done -= its;
                    self.cost.spent.actions += its as u64;
                    self.at = Some(next.before.clone());
                    let at = Sighting::known(next.before.key);
                    let notes = passed.next().unwrap_or_else(|| std::mem::take(&mut arrival.notes));
                    let notes = notes.into_iter().map(noted).collect();
                    reports.push(self.report(Ok(Outcome::Done { at, notes, once: false }), 0));
                }
                Some(_) | None => {
                    self.cost.spent.actions += done as u64;
                    self.at = Some(before.clone());
                    let performed =
                        PerformedSteps { before, steps, arrival: TabPosition { done, ..arrival } };
                    let mut went_right = 0;
                    let ended = self.follow(job, Some(performed), &mut went_right).await;
                    reports.push(self.report(ended, went_right));
                    return;
                }
            }
        }
    }
}
