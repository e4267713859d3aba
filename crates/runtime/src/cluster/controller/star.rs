//! Crawls whose work is divided in advance: the coordinator, if it is here, and messages between it
//! and crawlers. A message may get lost; a sender without an answer retries.

use argiope_controller::job::CrawlerId;
use argiope_controller::journal::{ContentId, Fact};
use argiope_controller::peer::message::ToCrawler;
use argiope_controller::star::coordinator::{CoordinatorEffect, CoordinatorInput};
use argiope_controller::star::division::{Division, DivisionPlan, MOST_SHARES};
use argiope_controller::star::{Coordinator, NodeReport, ToNode};
use argiope_explore::id::StateKey;
use argiope_ring::Key;

use super::super::contents;
use super::super::crawl_state::{CrawlShare, Duty, STAR_TIMES};
use super::super::protocol::{
    Between, Blob, CrawlId, ProcessSpent, TabTimes, ToTabs, decode, encode,
};
use super::ControllerError;
use super::dispatcher::Dispatcher;
use super::effects::{Outgoing, home, short_number};
use super::timers::CrawlTimer;

/// One share for each tab of the cluster. What other controllers say of theirs may be anything.
fn shares_for(own: u32, others: impl Iterator<Item = u32>) -> usize {
    (others.fold(own, u32::saturating_add) as usize).clamp(1, MOST_SHARES)
}

impl Dispatcher {
    /// Becomes the coordinator of a new crawl, with one share for each tab of the cluster.
    pub(super) fn coordinator_for(&mut self, id: CrawlId, division: Division) -> Duty {
        let others =
            self.membership.members.values().filter(|known| !known.leaving).map(|known| known.tabs);
        let plan = DivisionPlan { division, shares: shares_for(self.tabs(), others) };
        self.disk.name(&format!("coordinates/{id}"), encode(&plan));
        Duty::Coordinator(Coordinator::new(plan, STAR_TIMES))
    }

    /// The duty that an earlier process of this controller had for a star.
    pub(super) fn recall_star(&self, id: CrawlId, facts: &[Fact]) -> Result<Duty, ControllerError> {
        let Some(bytes) = self.disk.store.named(&format!("coordinates/{id}"))? else {
            return Ok(Duty::PassOn);
        };
        let unknown =
            || ControllerError::Kept("a plan was kept by another version of argiope".to_owned());
        let plan: DivisionPlan = decode(&bytes).ok_or_else(unknown)?;
        Ok(Duty::Coordinator(Coordinator::restored(plan, STAR_TIMES, facts)))
    }

    /// Resumes the crawls that this controller coordinates.
    pub(super) fn resume_coordinating(&mut self) {
        for id in self.crawls_where(CrawlShare::is_open) {
            let Some(coordinator) = self.coordinator(id) else { continue };
            let states = coordinator.states().len();
            tracing::info!(crawl = %id, states, "coordinating the crawl again");
            self.handle_coordinator(id, CoordinatorInput::Start);
        }
    }

    /// Gives an input to the coordinator of a crawl, if it is here, and carries out its effects.
    pub(super) fn handle_coordinator(&mut self, crawl: CrawlId, input: CoordinatorInput) {
        let now = self.now();
        let share = self.shares.get_mut(&crawl).filter(|share| !share.stopped);
        let Some(Duty::Coordinator(coordinator)) = share.map(|share| &mut share.duty) else {
            return;
        };
        let mut effects = Vec::new();
        coordinator.handle(now, input, &mut effects);
        let mut kept = Vec::new();
        for effect in &effects {
            if let CoordinatorEffect::Keep(fact) = effect {
                kept.push(fact.clone());
                if let Fact::Transition { from, action, .. } = fact {
                    self.trace("executed", *from, *action);
                }
            }
        }
        self.disk.keep(crawl, kept);
        for effect in effects {
            match effect {
                CoordinatorEffect::Keep(_) => {}
                CoordinatorEffect::Answer(crawler, news) => {
                    self.after_writes(Outgoing::News(crawl, crawler, Box::new(news)));
                }
                CoordinatorEffect::Wake(timer, after) => {
                    self.set_timer(crawl, CrawlTimer::Coordinator(timer), after);
                }
                CoordinatorEffect::Finished => {
                    self.after_writes(Outgoing::Finished(crawl, None));
                }
            }
        }
    }

    /// The coordinator of a crawl, if it is here.
    fn coordinator(&self, crawl: CrawlId) -> Option<&Coordinator> {
        self.shares.get(&crawl).and_then(CrawlShare::coordinator)
    }

    /// The controller that coordinates a crawl, if it is this one or connected.
    fn coordinator_of(&self, crawl: CrawlId) -> Option<Key> {
        if self.coordinator(crawl).is_some() {
            return Some(self.me);
        }
        let mut inside = self.membership.members.iter().filter(|(_, known)| known.is_inside(crawl));
        inside.find(|&(&key, _)| self.link_to(key).is_some()).map(|(&key, _)| key)
    }

    /// A tab that is attached here reports to the coordinator.
    pub(super) fn on_node_report(
        &mut self,
        crawl: CrawlId,
        report: NodeReport,
        (spent, times): (ProcessSpent, TabTimes),
        blobs: Vec<Blob>,
    ) {
        // They stay here until the coordinator has them.
        self.disk.keep_blobs(blobs);
        let Some(share) = self.shares.get_mut(&crawl) else { return };
        share.on_spent(spent);
        share.times = share.times.plus(times);
        let crawler = report.crawler;
        match self.coordinator_of(crawl) {
            Some(key) if key == self.me => {
                self.handle_coordinator(crawl, CoordinatorInput::Report(report));
            }
            Some(key) => {
                let wanted: Vec<ContentId> = report.contents().collect();
                let mut frames: Vec<_> =
                    contents::frames(self.blobs_for(key, &wanted).into_iter()).collect();
                let sent = frames.iter().flatten().map(|blob| blob.content).collect();
                let last = frames.pop().unwrap_or_default();
                let mut messages: Vec<Between> = frames.into_iter().map(Between::Blobs).collect();
                messages.push(Between::NodeReport(crawl, report, last));
                // A report that cannot be sent is repeated, with its contents.
                if messages.iter().all(|message| self.send_to(key, message)) {
                    self.note_has(key, sent);
                }
            }
            None => {}
        }
        // A tab that was attached elsewhere meanwhile may still report.
        if !self.crawlers.attached.contains_key(&crawler) {
            self.on_crawler_lost(crawl, crawler);
        }
    }

    /// A tab that was attached here no longer works for a crawl.
    pub(super) fn on_crawler_lost(&mut self, crawl: CrawlId, crawler: CrawlerId) {
        if !self.shares.get(&crawl).is_some_and(CrawlShare::is_star) {
            return;
        }
        match self.coordinator_of(crawl) {
            Some(key) if key == self.me => {
                self.handle_coordinator(crawl, CoordinatorInput::NodeLoss(crawler));
            }
            Some(key) => _ = self.send_to(key, &Between::Gone(crawl, crawler)),
            None => {}
        }
    }

    /// A controller is gone, and its crawlers with it.
    pub(super) fn on_crawlers_lost(&mut self, with: Key) {
        for crawl in self.crawls_where(|_| true) {
            let Some(coordinator) = self.coordinator(crawl) else { continue };
            let gone =
                coordinator.crawlers().filter(|&crawler| home(crawler) == short_number(with));
            for crawler in gone.collect::<Vec<_>>() {
                self.handle_coordinator(crawl, CoordinatorInput::NodeLoss(crawler));
            }
        }
    }

    /// A tab asks what a state of a star is like.
    pub(super) fn on_star_want(&mut self, crawl: CrawlId, crawler: CrawlerId, state: StateKey) {
        match self.coordinator_of(crawl) {
            Some(key) if key == self.me => self.describe(crawl, crawler, state),
            Some(key) => _ = self.send_to(key, &Between::Want(crawl, crawler, state)),
            None => {}
        }
    }

    /// Answers a crawler what a state is like.
    pub(super) fn describe(&mut self, crawl: CrawlId, crawler: CrawlerId, state: StateKey) {
        if let Some(coordinator) = self.coordinator(crawl) {
            let content = coordinator.content(state);
            self.send_to_crawler(crawl, crawler, ToCrawler::Like(state, content));
        }
    }

    /// The coordinator answers a crawler, through the controller that it is attached to.
    pub(super) fn send_news(&mut self, crawl: CrawlId, crawler: CrawlerId, news: ToNode) {
        let Some(to) = self.home_of(crawler) else { return };
        if to != self.me {
            self.send_to(to, &Between::News(crawl, crawler, news));
        } else if let Some(&link) = self.crawlers.attached.get(&crawler) {
            self.send(link, &ToTabs::News(crawl, crawler, news));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controllers_that_claim_too_many_tabs_do_not_make_too_many_shares() {
        assert_eq!(shares_for(2, [3, 4].into_iter()), 9);
        assert_eq!(shares_for(0, std::iter::empty()), 1);
        assert_eq!(shares_for(2, [u32::MAX, u32::MAX].into_iter()), MOST_SHARES);
    }
}
