//! A list whose items open their details.

use argiope_explore::model::Model;

use super::TestbedFamily;

/// The family's entry in `argiope testbeds`.
pub(super) const FAMILY: TestbedFamily = TestbedFamily {
    name: "list:N",
    examples: &["list:100"],
    summary: "a list of N items that open their details: N + 1 states",
    help: "Generated. Each item of the list is a part with one action, which opens the details of the \
           item. The details have one action, which leads back to the list. A reset costs 3 actions.",
};

/// The largest number of items.
pub(super) const MAX_ITEMS: u32 = 100_000;

/// The list with this number of items.
pub(super) fn list(items: u32) -> Model {
    let mut names: Vec<String> = (0..items).map(|item| format!("open item {item}")).collect();
    names.push("back".to_owned());
    let mut model = Model::new(format!("list:{items}"), 3.0, names);
    model.part_names = (0..items).map(|item| format!("item {item}")).collect();
    model.part_names.push("details".to_owned());
    let (back, details) = (items, items);
    let opens = (0..items).map(|item| (item, 1 + item, Some(item)));
    model.push_state_with_parts((0..items).map(|item| (item, 0)), opens);
    for item in 0..items {
        model.push_state_with_parts([(details, item)], [(back, 0, Some(details))]);
    }
    model
}
