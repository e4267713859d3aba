//! Mutates the corpus of one target for some seconds:
//! `cargo run -p argiope-fuzz --example mutate -- TARGET SECONDS [SEED]`.

use std::error::Error;
use std::time::Duration;

use argiope_fuzz::runner::mutate_for;
use argiope_fuzz::{corpus, targets};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, seconds, rest @ ..] = arguments.as_slice() else {
        return Err("usage: mutate TARGET SECONDS [SEED]".into());
    };
    let target = targets::find(name).ok_or_else(|| format!("there is no target {name:?}"))?;
    let seed = rest.first().map_or(Ok(1), |seed| seed.parse())?;
    let inputs: Vec<Vec<u8>> = corpus(name)?.into_iter().map(|(_, input)| input).collect();
    match mutate_for(target, &inputs, seed, Duration::from_secs(seconds.parse()?)) {
        Ok(summary) => println!("{summary}"),
        Err(failure) => return Err(failure.to_string().into()),
    }
    Ok(())
}
