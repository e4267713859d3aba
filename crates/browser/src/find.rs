//! Finds Chromium and checks its version. Does not read the environment: the caller passes the
//! values.

use std::ffi::OsStr;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};

/// The oldest major version that argiope supports.
pub const OLDEST: u32 = 120;
/// How to install a browser.
pub const INSTALL: &str = "apt-get install chromium-headless-shell \
    (or apt-get install chromium; elsewhere any Chromium or Chrome)";
/// The names to search for, the cheapest browser first.
pub const NAMES: [&str; 4] = ["chromium-headless-shell", "chromium", "google-chrome", "chrome"];

/// How long a program may take to print its version.
const ANSWER: Duration = Duration::from_secs(20);

/// The program of a browser.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Executable {
    /// Its path.
    pub path: PathBuf,
    /// Its version, for example `156.0.8078.79`.
    pub version: String,
}

impl Executable {
    /// Whether its name says that it is the headless shell, a browser without windows.
    pub fn is_headless_shell(&self) -> bool {
        let name = self.path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        name.contains("headless-shell") || name.contains("headless_shell")
    }
}

/// Why no browser can be used.
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    /// No directory of the search path has one.
    #[error("no Chromium found; install it with: {INSTALL}")]
    Missing,
    /// The program is not a browser.
    #[error("{} cannot be run as a browser: {reason}; to install one: {INSTALL}", path.display())]
    Unusable {
        /// The program that was given or found.
        path: PathBuf,
        /// The cause.
        reason: String,
    },
    /// The version is too old.
    #[error("{} is version {version}; Chromium {OLDEST} or newer is needed", path.display())]
    TooOld {
        /// The program.
        path: PathBuf,
        /// Its version.
        version: String,
    },
}

/// Finds the browser: the given one, else the value of `ARGIOPE_BROWSER`, else the first of
/// [`NAMES`] in the directories of `search_path` (the value of `PATH`).
pub fn find(
    given: Option<&Path>,
    from_environment: Option<&OsStr>,
    search_path: Option<&OsStr>,
) -> Result<Executable, FindError> {
    let from_environment = from_environment.filter(|value| !value.is_empty()).map(Path::new);
    let asked = given.or(from_environment);
    let path = match asked {
        Some(path) if path.components().count() == 1 => {
            // A bare name is searched for, as in a shell.
            path.to_str()
                .and_then(|name| on_path(name, search_path))
                .unwrap_or_else(|| path.to_owned())
        }
        Some(path) => path.to_owned(),
        None => {
            NAMES.iter().find_map(|name| on_path(name, search_path)).ok_or(FindError::Missing)?
        }
    };
    let version = version_of(&path)?;
    Ok(Executable { path, version })
}

fn on_path(name: &str, search_path: Option<&OsStr>) -> Option<PathBuf> {
    std::env::split_paths(search_path?)
        .map(|directory| directory.join(name))
        .find(|path| is_executable(path))
}

fn is_executable(path: &Path) -> bool {
    path.metadata()
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

fn version_of(path: &Path) -> Result<String, FindError> {
    let unusable = |reason: String| FindError::Unusable { path: path.to_owned(), reason };
    let printed = ask_version(path).map_err(|error| unusable(sentence(&error)))?;
    let version = parse_version(&printed).ok_or_else(|| {
        let first: String = printed.lines().next().unwrap_or_default().chars().take(80).collect();
        unusable(format!("it answers --version with {first:?}"))
    })?;
    let major = version.split('.').next().and_then(|major| major.parse::<u32>().ok());
    if major.is_none_or(|major| major < OLDEST) {
        return Err(FindError::TooOld { path: path.to_owned(), version: version.to_owned() });
    }
    Ok(version.to_owned())
}

/// What the program prints for `--version`. Only standard output counts: wrapper scripts write to
/// standard error, and their exit code says nothing.
fn ask_version(path: &Path) -> io::Result<String> {
    let child = Command::new(path)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .spawn()?;
    let group = Pid::from_child(&child);
    let (sender, answer) = mpsc::channel();
    // On a thread, because a program that is not a browser may never end.
    std::thread::spawn(move || sender.send(child.wait_with_output()));
    match answer.recv_timeout(ANSWER) {
        Ok(output) => Ok(String::from_utf8_lossy(&output?.stdout).into_owned()),
        Err(_) => {
            // The program has not ended, so the group is still its own.
            let _ = kill_process_group(group, Signal::KILL);
            Err(io::Error::other("it does not answer --version"))
        }
    }
}

fn sentence(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "the file does not exist".to_owned(),
        io::ErrorKind::PermissionDenied => "the file is not executable".to_owned(),
        _ => error.to_string(),
    }
}

/// The first word of digits and dots in `Chromium 156.0.8078.79 built on Debian`.
fn parse_version(printed: &str) -> Option<&str> {
    printed.split_whitespace().find(|word| {
        word.contains('.')
            && word.split('.').all(|number| {
                !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_whatever_stands_around_them() {
        for (printed, version) in [
            (
                "Chromium 156.0.8078.79 built on Debian GNU/Linux 12 (bookworm)\n",
                Some("156.0.8078.79"),
            ),
            ("Google Chrome 120.0.6099.71 \n", Some("120.0.6099.71")),
            ("HeadlessChrome 80.0", Some("80.0")),
            ("GNU bash, version five", None),
            ("", None),
        ] {
            assert_eq!(parse_version(printed), version, "{printed}");
        }
    }

    #[test]
    fn without_a_browser_the_error_says_what_to_install() {
        let error = find(None, None, Some(OsStr::new("/nonexistent"))).unwrap_err();
        assert!(matches!(error, FindError::Missing));
        assert!(error.to_string().contains("apt-get install chromium"));
    }

    #[test]
    fn a_path_that_does_not_exist_is_named() {
        let error = find(Some(Path::new("/nonexistent/chromium")), None, None).unwrap_err();
        assert!(error.to_string().starts_with("/nonexistent/chromium cannot be run"), "{error}");
    }
}
