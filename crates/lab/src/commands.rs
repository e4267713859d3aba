//! The benches, one file each. Strategies and simulated rings are measured in costs, which are the
//! same on every machine; argiope itself in time and memory, which are not.

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

/// Measure the strategies, simulated rings, and argiope itself.
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
    /// Compare the strategies on the test-beds, beside the published figures
    Strategies(strategies::StrategiesBenchArgs),
    /// Compare the knowledge schemes of a simulated ring, beside the published figures
    Schemes(schemes::SchemesBenchArgs),
    /// Measure how a simulated ring scales to a hundred controllers
    Scale(scale::ScaleBenchArgs),
    /// Measure the cost of failures of controllers, beside the published formulas
    Recovery(recovery::RecoveryBenchArgs),
    /// Compare a crawl in the browser with bare loops, or with another program
    Browser(browser::BrowserBenchArgs),
    /// Measure clusters of processes: capacity, failover, speed-up, equal results
    Cluster(cluster::ClusterBenchArgs),
    /// Measure the time of a simulated crawl and of a decision, and the memory of a graph
    Speed(speed::SpeedBenchArgs),
}

/// Runs a bench.
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
