//! `argiope bench`: the tables, the files, and that threads do not show in them.

use std::fs;

use argiope_explore::strategies;

use crate::{bench, folder, output};

const FILES: [&str; 3] = ["strategies.csv", "strategies-summary.csv", "strategies.svg"];

#[test]
fn the_number_of_threads_does_not_show_in_the_results() {
    let run = |jobs: u32| {
        let out = folder(&format!("bench-jobs-{jobs}"));
        let table = output(&format!(
            "strategies --testbed hypercube:4 --testbed hypercube:5 --seeds 4 --jobs {jobs} --out {}",
            out.display()
        ));
        let files =
            FILES.map(|name| fs::read_to_string(out.join(name)).expect("the file was written"));
        let written = fs::read_dir(&out).expect("the folder is there").count();
        assert_eq!(written, FILES.len(), "nothing else is left in the folder");
        (table, files)
    };
    let alone = run(1);
    assert_eq!(alone, run(3));
    let strategies = strategies::ALL.len();
    assert_eq!(alone.1[0].lines().count(), 1 + 2 * 4 * strategies);
    assert!(alone.1[2].starts_with("<svg ") && alone.1[2].ends_with("</svg>\n"));
    for testbed in ["hypercube:4: 16 states", "hypercube:5: 32 states"] {
        assert!(alone.0.contains(testbed), "{}", alone.0);
    }
}

#[test]
fn the_default_strategy_is_held_against_the_others() {
    let table = output("strategies --testbed hypercube:4 --seeds 2");
    assert!(table.contains("against the best other strategy"), "{table}");
    assert!(table.lines().last().is_some_and(|row| row.starts_with("hypercube:4 ")), "{table}");
}

#[test]
fn a_bad_name_is_known_before_anything_is_written() {
    let out = folder("bench-bad-name").join("results");
    let given = bench(&format!(
        "strategies --testbed hypercube:4 --testbed nonsense --out {}",
        out.display()
    ));
    assert_eq!(given.code, Some(2));
    assert!(!out.exists());
}

#[test]
fn a_folder_that_cannot_be_made_is_bad_input() {
    let file = folder("bench-no-folder").join("file");
    fs::write(&file, "").expect("a file in the way");
    let given =
        bench(&format!("strategies --testbed hypercube:4 --out {}/results", file.display()));
    assert_eq!((given.code, given.err.lines().count()), (Some(2), 1), "{}", given.err);
}

#[test]
fn the_memory_of_a_graph_is_counted() {
    let text = output("speed --part memory --states 1000 --transitions 20000");
    assert!(text.starts_with("Graph of 1000 states and 20000 transitions"), "{text}");
    assert!(text.contains("bytes of a transition:          8.0\n"), "{text}");
}

#[test]
fn every_scheme_is_compared_and_threads_do_not_show() {
    let run = |jobs: u32| {
        let out = folder(&format!("bench-schemes-{jobs}"));
        let table = output(&format!("schemes --quick --jobs {jobs} --out {}", out.display()));
        let files = ["schemes.csv", "schemes.svg"].map(|name| fs::read_to_string(out.join(name)));
        (table, files.map(|file| file.expect("the file was written")))
    };
    let alone = run(1);
    assert_eq!(alone, run(3));
    for scheme in ["global", "reset-only", "local", "shared", "forward", "forward-global", "gossip"]
    {
        assert!(
            alone.0.lines().any(|line| line.split_whitespace().next() == Some(scheme)),
            "{scheme}"
        );
    }
    assert!(
        alone.0.contains("filetree:httpd, breadth-first by stride"),
        "the divided work is missing"
    );
    assert!(alone.1[0].contains(",published,"), "what was printed is in the file");
    assert!(alone.1[1].ends_with("</svg>\n"));
}

#[test]
fn more_controllers_are_faster() {
    let table = output("scale --quick --scheme gossip");
    let last: Vec<&str> = table
        .lines()
        .rfind(|line| line.starts_with('5'))
        .expect("a row")
        .split_whitespace()
        .collect();
    let speed_up: f64 = last[3].parse().expect("a number");
    assert!(speed_up > 2.0, "{table}");
    let given = bench("scale --quick --scheme gosip");
    assert_eq!(given.code, Some(2), "{}", given.err);
}

#[test]
fn the_measured_cost_of_recovery_stands_beside_the_computed_cost() {
    let out = folder("bench-recovery");
    let table = output(&format!("recovery --quick --out {}", out.display()));
    for figure in ["As figure 6.2", "As figure 6.4", "As figure 6.5"] {
        assert!(table.contains(figure), "{table}");
    }
    let csv = fs::read_to_string(out.join("recovery.csv")).expect("the file was written");
    assert!(csv.lines().any(|line| line.starts_with("6.2,failures,2,retry,")), "{csv}");
    assert!(out.join("recovery.svg").exists());
}
