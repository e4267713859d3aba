//! `argiope controller`: one controller of a cluster.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use argiope_ring::Key;
use argiope_runtime::cluster::client::Client;
use argiope_runtime::cluster::controller::{self, ControllerError, ControllerPlan, Metrics};
use argiope_runtime::private;
use argiope_wire::{Hello, Role};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use argiope::cluster::{Security, block_on, leave_with_parent, random_number};
use argiope::failure::CommandFailure;
use argiope::{interrupt, output};

const AFTER_HELP: &str = "\
Examples (two controllers on one machine, each in its own terminal):
  argiope controller --listen 127.0.0.1:7401 --data ring/one
  argiope controller --listen 127.0.0.1:7402 --join 127.0.0.1:7401 --data ring/two

The first line on standard output is the address that it listens on. Events of the cluster are \
logged to standard error. On SIGTERM or Ctrl-C it hands its states over to the other controllers \
and ends. After a crash, start it again with the same directory; the others have taken over meanwhile.

Without certificates it serves only loopback addresses. `docs/guide/cluster.md` shows a cluster of \
three machines.

Exit codes: 0 left in order, 1 failed, 2 bad input.";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct ControllerArgs {
    /// Listen on ADDR for controllers, crawlers and clients; port 0 takes any free one
    #[arg(long, value_name = "ADDR")]
    listen: String,
    /// Advertise ADDR to other processes [default: the address that it listens on]
    #[arg(long, value_name = "ADDR")]
    advertise: Option<String>,
    /// Join the cluster of the controller at ADDR (may be given several times)
    #[arg(long, value_name = "ADDR", value_delimiter = ',')]
    join: Vec<String>,
    /// Store states in DIR: new, empty, or used by this controller before
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Serve Prometheus metrics (/metrics) and health (/health) on this loopback address
    #[arg(long, value_name = "ADDR")]
    metrics: Option<SocketAddr>,
    #[command(flatten)]
    security: Security,
    /// Write the times of assignments and executions to FILE
    #[arg(long, value_name = "FILE", hide = true)]
    trace: Option<PathBuf>,
    /// Leave when standard input ends
    #[arg(long, hide = true)]
    with_parent: bool,
}

/// The time that other controllers have to list the members.
const STATUS_TIMEOUT: Duration = Duration::from_secs(1);

/// Chooses a key in the widest gap of the ring, if another controller lists the members in time.
fn choose_key(args: &ControllerArgs) -> Result<Key, CommandFailure> {
    let mut switch = args.security.switch(Role::Controller, random_number()?, None)?;
    switch.me = Arc::new(Hello { role: Role::Client, ..(*switch.me).clone() });
    let mut addresses = args.join.clone();
    addresses.extend(controller::known_addresses(&args.data));
    let status = async { Client::dial_any(&switch, &addresses).await?.status().await };
    let status = block_on(async { tokio::time::timeout(STATUS_TIMEOUT, status).await })?;
    let members = status.ok().and_then(Result::ok).map(|status| status.members).unwrap_or_default();
    let keys =
        members.iter().filter(|member| member.silent_ms == 0).map(|member| member.member.key);
    Ok(Key::in_widest_gap(&keys.collect::<Vec<_>>(), random_number()?))
}

/// Raises the number of files that the process may open to what the system allows, and returns it.
/// Each connection is a file, and the usual number is for programs with few of them.
fn raise_open_files() -> usize {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let raised = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
    // `None` stands for no limit.
    let limit = if raised.is_ok() { maximum } else { current };
    limit.and_then(|limit| limit.try_into().ok()).unwrap_or(usize::MAX)
}

/// Serves until it is told to leave.
pub fn run(args: &ControllerArgs) -> Result<(), CommandFailure> {
    // Listen for Ctrl-C first, so that a controller that is still starting leaves in order.
    let leave = interrupt::listen();
    let me = choose_key(args)?;
    let switch = args.security.switch(Role::Controller, me.0, args.advertise.as_deref())?;
    if args.with_parent {
        leave_with_parent(leave.clone());
    }
    let create = |path| private::file().write(true).create(true).truncate(true).open(path);
    let trace = args.trace.as_ref().map(create).transpose();
    let trace = trace.map_err(|error| CommandFailure::Input(format!("--trace: {error}")))?;
    let metrics = args.metrics.map(|address| (address, Arc::new(Metrics::default())));
    let shared = metrics.as_ref().map(|(_, metrics)| metrics.clone());
    let plan = ControllerPlan {
        data: args.data.clone(),
        me,
        switch,
        join: args.join.clone(),
        open_files: raise_open_files(),
        leave,
        metrics: shared,
        trace,
    };
    let ready = |address: &str| {
        // A closed standard output does not stop a controller.
        let _ = output::print(&format!("{address}\n"));
        if args.security.certs.is_none() {
            tracing::info!("without certificates: only loopback addresses are served");
        }
    };
    block_on(async {
        if let Some((address, metrics)) = metrics {
            crate::metrics::serve(address, metrics).await?;
        }
        controller::run(plan, &args.listen, ready).await.map_err(|error| match error {
            ControllerError::Listen(_)
            | ControllerError::Certificate(_)
            | ControllerError::Open(_)
            | ControllerError::Kept(_)
            | ControllerError::Refused(_) => CommandFailure::Input(error.to_string()),
            ControllerError::Store(_) => CommandFailure::Failed(format!(
                "{error}; what was stored before is in {}",
                argiope::format::path(&args.data)
            )),
        })
    })?
}
