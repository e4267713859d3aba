//! `argiope certs`: an authority of one's own, and a certificate for each machine of a ring.

use std::path::PathBuf;

use argiope_wire::{AuthorityError, authority};
use clap::Subcommand;

use argiope::failure::CommandFailure;
use argiope::{format, output};

const AFTER_HELP: &str = "\
Examples:
  argiope certs init authority
  argiope certs issue one --authority authority --host 10.0.0.1 --out certs-one

The authority's key stays where it was made; `--out` is what one machine gets (node.pem, node.key, ca.pem). Every \
process of a ring, and whoever uses it, has such a directory and names it with --certs. Certificates that are \
exchanged are used from the next connection on.";

/// As typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct CertsArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Make an authority: a directory with its certificate and its key
    #[command(after_help = "Examples:\n  argiope certs init my-authority")]
    Init {
        /// The directory, new or without an authority
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Make a certificate for one machine or one user
    #[command(
        after_help = "Examples:\n  argiope certs issue two --authority my-authority --host 10.0.0.2 --out certs-two"
    )]
    Issue {
        /// What it is called, for people
        #[arg(value_name = "NAME")]
        name: String,
        /// The authority's directory
        #[arg(long, value_name = "DIR")]
        authority: PathBuf,
        /// The directory for the certificate, new or without one
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// A host name or address of the machine (may be given several times)
        #[arg(long, value_name = "HOST")]
        host: Vec<String>,
    },
}

pub fn run(args: &CertsArgs) -> Result<(), CommandFailure> {
    let wrong = |error: AuthorityError| CommandFailure::Input(error.to_string());
    match &args.what {
        What::Init { directory } => {
            authority::init(directory).map_err(wrong)?;
            let directory = format::path(directory);
            output::print(&format!(
                "an authority is in {directory}; keep its ca.key to yourself. For each machine:\n  {} certs issue NAME \
                 --authority {directory} --host ADDRESS --out DIR\n",
                format::program()
            ))
        }
        What::Issue { name, authority, out, host } => {
            authority::issue(authority, name, host, out).map_err(wrong)?;
            output::print(&format!("a certificate for {name} is in {}\n", format::path(out)))
        }
    }
}
