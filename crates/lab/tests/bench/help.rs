//! The help of the lab, by way of `argiope bench`; every example in it is run.

use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Mutex;

use crate::{argiope, bench, folder, given, output, unexpected};

/// What examples call an earlier program; here a program is compared with itself.
const EARLIER: &str = "../before/argiope";

/// The benches that the help lists.
fn benches() -> Vec<String> {
    let help = output("--help");
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    let names = commands.take_while(|line| !line.is_empty());
    names.filter_map(|line| line.split_whitespace().next().map(str::to_owned)).collect()
}

/// Runs the examples of a bench.
fn run_examples(name: &str, here: &Path) {
    let programs = argiope().parent().expect("a program is in a folder").to_owned();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    let help = output(&format!("{name} --help"));
    let examples: Vec<&str> =
        help.lines().filter(|line| line.starts_with("  argiope bench ")).collect();
    assert!(!examples.is_empty(), "'{name}' has no example");
    for example in examples {
        let line = example.replace(EARLIER, &argiope().display().to_string());
        let run = Command::new("sh")
            .args(["-c", &line])
            .current_dir(here)
            .env("PATH", &path)
            .stdin(Stdio::null())
            .output();
        let end = given(run.expect("a shell can be run"));
        assert_eq!((end.code, unexpected(&end.err)), (Some(0), vec![]), "{example}");
    }
}

#[test]
fn every_example_in_the_help_works() {
    let names = benches();
    assert!(names.len() >= 7, "benches were not found: {names:?}");
    let here = folder("help-examples");
    // Some benches compute and some wait: three at a time take half of the time.
    let waiting = Mutex::new(names.iter());
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let next = || waiting.lock().expect("no thread panics with it").next();
                while let Some(name) = next() {
                    let place = here.join(name);
                    std::fs::create_dir(&place).expect("a folder for the bench");
                    run_examples(name, &place);
                }
            });
        }
    });
}

#[test]
fn argiope_bench_shows_the_help_of_the_lab() {
    for line in ["--help", "speed --help"] {
        let started = Command::new(argiope()).arg("bench").args(line.split(' ')).output();
        let started = given(started.expect("argiope can be run"));
        assert_eq!((started.code, started.out), (Some(0), output(line)), "{}", started.err);
    }
    assert!(output("--help").contains("Usage: argiope bench [OPTIONS] <COMMAND>"));
}

#[test]
fn wrong_arguments_take_one_line() {
    let check = |line: &str, expected: &str| {
        let given = bench(line);
        assert_eq!((given.code, given.out.as_str()), (Some(2), ""), "{}", given.err);
        assert_eq!(given.err.lines().count(), 1, "{}", given.err);
        assert!(given.err.starts_with("argiope: "), "{}", given.err);
        assert!(given.err.contains(expected), "'{expected}' is not in: {}", given.err);
    };
    check("strategies --jobs many", "--jobs");
    check("speed --part memory --states 10 --transitions 5", "5000");
    check("cluster --baseline argiope", "--only capacity or --only speed-up");
    check("browser --baseline /nonexistent", "cannot run /nonexistent: No such file");
    check("cluster --only capacity --baseline /bin/true", "it is not argiope");
    check("sped", "a similar subcommand exists: 'speed'");
}
