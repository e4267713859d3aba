//! The temporary profile directory of one browser. Its name holds the owner's process id and start
//! time, and the owner holds a lock in it. So a later argiope recognises a stale profile, even
//! where it cannot see the owner's process (containers that share a temporary directory).

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use crate::procfs;

const PREFIX: &str = "argiope-profile-";
const LOCK: &str = "argiope.lock";
/// How often to try to remove a directory that dying processes still write to, and the pause
/// between.
const ATTEMPTS: u32 = 50;
const PAUSE: Duration = Duration::from_millis(20);

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A profile directory; dropping the value removes the directory.
#[derive(Debug)]
pub struct Profile {
    path: PathBuf,
    _lock: File,
}

impl Profile {
    /// Creates a new one in the given directory, which only this user can read.
    pub fn create(directory: &Path) -> io::Result<Self> {
        let owner = Owner::this_process()?;
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = directory.join(format!("{PREFIX}{}-{}-{number}", owner.pid, owner.started));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => {}
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                Err(error) => return Err(error),
            }
            let mut options = File::options();
            let lock = options.write(true).create_new(true).mode(0o600).open(path.join(LOCK))?;
            lock.lock()?;
            return Ok(Self { path, _lock: lock });
        }
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// Removes a profile with everything in it, without following symbolic links. The sweep of a later
/// start removes what is left.
pub(crate) fn remove(path: &Path) {
    for _ in 0..ATTEMPTS {
        match fs::remove_dir_all(path) {
            Ok(()) => return,
            Err(error) if error.kind() == io::ErrorKind::NotFound && !path.exists() => return,
            Err(_) => std::thread::sleep(PAUSE),
        }
    }
}

/// The process that a profile belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Owner {
    pub(crate) pid: u32,
    pub(crate) started: u64,
}

impl Owner {
    fn this_process() -> io::Result<Self> {
        let pid = std::process::id();
        let stat = procfs::stat(pid).ok_or_else(|| io::Error::other("/proc cannot be read"))?;
        Ok(Self { pid, started: stat.started })
    }

    /// Reads the name of a profile directory.
    pub(crate) fn of(name: &str) -> Option<Self> {
        let mut fields = name.strip_prefix(PREFIX)?.splitn(3, '-');
        let (pid, started) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        fields.next()?.parse::<u32>().ok()?;
        Some(Self { pid, started })
    }

    /// Whether it still runs, as far as /proc shows.
    pub(crate) fn is_alive(&self) -> bool {
        procfs::stat(self.pid).is_some_and(|stat| stat.started == self.started && !stat.zombie)
    }
}

/// Whether the owner of a profile holds its lock.
pub(crate) fn is_locked(path: &Path) -> bool {
    match File::open(path.join(LOCK)) {
        Ok(lock) => lock.try_lock().is_err(),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_profile_and_its_lock_are_private() {
        let profile = Profile::create(&std::env::temp_dir()).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o7777;
        assert_eq!(mode(profile.path()), 0o700);
        assert_eq!(mode(&profile.path().join(LOCK)), 0o600);
    }
}
