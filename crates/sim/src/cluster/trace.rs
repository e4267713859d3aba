//! The lines of a trace: one for each event, with its time. Maintenance of the ring is left out.

use argiope_controller::peer::message::PeerInput;

use super::controllers::maintains_ring;
use super::{Cluster, RingEvent};

impl Cluster<'_> {
    /// Adds a line to the trace, if steps are traced and there is something to say.
    pub(super) fn trace_line(&mut self, describe: impl FnOnce(&Self) -> Option<String>) {
        if self.trace.is_some() {
            let time = self.env.now() as f64 / 1e3;
            let line = describe(self).map(|what| format!("{time:>10.3} ms  {what}"));
            self.trace.get_or_insert_default().extend(line);
        }
    }

    pub(super) fn describe(&self, event: &RingEvent) -> Option<String> {
        let line = match event {
            RingEvent::InputArrived(_, input) if maintains_ring(input) => return None,
            RingEvent::InputArrived(node, PeerInput::Message(from, envelope)) => {
                let from = self.node_of.get(from).map(|from| format!("controller {from}"));
                let from = from.unwrap_or_default();
                format!("controller {node} receives from {from}: {:?}", envelope.message)
            }
            RingEvent::InputArrived(node, input) => {
                format!("controller {node} receives from a crawler: {input:?}")
            }
            RingEvent::InputHandled(node, input @ PeerInput::Timer(timer))
                if !maintains_ring(input) =>
            {
                format!("controller {node} handles timer {timer:?}")
            }
            RingEvent::InputHandled(..) | RingEvent::AnswerOverdue(..) => return None,
            RingEvent::CrawlerMessage(crawler, told) => {
                format!("crawler {} receives: {told:?}", crawler.0)
            }
            RingEvent::TaskEnded(crawler, _) => {
                format!("crawler {} ends its task", crawler.0)
            }
            RingEvent::ReportDue(crawler) => format!("crawler {} sends its report", crawler.0),
            RingEvent::ControllerFails(node) => format!("controller {node} fails"),
            RingEvent::ControllerThaws(node) => format!("controller {node} continues"),
            RingEvent::DiskSynced(_) => return None,
            RingEvent::ControllerRestarts(node) => {
                format!("controller {node} restarts with what its disk holds")
            }
            RingEvent::RollingGoesOn(left, _) | RingEvent::StormGoesOn(left) => {
                format!("{left} restarts are to come")
            }
            RingEvent::Heartbeat(_) => return None,
            RingEvent::FactsReceived(node, _, facts) => {
                format!("controller {node} receives {} facts that another one kept", facts.len())
            }
            RingEvent::CrawlerAttached(crawler) => {
                format!("crawler {} works for this crawl again", crawler.0)
            }
            RingEvent::PartitionHeals => "the partition heals".to_owned(),
        };
        Some(line)
    }
}
