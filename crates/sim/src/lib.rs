//! A simulated world for argiope: applications that are known in full, and crawlers, controllers
//! and networks that run in simulated time. The same seed gives the same run, byte for byte.
//!
//! # Run a crawl
//!
//! [`testbeds::find`] turns a name, such as `hypercube:8`, into an application. [`crawl::crawl`]
//! lets one crawler explore it with a strategy and returns the costs:
//!
//! ```
//! use argiope_explore::strategies;
//! use argiope_explore::strategy::StrategySettings;
//! use argiope_sim::crawl::crawl;
//! use argiope_sim::testbeds::hypercube;
//!
//! let app = hypercube(8);
//! let strategy = strategies::find("hypercube").unwrap();
//! let run = crawl(&app, strategy, StrategySettings { reset_cost: app.reset_cost, seed: 1 });
//! assert_eq!((run.states, run.transitions, run.complete.resets), (256, 1_024, 280));
//! ```
//!
//! [`fleet::Fleet`] runs several crawlers under one controller. A [`World`](crawler::World) can
//! inject faults into the application: actions that hang, stray or lose the browser.
//!
//! # Write a scenario
//!
//! A [`Scenario`](cluster::scenario::Scenario) describes a crawl by several machines: the number of
//! controllers and crawlers, the scheme, latencies, timeouts and faults. [`cluster::Cluster`] runs
//! it as a ring. [`star::Star`] runs it as a star, if the scenario names a division of the work.
//! [`cluster::spec`] parses the text form of faults and latencies, as `argiope simulate --failures`
//! takes it:
//!
//! ```
//! use argiope_sim::cluster::scenario::Scenario;
//! use argiope_sim::cluster::{Cluster, checks, spec};
//! use argiope_sim::crawler::World;
//! use argiope_sim::testbeds::Recipe;
//!
//! let app = Recipe::Site.model();
//! let world = World::new(&app);
//! let mut scenario = Scenario::new(3, 6, app.reset_cost, 7);
//! scenario.set_pace(None, Some(spec::parse_latency("300us..3ms")?));
//! (scenario.scheduled_faults, scenario.failures_per_hour) =
//!     spec::parse_faults("join@20%+freeze:2s@40%+fail@70%")?;
//! scenario.is_checked = true;
//! let mut cluster = Cluster::new(&world, scenario);
//! cluster.run();
//! assert_eq!(checks::check_end(&cluster), None);
//! println!("{} messages", cluster.counts().total_messages());
//! # Ok::<(), spec::SpecError>(())
//! ```
//!
//! # Read a trace
//!
//! [`step_traced`](cluster::Cluster::step_traced) handles one event and returns its lines; `argiope
//! simulate --trace FILE` writes them to a file. A line has the simulated time, the actor and the
//! event:
//!
//! ```text
//!      1.000 ms  controller 0 receives from a crawler: Report(TaskReport { crawler: …
//!      2.000 ms  crawler 0 receives: Task(Task { id: …
//!     22.000 ms  crawler 0 ends its task
//!     24.000 ms  controller 0 receives from controller 1: Reached(TaskReport { crawler: …
//!    100.850 ms  fault: Join
//! ```
//!
//! The text after the colon is the message as the protocol defines it
//! (`argiope_controller::peer::message`). Messages that only maintain the ring are left out.
//! `argiope simulate --replay FILE` runs the scenario again and stops at the first line that
//! differs.

pub mod cluster;
mod counts;
pub mod crawl;
pub mod crawler;
mod environment;
mod event_loop;
pub mod fleet;
pub mod star;
pub mod summary;
pub mod testbeds;
pub mod tour;

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExamples;
