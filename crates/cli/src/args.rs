//! The command line as typed: the list of commands and what they share. The arguments of a command
//! are in its own file.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Parser, Subcommand};

use argiope::logging::LogArgs;
use argiope_explore::identity;
use argiope_explore::strategies;

use crate::commands::{
    bench, bound, certs, completions, controller, crawl, crawler, explain, export, identities,
    ledger, local_cluster, model, simulate, sites, states, status, strategies as list, testbeds,
};

const AFTER_HELP: &str = "\
Examples:
  argiope crawl --demo
  argiope simulate --testbed hypercube:6 --strategy all
  argiope bound --testbed hypercube:6
  argiope testbeds

Exit codes:
  0  done
  1  failed
  2  bad input; nothing was written
  3  interrupted
  4  a limit was reached
  5  a crawl gave up some actions

Environment:
  RUST_LOG  select log lines: LEVEL or TARGET=LEVEL, several with commas between them
            (warn,argiope_browser::protocol=trace adds the messages to and from the browser)
  NO_COLOR  turn colours off
  ARGIOPE_LOGIN  log in to the application that is crawled by HTTP, as USER:PASSWORD";

/// A crawler for web applications that live behind one URL.
#[derive(Parser)]
#[command(name = "argiope", version, about, after_help = AFTER_HELP)]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub struct Cli {
    /// Log lines.
    #[command(flatten)]
    pub log: LogArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Subcommand)]
pub enum Command {
    /// Crawl a web application with Chromium and store what is found
    Crawl(Box<crawl::CrawlArgs>),
    /// Attach to a running crawl of a cluster and fetch its result
    Attach(crawl::AttachArgs),
    /// Run a controller of a cluster
    Controller(controller::ControllerArgs),
    /// Run browsers for a cluster
    Crawler(crawler::CrawlerArgs),
    /// Show the controllers, crawlers and crawls of a cluster
    Status(status::StatusArgs),
    /// Run one command on a cluster of processes on this machine
    LocalCluster(local_cluster::LocalClusterArgs),
    /// Issue certificates for the machines of a cluster
    Certs(certs::CertsArgs),
    /// List the states of a run, or show the path and the actions of one
    States(states::StatesArgs),
    /// List the actions that were seen and not performed, with the reason
    Ledger(ledger::LedgerArgs),
    /// Show what differs between two states, and what is masked
    Explain(explain::ExplainArgs),
    /// Export the model of a run, or the page of a state
    Export(export::ExportArgs),
    /// Crawl a known application with simulated crawlers and count the cost
    Simulate(simulate::SimulateArgs),
    /// Print the lowest cost of a crawl of a known application
    Bound(bound::BoundArgs),
    /// Print a known application as a model file
    Model(model::ModelArgs),
    /// Measure the strategies, simulated rings, and argiope itself
    Bench(bench::BenchArgs),
    /// List the strategies, or explain one
    Strategies(list::StrategiesArgs),
    /// List the identities (rules for equal states), or explain one
    Identities(identities::IdentitiesArgs),
    /// List the small applications that come with argiope, or serve one
    Sites(sites::SitesArgs),
    /// List the test-beds (completely known applications), or explain one
    Testbeds(testbeds::TestbedsArgs),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArgs),
    /// Print the manual of all commands
    #[command(after_help = "Examples:\n  argiope man > argiope.1")]
    Man,
}

/// Accepts the names of the strategies, and those in `also`.
pub fn strategy_names(also: &[(&'static str, &'static str)]) -> PossibleValuesParser {
    let known = strategies::ALL.iter().map(|described| (described.name, described.summary));
    let values = known.chain(also.iter().copied());
    PossibleValuesParser::new(values.map(|(name, summary)| PossibleValue::new(name).help(summary)))
}

/// Accepts the names of the identities.
pub fn identity_names() -> PossibleValuesParser {
    let known = identity::ALL.iter().map(|described| (described.name, described.summary));
    PossibleValuesParser::new(known.map(|(name, summary)| PossibleValue::new(name).help(summary)))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_consistent() {
        Cli::command().debug_assert();
    }
}
