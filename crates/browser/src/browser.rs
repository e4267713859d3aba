//! A running browser: process, profile and connection. Opens tabs, each in a context of its own, so
//! that they share neither cookies nor storage. Knows nothing of what happens in the tabs.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::border::Border;
use crate::cdp;
use crate::connection::{CallError, PendingReply, ProtocolConnection, SessionId};
use crate::door::Door;
use crate::find::Executable;
use crate::flags;
use crate::process::BrowserProcess;
use crate::profile::Profile;
use crate::sweep::{Swept, sweep};

/// How long a browser may take to end by itself before it is killed.
const END: Duration = Duration::from_secs(3);
/// How long to wait between two looks at the process.
const POLL: Duration = Duration::from_millis(5);
/// How long the browser may take to open or close a tab.
const ANSWER: Duration = Duration::from_secs(30);

/// How to start a browser.
#[derive(Clone, Debug)]
pub struct LaunchSettings {
    /// The program.
    pub executable: Executable,
    /// The directory in which to create its profile, usually that of temporary files.
    pub profiles: PathBuf,
    /// Width and height of every tab, in pixels.
    pub window: (u32, u32),
    /// The memory of a page's scripts in megabytes; a page that needs more crashes.
    pub script_heap_mb: u32,
    /// How long the browser may take to start.
    pub start_within: Duration,
    /// Further command-line arguments.
    pub extra: Vec<OsString>,
}

impl LaunchSettings {
    /// The default settings.
    pub fn new(executable: Executable, profiles: PathBuf) -> Self {
        Self {
            executable,
            profiles,
            window: (1280, 800),
            script_heap_mb: 512,
            start_within: Duration::from_secs(30),
            extra: Vec::new(),
        }
    }
}

/// Why a browser did not start.
#[derive(Debug, thiserror::Error)]
pub enum LaunchError {
    /// The profile directory cannot be created.
    #[error("cannot create a profile in {}: {error}", directory.display())]
    Profile {
        /// The directory that was to hold it.
        directory: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// The program cannot be started.
    #[error("cannot start {}: {error}", program.display())]
    Start {
        /// The program.
        program: PathBuf,
        /// The cause.
        error: io::Error,
    },
    /// It ended before it answered.
    #[error("{} ended at once ({status}): {stderr}", program.display())]
    Ended {
        /// The program.
        program: PathBuf,
        /// Its exit status.
        status: String,
        /// The end of its standard error.
        stderr: String,
    },
    /// It runs, but does not answer over the protocol.
    #[error("{} does not answer: {error}: {stderr}", program.display())]
    Mute {
        /// The program.
        program: PathBuf,
        /// The cause.
        error: CallError,
        /// The end of its standard error.
        stderr: String,
    },
}

/// A browser context: tabs in different ones share neither cookies nor storage.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContextId(pub String);

/// Something that can be attached to: a tab, a frame in a process of its own, a worker.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct TargetId(pub String);

/// An open tab and its session.
#[derive(Clone, Debug)]
pub struct OpenedTab {
    /// Its context, which holds no other tab.
    pub context: ContextId,
    /// The tab as a target.
    pub target: TargetId,
    /// The session for its calls and events.
    pub session: SessionId,
    /// The only way out of its context but to the application itself; `None` if all ways are open.
    pub door: Option<Arc<Door>>,
}

/// A running browser. Dropping it kills its processes and removes its profile.
#[derive(Debug)]
pub struct Browser {
    // Fields are dropped in this order: the processes must end before their profile is removed.
    /// The connection, for calls and events.
    pub connection: ProtocolConnection,
    process: BrowserProcess,
    profile: Profile,
    window: (u32, u32),
    /// Whether it can have tabs that are never drawn: only the headless shell makes frames on
    /// request.
    pub can_do_without_frames: bool,
    /// What the browser calls itself, for example `HeadlessChrome/156.0.8078.79`.
    pub version: String,
    /// Whether the browser keeps pages in its sandbox. It does unless argiope runs as root.
    pub is_sandboxed: bool,
    /// What the sweep before the start removed.
    pub swept: Swept,
}

impl Browser {
    /// Sweeps what dead owners left, starts a browser and waits until it answers. Needs a tokio
    /// runtime with I/O and time.
    pub async fn launch(settings: &LaunchSettings) -> Result<Self, LaunchError> {
        let swept = sweep(&settings.profiles);
        let profile = Profile::create(&settings.profiles).map_err(|error| {
            LaunchError::Profile { directory: settings.profiles.clone(), error }
        })?;
        let program = settings.executable.path.clone();
        // As root Chromium refuses to start with its sandbox.
        let root = rustix::process::geteuid().is_root();
        let is_sandboxed =
            !root && !settings.extra.iter().any(|argument| argument == flags::NO_SANDBOX);
        let arguments = flags::arguments(settings, profile.path(), !root);
        let cannot_start = |error| LaunchError::Start { program: program.clone(), error };
        let (process, from_browser, to_browser) =
            BrowserProcess::start(&program, &arguments, profile.path()).map_err(cannot_start)?;
        let connection = ProtocolConnection::open(from_browser.into(), to_browser.into())
            .map_err(cannot_start)?;
        let mut browser = Self {
            connection,
            process,
            profile,
            window: settings.window,
            can_do_without_frames: settings.executable.is_headless_shell(),
            version: String::new(),
            is_sandboxed,
            swept,
        };
        match browser.greet(settings.start_within).await {
            Ok(version) => browser.version = version,
            Err(error) => return Err(browser.failed_start(program, error).await),
        }
        tracing::debug!(
            version = browser.version,
            profile = %browser.profile.path().display(),
            sandboxed = is_sandboxed,
            swept = browser.swept.profiles.len(),
            "browser started"
        );
        Ok(browser)
    }

    /// Asks for the version, and for the events of tabs that crash.
    async fn greet(&self, limit: Duration) -> Result<String, CallError> {
        let version = self.connection.call(None, &cdp::GetVersion {});
        let filter = [cdp::TargetFilter { kind: "page" }];
        let discover = cdp::SetDiscoverTargets { discover: true, filter: &filter };
        let discover = self.connection.call(None, &discover);
        let version = version.within(limit).await?;
        discover.within(limit).await?;
        Ok(version)
    }

    async fn failed_start(mut self, program: PathBuf, error: CallError) -> LaunchError {
        if matches!(error, CallError::ConnectionClosed(_)) {
            let status = self.wait(END).await;
            let status =
                status.map_or_else(|| "still running".to_owned(), |status| status.to_string());
            self.process.wait_for_stderr(END).await;
            return LaunchError::Ended { program, status, stderr: self.process.stderr_tail() };
        }
        LaunchError::Mute { program, error, stderr: self.process.stderr_tail() }
    }

    async fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let started = Instant::now();
        loop {
            let ended = self.process.ended();
            if ended.is_some() || started.elapsed() > limit {
                return ended;
            }
            tokio::time::sleep(POLL).await;
        }
    }

    /// Opens an empty tab in a context of its own and attaches to it. A tab without frames is never
    /// drawn, and laid out only when a script asks where an element is.
    pub async fn new_tab(&self, frames: bool) -> Result<OpenedTab, CallError> {
        let open = cdp::CreateBrowserContext {
            dispose_on_detach: true,
            proxy_server: None,
            proxy_bypass_list: None,
        };
        self.new_tab_in(frames, &open, None).await
    }

    /// The same within a border: whatever is in the tab reaches nothing outside.
    pub async fn new_bounded_tab(
        &self,
        frames: bool,
        border: &Arc<Border>,
    ) -> Result<OpenedTab, CallError> {
        let door = Door::open(border.clone()).await;
        let door = door.map_err(|error| CallError::Malformed(format!("no door: {error}")))?;
        let within = cdp::CreateBrowserContext {
            dispose_on_detach: true,
            proxy_server: Some(&door.server()),
            proxy_bypass_list: Some(&border.bounds.exceptions()),
        };
        self.new_tab_in(frames, &within, Some(Arc::new(door))).await
    }

    async fn new_tab_in(
        &self,
        frames: bool,
        context: &cdp::CreateBrowserContext<'_>,
        door: Option<Arc<Door>>,
    ) -> Result<OpenedTab, CallError> {
        let connection = &self.connection;
        let context = connection.call(None, context).within(ANSWER).await?;
        let (width, height) = self.window;
        let target = cdp::CreateTarget {
            url: "about:blank",
            browser_context_id: &context,
            width,
            height,
            enable_begin_frame_control: !frames && self.can_do_without_frames,
        };
        let target = connection.call(None, &target).within(ANSWER).await?;
        let attach = cdp::AttachToTarget { target_id: &target, flatten: true };
        let session = connection.call(None, &attach).within(ANSWER).await?;
        Ok(OpenedTab { context, target, session, door })
    }

    /// Closes a context with all of its tabs. The reply can be dropped.
    pub fn close_context(&self, context: &ContextId) -> PendingReply<()> {
        self.connection.call(None, &cdp::DisposeBrowserContext { browser_context_id: context })
    }

    /// Its profile directory.
    pub fn profile(&self) -> &Path {
        self.profile.path()
    }

    /// The memory of all its processes together, in bytes, without what they share. Reads /proc,
    /// which takes about a millisecond.
    pub fn memory(&self) -> u64 {
        self.process.memory()
    }

    /// The ids of all its processes.
    pub fn processes(&self) -> Vec<u32> {
        self.process.members()
    }

    /// Whether it runs and its connection is open.
    pub fn is_alive(&mut self) -> bool {
        self.connection.closed().is_none() && self.process.ended().is_none()
    }

    /// Asks the browser to end, waits a little, then kills what is left and removes the profile.
    pub async fn close(mut self) {
        // The answer does not matter: a browser that does not end is killed.
        let _ = self.connection.call(None, &cdp::CloseBrowser {}).within(END).await;
        self.connection.close();
        self.wait(END).await;
    }
}
