//! `argiope simulate` and `argiope bound`: what they print, and that a seed fixes it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use serde_json::Value;

use crate::{argiope, command, given, output};

/// The output without the times, which are the only thing that may differ.
fn without_times(lines: &str) -> Vec<&str> {
    let cut = |line| str::rsplit_once(line, ",\"wall_ms\":").expect("a run has a time").0;
    lines.lines().map(cut).collect()
}

#[test]
fn a_small_run_gives_this_table() {
    let expected = "\
hypercube:4: 16 states, 32 transitions, reset cost 3, seeds 1 to 3
lower bound of a complete crawl: 76 (40 actions, 12 resets)

strategy  all states  min–max  actions  resets  complete  min–max  actions  resets  × bound      min–max
greedy            51    45–63       27       8        76    76–76       40      12    1.000  1.000–1.000
";
    assert_eq!(output("simulate --testbed hypercube:4 --strategy greedy --seeds 3"), expected);
}

#[test]
fn json_has_exactly_the_promised_fields_in_their_order() {
    let lines = output("simulate --testbed hypercube:4 --strategy greedy --seed 7 --json");
    assert_eq!(lines.lines().count(), 1);
    let fields = [
        "strategy",
        "seed",
        "states",
        "transitions",
        "all_states",
        "actions",
        "resets",
        "cost",
        "complete",
        "actions",
        "resets",
        "cost",
        "quartiles",
        "lower_bound_complete",
        "wall_ms",
    ];
    let found: Vec<&str> =
        lines.split('"').skip(1).step_by(2).filter(|&text| text != "greedy").collect();
    assert_eq!(found, fields);
    let run: Value = serde_json::from_str(&lines).expect("the line is JSON");
    assert_eq!(
        (&run["seed"], &run["states"], &run["transitions"]),
        (&7.into(), &16.into(), &32.into())
    );
    assert_eq!(run["quartiles"].as_array().map(Vec::len), Some(4));
    let complete = &run["complete"];
    let number = |value: &Value| value.as_f64().expect("a number");
    assert_eq!(
        number(&complete["cost"]),
        number(&complete["actions"]) + 3.0 * number(&complete["resets"])
    );
}

#[test]
fn each_run_is_one_object_on_one_line() {
    let strategies = output("strategies").lines().count();
    let lines = output("simulate --testbed hypercube:4 --strategy all --seed 5 --seeds 3 --json");
    let runs: Vec<Value> =
        lines.lines().map(|line| serde_json::from_str(line).expect("a line is JSON")).collect();
    assert_eq!(runs.len(), 3 * strategies);
    let seeds: Vec<_> = runs[..3].iter().map(|run| run["seed"].as_u64()).collect();
    assert_eq!(seeds, [Some(5), Some(6), Some(7)]);
}

#[test]
fn the_same_seed_gives_the_same_bytes() {
    let line = "simulate --testbed hypercube:6 --strategy all --seeds 3 --json";
    let (first, second) = (output(line), output(line));
    assert_eq!(without_times(&first), without_times(&second));
    let table = "simulate --testbed hypercube:6 --strategy all --seeds 3";
    assert_eq!(output(table), output(table));
}

#[test]
fn the_reset_cost_can_be_set() {
    let cost = |line: &str| -> Value { serde_json::from_str(&output(line)).expect("JSON") };
    let run = cost("simulate --testbed hypercube:4 --reset-cost 2.5 --json");
    let resets = run["complete"]["resets"].as_f64().expect("a number");
    let actions = run["complete"]["actions"].as_f64().expect("a number");
    assert_eq!(run["complete"]["cost"], actions + 2.5 * resets);
    let bound = cost("bound --testbed hypercube:4 --reset-cost 2.5 --json");
    assert_eq!(bound["reset_cost"], 2.5);
    assert_eq!(bound["complete"]["cost"], run["lower_bound_complete"]);
}

#[test]
fn the_bound_is_printed_for_people_too() {
    let text = output("bound --testbed hypercube:4");
    assert!(text.starts_with("hypercube:4: 16 states, 32 transitions, reset cost 3\n"), "{text}");
    assert_eq!(text.lines().count(), 3);
}

#[test]
fn a_closed_pipe_ends_the_run_quietly() {
    let arguments = "simulate --testbed hypercube:6 --strategy greedy --seeds 100000 --json";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let mut child = command(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("argiope can be run");
    let mut first = String::new();
    let stdout = child.stdout.take().expect("its output is a pipe");
    BufReader::new(stdout).read_line(&mut first).expect("a line comes");
    assert!(first.starts_with("{\"strategy\":\"greedy\""), "{first}");
    let end = given(child.wait_with_output().expect("argiope ends"));
    assert_eq!((end.code, end.err.as_str()), (Some(0), ""));
}

#[test]
#[cfg(unix)]
fn ctrl_c_ends_with_its_own_code_and_a_sentence() {
    let arguments = "simulate --testbed hypercube:6 --strategy greedy --seeds 1000000 --json";
    let arguments: Vec<&str> = arguments.split(' ').collect();
    let mut child = command(&arguments)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("argiope can be run");
    let mut stdout = BufReader::new(child.stdout.take().expect("its output is a pipe"));
    stdout.read_line(&mut String::new()).expect("a line comes");
    let sent = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(sent.expect("kill can be run").success());
    let end = given(child.wait_with_output().expect("argiope ends"));
    assert_eq!((end.code, end.err.as_str()), (Some(3), "argiope: interrupted before the end\n"));
}

#[test]
fn a_seed_without_successors_has_no_room_for_more_seeds() {
    let given = argiope("simulate --testbed hypercube:4 --seed 18446744073709551615 --seeds 2");
    assert_eq!(given.code, Some(2));
}

#[test]
fn a_ring_gives_the_whole_model_and_the_same_bytes_every_time() {
    let line = "simulate --testbed site-like --controllers 5 --crawlers 8 --scheme gossip --recovery redundancy \
                --failures at:20%,60% --json";
    let timeless = |out: String| out.split(",\"wall_ms\"").next().unwrap_or_default().to_owned();
    let [first, second] = [argiope(line), argiope(line)].map(|given| {
        assert_eq!((given.code, given.err.as_str()), (Some(0), ""));
        timeless(given.out)
    });
    assert_eq!(first, second);
    let run: Value = serde_json::from_str(&format!("{first}}}")).expect("it is JSON");
    assert_eq!(run["model_equal"], true);
    assert_eq!((run["controllers"].as_u64(), run["crawlers"].as_u64()), (Some(5), Some(8)));
    assert_eq!(run["failures"].as_u64(), Some(2));
    let messages = run["messages"].as_object().expect("by kind");
    let counted =
        messages.iter().filter(|(kind, _)| *kind != "ring").filter_map(|(_, count)| count.as_u64());
    assert_eq!(Some(counted.sum()), run["messages_total"].as_u64());
}

#[test]
fn options_of_rings_are_refused_without_one_and_misspelt_plans_always() {
    for (line, part) in [
        ("simulate --testbed site-like --scheme gossip", "--scheme requires --controllers"),
        (
            "simulate --testbed site-like --controllers 2 --failures at:200%",
            "is not a list of failures",
        ),
        ("simulate --testbed site-like --controllers 2 --latency soon", "is not a latency"),
        ("simulate --testbed site-like --controllers 2 --strategy adaptive", "one of greedy"),
        ("simulate --testbed site-like --scenario /nowhere/plan.toml", "No such file"),
        ("simulate --testbed site-like --controllers 2 --scheme static", "one coordinator"),
        ("simulate --testbed site-like --controllers 2 --division hash", "--division requires"),
        (
            "simulate --testbed site-like --controllers 1 --scheme static --failures at:50%",
            "has no ring",
        ),
        ("simulate --testbed site-like --replay /nowhere/run.trace", "No such file"),
        (
            "simulate --testbed site-like --controllers 2 --failures slow:0@5%",
            "is not a list of failures",
        ),
    ] {
        let given = argiope(line);
        assert_eq!((given.code, given.out.as_str()), (Some(2), ""), "{line}");
        assert!(given.err.contains(part), "{line}: {}", given.err);
    }
}

#[test]
fn work_divided_in_advance_gives_the_whole_model_with_any_strategy() {
    for division in ["stride", "range", "hash"] {
        let line = format!(
            "simulate --testbed site-like --controllers 1 --crawlers 4 --scheme static --division {division} \
             --strategy breadth-first --failures crawlers:at:30% --json"
        );
        let run: Value = serde_json::from_str(&output(&line)).expect("it is JSON");
        assert_eq!(
            (&run["model_equal"], &run["scheme"]),
            (&true.into(), &"static".into()),
            "{division}"
        );
    }
}

#[test]
fn a_trace_is_stepped_through_and_a_change_in_it_is_noticed() {
    let folder = std::env::temp_dir().join(format!("argiope-trace-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("there is room");
    let trace = folder.join("run.trace");
    output(&format!(
        "simulate --testbed bank-like --controllers 3 --crawlers 4 --failures restart:100ms@50% --trace {}",
        trace.display()
    ));
    let written = fs::read_to_string(&trace).expect("it was written");
    let replay = format!("simulate --testbed bank-like --replay {}", trace.display());
    let happened = written.split_once('\n').expect("there is a header").1;
    assert_eq!(output(&replay), happened);
    assert!(happened.contains("restarts with what its disk holds"));
    fs::write(
        &trace,
        written
            .replacen("crawler 1 ends", "crawler 1 sleeps", 1)
            .replacen("receives", "is shown", 1),
    )
    .expect("there is room");
    let given = argiope(&replay);
    assert_eq!(given.code, Some(1), "{}", given.err);
    assert!(given.err.contains("the replay differs: line "), "{}", given.err);
    for (content, part) in [("{}\n", "no trace"), ("", "no trace")] {
        fs::write(&trace, content).expect("there is room");
        let given = argiope(&replay);
        assert_eq!(given.code, Some(2), "{}", given.err);
        assert!(given.err.contains(part), "{}", given.err);
    }
    let other = format!("simulate --testbed site-like --replay {}", trace.display());
    fs::write(&trace, &written).expect("there is room");
    assert!(argiope(&other).err.contains("another application"));
    fs::remove_dir_all(&folder).expect("it is ours");
}
