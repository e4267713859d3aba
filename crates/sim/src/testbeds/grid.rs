//! A grid of slides, as a presentation with columns has them.

use argiope_explore::model::Model;

use super::TestbedFamily;

/// The family's entry in `argiope testbeds`.
pub(super) const FAMILY: TestbedFamily = TestbedFamily {
    name: "grid:CxR",
    examples: &["grid:17x13"],
    summary: "a presentation of C columns and R rows, with up, down, left and right",
    help: "Generated. Each slide shows other content, so a page has one part with as many states as there \
           are slides. An arrow that would leave the grid is not offered. Real presentations have columns \
           of different heights, and \"right\" often leads to the top of the next one; here it keeps the \
           row. A reset leads to the first slide and costs 3 actions.",
};

/// The largest number of columns, and of rows.
pub(super) const MAX_SIDE: u32 = 1_000;

/// The grid with this number of columns and rows.
pub(super) fn grid(columns: u32, rows: u32) -> Model {
    let names = ["up", "down", "left", "right"].map(str::to_owned).to_vec();
    let mut model = Model::new(format!("grid:{columns}x{rows}"), 3.0, names);
    model.part_names = vec!["slide".to_owned()];
    for slide in 0..columns * rows {
        let (column, row) = (slide % columns, slide / columns);
        let arrows = [
            (row > 0).then(|| slide - columns),
            (row + 1 < rows).then(|| slide + columns),
            (column > 0).then(|| slide - 1),
            (column + 1 < columns).then(|| slide + 1),
        ];
        let offered = (0..).zip(arrows).filter_map(|(arrow, to)| Some((arrow, to?, Some(0))));
        model.push_state_with_parts([(0, slide)], offered);
    }
    model
}
