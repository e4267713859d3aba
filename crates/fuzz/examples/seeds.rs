//! Writes the valid inputs that the corpora begin with:
//! `cargo run -p argiope-fuzz --example seeds`. Files that are named otherwise, such as inputs that
//! once failed, stay.

use std::error::Error;
use std::fs;

use argiope_fuzz::{corpus_directory, targets};

fn main() -> Result<(), Box<dyn Error>> {
    for target in targets::ALL {
        let directory = corpus_directory(target.name);
        fs::create_dir_all(&directory)?;
        for entry in fs::read_dir(&directory)? {
            let path = entry?.path();
            if path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("seed-")) {
                fs::remove_file(path)?;
            }
        }
        let (mut files, mut bytes) = (0, 0);
        for (name, input) in (target.seeds)() {
            fs::write(directory.join(format!("seed-{name}")), &input)?;
            (files, bytes) = (files + 1, bytes + input.len());
        }
        println!("{}: {files} seeds, {bytes} bytes", target.name);
    }
    Ok(())
}
