//! A running browser: process, profile and connection put together. Opens tabs, each in a context of its own
//! (cookies and storage apart). Knows nothing of what is done in them.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::connection::{CallError, ProtocolConnection, SessionId};
use crate::find::Executable;
use crate::flags::{self, FlagSettings};
use crate::process::BrowserProcess;
use crate::profile::Profile;
use crate::sweep::{Swept, sweep};

/// How long a browser may take to end when asked to, before it is killed.
const PATIENCE: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(5);
/// How long the browser may take to open or close a tab.
const ANSWER: Duration = Duration::from_secs(30);

/// How to start a browser.
#[derive(Clone, Debug)]
pub struct LaunchSettings {
    /// Which one.
    pub executable: Executable,
    /// The directory (that of temporary files) in which its profile is made.
    pub profiles: PathBuf,
    /// Width and height of every tab, in pixels.
    pub window: (u32, u32),
    /// How much a page's script may keep, in megabytes; beyond it the page crashes.
    pub script_heap_mb: u32,
    /// How long it may take until the browser answers.
    pub start_within: Duration,
    /// Further command-line arguments.
    pub extra: Vec<OsString>,
}

impl LaunchSettings {
    /// The usual settings.
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
    /// No profile directory could be made.
    #[error("no profile can be made in {}: {error}", directory.display())]
    Profile {
        /// Where.
        directory: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The program cannot be started.
    #[error("{} cannot be started: {error}", program.display())]
    Start {
        /// Which one.
        program: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// It ended before it answered.
    #[error("{} ended at once ({status}): {words}", program.display())]
    Ended {
        /// Which one.
        program: PathBuf,
        /// How it ended.
        status: String,
        /// The last that it said on standard error.
        words: String,
    },
    /// It does not answer as it should.
    #[error("{} does not answer: {error}: {words}", program.display())]
    Mute {
        /// Which one.
        program: PathBuf,
        /// What went wrong.
        error: CallError,
        /// The last that it said on standard error.
        words: String,
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

/// A tab that was opened, and the session to speak with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenedTab {
    /// Its context, which holds nothing else.
    pub context: ContextId,
    /// The tab.
    pub target: TargetId,
    /// To speak with it.
    pub session: SessionId,
}

/// A running browser. Dropping it kills its processes and removes its profile.
#[derive(Debug)]
pub struct Browser {
    // The order matters: fields are dropped from the top, and the processes must end before their profile
    // is removed.
    connection: ProtocolConnection,
    process: BrowserProcess,
    profile: Profile,
    window: (u32, u32),
    headless_shell: bool,
    version: String,
    sandboxed: bool,
    swept: Swept,
}

impl Browser {
    /// Sweeps what dead owners left, starts a browser and waits until it answers. Must be called on a tokio
    /// runtime with I/O and time.
    pub async fn launch(settings: &LaunchSettings) -> Result<Self, LaunchError> {
        let swept = sweep(&settings.profiles);
        let profile = Profile::create(&settings.profiles).map_err(|error| {
            LaunchError::Profile { directory: settings.profiles.clone(), error }
        })?;
        let program = settings.executable.path.clone();
        // As root Chromium refuses to start with its sandbox.
        let root = rustix::process::geteuid().is_root();
        let sandboxed =
            !root && !settings.extra.iter().any(|argument| argument == flags::NO_SANDBOX);
        let arguments = flags::arguments(&FlagSettings {
            headless_shell: settings.executable.is_headless_shell(),
            profile: profile.path(),
            sandbox: !root,
            window: settings.window,
            script_heap_mb: settings.script_heap_mb,
            extra: &settings.extra,
        });
        let cannot_start = |error| LaunchError::Start { program: program.clone(), error };
        let (process, pipes) =
            BrowserProcess::start(&program, &arguments, profile.path()).map_err(cannot_start)?;
        let connection =
            ProtocolConnection::open(pipes.from_browser, pipes.to_browser).map_err(cannot_start)?;
        let mut browser = Self {
            connection,
            process,
            profile,
            window: settings.window,
            headless_shell: settings.executable.is_headless_shell(),
            version: String::new(),
            sandboxed,
            swept,
        };
        match browser.greet(settings.start_within).await {
            Ok(version) => browser.version = version,
            Err(error) => return Err(browser.failed_start(program, error).await),
        }
        Ok(browser)
    }

    /// Asks for the version, and to be told of tabs that crash.
    async fn greet(&self, limit: Duration) -> Result<String, CallError> {
        #[derive(Deserialize)]
        struct Version {
            product: String,
        }
        let version = self.connection.call(None, "Browser.getVersion", &json!({}));
        let discover = json!({"discover": true, "filter": [{"type": "page"}]});
        let discover = self.connection.call(None, "Target.setDiscoverTargets", &discover);
        let version = version.read_within::<Version>(limit).await?;
        discover.within(limit).await?;
        Ok(version.product)
    }

    async fn failed_start(mut self, program: PathBuf, error: CallError) -> LaunchError {
        if matches!(error, CallError::ConnectionClosed(_)) {
            let status = self.wait(PATIENCE).await;
            let status =
                status.map_or_else(|| "still running".to_owned(), |status| status.to_string());
            self.process.heard_out(PATIENCE).await;
            return LaunchError::Ended { program, status, words: self.process.last_words() };
        }
        LaunchError::Mute { program, error, words: self.process.last_words() }
    }

    async fn wait(&mut self, limit: Duration) -> Option<ExitStatus> {
        let started = Instant::now();
        loop {
            let ended = self.process.ended();
            if ended.is_some() || started.elapsed() > limit {
                return ended;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }

    /// Whether it can have tabs that are never drawn: only the headless shell leaves it to others when frames are made.
    pub fn can_do_without_frames(&self) -> bool {
        self.headless_shell
    }

    /// Opens an empty tab in a context of its own and attaches to it.
    pub async fn new_tab_session(&self) -> Result<OpenedTab, CallError> {
        self.new_tab(true).await
    }

    /// Opens an empty tab; without frames it is laid out when somebody asks where something is, and never drawn.
    pub async fn new_tab(&self, frames: bool) -> Result<OpenedTab, CallError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Context {
            browser_context_id: ContextId,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Created {
            target_id: TargetId,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Attached {
            session_id: SessionId,
        }
        let connection = &self.connection;
        let made = json!({"disposeOnDetach": true});
        let Context { browser_context_id: context } =
            connection.call(None, "Target.createBrowserContext", &made).read_within(ANSWER).await?;
        let (width, height) = self.window;
        let wanted = json!({
            "url": "about:blank", "browserContextId": &context, "width": width, "height": height,
            "enableBeginFrameControl": !frames && self.can_do_without_frames(),
        });
        let Created { target_id: target } =
            connection.call(None, "Target.createTarget", &wanted).read_within(ANSWER).await?;
        let wanted = json!({"targetId": &target, "flatten": true});
        let Attached { session_id: session } =
            connection.call(None, "Target.attachToTarget", &wanted).read_within(ANSWER).await?;
        Ok(OpenedTab { context, target, session })
    }

    /// Closes a context with all of its tabs, some time; nobody waits for it.
    pub fn let_go(&self, context: &ContextId) {
        drop(self.connection.call(
            None,
            "Target.disposeBrowserContext",
            &json!({"browserContextId": context}),
        ));
    }

    /// Closes a context with all of its tabs.
    pub async fn close_context(&self, context: &ContextId) -> Result<(), CallError> {
        let which = json!({"browserContextId": context});
        self.connection.call(None, "Target.disposeBrowserContext", &which).within(ANSWER).await?;
        Ok(())
    }

    /// The connection, for calls and events.
    pub fn connection(&self) -> &ProtocolConnection {
        &self.connection
    }

    /// What the browser calls itself, for example `HeadlessChrome/156.0.8078.79`.
    pub fn version(&self) -> &str {
        &self.version
    }

    /// Whether the browser keeps pages in its sandbox. It does unless argiope runs as root.
    pub fn is_sandboxed(&self) -> bool {
        self.sandboxed
    }

    /// What was found and removed before the start.
    pub fn swept(&self) -> &Swept {
        &self.swept
    }

    /// Where its profile is.
    pub fn profile(&self) -> &Path {
        self.profile.path()
    }

    /// The memory of all its processes together, in bytes; what they share is left out. Reads /proc, a
    /// millisecond or so.
    pub fn memory(&self) -> u64 {
        self.process.memory()
    }

    /// The ids of all its processes.
    pub fn processes(&self) -> Vec<u32> {
        self.process.members()
    }

    /// Whether it runs and can be spoken to.
    pub fn is_alive(&mut self) -> bool {
        self.connection.closed().is_none() && self.process.ended().is_none()
    }

    /// Asks the browser to end, waits a little, then kills what is left and removes the profile.
    pub async fn close(mut self) {
        // No answer is as good as one: what does not end is killed.
        let _ = self.connection.call(None, "Browser.close", &json!({})).within(PATIENCE).await;
        self.connection.close();
        self.wait(PATIENCE).await;
    }
}
