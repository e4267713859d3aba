//! The browser that the tests drive, and facts about processes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use argiope_browser::cdp::Evaluate;
use argiope_browser::find::find;
use argiope_browser::{CallError, LaunchSettings, ProtocolConnection, SessionId};
use serde_json::Value;

/// Settings for the browser that argiope would find, with its profile in the given directory.
pub fn settings(profiles: &Path) -> LaunchSettings {
    let variable = |name| std::env::var_os(name);
    let executable =
        find(None, variable("ARGIOPE_BROWSER").as_deref(), variable("PATH").as_deref()).unwrap();
    LaunchSettings::new(executable, profiles.to_owned())
}

/// Evaluates an expression and gives its value.
pub async fn evaluate(
    connection: &ProtocolConnection,
    session: &SessionId,
    expression: &str,
) -> Result<Value, CallError> {
    let evaluation = connection.call(Some(session), &Evaluate::value(expression)).answer().await?;
    Ok(evaluation.value()?.unwrap_or_default())
}

/// The processes whose command line holds a text.
pub fn processes_with(text: &str) -> BTreeSet<u32> {
    let holds = |pid: &u32| {
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        *pid != std::process::id() && String::from_utf8_lossy(&line).contains(text)
    };
    let names = std::fs::read_dir("/proc").unwrap().flatten();
    names.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(holds).collect()
}

/// Whether a process has ended, even if its parent has not waited for it yet.
pub fn has_ended(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.is_empty() || stat.contains(") Z ") || stat.contains(") X ")
}

/// Sends a signal, by its name; returns whether the process exists.
pub fn signal(name: &str, pid: u32) -> bool {
    Command::new("kill").args([&format!("-{name}"), &pid.to_string()]).status().unwrap().success()
}

/// A directory of one test; dropping the value removes it.
pub struct Place(pub PathBuf);

impl Place {
    /// Creates it.
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("argiope-{name}-{}", std::process::id()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
