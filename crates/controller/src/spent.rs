//! What work on an application costs, in total and per writer.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::journal::Fact;

/// Executed actions, and resets (the first load counts as one).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spent {
    /// Actions executed, whether for the first time or on a walk. An action counts once it begins,
    /// also if it leads elsewhere or does not end. One that is performed in two ways, because the
    /// first had no effect, counts once.
    pub actions: u64,
    /// Loads of the URL.
    pub resets: u64,
}

impl Spent {
    /// In actions.
    pub fn cost(self, reset_cost: f64) -> f64 {
        self.actions as f64 + self.resets as f64 * reset_cost
    }

    /// The sum of two expenses.
    pub fn plus(self, more: Self) -> Self {
        Self {
            actions: self.actions.saturating_add(more.actions),
            resets: self.resets.saturating_add(more.resets),
        }
    }
}

/// Who spends: a crawler process of a cluster, or the controller of a crawl on one machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct WriterId(pub u128);

impl WriterId {
    /// The controller of a crawl on one machine. A crawl that is resumed adds to the same account.
    pub const LONE: Self = Self(0);
}

/// What each writer has spent. Totals of one writer are merged by maximum, so that each may come in
/// any order and any number of times.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpentByWriter(BTreeMap<WriterId, Spent>);

impl SpentByWriter {
    /// Takes in a writer's total. Returns by how much that is more than was known.
    pub fn record(&mut self, writer: WriterId, total: Spent) -> Spent {
        let spent = self.0.entry(writer).or_default();
        let before = *spent;
        spent.actions = spent.actions.max(total.actions);
        spent.resets = spent.resets.max(total.resets);
        Spent { actions: spent.actions - before.actions, resets: spent.resets - before.resets }
    }

    /// Takes in the totals of several writers. Returns whether that changes anything.
    pub fn merge(&mut self, others: &Self) -> bool {
        let mut changes = false;
        for (&writer, &total) in &others.0 {
            changes |= self.record(writer, total) != Spent::default();
        }
        changes
    }

    /// What a writer has spent.
    pub fn by(&self, writer: WriterId) -> Spent {
        self.0.get(&writer).copied().unwrap_or_default()
    }

    /// What each writer has spent, as facts.
    pub fn facts(&self) -> impl Iterator<Item = Fact> + '_ {
        let fact = |(&writer, &Spent { actions, resets })| Fact::Spent { writer, actions, resets };
        self.0.iter().map(fact)
    }

    /// What all writers have spent.
    pub fn total(&self) -> Spent {
        self.0.values().copied().fold(Spent::default(), Spent::plus)
    }
}
