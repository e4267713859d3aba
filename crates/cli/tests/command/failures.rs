//! Bad input: one line on standard error, exit code 2, nothing on standard output.

use std::fs::{self, File};

use crate::{Given, SWITCH, argiope, command, folder, given};

fn check(line: &str, expected: &str) {
    check_given(&argiope(line), expected);
}

fn check_given(given: &Given, expected: &str) {
    assert_eq!((given.code, given.out.as_str()), (Some(2), ""), "{}", given.err);
    assert_eq!(given.err.lines().count(), 1, "{}", given.err);
    assert!(given.err.starts_with("argiope: "), "{}", given.err);
    assert!(given.err.contains(expected), "'{expected}' is not in: {}", given.err);
}

#[test]
fn wrong_arguments_take_one_line() {
    check("simulat", "unrecognized subcommand 'simulat'; a similar subcommand exists: 'simulate'");
    check("simulate", "--model <FILE>|--testbed <NAME>");
    check("simulate --testbed hypercube:4 --sed 3", "'--seed'");
    check("simulate --testbed hypercube:4 --model x", "cannot be used with");
    check("simulate --testbed hypercube:4 --seeds 0", "--seeds");
}

#[test]
fn reset_costs_have_limits() {
    check("simulate --testbed hypercube:4 --reset-cost -1", "it must be from 0.001 to 1000000");
    check("bound --testbed hypercube:4 --reset-cost 0", "it must be from 0.001 to 1000000");
    check("bound --testbed hypercube:4 --reset-cost NaN", "it must be from 0.001 to 1000000");
}

#[test]
fn unknown_names_suggest_the_nearest() {
    check(
        "simulate --testbed hypercub:8",
        "no test-bed is called 'hypercub:8'; did you mean hypercube:N?",
    );
    check("simulate --testbed hypercube:4 --strategy gredy", "a similar value exists: 'greedy'");
    check("strategies gredy", "a similar value exists: 'greedy'");
}

#[test]
fn a_test_bed_has_a_size_that_can_be_made() {
    for size in ["0", "99", "-1", "x", ""] {
        check(&format!("simulate --testbed hypercube:{size}"), &format!("hypercube:{size}"));
    }
}

#[test]
fn model_files_that_cannot_be_read_are_named() {
    let here = folder("failures-models");
    let folder = here.display();
    check(
        &format!("simulate --model {folder}"),
        &format!("cannot read {folder}: it is a directory"),
    );
    check(
        &format!("bound --model {folder}/none.json"),
        &format!("cannot read {folder}/none.json: No such file"),
    );
    let large = here.join("large.json");
    let file = File::create(&large).expect("a file for the test");
    file.set_len((1 << 30) + 1).expect("a file with a hole");
    check(&format!("simulate --model {}", large.display()), "larger than 1 GiB");
}

#[test]
fn unreachable_states_must_be_allowed() {
    let here = folder("failures-unreachable");
    let path = here.join("model.json");
    let extra = SWITCH.replace("]}]}", "]},{\"actions\":[]}]}");
    fs::write(&path, extra).expect("a file for the test");
    let line = format!("simulate --model {}", path.display());
    check(&line, "model.json: ");
    let arguments: Vec<&str> = line.split(' ').chain(["--allow-unreachable"]).collect();
    let end = command(&arguments).output().expect("argiope can be run");
    assert!(end.stdout.starts_with(b"switch: 3 states"));
    let said = String::from_utf8(end.stderr).expect("messages are text");
    assert_eq!(said, "argiope: 1 state of 3 cannot be reached; the first is states[2]\n");
}

#[test]
fn text_from_outside_is_escaped() {
    let end =
        command(&["simulate", "--testbed", "a\u{1b}[31m\nb"]).output().expect("argiope can be run");
    check_given(&given(end), "'a\\u{1b}[31m\\nb'");
    let end = command(&["simulate", "--model", "no\u{7}file\n.json"])
        .output()
        .expect("argiope can be run");
    check_given(&given(end), "no\\u{7}file\\n.json");
}

#[test]
fn a_missing_lab_is_named_with_the_command_that_builds_it() {
    let alone = folder("failures-no-lab").join("argiope");
    fs::copy(env!("CARGO_BIN_EXE_argiope"), &alone).expect("a copy without the lab beside it");
    let run = std::process::Command::new(&alone).args(["bench", "--help"]).output();
    let given = given(run.expect("the copy can be run"));
    assert_eq!((given.code, given.out.as_str()), (Some(1), ""), "{}", given.err);
    assert!(given.err.contains("cargo build --release -p argiope-lab"), "{}", given.err);
}

#[test]
fn the_addresses_of_one_crawl_lie_in_one_scope() {
    let here = folder("failures-seeds");
    let list = here.join("seeds.txt");
    fs::write(&list, "# nothing\n\n").expect("a list can be written");
    check("crawl http://127.0.0.1:9/ http://127.0.0.1:8/a", "--include 'http://127.0.0.1:8/*'");
    check("crawl http://127.0.0.1:9/ http://ada:secret@127.0.0.1:9/a", "the first address alone");
    check("crawl http://127.0.0.1:9/ 127.0.0.1:9/a", "has no scheme");
    check("crawl --seeds no-such-list", "cannot read no-such-list: ");
    check(&format!("crawl --seeds {}", list.display()), "has no address");
    check("crawl --demo http://127.0.0.1:9/", "cannot be used with");
    check("crawl --cluster 127.0.0.1:9 http://a/ http://b/", "not in the scope");
    check("crawl --cluster 127.0.0.1:9 http://a/ http://a/logout", "left alone (logs out)");
    let many: String = (0..30_000).map(|page| format!("http://a/{page}\n")).collect();
    fs::write(&list, many).unwrap();
    let line = format!("crawl --cluster 127.0.0.1:9 --seeds {}", list.display());
    check(&line, "the most that a cluster takes");
}
