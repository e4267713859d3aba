//! What the benches of simulated rings share: options, applications, and crawls on all cores.

use std::collections::BTreeMap;
use std::path::PathBuf;

use argiope_explore::model::Model;
use argiope_lab::rings::{self, RingMeasurement};
use argiope_sim::cluster::scenario::Scenario;
use argiope_sim::crawler::World;

use argiope::failure::CommandFailure;
use argiope::output;
use argiope::progress::WorkProgress;
use argiope::source;
use argiope::threads;

use crate::parallel;

/// The options of every bench of rings, as typed.
#[derive(clap::Args)]
pub struct RingBenchArgs {
    /// Also write the results to this directory
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Measure small applications and few points, in seconds instead of minutes
    #[arg(long)]
    pub quick: bool,
    /// Use N threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// Seed of the random generator
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

impl RingBenchArgs {
    /// Makes the output directory, so that a bad path fails before the work.
    pub fn prepare(&self) -> Result<(), CommandFailure> {
        self.out.as_deref().map_or(Ok(()), output::directory)
    }

    /// Writes a file, if there is an output directory.
    pub fn write(&self, name: &str, content: &str) -> Result<(), CommandFailure> {
        self.out.as_ref().map_or(Ok(()), |folder| output::file(&folder.join(name), content))
    }

    /// Measures the crawls; the results have their order.
    pub fn measure(&self, crawls: &[MeasuredCrawl], models: &Models) -> Vec<RingMeasurement> {
        let threads = self.jobs.map_or_else(threads::cores, usize::from);
        let size = |crawl: &MeasuredCrawl| models.get(&crawl.testbed).transitions() as u64;
        let progress = WorkProgress::new(crawls.iter().map(size).sum());
        parallel::do_all(crawls, threads, |crawl| {
            progress.set_step(&format!("{}, {}", crawl.testbed, crawl.scenario.scheme_name()));
            let world = World::new(models.get(&crawl.testbed));
            let measured = rings::measure(&crawl.testbed, &world, &crawl.scenario);
            progress.advance(size(crawl));
            measured
        })
    }
}

/// A crawl to measure.
pub struct MeasuredCrawl {
    /// The name of the test-bed.
    pub testbed: String,
    /// The ring and its crawlers.
    pub scenario: Scenario,
}

/// The applications, each built once.
#[derive(Default)]
pub struct Models(BTreeMap<String, Model>);

impl Models {
    /// Adds an application, unless it is there.
    pub fn add(&mut self, testbed: &str) -> Result<&Model, CommandFailure> {
        if !self.0.contains_key(testbed) {
            self.0.insert(testbed.to_owned(), source::testbed(testbed)?);
        }
        Ok(&self.0[testbed])
    }

    fn get(&self, testbed: &str) -> &Model {
        &self.0[testbed]
    }
}

/// Fails if a crawl is wrong; the tables mark it too.
pub fn check_all<'a>(
    runs: impl IntoIterator<Item = &'a RingMeasurement>,
) -> Result<(), CommandFailure> {
    let wrong = runs.into_iter().find_map(|run| run.wrong.as_ref().map(|wrong| (run, wrong)));
    wrong.map_or(Ok(()), |(run, wrong)| {
        Err(CommandFailure::Failed(format!(
            "{} by {} with {} controllers: {wrong}",
            run.testbed, run.scheme, run.controllers
        )))
    })
}
