//! `argiope controller`: one controller of a ring.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use argiope_ring::Key;
use argiope_runtime::cluster::client::Client;
use argiope_runtime::cluster::controller::{self, ControllerError, ControllerPlan, Metrics};
use argiope_wire::Role;

use argiope::cluster::{Security, block_on, chance, leave_with_parent};
use argiope::failure::CommandFailure;
use argiope::{interrupt, output};

const AFTER_HELP: &str = "\
A ring of two on one machine, each in its own terminal:
  argiope controller --listen 127.0.0.1:7401 --data ring/one
  argiope controller --listen 127.0.0.1:7402 --join 127.0.0.1:7401 --data ring/two

The first line on standard output is the address that it listens at; what happens to the ring is told on \
standard error, one line each. SIGTERM or Ctrl-C lets it hand over what it has to the others and end. After a crash it \
goes on with what is in its directory; the others have taken over meanwhile.

Without certificates only loopback addresses are served. `docs/operating.md` shows a ring of three machines.

Exit codes: 0 left in order, 1 failed, 2 bad input.";

/// As typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct ControllerArgs {
    /// Where to listen for other controllers, crawlers and clients; port 0 is any that is free
    #[arg(long, value_name = "ADDR")]
    listen: String,
    /// Where others can dial it, if that is not where it listens
    #[arg(long, value_name = "ADDR")]
    advertise: Option<String>,
    /// Join the ring that a controller there is in (may be given several times)
    #[arg(long, value_name = "ADDR", value_delimiter = ',')]
    join: Vec<String>,
    /// The directory for what it keeps: new, empty, or its own from before
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Serve metrics (/metrics, as Prometheus reads them) and health (/health) at this loopback address
    #[arg(long, value_name = "ADDR")]
    metrics: Option<SocketAddr>,
    #[command(flatten)]
    security: Security,
    /// Note when tasks were given out and done
    #[arg(long, value_name = "FILE", hide = true)]
    trace: Option<PathBuf>,
    /// Leave when standard input ends
    #[arg(long, hide = true)]
    with_parent: bool,
}

/// So long members of the ring are asked who is there.
const ASKED: Duration = Duration::from_secs(1);

/// A place on the circle that takes much from the one who has most, if anybody can be asked who is there.
fn place(args: &ControllerArgs) -> Result<Key, CommandFailure> {
    let switch = args.security.switch(Role::Client, chance()?, None)?;
    let status = async { Client::dial_any(&switch, &args.join).await?.status().await };
    let status = block_on(async { tokio::time::timeout(ASKED, status).await })?;
    let members = status.ok().and_then(Result::ok).map(|status| status.members).unwrap_or_default();
    let there =
        members.iter().filter(|member| member.silent_ms == 0).map(|member| member.member.key);
    Ok(Key::in_widest_gap(&there.collect::<Vec<_>>(), chance()?))
}

pub fn run(args: &ControllerArgs) -> Result<(), CommandFailure> {
    // Also one that is told to leave while it starts leaves in order.
    let leave = interrupt::listen();
    let me = place(args)?;
    let switch = args.security.switch(Role::Controller, me.0, args.advertise.as_deref())?;
    if args.with_parent {
        leave_with_parent(leave.clone());
    }
    let trace = args.trace.as_ref().map(std::fs::File::create).transpose();
    let trace = trace.map_err(|error| CommandFailure::Input(format!("--trace: {error}")))?;
    let metrics = args.metrics.map(|address| (address, Arc::new(Metrics::default())));
    let told = metrics.as_ref().map(|(_, metrics)| metrics.clone());
    let plan = ControllerPlan {
        data: args.data.clone(),
        me,
        switch,
        join: args.join.clone(),
        leave,
        metrics: told,
        trace,
    };
    let ready = |address: &str| {
        // Whoever reads it may have gone.
        let _ = output::print(&format!("{address}\n"));
        if args.security.certs.is_none() {
            tracing::info!("without certificates: only loopback addresses are served");
        }
    };
    let ended = block_on(async {
        if let Some((address, metrics)) = metrics {
            crate::metrics::serve(address, metrics).await?;
        }
        Ok(controller::run(plan, &args.listen, ready).await)
    })??;
    ended.map_err(|error| match error {
        ControllerError::Listen(_) | ControllerError::Open(_) | ControllerError::Kept(_) => {
            CommandFailure::Input(error.to_string())
        }
        ControllerError::Store(_) => CommandFailure::Failed(format!(
            "{error}; what was kept before is in {}",
            argiope::format::path(&args.data)
        )),
    })
}
