//! `argiope sites`: the small applications that come with argiope.

use argiope_sites::{Server, Site, StartError};

use crate::commands::describe::list;
use argiope::cluster::block_on;
use argiope::failure::CommandFailure;
use argiope::{interrupt, names, output};

const AFTER_HELP: &str = "\
Examples:
  argiope sites

With a name (`argiope sites demo`) it serves the application on loopback until Ctrl-C and prints \
its address. Open it in a browser, or crawl it from another terminal.";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct SitesArgs {
    /// Serve this application
    #[arg(value_name = "NAME")]
    name: Option<String>,
    /// Serve it on port N [default: any free one]
    #[arg(
        long,
        value_name = "N",
        requires = "name",
        default_value_t = 0,
        hide_default_value = true
    )]
    port: u16,
}

/// Lists the sites, or serves one.
pub fn run(args: &SitesArgs) -> Result<(), CommandFailure> {
    let Some(name) = &args.name else {
        let summary = |site: Site| site.expected().map(|expected| expected.difficulty);
        let all: Vec<(&str, String)> = Site::names()
            .map(|name| (name, Site::find(name).and_then(summary)))
            .map(|(name, summary)| {
                (name, summary.unwrap_or_else(|| "Addresses that cannot be crawled.".into()))
            })
            .collect();
        return output::print(&list(all.iter().map(|(name, summary)| (*name, summary.as_str()))));
    };
    let server = Server::start_at(name, args.port).map_err(|error| match error {
        StartError::Unknown(name) => {
            CommandFailure::Input(names::unknown("site", &name, Site::names()))
        }
        StartError::Missing(_) | StartError::Listen(_) => CommandFailure::Failed(error.to_string()),
    })?;
    let heard = interrupt::listen();
    output::print(&format!("{}\n", server.url()))?;
    // Ctrl-C ends it in order.
    block_on(heard.notified())
}
