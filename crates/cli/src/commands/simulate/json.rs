//! One run as one line of JSON. The fields and their order are stable.

use argiope_explore::bound::Bound;
use serde::Serialize;

use argiope_sim::crawl::{Run, Spent};

#[derive(Serialize)]
struct Line<'a> {
    strategy: &'a str,
    seed: u64,
    states: usize,
    transitions: usize,
    all_states: Effort,
    complete: Effort,
    quartiles: [f64; 4],
    lower_bound_complete: f64,
    wall_ms: f64,
}

#[derive(Serialize)]
struct Effort {
    actions: u64,
    resets: u64,
    cost: f64,
}

impl Effort {
    fn of(spent: Spent, reset_cost: f64) -> Self {
        Self { actions: spent.actions, resets: spent.resets, cost: spent.cost(reset_cost) }
    }
}

/// The line with its end. Only `wall_ms` differs between two equal runs.
pub fn line(run: &Run, reset_cost: f64, bound: &Bound, wall_ms: f64) -> String {
    let line = Line {
        strategy: run.strategy,
        seed: run.seed,
        states: run.states,
        transitions: run.transitions,
        all_states: Effort::of(run.all_states, reset_cost),
        complete: Effort::of(run.complete, reset_cost),
        quartiles: run.quartiles,
        lower_bound_complete: bound.cost,
        wall_ms,
    };
    serde_json::to_string(&line).expect("numbers and strings are JSON") + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fields_come_in_their_order() {
        let spent = |actions| Spent { actions, resets: 1 };
        let run = Run {
            strategy: "greedy",
            seed: 7,
            states: 5,
            transitions: 8,
            all_states: spent(8),
            complete: spent(9),
            quartiles: [5.0, 7.0, 9.0, 11.0],
        };
        let bound = Bound { actions: 7, resets: 1, cost: 10.0 };
        assert_eq!(
            line(&run, 3.0, &bound, 1.5),
            "{\"strategy\":\"greedy\",\"seed\":7,\"states\":5,\"transitions\":8,\
             \"all_states\":{\"actions\":8,\"resets\":1,\"cost\":11.0},\
             \"complete\":{\"actions\":9,\"resets\":1,\"cost\":12.0},\
             \"quartiles\":[5.0,7.0,9.0,11.0],\"lower_bound_complete\":10.0,\"wall_ms\":1.5}\n"
        );
    }
}
