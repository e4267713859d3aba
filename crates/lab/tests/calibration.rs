//! The imitations of published applications cost about what the originals did: greedy's complete
//! crawl is within a quarter of the published actions and resets.

use argiope_explore::strategies;
use argiope_explore::strategy::StrategySettings;
use argiope_lab::published::published;
use argiope_sim::crawl::{Spent, crawl};
use argiope_sim::testbeds::{TestbedSpec, find};

/// Crawls with greedy and compares with what the help of the test-bed says (to two percent, since
/// ties are broken by the seed), and that with what was published (to a quarter).
fn check(testbed: &str, ours: Spent) {
    let Ok(TestbedSpec::Made(recipe)) = find(testbed) else {
        panic!("{testbed} is not made from its name");
    };
    let model = recipe.model();
    let greedy = strategies::find("greedy").expect("there is greedy");
    let settings = StrategySettings { reset_cost: model.reset_cost, seed: 1 };
    let run = crawl(&model, greedy, settings);
    let near =
        |found: u64, expected: u64, part: u64| found.abs_diff(expected) * part <= expected + part;
    assert!(
        near(run.complete.actions, ours.actions, 50) && near(run.complete.resets, ours.resets, 50),
        "{testbed} took {:?}, its help says {ours:?}",
        run.complete
    );
    let figure = published(testbed, "greedy").and_then(|row| row.complete);
    let figure = figure.expect("the complete crawl was published");
    let resets = figure.resets.expect("its resets were published");
    assert!(
        near(ours.actions, figure.actions, 4) && near(ours.resets, resets, 4),
        "{testbed}: {ours:?} is far from {figure:?}"
    );
}

fn spent(actions: u64, resets: u64) -> Spent {
    Spent { actions, resets }
}

#[test]
fn small_imitations_cost_what_the_originals_did() {
    check("site-like", spent(950, 1));
    check("bank-like", spent(2_950, 33));
    check("clipmarks-like", spent(13_000, 55));
    check("periodic-table-like", spent(29_900, 237));
}

#[test]
fn elfinder_like_costs_what_elfinder_did() {
    check("elfinder-like", spent(75_300, 209));
}

#[test]
fn bebop_like_costs_what_bebop_did() {
    check("bebop-like", spent(746_000, 27));
}
