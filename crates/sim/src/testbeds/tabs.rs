//! Tabs: a bar that leads to each panel, and a different small machine in each of them.

use argiope_explore::model::Model;

use super::TestbedFamily;
use super::random::random;

/// The family's entry in `argiope testbeds`.
pub(super) const FAMILY: TestbedFamily = TestbedFamily {
    name: "tabs:TxS",
    examples: &["tabs:9x14"],
    summary: "T tabs, each with a panel of S states: T S states",
    help: "Generated. The bar offers the other tabs. A tab always shows the first state of its panel. Each \
           panel is a random application of S states with 3 actions each, whose names no other panel \
           has. Bar and panel are parts. A reset costs 3 actions.",
};

/// The largest number of tabs.
pub(super) const MAX_TABS: u32 = 100;
/// The largest number of states of a panel.
pub(super) const MAX_STATES: u32 = 1_000;

/// The number of actions of each state of a panel.
const ACTIONS: u32 = 3;

/// The application with this number of tabs, and of states in each of them.
pub(super) fn tabs(tabs: u32, states: u32) -> Model {
    let panels: Vec<Model> = (0..tabs).map(|tab| random(states, ACTIONS, u64::from(tab))).collect();
    let pool = panels[0].actions.len() as u32;
    let inside = (0..tabs * pool).map(|at| format!("action {} of panel {}", at % pool, at / pool));
    let names = (0..tabs).map(|tab| format!("tab {tab}")).chain(inside).collect();
    let mut model = Model::new(format!("tabs:{tabs}x{states}"), 3.0, names);
    let panel_names = (0..tabs).map(|tab| format!("panel {tab}"));
    model.part_names = ["bar".to_owned()].into_iter().chain(panel_names).collect();
    for (tab, panel) in (0..tabs).zip(&panels) {
        for state in 0..states {
            let others = (0..tabs).filter(|&other| other != tab);
            let bar = others.map(|other| (other, other * states, Some(0)));
            let inside = panel.transitions_from(state).iter().map(|&(action, to)| {
                (tabs + tab * pool + action, tab * states + to, Some(1 + tab))
            });
            model.push_state_with_parts([(0, tab), (1 + tab, state)], bar.chain(inside));
        }
    }
    model
}
