//! `argiope bench`: what is measured again and again. The strategies are measured in costs, which
//! are the same everywhere; argiope itself in time and memory, which are not.

use clap::Subcommand;

use argiope::failure::CommandFailure;
use argiope::logging::LogArgs;

mod browser;
mod cluster;
mod recovery;
mod rings;
mod scale;
mod schemes;
mod speed;
mod strategies;

/// Measure the strategies, or argiope itself.
#[derive(clap::Parser)]
#[command(name = "argiope-lab", bin_name = "argiope bench", version, about)]
#[command(after_help = "Examples:\n  argiope bench strategies --testbed hypercube:5 --seeds 3")]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub struct LabArgs {
    /// Log lines.
    #[command(flatten)]
    pub log: LogArgs,
    /// What to measure.
    #[command(subcommand)]
    pub bench: Bench,
}

#[derive(Subcommand)]
pub enum Bench {
    /// Compare every strategy on every test-bed, beside the published figures
    Strategies(strategies::StrategiesBenchArgs),
    /// Compare every knowledge scheme of a ring of controllers, beside the published figures
    Schemes(schemes::SchemesBenchArgs),
    /// Measure how a ring scales to a hundred controllers
    Scale(scale::ScaleBenchArgs),
    /// Measure what it costs to lose controllers, beside what was published
    Recovery(recovery::RecoveryBenchArgs),
    /// Measure a crawl in the browser against bare loops over the same connection
    Browser(browser::BrowserBenchArgs),
    /// Measure rings of real processes: what a controller can do, losses, more crawlers
    Cluster(cluster::ClusterBenchArgs),
    /// Measure the time of a crawl and of a decision, and the memory of a graph
    Speed(speed::SpeedBenchArgs),
}

pub fn run(bench: Bench) -> Result<(), CommandFailure> {
    match bench {
        Bench::Strategies(args) => strategies::run(args),
        Bench::Schemes(args) => schemes::run(&args),
        Bench::Scale(args) => scale::run(&args),
        Bench::Recovery(args) => recovery::run(&args),
        Bench::Browser(args) => browser::run(&args),
        Bench::Cluster(args) => cluster::run(&args),
        Bench::Speed(args) => speed::run(&args),
    }
}
