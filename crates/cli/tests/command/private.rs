//! Only the owner can read what a crawl stores, whatever the umask is.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::{Given, folder, given};

/// Runs `argiope` in a folder under an umask.
fn under(umask: &str, here: &Path, line: &str) -> Given {
    let mut command = Command::new("sh");
    command.args(["-c", "umask $0; exec \"$@\"", umask, env!("CARGO_BIN_EXE_argiope")]);
    command.args(line.split_whitespace()).current_dir(here).stdin(Stdio::null());
    given(command.output().expect("argiope can be run"))
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).expect("it is there").permissions().mode() & 0o7777
}

/// The number of files below a directory. Each of them and each directory is private.
fn private_files(directory: &Path) -> usize {
    let mut files = 0;
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            assert_eq!(format!("{:o}", mode(&path)), "700", "{}", path.display());
            files += private_files(&path);
        } else {
            assert_eq!(format!("{:o}", mode(&path)), "600", "{}", path.display());
            files += 1;
        }
    }
    files
}

#[test]
fn run_directories_and_exports_are_private() {
    for umask in ["022", "000"] {
        let here = folder(&format!("private-{umask}"));
        let run = |line: &str, code: i32| {
            let end = under(umask, &here, line);
            assert_eq!(end.code, Some(code), "argiope {line}: {}", end.err);
        };
        run("crawl --demo --max-states 3 --screenshots --quiet", 4);
        run("crawl --demo --max-states 2 --quiet --out deep/er/run", 4);
        run("crawl --resume deep/er/run --max-states 3 --quiet", 4);
        run("export out/demo-1 --format model --out model.json", 0);
        run("export out/demo-1 --format source --state initial --out page.html", 0);
        run("export out/demo-1 --format screenshot --state 1 --out page.png", 0);
        // An export that replaces a file of another mode.
        fs::write(here.join("again.json"), "").expect("a file");
        run("export out/demo-1 --format model --out again.json", 0);
        assert_eq!(private_files(&here), 6);
    }
}

#[test]
fn a_directory_of_the_user_keeps_its_mode_and_the_files_in_it_are_private() {
    let here = folder("private-given");
    let mine = here.join("mine");
    fs::create_dir(&mine).expect("a directory");
    fs::set_permissions(&mine, fs::Permissions::from_mode(0o755)).expect("a mode");
    let end = under("000", &here, "crawl --demo --max-states 2 --quiet --out mine");
    assert_eq!(end.code, Some(4), "{}", end.err);
    assert_eq!(format!("{:o}", mode(&mine)), "755");
    assert_eq!(private_files(&mine), 1);
}

#[test]
fn the_data_of_a_ring_and_of_its_client_are_private() {
    for umask in ["022", "000"] {
        let here = folder(&format!("private-ring-{umask}"));
        let line = "local-cluster --controllers 2 --crawlers 1 --data ring/data \
                    -- crawl --demo --max-states 5 --quiet --out run";
        let end = under(umask, &here, line);
        assert_eq!(end.code, Some(4), "{}", end.err);
        // Two controllers and the client.
        assert_eq!(private_files(&here), 3);
    }
}
