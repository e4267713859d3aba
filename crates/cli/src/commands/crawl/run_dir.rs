//! The directory of a new run. If the crawl cannot begin, it is removed again, but only what this
//! process made.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use argiope_runtime::settings::Scope;
use argiope_runtime::{private, store};

use super::DEMO;
use argiope::failure::CommandFailure;

/// The directory of a new run.
pub struct RunDir {
    /// Its path.
    pub path: PathBuf,
    /// The directories that this process made, the innermost first.
    made: Vec<PathBuf>,
}

impl RunDir {
    /// The directory of --out, or a numbered one that is named after the site or the demo.
    pub fn choose(out: Option<&Path>, url: &str, demo: bool) -> Result<Self, CommandFailure> {
        let scope = Scope::of(url).map_err(CommandFailure::Input)?;
        match out {
            Some(path) => Ok(Self::given(path)),
            None if demo => Self::numbered(DEMO),
            None => Self::numbered(&name_of(&scope.site)),
        }
    }

    /// The directory of --out, which the store makes and checks.
    fn given(path: &Path) -> Self {
        let missing =
            path.ancestors().take_while(|above| !above.as_os_str().is_empty() && !above.exists());
        Self { path: path.to_owned(), made: missing.map(Path::to_owned).collect() }
    }

    /// Makes `out/NAME-1`, or with the next free number.
    fn numbered(name: &str) -> Result<Self, CommandFailure> {
        let out = Path::new("out");
        let cannot = |path: &Path, error: &std::io::Error| {
            CommandFailure::Input(format!(
                "cannot make the directory {}: {error}; choose another with --out",
                path.display()
            ))
        };
        let mut made = Vec::new();
        if !out.exists() {
            private::create_dir(out).map_err(|error| cannot(out, &error))?;
            made.push(out.to_owned());
        }
        for number in 1_u64.. {
            let path = out.join(format!("{name}-{number}"));
            match private::create_dir(&path) {
                Ok(()) => {
                    made.insert(0, path.clone());
                    return Ok(Self { path, made });
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot(&path, &error)),
            }
        }
        unreachable!("there is always a larger number")
    }

    /// Removes a run that has not begun, and the directories made for it that are empty.
    pub fn undo(&self) {
        // Errors are ignored: the user needs the first failure, and leftovers are harmless.
        let _ = fs::remove_file(self.path.join(store::FILE));
        for directory in &self.made {
            let _ = fs::remove_dir(directory);
        }
    }
}

/// Makes a directory name from a site.
fn name_of(site: &str) -> String {
    let plain =
        |one: char| if one.is_ascii_alphanumeric() || one == '.' || one == '-' { one } else { '_' };
    let name: String = site.chars().take(80).map(plain).collect();
    // A name of dots would be another directory.
    name.trim_start_matches(['.', '-']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn a_host_cannot_lead_out_of_the_directory() {
        assert_eq!(name_of("example.com"), "example.com");
        assert_eq!(name_of("[::1]"), "___1_");
        assert_eq!(name_of("../../etc"), "_.._etc");
        assert_eq!(name_of(".."), "");
    }
}
