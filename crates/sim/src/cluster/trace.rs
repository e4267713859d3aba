//! The lines of a trace: one for each event, with its time. Maintenance of the ring is left out.

use argiope_controller::peer::message::{Envelope, PeerMessage, PeerTimer};
use argiope_ring::Key;

use super::{Cluster, RingEvent};

impl Cluster<'_> {
    /// Adds a line to the trace, if steps are traced and the description is not empty.
    pub(super) fn trace_line(&mut self, describe: impl FnOnce(&Self) -> Option<String>) {
        if self.trace.is_none() {
            return;
        }
        let time = self.now() as f64 / 1e3;
        let line = describe(self).map(|what| format!("{time:>10.3} ms  {what}"));
        self.trace.get_or_insert_default().extend(line);
    }

    pub(super) fn describe(&self, event: &RingEvent) -> Option<String> {
        let name = |node: usize| format!("controller {node}");
        let from = |key: &Key| self.node_of.get(key).map_or_else(String::new, |&node| name(node));
        let line = match event {
            RingEvent::MessageArrived(_, _, Envelope { message: PeerMessage::Ring(_), .. })
            | RingEvent::ControllerTimer(
                _,
                PeerTimer::Stabilise | PeerTimer::Fingers | PeerTimer::Silent(_),
            )
            | RingEvent::AnswerOverdue(..)
            | RingEvent::DiskSynced(_)
            | RingEvent::InputDequeued(..) => return None,
            RingEvent::MessageArrived(node, key, envelope) => {
                format!("{} hears from {}: {:?}", name(*node), from(key), envelope.message)
            }
            RingEvent::ControllerTimer(node, timer) => {
                format!("{} is reminded of {timer:?}", name(*node))
            }
            RingEvent::CrawlerMessage(crawler, message) => {
                format!("crawler {} is told: {message:?}", crawler.0)
            }
            RingEvent::TaskEnded(crawler, _) => {
                format!("crawler {} is done with its task", crawler.0)
            }
            RingEvent::ReportDue(crawler) => format!("crawler {} reports", crawler.0),
            RingEvent::ReportArrived(node, said) => {
                format!("{} hears from a crawler: {said:?}", name(*node))
            }
            RingEvent::ControllerFails(node) => format!("{} fails", name(*node)),
            RingEvent::ControllerThaws(node) => format!("{} goes on", name(*node)),
            RingEvent::ControllerRestarts(node) => {
                format!("{} comes back with what its disk has kept", name(*node))
            }
            RingEvent::PartitionHeals => "both parts hear each other again".to_owned(),
        };
        Some(line)
    }
}
