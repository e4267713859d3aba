//! How much of an application a crawl has covered.

use serde::Serialize;

use crate::controller::Controller;

/// What a crawl has reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum CoverageLevel {
    /// Neither of the others.
    #[default]
    None,
    /// Every context that was found is executed.
    Parts,
    /// Every action of every state that was found is executed, or given up.
    All,
}

/// How much of an application a crawl has covered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Coverage {
    /// What it has reached.
    pub reached: CoverageLevel,
    /// The contexts found.
    pub contexts: usize,
    /// Those of them that were executed.
    pub contexts_executed: usize,
    /// The parts found, each with what it showed.
    pub parts: usize,
    /// The candidates that wait, because an action that is alike was executed elsewhere.
    pub alike_waiting: usize,
    /// An estimate of the candidates in combinations of parts that were not found.
    pub estimated_more: u64,
}

impl Controller {
    /// How much is covered. Contexts are counted only if alike actions wait in this crawl.
    pub fn coverage(&self) -> Coverage {
        let Some(graph) = self.graph() else { return Coverage::default() };
        let (left, waiting) = (graph.unexplored(), graph.deferred().len());
        let contexts = self.known().contexts();
        let reached = if left == 0 {
            CoverageLevel::All
        } else if left == waiting {
            CoverageLevel::Parts
        } else {
            CoverageLevel::None
        };
        let counts = contexts.map(|contexts| contexts.counts()).unwrap_or_default();
        let more = contexts.filter(|_| reached != CoverageLevel::All);
        Coverage {
            reached,
            contexts: counts.seen,
            contexts_executed: counts.executed,
            parts: counts.parts,
            alike_waiting: waiting,
            estimated_more: more.map_or(0, |contexts| contexts.combinations() as u64),
        }
    }
}
