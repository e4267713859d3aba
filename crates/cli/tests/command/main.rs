//! The real command, run as a person or a script would run it.

mod brakes;
mod certs;
mod coverage;
mod crawl;
mod django;
mod failures;
mod form_login;
mod help;
mod logging;
mod login;
mod looking;
mod private;
mod refused;
mod simulate;
mod unchanged;

use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A model file: a lamp with one switch.
const SWITCH: &str = r#"{"format":"argiope-model/1","name":"switch","initial":0,"reset_cost":2.0,
"actions":["on","off"],"states":[{"actions":[[0,1]]},{"actions":[[1,0]]}]}"#;

/// What a run of the command gave.
struct Given {
    code: Option<i32>,
    out: String,
    err: String,
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_argiope"));
    command.args(arguments).stdin(Stdio::null());
    command
}

/// Runs `argiope` with arguments written as a person would write them (none with a space in it).
fn argiope(line: &str) -> Given {
    let arguments: Vec<&str> = line.split_whitespace().collect();
    given(command(&arguments).output().expect("argiope can be run"))
}

fn given(output: Output) -> Given {
    Given {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("the output is text"),
        err: String::from_utf8(output.stderr).expect("the messages are text"),
    }
}

/// The messages without the warnings of every crawl: that actions may change data, and that there
/// is no sandbox, which appears when tests run as root.
fn without_warnings(err: &str) -> &str {
    let data = "argiope: actions may change data of the application; with --safe only requests \
                that change nothing reach it\n";
    let err = err.strip_prefix(data).unwrap_or(err);
    err.strip_prefix("argiope: running as root, so the browser's sandbox is off\n").unwrap_or(err)
}

/// The output of a run that must succeed and say nothing on standard error.
fn output(line: &str) -> String {
    let given = argiope(line);
    assert_eq!((given.code, given.err.as_str()), (Some(0), ""), "argiope {line}");
    given.out
}

/// An empty folder of its own for a test.
fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).expect("the folder of the last run can go");
    }
    std::fs::create_dir_all(&folder).expect("a folder for the test");
    folder
}
