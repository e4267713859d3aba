//! The directory of a new run: chosen if none was given, and taken away again if the crawl could not
//! begin. Takes away only what this process made.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use argiope_runtime::store;

use argiope::failure::CommandFailure;

/// A directory for a new run.
pub struct RunDir {
    /// Where.
    pub path: PathBuf,
    /// What was not there before, the innermost first.
    made: Vec<PathBuf>,
}

impl RunDir {
    /// The directory that was asked for. The store makes it and says what is wrong with it.
    pub fn given(path: &Path) -> Self {
        let missing =
            path.ancestors().take_while(|above| !above.as_os_str().is_empty() && !above.exists());
        Self { path: path.to_owned(), made: missing.map(Path::to_owned).collect() }
    }

    /// A new directory `out/NAME-1`, or with the next number that is free.
    pub fn chosen(name: &str) -> Result<Self, CommandFailure> {
        let out = Path::new("out");
        let cannot = |path: &Path, error: &std::io::Error| {
            CommandFailure::Input(format!(
                "cannot make the folder {}: {error}; choose one with --out",
                path.display()
            ))
        };
        let mut made = Vec::new();
        if !out.exists() {
            fs::create_dir(out).map_err(|error| cannot(out, &error))?;
            made.push(out.to_owned());
        }
        for number in 1_u64.. {
            let path = out.join(format!("{name}-{number}"));
            match fs::create_dir(&path) {
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

    /// Takes the run away that has not begun, and every folder that was made for it and is empty now.
    pub fn undo(&self) {
        // What cannot be removed stays: it harms nobody, and the reason of the failure is what matters.
        let _ = fs::remove_file(self.path.join(store::FILE));
        for folder in &self.made {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// The part of a folder's name that says what was crawled.
pub fn name_of(site: &str) -> String {
    let plain =
        |one: char| if one.is_ascii_alphanumeric() || one == '.' || one == '-' { one } else { '_' };
    let name: String = site.chars().take(80).map(plain).collect();
    // A name of dots would be another folder.
    name.trim_start_matches(['.', '-']).to_owned()
}

#[cfg(test)]
mod tests {
    use super::name_of;

    #[test]
    fn a_host_cannot_lead_out_of_the_folder() {
        assert_eq!(name_of("example.com"), "example.com");
        assert_eq!(name_of("[::1]"), "___1_");
        assert_eq!(name_of("../../etc"), "_.._etc");
        assert_eq!(name_of(".."), "");
    }
}
