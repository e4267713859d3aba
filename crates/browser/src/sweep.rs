//! Removes what killed argiope processes left behind: profiles, and browsers that still use them.
//! Leaves alone what a living owner or another user has, and follows no symbolic link.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, geteuid, kill_process};

use crate::procfs;
use crate::profile::{self, Owner};

/// What a sweep removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Swept {
    /// The profiles of dead owners.
    pub profiles: Vec<PathBuf>,
    /// The number of processes that still used them.
    pub processes: usize,
}

/// Sweeps the directory in which profiles are created.
pub fn sweep(directory: &Path) -> Swept {
    let mut swept = Swept::default();
    for path in stale(directory) {
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
        .filter(|entry| {
            entry.file_name().to_str().and_then(Owner::of).is_some_and(|owner| !owner.is_alive())
        })
        .map(|entry| entry.path())
        .filter(|path| is_own_directory(path) && !profile::is_locked(path))
        .collect();
    found.sort();
    found
}

fn is_own_directory(path: &Path) -> bool {
    fs::symlink_metadata(path)
        .is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == geteuid().as_raw())
}

/// Kills the processes that name the profile, and those that they started: not all children of a
/// browser name it.
fn kill_users(profile: &Path) -> usize {
    let processes = procfs::processes();
    let named =
        |pid: &u32| *pid != std::process::id() && names(&procfs::own_command_line(*pid), profile);
    let mut users: BTreeSet<u32> = processes.iter().copied().filter(named).collect();
    if users.is_empty() {
        return 0;
    }
    loop {
        let before = users.len();
        for pid in &processes {
            if procfs::stat(*pid).is_some_and(|stat| users.contains(&stat.parent)) {
                users.insert(*pid);
            }
        }
        if users.len() == before {
            break;
        }
    }
    let kill = |pid: &u32| {
        let pid = i32::try_from(*pid).ok().and_then(Pid::from_raw);
        pid.is_some_and(|pid| kill_process(pid, Signal::KILL).is_ok())
    };
    users.iter().filter(|pid| kill(pid)).count()
}

/// Whether a command line has a switch that points to the profile or into it. A bare path is not
/// enough: a person may look at the files. Chromium's children join their arguments with blanks.
fn names(command_line: &[u8], profile: &Path) -> bool {
    let wanted = profile.as_os_str().as_bytes();
    let ends = |byte: u8| byte == 0 || byte == b' ';
    (0..command_line.len()).any(|at| {
        let Some(rest) =
            command_line[at..].strip_prefix(b"=").and_then(|rest| rest.strip_prefix(wanted))
        else {
            return false;
        };
        let start =
            command_line[..at].iter().rposition(|byte| ends(*byte)).map_or(0, |space| space + 1);
        command_line[start..].starts_with(b"--")
            && rest.first().is_none_or(|byte| ends(*byte) || *byte == b'/')
    })
}

#[cfg(test)]
mod tests {
    use std::io::Read;
    use std::os::unix::fs::symlink;
    use std::process::{Command, Stdio};

    use super::*;
    use crate::profile::Profile;

    /// A directory for the profiles of one test.
    struct Place(PathBuf);

    impl Place {
        fn new(name: &str) -> Self {
            let path =
                std::env::temp_dir().join(format!("argiope-sweep-{name}-{}", std::process::id()));
            fs::create_dir(&path).unwrap();
            Self(path)
        }

        /// The profile of a process that has ended.
        fn stale(&self) -> PathBuf {
            let mut dead = Command::new("/bin/true").spawn().unwrap();
            dead.wait().unwrap();
            let path = self.0.join(format!("argiope-profile-{}-1-0", dead.id()));
            fs::create_dir(&path).unwrap();
            fs::write(path.join("Cookies"), "c").unwrap();
            path
        }
    }

    impl Drop for Place {
        fn drop(&mut self) {
            fs::remove_dir_all(&self.0).unwrap();
        }
    }

    #[test]
    fn the_profile_of_a_dead_owner_goes_with_the_processes_that_use_it() {
        let place = Place::new("dead");
        let stale = place.stale();
        let mut user = Command::new("/bin/sh")
            .args([
                "-c",
                "echo there; cat; true",
                "sh",
                &format!("--user-data-dir={}", stale.display()),
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // A process that was just started has no command line yet.
        let mut said = [0; 5];
        user.stdout.as_mut().unwrap().read_exact(&mut said).unwrap();
        let swept = sweep(&place.0);
        assert_eq!(swept.profiles, std::slice::from_ref(&stale));
        assert!(swept.processes >= 1);
        assert!(!user.wait().unwrap().success());
        assert!(!stale.exists());
    }

    #[test]
    fn the_profile_of_a_living_owner_stays() {
        let place = Place::new("living");
        let profile = Profile::create(&place.0).unwrap();
        assert_eq!(sweep(&place.0), Swept::default());
        assert!(profile.path().exists());
    }

    #[test]
    fn a_locked_profile_stays_although_its_owner_cannot_be_seen() {
        let place = Place::new("locked");
        let stale = place.stale();
        let lock = fs::File::create(stale.join("argiope.lock")).unwrap();
        lock.lock().unwrap();
        assert_eq!(sweep(&place.0), Swept::default());
        drop(lock);
        assert_eq!(sweep(&place.0).profiles, [stale]);
    }

    #[test]
    fn symbolic_links_and_strangers_stay() {
        let place = Place::new("links");
        let target = place.0.join("precious");
        fs::create_dir(&target).unwrap();
        symlink(&target, place.0.join("argiope-profile-4000000-1-0")).unwrap();
        fs::create_dir(place.0.join("argiope-profile-4000000-1-0-else")).unwrap();
        fs::write(place.0.join("argiope-profile-4000000-1-1"), "a file").unwrap();
        assert_eq!(sweep(&place.0), Swept::default());
        assert!(target.exists());
    }

    #[test]
    fn a_link_within_a_stale_profile_is_not_followed() {
        let place = Place::new("inside");
        let target = place.0.join("precious");
        fs::create_dir(&target).unwrap();
        fs::write(target.join("file"), "f").unwrap();
        symlink(&target, place.stale().join("link")).unwrap();
        assert_eq!(sweep(&place.0).profiles.len(), 1);
        assert!(target.join("file").exists());
    }

    #[test]
    fn only_switches_that_point_into_the_profile_count() {
        let profile = Path::new("/profiles/argiope-profile-1-2-3");
        for (line, expected) in [
            ("chromium\0--user-data-dir=/profiles/argiope-profile-1-2-3\0--mute-audio", true),
            ("chromium --type=zygote --user-data-dir=/profiles/argiope-profile-1-2-3 --x", true),
            ("handler\0--database=/profiles/argiope-profile-1-2-3/Crashpad", true),
            ("chromium\0--user-data-dir=/profiles/argiope-profile-1-2-33", false),
            ("chromium\0--user-data-dir=/other/profiles/argiope-profile-1-2-3", false),
            ("ls\0/profiles/argiope-profile-1-2-3", false),
            ("env\0A=/profiles/argiope-profile-1-2-3", false),
            ("", false),
        ] {
            assert_eq!(names(line.as_bytes(), profile), expected, "{line}");
        }
    }
}
