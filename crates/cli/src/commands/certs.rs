//! `argiope certs`: a certificate authority, and a certificate for each machine of a cluster.

use std::path::PathBuf;

use argiope_wire::{AuthorityError, authority};
use clap::Subcommand;

use argiope::failure::CommandFailure;
use argiope::{format, output};

const AFTER_HELP: &str = "\
Examples:
  argiope certs init authority
  argiope certs issue one --authority authority --host 10.0.0.1 --out certs-one

Keep the authority's directory private. Copy the directory of --out (node.pem, node.key, ca.pem) \
to one machine. Every controller, crawler and client names such a directory with --certs. \
Processes use a replaced certificate from the next connection on.";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct CertsArgs {
    #[command(subcommand)]
    command: CertsCommand,
}

#[derive(Subcommand)]
enum CertsCommand {
    /// Make an authority: a directory with its certificate and key
    #[command(after_help = "Examples:\n  argiope certs init my-authority")]
    Init {
        /// Write to this directory, which is new or has no authority
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Issue a certificate for a machine or a user
    #[command(
        after_help = "Examples:\n  argiope certs issue two --authority my-authority --host 10.0.0.2 --out certs-two"
    )]
    Issue {
        /// Name the machine or user
        #[arg(value_name = "NAME")]
        name: String,
        /// Sign with the authority in DIR
        #[arg(long, value_name = "DIR")]
        authority: PathBuf,
        /// Write to DIR, which is new or has no certificate
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Include this host name or address of the machine (may be given several times)
        #[arg(long, value_name = "HOST")]
        host: Vec<String>,
    },
}

/// Makes an authority, or a certificate.
pub fn run(args: &CertsArgs) -> Result<(), CommandFailure> {
    let wrong = |error: AuthorityError| CommandFailure::Input(error.to_string());
    match &args.command {
        CertsCommand::Init { directory } => {
            authority::init(directory).map_err(wrong)?;
            let directory = format::path(directory);
            output::print(&format!(
                "the authority is in {directory}; keep its ca.key secret. For each machine:\n  {} certs issue NAME \
                 --authority {directory} --host ADDRESS --out DIR\n",
                format::program()
            ))
        }
        CertsCommand::Issue { name, authority, out, host } => {
            authority::issue(authority, name, host, out).map_err(wrong)?;
            output::print(&format!("the certificate of {name} is in {}\n", format::path(out)))
        }
    }
}
