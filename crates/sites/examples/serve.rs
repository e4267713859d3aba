//! Serves a fixture until it is interrupted: `cargo run -p argiope-sites --example serve -- demo`.
//! Without a name it lists the fixtures.

use std::process::ExitCode;

use argiope_sites::{Server, Site};

fn main() -> ExitCode {
    let Some(name) = std::env::args().nth(1) else {
        Site::names().for_each(|name| println!("{name}"));
        return ExitCode::SUCCESS;
    };
    match Server::start(&name) {
        Ok(server) => {
            println!("{}", server.url());
            loop {
                std::thread::park();
            }
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
