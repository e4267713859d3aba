//! Runs a target with one input, which is a file or hexadecimal digits, and lets it panic:
//! `cargo run -p argiope-fuzz --example replay -- TARGET FILE`.

use std::error::Error;

use argiope_fuzz::targets;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(name), Some(input)) = (arguments.next(), arguments.next()) else {
        return Err("usage: replay TARGET FILE, or replay TARGET HEX".into());
    };
    let Some(target) = targets::find(&name) else {
        let names: Vec<&str> = targets::ALL.iter().map(|target| target.name).collect();
        return Err(format!("there is no target {name:?}; choose one of {names:?}").into());
    };
    let input = match std::fs::read(&input) {
        Ok(bytes) => bytes,
        Err(error) => from_hex(&input).ok_or(error)?,
    };
    let reached = (target.run)(&input);
    println!(
        "{name} survives {} bytes: {} entries accepted, {} refused",
        input.len(),
        reached.accepted(),
        reached.refused()
    );
    Ok(())
}

fn from_hex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).ok();
    (0..text.len()).step_by(2).map(byte).collect()
}
