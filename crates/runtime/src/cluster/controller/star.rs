//! Crawls whose work is divided in advance: the coordinator, if it is here, and words between it and crawlers. They may
//! get lost on the way: whoever is not answered says again what it said.

use argiope_controller::job::CrawlerId;
use argiope_controller::journal::{ContentId, Fact};
use argiope_controller::peer::message::ToCrawler;
use argiope_controller::spent::Spent;
use argiope_controller::star::coordinator::{CoordinatorEffect, CoordinatorInput};
use argiope_controller::star::division::{Division, DivisionPlan};
use argiope_controller::star::{Coordinator, NodeReport, ToNode};
use argiope_explore::id::StateKey;
use argiope_ring::Key;

use super::super::contents;
use super::super::crawl_state::{CrawlShare, Duty, STAR_TIMES};
use super::super::protocol::{Between, Blob, CrawlId, TabTimes, ToTabs, decode, encode};
use super::effects::{Outgoing, home, short_number};
use super::{Alarm, ControllerError, Node};
use crate::store::Batch;

/// Who coordinates a crawl.
enum Who {
    Me,
    Another(Key),
}

impl Node<'_> {
    /// Becomes the coordinator of a crawl that begins, with as many shares as there are tabs on the ring.
    pub(super) fn coordinator_for(&mut self, id: CrawlId, division: Division) -> Duty {
        let others = self.members.values().filter(|known| !known.leaving).map(|known| known.tabs);
        let tabs = self.tabs() + others.sum::<u32>();
        let plan = DivisionPlan { division, shares: tabs.max(1) as usize };
        self.name(&format!("coordinates/{id}"), encode(&plan));
        Duty::Coordinator(Coordinator::new(plan, STAR_TIMES))
    }

    /// What this controller did for a crawl in an earlier life, if its work is divided in advance.
    pub(super) fn recall_star(&self, id: CrawlId, facts: &[Fact]) -> Result<Duty, ControllerError> {
        let Some(bytes) = self.store.named(&format!("coordinates/{id}"))? else {
            return Ok(Duty::PassOn);
        };
        let unknown =
            || ControllerError::Kept("a plan was kept by another version of argiope".to_owned());
        let plan: DivisionPlan =
            decode(&bytes).filter(|plan: &DivisionPlan| plan.shares > 0).ok_or_else(unknown)?;
        Ok(Duty::Coordinator(Coordinator::restored(plan, STAR_TIMES, facts)))
    }

    /// Goes on with the crawls that it coordinates.
    pub(super) fn coordinate_again(&mut self) {
        let open = self.shares.iter().filter(|(_, share)| share.is_open());
        let open: Vec<CrawlId> = open.map(|(&id, _)| id).collect();
        for id in open {
            let kept = match self.shares.get(&id).map(|share| &share.duty) {
                Some(Duty::Coordinator(coordinator)) => coordinator.states().len(),
                _ => continue,
            };
            (self.say)(&format!("crawl {id}: coordinating it again, with {kept} states kept"));
            self.coordinate(id, CoordinatorInput::Start);
        }
    }

    /// Tells the coordinator of a crawl something, if it is here, and carries out what it asks for.
    pub(super) fn coordinate(&mut self, crawl: CrawlId, input: CoordinatorInput) {
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
                kept.push((crawl.0, fact.clone()));
                if let Fact::Transition { from, action, .. } = fact {
                    self.trace("executed", *from, *action);
                }
            }
        }
        if !kept.is_empty() {
            self.append(Batch { kept, ..Batch::default() });
        }
        for effect in effects {
            match effect {
                CoordinatorEffect::Keep(_) => {}
                CoordinatorEffect::Answer(crawler, told) => {
                    self.after_the_disk(Outgoing::News(crawl, crawler, Box::new(told)));
                }
                CoordinatorEffect::Wake(timer, after) => {
                    self.remind(crawl, Alarm::Star(timer), after)
                }
                CoordinatorEffect::Finished => self.after_the_disk(Outgoing::Finished(crawl)),
            }
        }
    }

    fn coordinator_of(&self, crawl: CrawlId) -> Option<Who> {
        if let Duty::Coordinator(_) = self.shares.get(&crawl)?.duty {
            return Some(Who::Me);
        }
        let coordinates = |shares: &[(CrawlId, super::CrawlTally)]| {
            shares.iter().any(|(id, tally)| *id == crawl && tally.inside)
        };
        let mut members = self.members.iter().filter(|(_, known)| coordinates(&known.shares));
        members.find(|&(&key, _)| self.link_to(key).is_some()).map(|(&key, _)| Who::Another(key))
    }

    /// A tab that is attached here says something.
    pub(super) fn tab_tells(
        &mut self,
        crawl: CrawlId,
        tell: NodeReport,
        (spent, times): (Spent, TabTimes),
        blobs: Vec<Blob>,
    ) {
        // They stay here until the coordinator has them, whatever is lost on the way.
        self.take_blobs(blobs);
        let Some(share) = self.shares.get_mut(&crawl) else { return };
        share.spent = share.spent.plus(spent);
        share.times = share.times.plus(times);
        let crawler = tell.crawler;
        match self.coordinator_of(crawl) {
            Some(Who::Me) => self.coordinate(crawl, CoordinatorInput::Told(tell)),
            Some(Who::Another(key)) => {
                let wanted: Vec<ContentId> = tell.contents().collect();
                let mut frames = contents::in_frames(self.blobs_for(key, &wanted));
                let sent = frames.iter().flatten().map(|blob| blob.content).collect();
                let last = frames.pop().unwrap_or_default();
                let mut messages: Vec<Between> = frames.into_iter().map(Between::Blobs).collect();
                messages.push(Between::Told(crawl, tell, last));
                // What cannot be sent is said again, with all of it.
                if messages.iter().all(|message| self.send_to(key, message)) {
                    self.has_now(key, sent);
                }
            }
            None => {}
        }
        // One that was attached elsewhere meanwhile may still have had something to say.
        if !self.crawlers.contains_key(&crawler) {
            self.crawler_is_gone(crawl, crawler);
        }
    }

    /// A tab that was attached here works for a crawl no more.
    pub(super) fn crawler_is_gone(&mut self, crawl: CrawlId, crawler: CrawlerId) {
        if !self.shares.get(&crawl).is_some_and(CrawlShare::is_star) {
            return;
        }
        match self.coordinator_of(crawl) {
            Some(Who::Me) => self.coordinate(crawl, CoordinatorInput::Lost(crawler)),
            Some(Who::Another(key)) => _ = self.send_to(key, &Between::Gone(crawl, crawler)),
            None => {}
        }
    }

    /// A controller is gone, and with it its crawlers, or the way to them.
    pub(super) fn crawlers_are_gone(&mut self, with: Key) {
        let crawls: Vec<CrawlId> = self.shares.keys().copied().collect();
        for crawl in crawls {
            let share = self.shares.get(&crawl);
            let Some(Duty::Coordinator(coordinator)) = share.map(|share| &share.duty) else {
                continue;
            };
            let gone =
                coordinator.crawlers().filter(|&crawler| home(crawler) == short_number(with));
            for crawler in gone.collect::<Vec<_>>() {
                self.coordinate(crawl, CoordinatorInput::Lost(crawler));
            }
        }
    }

    /// A tab wants to know what a state of a star is like.
    pub(super) fn tab_wants(&mut self, crawl: CrawlId, crawler: CrawlerId, state: StateKey) {
        match self.coordinator_of(crawl) {
            Some(Who::Me) => self.describe(crawl, crawler, state),
            Some(Who::Another(key)) => _ = self.send_to(key, &Between::Want(crawl, crawler, state)),
            None => {}
        }
    }

    /// Tells a crawler what a state is like.
    pub(super) fn describe(&mut self, crawl: CrawlId, crawler: CrawlerId, state: StateKey) {
        let share = self.shares.get(&crawl);
        if let Some(Duty::Coordinator(coordinator)) = share.map(|share| &share.duty) {
            let content = coordinator.content(state);
            self.tell_crawler(crawl, crawler, ToCrawler::Like(state, content));
        }
    }

    /// The coordinator answers a crawler, by way of the controller that it is attached to.
    pub(super) fn news_for(&mut self, crawl: CrawlId, crawler: CrawlerId, told: ToNode) {
        if home(crawler) == short_number(self.me) {
            let link = self.crawlers.get(&crawler).map(|&(link, _)| link);
            if let Some(link) = link.and_then(|link| self.links.get_mut(&link)) {
                link.send(&ToTabs::News(crawl, crawler, told));
            }
            return;
        }
        let at = self.members.keys().copied().find(|&key| home(crawler) == short_number(key));
        if let Some(to) = at {
            self.send_to(to, &Between::News(crawl, crawler, told));
        }
    }
}
