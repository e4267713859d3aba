//! `argiope bench`: what is measured again and again. The strategies are measured in costs, which
//! are the same everywhere; argiope itself in time and memory, which are not.

use clap::Subcommand;

use crate::failure::CommandFailure;

mod browser;
mod cluster;
mod recovery;
mod rings;
mod scale;
mod schemes;
mod speed;
mod strategies;

/// As typed.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  argiope bench strategies --testbed hypercube:5 --seeds 3")]
#[command(
    subcommand_required = true,
    arg_required_else_help = true,
    disable_help_subcommand = true
)]
pub struct BenchArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
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

pub fn run(args: BenchArgs) -> Result<(), CommandFailure> {
    match args.what {
        What::Strategies(args) => strategies::run(args),
        What::Schemes(args) => schemes::run(&args),
        What::Scale(args) => scale::run(&args),
        What::Recovery(args) => recovery::run(&args),
        What::Browser(args) => browser::run(&args),
        What::Cluster(args) => cluster::run(&args),
        What::Speed(args) => speed::run(&args),
    }
}
