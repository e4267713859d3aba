//! The real benches, run as `argiope bench` starts them.

mod help;
mod simulated;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::OnceLock;

/// The lab's program.
const LAB: &str = env!("CARGO_BIN_EXE_argiope-lab");

/// What a run of a program gave.
struct Given {
    code: Option<i32>,
    out: String,
    err: String,
}

fn given(output: Output) -> Given {
    Given {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).expect("the output is text"),
        err: String::from_utf8(output.stderr).expect("the messages are text"),
    }
}

/// Runs a bench with arguments written as a person would write them (none with a space in it).
fn bench(line: &str) -> Given {
    let mut command = Command::new(LAB);
    command.args(line.split_whitespace()).stdin(Stdio::null());
    given(command.output().expect("the lab can be run"))
}

/// The output of a run that must succeed and say nothing on standard error.
fn output(line: &str) -> String {
    let given = bench(line);
    assert_eq!((given.code, unexpected(&given.err)), (Some(0), vec![]), "argiope bench {line}");
    given.out
}

/// The messages without progress, which a slow machine shows, and without the warning about the
/// sandbox, which appears when tests run as root.
fn unexpected(err: &str) -> Vec<&str> {
    let is_expected = |line: &&str| line.contains(" %, ") || line.ends_with("sandbox is off");
    err.lines().filter(|line| !is_expected(line)).collect()
}

/// The program of the product beside the lab. Cargo builds it with the whole workspace; for tests
/// of the lab alone it is built here.
fn argiope() -> &'static Path {
    static ARGIOPE: OnceLock<PathBuf> = OnceLock::new();
    ARGIOPE.get_or_init(|| {
        let path = Path::new(LAB).with_file_name("argiope");
        if !path.exists() {
            let build = ["build", "--quiet", "--profile", "test", "--package", "argiope"];
            let built = Command::new(env!("CARGO")).args(build).status();
            assert!(built.is_ok_and(|status| status.success()), "argiope cannot be built");
        }
        path
    })
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
