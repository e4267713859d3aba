//! What the commands of a cluster share: connections and the async runtime.

use std::future::Future;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use argiope_runtime::cluster::Switch;
use argiope_wire::{ConnectionLimits, Credentials, Hello, Role, TcpTransport, Transport};

use crate::failure::CommandFailure;
use crate::format;

/// The default name of a cluster.
const CLUSTER_NAME: &str = "argiope";

/// How the processes of a cluster authenticate each other.
#[derive(clap::Args, Clone, Debug)]
pub struct Security {
    /// Use the certificate in DIR, from `argiope certs issue` [default: none, loopback only]
    #[arg(long, value_name = "DIR")]
    pub certs: Option<PathBuf>,
    /// Accept only processes of the cluster NAME
    #[arg(long, value_name = "NAME", default_value = CLUSTER_NAME)]
    pub cluster_name: String,
}

impl Security {
    /// The options that a further command for this cluster needs.
    pub fn options(&self) -> String {
        let mut options = String::new();
        if let Some(certs) = &self.certs {
            options += &format!(" --certs {}", format::path(certs));
        }
        if self.cluster_name != CLUSTER_NAME {
            options += &format!(" --cluster-name {}", format::path(Path::new(&self.cluster_name)));
        }
        options
    }

    /// Prepares the connections of a process.
    pub fn switch(
        &self,
        role: Role,
        name: u128,
        address: Option<&str>,
    ) -> Result<Switch, CommandFailure> {
        if self.cluster_name.is_empty() || self.cluster_name.len() > 64 {
            return Err(CommandFailure::Input(format!(
                "--cluster-name {:?}: it must have 1 to 64 bytes",
                self.cluster_name
            )));
        }
        let net = match &self.certs {
            Some(directory) => {
                let credentials = Credentials::load(directory)
                    .map_err(|error| CommandFailure::Input(error.to_string()))?;
                credentials.check_role(role).map_err(CommandFailure::Input)?;
                // Controllers and crawlers look again while they run.
                if role == Role::Client
                    && let Some(notice) = credentials.notice()
                {
                    tracing::warn!("{notice}");
                }
                TcpTransport::secured(credentials)
            }
            None => TcpTransport::plain(),
        };
        let hello = Hello::new(&self.cluster_name, role, name);
        let hello = match address {
            Some(address) => hello.with_address(address),
            None => hello,
        };
        Ok(Switch {
            transport: Transport::Net(net),
            me: Arc::new(hello),
            limits: ConnectionLimits::default(),
        })
    }
}

/// Draws a number that no page or process can guess.
pub fn random_number() -> Result<u128, CommandFailure> {
    let mut bytes = [0; 16];
    std::fs::File::open("/dev/urandom")
        .and_then(|mut source| source.read_exact(&mut bytes))
        .map_err(|error| CommandFailure::Failed(format!("cannot read /dev/urandom: {error}")))?;
    Ok(u128::from_le_bytes(bytes))
}

/// Runs a future on this thread.
pub fn block_on<T>(work: impl Future<Output = T>) -> Result<T, CommandFailure> {
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(|error| {
            CommandFailure::Failed(format!("cannot start the async runtime: {error}"))
        })?;
    Ok(tokio::task::LocalSet::new().block_on(&runtime, work))
}

/// Lets the process leave when its standard input ends: its parent has ended.
pub fn leave_with_parent(leave: Arc<tokio::sync::Notify>) {
    std::thread::spawn(move || {
        let mut ignored = [0; 256];
        while matches!(std::io::stdin().lock().read(&mut ignored), Ok(read) if read > 0) {}
        leave.notify_one();
    });
}
