//! `argiope certs`: a certificate authority, and a certificate for each machine of a cluster.

use std::path::{Path, PathBuf};

use argiope_wire::authority::{self, CertificateOrder};
use argiope_wire::{AuthorityError, CertificateSummary, Role};
use clap::{Subcommand, ValueEnum};

use argiope::failure::CommandFailure;
use argiope::{format, output};

const AFTER_HELP: &str = "\
Examples:
  argiope certs init authority
  argiope certs issue one --role controller --host 10.0.0.1 --authority authority --out certs-one
  argiope certs show certs-one

Keep the authority's directory private. Copy the directory of --out (node.pem, node.key, ca.pem) \
to one machine. Every controller, crawler and client names such a directory with --certs. \
An authority is valid for ten years, a certificate for two.";

const ISSUE_HELP: &str = "\
Examples:
  argiope certs issue two --role controller,crawler --host 10.0.0.2 --authority ca --out certs-two
  argiope certs issue me --role client --authority ca --out certs-me

The other processes of the cluster refuse a process in any other role, and a controller at any \
other host. A controller may also be a client. A machine that runs both a controller and a \
crawler needs both roles. Issuing overwrites no file; 'argiope certs renew' does.";

const RENEW_HELP: &str = "\
Examples:
  argiope certs renew certs-two --authority ca

The new certificate has the name, the roles and the hosts of the old one. Copy the three files to \
the machine again: running processes use them from the next connection on.";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct CertsArgs {
    #[command(subcommand)]
    command: CertsCommand,
}

/// What a process may be, as typed.
#[derive(Clone, Copy, ValueEnum)]
enum RoleArg {
    /// A member of the ring; needs --host
    Controller,
    /// Brings browsers
    Crawler,
    /// Starts and follows crawls
    Client,
}

impl From<RoleArg> for Role {
    fn from(role: RoleArg) -> Self {
        match role {
            RoleArg::Controller => Self::Controller,
            RoleArg::Crawler => Self::Crawler,
            RoleArg::Client => Self::Client,
        }
    }
}

#[derive(Subcommand)]
enum CertsCommand {
    /// Make an authority: a directory with its certificate and key
    #[command(after_help = "Examples:\n  argiope certs init ca")]
    Init {
        /// Write to this directory, which is new or has no authority
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
    /// Issue a certificate for a machine or a user
    #[command(after_help = ISSUE_HELP)]
    Issue {
        /// Name the machine or user
        #[arg(value_name = "NAME")]
        name: String,
        /// Allow its processes to be this (may be given several times)
        #[arg(long, value_name = "ROLE", value_delimiter = ',')]
        role: Vec<RoleArg>,
        /// Sign with the authority in DIR
        #[arg(long, value_name = "DIR")]
        authority: PathBuf,
        /// Write to DIR, which is new or has no certificate
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        /// Allow its controller to be dialled at this host name or address (may be given several
        /// times)
        #[arg(long, value_name = "HOST", value_delimiter = ',')]
        host: Vec<String>,
    },
    /// Replace a certificate by a new one that is valid for longer
    #[command(after_help = RENEW_HELP)]
    Renew {
        /// Replace the certificate in this directory
        #[arg(value_name = "DIR")]
        directory: PathBuf,
        /// Sign with the authority in DIR, which issued the old certificate
        #[arg(long, value_name = "DIR")]
        authority: PathBuf,
    },
    /// Show name, roles, hosts, authority and validity of a certificate
    #[command(after_help = "Examples:\n  argiope certs show certs-two")]
    Show {
        /// Read the certificate in this directory
        #[arg(value_name = "DIR")]
        directory: PathBuf,
    },
}

/// Makes or shows an authority or a certificate.
pub fn run(args: &CertsArgs) -> Result<(), CommandFailure> {
    match &args.command {
        CertsCommand::Init { directory } => init(directory),
        CertsCommand::Issue { name, role, authority, out, host } => {
            let roles = role.iter().map(|&role| role.into()).collect();
            let order = CertificateOrder { name: name.clone(), roles, hosts: host.clone() };
            let made = authority::issue(authority, &order, out);
            report(out, &made.map_err(|error| advise(error, authority, out))?)
        }
        CertsCommand::Renew { directory, authority } => {
            let made = authority::renew(authority, directory);
            report(directory, &made.map_err(|error| advise(error, authority, directory))?)
        }
        CertsCommand::Show { directory } => {
            let shown = authority::show(directory);
            output::print(&text(&shown.map_err(|error| CommandFailure::Input(error.to_string()))?))
        }
    }
}

fn init(directory: &Path) -> Result<(), CommandFailure> {
    let made = authority::init(directory);
    let made = made.map_err(|error| CommandFailure::Input(error.to_string()))?;
    let directory = format::path(directory);
    output::print(&format!(
        "{} is in {directory}, valid until {}\n\
         keep its ca.key secret; for each machine:\n  \
         {} certs issue NAME --role controller --host ADDRESS --authority {directory} --out DIR\n",
        made.name,
        made.valid_until,
        format::program()
    ))
}

/// Says what to type instead.
fn advise(error: AuthorityError, authority: &Path, out: &Path) -> CommandFailure {
    CommandFailure::Input(match error {
        AuthorityError::NoRole => format!(
            "{error}; give --role controller, --role crawler or --role client, \
             or several roles: --role controller,crawler"
        ),
        AuthorityError::NoHost => format!("{error}; give --host ADDRESS"),
        AuthorityError::Issued { file } => format!(
            "{} exists already; choose another --out, or renew the certificate there with \
             '{} certs renew {} --authority {}'",
            format::path(&file),
            format::program(),
            format::path(out),
            format::path(authority)
        ),
        error => error.to_string(),
    })
}

fn report(directory: &Path, made: &CertificateSummary) -> Result<(), CommandFailure> {
    let directory = format::path(directory);
    output::print(&format!("the certificate is in {directory}\n{}", text(made)))
}

fn text(certificate: &CertificateSummary) -> String {
    let CertificateSummary { name, authority, roles, hosts, valid_from, valid_until } = certificate;
    let roles: Vec<&str> = roles.iter().map(|role| role.name()).collect();
    let list = |all: &[&str]| if all.is_empty() { "none".to_owned() } else { all.join(", ") };
    let hosts: Vec<&str> = hosts.iter().map(String::as_str).collect();
    let mut text = format!("  name         {}\n", format::name(name));
    if name != authority {
        text += &format!("  roles        {}\n", list(&roles));
        text += &format!("  hosts        {}\n", format::name(&list(&hosts)));
        text += &format!("  authority    {}\n", format::name(authority));
    }
    text += &format!("  valid from   {valid_from}\n  valid until  {valid_until}\n");
    text
}
