//! The browser that the tests drive. Where none is installed the tests fail.

use argiope_browser::LaunchSettings;
use argiope_browser::find::find;

/// Settings for the browser that argiope would find.
pub fn settings() -> LaunchSettings {
    let variable = |name| std::env::var_os(name);
    let executable = find(None, variable("ARGIOPE_BROWSER").as_deref(), variable("PATH").as_deref()).unwrap();
    LaunchSettings::new(executable, std::env::temp_dir())
}
