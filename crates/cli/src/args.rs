//! The command line as it is typed: the list of commands, what they share, and how a mistake in it
//! becomes one line. What a command needs beyond that stands in its own file.

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Parser, Subcommand};

use argiope::logging::LogArgs;
use argiope_explore::identity;
use argiope_explore::strategies;

use crate::commands::{
    bench, bound, certs, completions, controller, crawl, crawler, explain, export, identities,
    local_cluster, model, simulate, sites, states, status, strategies as list, testbeds,
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
  2  bad input: one line on standard error says what, and nothing was written
  3  interrupted
  4  a limit was reached

NO_COLOR=1 in the environment turns colours off.";

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

/// What argiope can do.
#[derive(Subcommand)]
pub enum Command {
    /// Crawl a web application with Chromium and keep what was found
    Crawl(crawl::CrawlArgs),
    /// Follow a crawl that goes on on a ring, and fetch what it found
    Attach(crawl::AttachArgs),
    /// Be one controller of a ring that crawls together
    Controller(controller::ControllerArgs),
    /// Lend browsers to a ring
    Crawler(crawler::CrawlerArgs),
    /// Say how a ring stands: its controllers, crawlers and crawls
    Status(status::StatusArgs),
    /// Run a ring with its crawlers on this machine, for one command
    LocalCluster(local_cluster::LocalClusterArgs),
    /// Make certificates for the machines of a ring
    Certs(certs::CertsArgs),
    /// List the states that a crawl found, or show one: how to get there, what it offers
    States(states::StatesArgs),
    /// Say what makes two states different, and what of the pages does not count
    Explain(explain::ExplainArgs),
    /// Write what a crawl found in another form: its model, the page of a state
    Export(export::ExportArgs),
    /// Crawl a known application with one simulated crawler and count what it costs
    Simulate(simulate::SimulateArgs),
    /// Print the least that a crawl of a known application can cost
    Bound(bound::BoundArgs),
    /// Print a known application as a model file
    Model(model::ModelArgs),
    /// Measure the strategies, or argiope itself
    Bench(bench::BenchArgs),
    /// List the strategies, or explain one
    Strategies(list::StrategiesArgs),
    /// List the identities (when two pages are the same state), or explain one
    Identities(identities::IdentitiesArgs),
    /// List the small applications that come with argiope, or serve one on loopback
    Sites(sites::SitesArgs),
    /// List the test-beds (applications that are known in full), or explain one
    Testbeds(testbeds::TestbedsArgs),
    /// Print a completion script for a shell
    Completions(completions::CompletionsArgs),
    /// Print the manual, all commands included
    #[command(after_help = "Examples:\n  argiope man > argiope.1")]
    Man,
}

/// The names of the strategies, with what they say of themselves; `also` is accepted beside them.
pub fn strategy_names(also: &[(&'static str, &'static str)]) -> PossibleValuesParser {
    let known = strategies::ALL.iter().map(|described| (described.name, described.summary));
    let values = known.chain(also.iter().copied());
    PossibleValuesParser::new(values.map(|(name, summary)| PossibleValue::new(name).help(summary)))
}

/// The names of the identities, with what they say of themselves.
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
