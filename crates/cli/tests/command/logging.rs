//! Log lines: their formats, and how they are selected.

use std::io::{BufRead, BufReader};
use std::process::Stdio;

use serde_json::Value;

use crate::{command, folder, given};

/// The first log line of a controller that is started with these options.
fn first_line(name: &str, options: &[&str], selection: Option<&str>) -> String {
    let mut controller = command(options);
    controller.args(["controller", "--listen", "127.0.0.1:0", "--with-parent", "--data"]);
    controller.arg(folder(name).join("data")).env_remove("RUST_LOG");
    if let Some(selection) = selection {
        controller.env("RUST_LOG", selection);
    }
    controller.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut controller = controller.spawn().expect("a controller starts");
    let mut address = String::new();
    let out = controller.stdout.take().expect("there is an output");
    BufReader::new(out).read_line(&mut address).expect("it says where it listens");
    // It leaves when its standard input ends.
    drop(controller.stdin.take());
    let ended = given(controller.wait_with_output().expect("it leaves"));
    assert_eq!(ended.code, Some(0), "{}", ended.err);
    ended.err.lines().next().unwrap_or_default().to_owned()
}

const MESSAGE: &str = "without certificates: only loopback addresses are served";

#[test]
fn a_controller_logs_what_happens_as_text_or_json() {
    assert_eq!(first_line("log-text", &[], None), format!("argiope: {MESSAGE}"));
    let line = first_line("log-json", &["--log-format", "json"], None);
    let object: Value = serde_json::from_str(&line).expect("a line is an object");
    assert_eq!((&object["message"], &object["level"]), (&MESSAGE.into(), &"INFO".into()));
    assert!(object["timestamp"].is_string() && object["target"].is_string(), "{line}");
}

#[test]
fn levels_can_be_chosen() {
    assert_eq!(first_line("log-off", &[], Some("off")), "");
    assert_eq!(first_line("log-info", &[], Some("info")), format!("argiope: {MESSAGE}"));
}

#[test]
fn a_selection_that_cannot_be_read_is_bad_input() {
    for bad in ["loud", "argiope=loud"] {
        let run = command(&["strategies"]).env("RUST_LOG", bad).output();
        let given = given(run.expect("argiope can be run"));
        assert_eq!((given.code, given.out.as_str()), (Some(2), ""), "{bad}");
        assert!(given.err.starts_with("argiope: cannot read RUST_LOG: "), "{}", given.err);
        assert_eq!(given.err.lines().count(), 1, "{}", given.err);
    }
}
