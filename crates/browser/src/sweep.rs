//! Clears away what argiope processes that were killed left behind: profiles, and browsers that still use
//! them. Touches nothing whose owner lives, nothing of another user, and follows no symbolic link.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, geteuid, kill_process};

use crate::procfs;
use crate::profile::{self, Owner};

/// What a sweep found and removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// The profiles of dead owners.
    pub profiles: Vec<PathBuf>,
    /// How many processes still used them.
    pub processes: usize,
}

/// Sweeps the directory in which profiles are made.
pub fn sweep(directory: &Path) -> Swept {
    let profiles = stale(directory);
    let mut swept = Swept::default();
    for path in profiles {
        swept.processes += kill_users(&path);
        profile::remove(&path);
        swept.profiles.push(path);
    }
    swept
}

fn stale(directory: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(directory) else { return Vec::new() };
    let mut found: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_name().to_str().and_then(Owner::of).is_some_and(|owner| !owner.lives()))
        .map(|entry| entry.path())
        .filter(|path| is_own_directory(path) && !profile::is_locked(path))
        .collect();
    found.sort();
    found
}

fn is_own_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == geteuid().as_raw())
}

fn kill_users(profile: &Path) -> usize {
    let mut killed = 0;
    for pid in procfs::processes() {
        if pid == std::process::id() || !procfs::own_command_line(pid).iter().any(|a| names(a, profile)) {
            continue;
        }
        let target = i32::try_from(pid).ok().and_then(Pid::from_raw);
        if target.is_some_and(|target| kill_process(target, Signal::KILL).is_ok()) {
            killed += 1;
        }
    }
    killed
}

/// Whether a command-line argument is a switch that points into the profile. A bare path is not enough:
/// that may be a person who looks at the files.
fn names(argument: &[u8], profile: &Path) -> bool {
    if !argument.starts_with(b"--") {
        return false;
    }
    let Some(equals) = argument.iter().position(|byte| *byte == b'=') else { return false };
    let rest = argument[equals + 1..].strip_prefix(profile.as_os_str().as_bytes());
    rest.is_some_and(|rest| rest.is_empty() || rest[0] == b'/')
}
