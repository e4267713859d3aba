//! `argiope crawl --cluster` and `argiope attach`: submit a crawl to a cluster, follow it, and
//! fetch its result. The crawl continues without a client.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use argiope_browser::Access;
use argiope_controller::input::StoppedBy;
use argiope_controller::peer::schemes;
use argiope_controller::settings::StopAt;
use argiope_controller::star::{self, division};
use argiope_explore::quoted::Escaped;
use argiope_runtime::cluster::Switch;
use argiope_runtime::cluster::client::{Client, ClientError, Fetched};
use argiope_runtime::cluster::protocol::{CrawlId, CrawlStatus, CrawlTally, Order, Status};
use argiope_runtime::crawl::{CrawlProgress, CrawlSummary};
use argiope_runtime::learned;
use argiope_runtime::probe;
use argiope_runtime::settings::CrawlSettings;
use argiope_runtime::store::Store;
use argiope_sim::cluster::spec::RECOVERIES;
use argiope_wire::Role;
use clap::builder::PossibleValuesParser;

use super::login_args::{LoginArgs, read_access};
use super::progress::{ProgressPrinter, warnings};
use super::report::{CrawlReport, RunLedger};
use super::run_dir::RunDir;
use super::{CrawlArgs, all_masks, target};
use crate::recorded;
use argiope::cluster::{Security, block_on, random_number};
use argiope::failure::{CommandFailure, FAILED, GIVEN_UP, INTERRUPTED, LIMIT};
use argiope::{format, interrupt, output, terminal};

/// The attempts to fetch a complete result.
const FETCHES: u32 = 5;
/// The time between two attempts.
const PAUSE: Duration = Duration::from_secs(1);
/// The time without any controller after which a client gives up.
const DIAL_TIMEOUT: Duration = Duration::from_secs(30);

/// The most bytes of the addresses with which a crawl begins. They are in each status that a client
/// asks for, and a controller reads at most 1 MiB of a client at once.
const MOST_SEED_BYTES: usize = 1 << 18;

/// The options of a crawl on a cluster.
#[derive(clap::Args)]
#[command(next_help_heading = "On a cluster")]
pub struct ClusterCrawlArgs {
    /// Submit the crawl to the cluster at ADDR; of several, the first controller that answers
    #[arg(long, value_name = "ADDR", value_delimiter = ',', conflicts_with_all = ["resume", "tabs", "browser"])]
    cluster: Vec<String>,
    /// Share knowledge among controllers by this scheme [default: forward-global]; static divides
    /// the work in advance, and the controller at ADDR coordinates it
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(scheme_names()))]
    scheme: Option<String>,
    /// Divide the actions of a state in this way; requires --scheme static [default: stride]
    #[arg(long, value_name = "HOW", value_parser = PossibleValuesParser::new(division::ALL.map(|(name, _)| name)))]
    division: Option<String>,
    /// Recover the states of a lost controller by this policy; not with static [default:
    /// redundancy]
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(RECOVERIES))]
    recovery: Option<String>,
    /// Keep R replicas of each state; not with static [default: 1]
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(0..=4))]
    backups: Option<u32>,
    /// Print the id of the crawl and end; the crawl continues
    #[arg(long)]
    detach: bool,
    #[command(flatten)]
    security: Security,
}

impl ClusterCrawlArgs {
    /// Whether a cluster is asked for.
    pub fn is_wanted(&self) -> bool {
        !self.cluster.is_empty()
    }

    /// The first option given that requires --cluster.
    pub fn requires_cluster(&self) -> Option<&'static str> {
        let given = [
            ("--scheme", self.scheme.is_some()),
            ("--division", self.division.is_some()),
            ("--recovery", self.recovery.is_some()),
            ("--backups", self.backups.is_some()),
            ("--detach", self.detach),
            ("--certs", self.security.certs.is_some()),
        ];
        given.into_iter().find(|(_, given)| *given).map(|(name, _)| name)
    }

    /// Whether the work is divided in advance.
    fn is_static(&self) -> bool {
        self.scheme.as_deref() == Some(star::NAME)
    }

    fn order(&self, settings: &CrawlSettings) -> Result<Order, CommandFailure> {
        let default = Order { settings: settings.clone(), ..Order::new(&*settings.url) };
        if self.is_static() {
            let given =
                [("--recovery", self.recovery.is_some()), ("--backups", self.backups.is_some())];
            if let Some((name, _)) = given.into_iter().find(|(_, given)| *given) {
                return Err(CommandFailure::Input(format!(
                    "{name} cannot be used with --scheme static: only its coordinator stores states"
                )));
            }
            return Ok(default.divided(self.division.as_deref().unwrap_or(division::ALL[0].0)));
        }
        if self.division.is_some() {
            return Err(CommandFailure::Input("--division requires --scheme static".to_owned()));
        }
        Ok(Order {
            scheme: self.scheme.clone().unwrap_or(default.scheme),
            recovery: self.recovery.clone().unwrap_or(default.recovery),
            backups: self.backups.unwrap_or(default.backups),
            settings: default.settings,
        })
    }
}

fn scheme_names() -> Vec<&'static str> {
    schemes::ALL.iter().map(|scheme| scheme.name).chain([star::NAME]).collect()
}

const AFTER_HELP: &str = "\
Examples (with the id that `argiope crawl --cluster ADDR --detach` prints):
  argiope attach 6f2a90c1d3b4e587 --cluster 127.0.0.1:7401
  argiope attach 6f2a90c1d3b4e587 --cluster 127.0.0.1:7401 --stop

Ctrl-C detaches from a crawl, which continues.

Exit codes: 0 complete, 1 failed, 2 bad input, 3 detached, 4 stopped before it was complete, \
5 explored except for actions given up.";

/// The arguments as typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct AttachArgs {
    /// Attach to the crawl with this id
    #[arg(value_name = "ID", value_parser = crawl_id)]
    id: CrawlId,
    /// Dial the controllers at ADDR; of several, the first that answers
    #[arg(long, value_name = "ADDR", value_delimiter = ',', required = true)]
    cluster: Vec<String>,
    /// Stop the crawl, and fetch what it has found
    #[arg(long)]
    stop: bool,
    #[command(flatten)]
    login: LoginArgs,
    /// Write the run to DIR, which is new or empty [default: out/HOST-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object instead of the summary
    #[arg(long)]
    json: bool,
    /// Print no progress
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    security: Security,
}

/// Parses the id of a crawl.
fn crawl_id(text: &str) -> Result<CrawlId, String> {
    let number = u64::from_str_radix(text, 16).ok().filter(|_| text.len() == 16);
    number.map(CrawlId).ok_or_else(|| "write an id of sixteen digits from 0 to f".to_owned())
}

/// A client that follows a crawl.
struct CrawlFollower<'a> {
    switch: &'a Switch,
    security: &'a Security,
    addresses: Vec<String>,
    id: CrawlId,
    limits: Limits,
    stopped_by: Option<StoppedBy>,
    /// The most tabs that worked for it at once, as far as reported.
    tabs: u32,
    /// The secrets of the crawl's login, for controllers that have restarted.
    access: Access,
    /// Why the crawl cannot go on, if it is so.
    trouble: Option<String>,
    /// The actions that were executed before this client followed the crawl.
    actions_before: Option<u64>,
    last: Status,
    started: Instant,
}

/// The limits of a crawl. The client stops the crawl when it sees one reached, so a crawl may
/// exceed them a little.
#[derive(Default)]
struct Limits {
    states: Option<u64>,
    actions: Option<u64>,
    until: Option<Instant>,
}

/// Submits a crawl to a cluster.
pub fn run(args: &CrawlArgs) -> Result<(), CommandFailure> {
    let started = Instant::now();
    let (_server, url) = target(args)?;
    let mut settings = CrawlSettings { inputs: args.inputs()?, ..args.settings(&url)? };
    args.add_seeds(&mut settings)?;
    settings.bounds().map_err(CommandFailure::Input)?;
    if settings.login.before_reset.is_some() {
        let why = "--before-reset cannot be used with --cluster: it would change the data under \
                   other tabs";
        return Err(CommandFailure::Input(why.to_owned()));
    }
    if settings.seeds.iter().map(|seed| seed.len()).sum::<usize>() > MOST_SEED_BYTES {
        let why = format!(
            "the addresses have more than {MOST_SEED_BYTES} bytes, which is the most that a \
             cluster takes: give fewer, or leave out --cluster"
        );
        return Err(CommandFailure::Input(why));
    }
    if settings.max_depth.is_some() {
        return Err(CommandFailure::Input("--max-depth cannot be used with --cluster".to_owned()));
    }
    if settings.stop_at != StopAt::All {
        let why = "--stop-at cannot be used with --cluster: a cluster executes every action";
        return Err(CommandFailure::Input(why.to_owned()));
    }
    let ring = &args.ring;
    let has_limits = settings.max_states.is_some() || settings.max_actions.is_some();
    if ring.detach && (has_limits || args.max_time.is_some()) {
        let why = "--detach cannot be used with a limit: the client that follows a crawl stops it";
        return Err(CommandFailure::Input(why.to_owned()));
    }
    let order = ring.order(&settings)?;
    let switch = ring.security.switch(Role::Client, random_number()?, None)?;
    let id = CrawlId(random_number()? as u64);
    let limits = Limits {
        states: settings.max_states.map(|limit| limit as u64),
        actions: settings.max_actions,
        until: args.max_time.map(|time| started + time),
    };
    let run_dir = if ring.detach {
        None
    } else {
        Some(RunDir::choose(args.out.as_deref(), &settings.url, args.target.demo)?)
    };
    let follower = CrawlFollower::new(&switch, &ring.security, &ring.cluster, id);
    let access = settings.access.clone();
    let mut follower =
        CrawlFollower { limits, started, access, actions_before: Some(0), ..follower };
    let interrupted = interrupt::listen();
    let begun = block_on(async {
        tokio::select! {
            begun = follower.begin(order) => Some(begun),
            () = interrupted.notified() => None,
        }
    })?;
    let failure = match begun {
        Some(Ok(())) => None,
        Some(Err(error)) => Some(failed(&error)),
        None => Some(CommandFailure::Ended(INTERRUPTED)),
    };
    if let Some(failure) = failure {
        if let Some(run_dir) = run_dir {
            run_dir.undo();
        }
        return Err(failure);
    }
    let Some(run_dir) = run_dir else {
        let again = follower.attach_command();
        terminal::message(&format!("the crawl continues; to attach to it: {again}"));
        return output::print(&format!("{id}\n"));
    };
    follow(&mut follower, &run_dir, &settings, args.json, args.quiet)
}

/// Attaches to a crawl.
pub fn attach(args: &AttachArgs) -> Result<(), CommandFailure> {
    let switch = args.security.switch(Role::Client, random_number()?, None)?;
    let mut follower = CrawlFollower::new(&switch, &args.security, &args.cluster, args.id);
    let mut settings = block_on(async {
        let mut client = Client::dial_any(follower.switch, &follower.addresses).await?;
        if args.stop {
            client.stop(args.id).await?;
        }
        let status = client.status().await?;
        let crawl = status.crawls.into_iter().find(|crawl| crawl.id == args.id);
        let crawl = crawl.ok_or_else(|| {
            ClientError::Refused(format!(
                "the cluster has no crawl {}; `argiope status` lists them",
                args.id
            ))
        })?;
        Ok(crawl.order.settings)
    })?
    .map_err(|error: ClientError| failed(&error))?;
    let given = args.login.apply(&mut settings)?;
    match read_access(&mut settings, &given) {
        Ok(()) => follower.access = settings.access.clone(),
        Err(error) if args.login.is_given() => return Err(error),
        // The controllers have the secrets, unless all of them have restarted.
        Err(_) => {}
    }
    let run_dir = RunDir::choose(args.out.as_deref(), &settings.url, false)?;
    follow(&mut follower, &run_dir, &settings, args.json, args.quiet)
}

/// Classifies an error of a client.
fn failed(error: &ClientError) -> CommandFailure {
    match error {
        ClientError::Refused(why) => match why.rsplit_once(probe::LEADS_OUT) {
            // A long address is cut, and cannot be typed.
            Some((_, there)) if !there.ends_with('…') => {
                let line = format::crawl_line(there, std::env::args_os().skip(1));
                CommandFailure::Input(format!("{error}; to crawl that: {line}"))
            }
            _ => CommandFailure::Input(error.to_string()),
        },
        ClientError::Dial(_) | ClientError::Gone(_) | ClientError::Confused(_) => {
            CommandFailure::Failed(error.to_string())
        }
    }
}

/// Follows a crawl to its end, fetches the result and prints the summary.
fn follow(
    follower: &mut CrawlFollower<'_>,
    run_dir: &RunDir,
    settings: &CrawlSettings,
    json: bool,
    quiet: bool,
) -> Result<(), CommandFailure> {
    // Before there is a run: Ctrl-C must not leave one that has not begun.
    let interrupted = interrupt::listen();
    let as_json = serde_json::to_value(settings).expect("settings are JSON");
    let store = Store::create(&run_dir.path, &as_json)?;
    // If this client is killed, the directory says where the crawl is.
    recorded::set_attach_command(&store, Some(&follower.attach_command()))?;
    let mut printer = ProgressPrinter::new(quiet, warnings(settings.safe, true));
    let followed = block_on(async {
        tokio::select! {
            ended = follower.follow_to_end(&mut printer) => ended?,
            () = interrupted.notified() => return Ok(None),
        }
        follower.fetch().await.map(Some)
    });
    printer.end();
    let fetched = match followed? {
        Ok(Some(fetched)) => fetched,
        Ok(None) => {
            run_dir.undo();
            let again = follower.attach_command();
            terminal::message(&format!("the crawl continues; to attach to it again: {again}"));
            return Err(CommandFailure::Ended(INTERRUPTED));
        }
        Err(error) => {
            run_dir.undo();
            return Err(failed(&error));
        }
    };
    conclude(follower, &store, &fetched, run_dir, settings, json)
}

/// Stores the fetched result, prints the summary and chooses the exit code.
fn conclude(
    follower: &CrawlFollower<'_>,
    store: &Store,
    fetched: &Fetched,
    run_dir: &RunDir,
    settings: &CrawlSettings,
    json: bool,
) -> Result<(), CommandFailure> {
    fetched.write(store, learned::load(store)?.reset_cost)?;
    recorded::set_attach_command(store, None)?;
    let learned = learned::load(store)?;
    let controller = recorded::controller(store, settings, learned.reset_cost)?;
    let incomplete = fetched.incomplete();
    let summary = CrawlSummary::of(&controller, incomplete.is_none(), follower.stopped_by);
    let summary = summary.with_doubts(learned.doubts.clone());
    let mut summary = summary.with_seeds_left(fetched.seeds_left());
    summary.complete &= summary.failed() == 0;
    summary.blocked.clone_from(&learned.blocked);
    let before = follower.actions_before.unwrap_or_default();
    summary.progress.actions_now = summary.progress.actions.saturating_sub(before);
    let settings = &CrawlSettings { tabs: follower.tabs, ..settings.clone() };
    let (masks, wall, out) = (&all_masks(&learned), follower.started.elapsed(), &run_dir.path);
    let ledger = &RunLedger::read(store, &summary, &controller);
    let report = CrawlReport { settings, summary: &summary, wall, out, masks, ledger };
    output::print(&if json { report.json() } else { report.text() })?;
    match incomplete {
        None if summary.failed() > 0
            || !summary.doubts.is_empty()
            || !summary.seeds_left.is_empty() =>
        {
            Err(CommandFailure::Ended(GIVEN_UP))
        }
        None => Ok(()),
        Some(_) if follower.stopped_by == Some(StoppedBy::Trouble) => {
            let why = follower.trouble.as_deref().unwrap_or("the crawl could not continue");
            let (program, out) = (format::program(), format::path(&run_dir.path));
            let resume = format!("{program} crawl --resume {out}");
            Err(CommandFailure::Failed(format!("{why}; to resume on this machine: {resume}")))
        }
        Some(_) if follower.stopped_by.is_some() => Err(CommandFailure::Ended(LIMIT)),
        Some(why) => {
            terminal::message(&format!("the model is incomplete: {why}"));
            Err(CommandFailure::Ended(FAILED))
        }
    }
}

impl<'a> CrawlFollower<'a> {
    fn new(switch: &'a Switch, security: &'a Security, addresses: &[String], id: CrawlId) -> Self {
        Self {
            switch,
            security,
            addresses: addresses.to_vec(),
            id,
            limits: Limits::default(),
            stopped_by: None,
            tabs: 1,
            access: Access::default(),
            trouble: None,
            actions_before: None,
            last: Status::default(),
            started: Instant::now(),
        }
    }

    /// The command that attaches to the crawl.
    fn attach_command(&self) -> String {
        let addresses = self.addresses.join(",");
        let security = self.security.options();
        format!("{} attach {} --cluster {addresses}{security}", format::program(), self.id)
    }

    async fn begin(&self, order: Order) -> Result<(), ClientError> {
        Client::dial_any(self.switch, &self.addresses).await?.start(self.id, order).await
    }

    /// Dials any known controller, for a limited time.
    async fn dial_again(&self) -> Result<Client, ClientError> {
        let until = Instant::now() + DIAL_TIMEOUT;
        loop {
            match Client::dial_any(self.switch, &self.addresses).await {
                Err(error) if Instant::now() > until => return Err(error),
                Err(_) => tokio::time::sleep(PAUSE).await,
                Ok(client) => {
                    if !self.access.is_empty() {
                        client.give_access(self.id, &self.access).await?;
                    }
                    client.follow(self.id).await?;
                    return Ok(client);
                }
            }
        }
    }

    /// Shows the progress until the crawl is over. Can be dropped: the crawl continues.
    async fn follow_to_end(&mut self, printer: &mut ProgressPrinter) -> Result<(), ClientError> {
        loop {
            let mut client = self.dial_again().await?;
            loop {
                let status = match client.next_progress().await {
                    Ok(status) => status,
                    // The next loop dials another controller.
                    Err(ClientError::Gone(_)) => break,
                    Err(error) => return Err(error),
                };
                self.learn_addresses(&status);
                let total = status.total(self.id);
                let before = *self.actions_before.get_or_insert(total.spent.actions);
                printer.show(&progress(&total, before, self.started));
                let over = total.finished;
                self.tabs = self.tabs.max(total.crawlers);
                if let Some(crawl) = status.crawls.iter().find(|crawl| crawl.id == self.id) {
                    self.on_status(crawl);
                }
                self.last = status;
                if over {
                    return Ok(());
                }
                if self.stopped_by.is_none()
                    && let Some(by) = self.limits.reached(&total)
                {
                    self.stopped_by = Some(by);
                    client.stop(self.id).await?;
                }
            }
        }
    }

    /// Takes in what a controller says of the crawl.
    fn on_status(&mut self, crawl: &CrawlStatus) {
        let trouble = crawl.trouble.as_ref().map(|trouble| Escaped(trouble, 500).to_string());
        if crawl.stopped {
            // By another client, unless a limit was reached or a crawler could not go on.
            let by = trouble.as_ref().map_or(StoppedBy::Interrupt, |_| StoppedBy::Trouble);
            self.stopped_by.get_or_insert(by);
        } else if let Some(waits) = trouble.as_ref().filter(|_| self.trouble != trouble) {
            terminal::message(&format!("crawl {}: {waits}", self.id));
        }
        self.trouble = trouble;
    }

    /// Notes controllers that can be dialled if this one is lost.
    fn learn_addresses(&mut self, status: &Status) {
        for member in &status.members {
            if !self.addresses.contains(&member.member.address) {
                self.addresses.push(member.member.address.clone());
            }
        }
    }

    /// Fetches the result from all controllers.
    async fn fetch(&self) -> Result<Fetched, ClientError> {
        let mut fetched = Fetched::beside(&self.last, self.id);
        let mut last = None;
        for attempt in 0..FETCHES {
            if attempt > 0 {
                tokio::time::sleep(PAUSE).await;
            }
            for address in &self.addresses {
                let asked = async {
                    Client::dial(self.switch, address).await?.fetch(self.id, &mut fetched).await
                };
                last = asked.await.err().or(last);
            }
            if fetched.incomplete().is_none() || (self.stopped_by.is_some() && !fetched.is_empty())
            {
                return Ok(fetched);
            }
        }
        match last {
            Some(error) if fetched.is_empty() => Err(error),
            _ => Ok(fetched),
        }
    }
}

impl Limits {
    /// The limit that is reached, if any.
    fn reached(&self, total: &CrawlTally) -> Option<StoppedBy> {
        if self.states.is_some_and(|limit| total.states >= limit) {
            Some(StoppedBy::MaxStates)
        } else if self.actions.is_some_and(|limit| total.spent.actions >= limit) {
            Some(StoppedBy::MaxActions)
        } else if self.until.is_some_and(|until| Instant::now() > until) {
            Some(StoppedBy::MaxTime)
        } else {
            None
        }
    }
}

/// The progress that a tally shows.
fn progress(total: &CrawlTally, actions_before: u64, started: Instant) -> CrawlProgress {
    CrawlProgress {
        states: total.states as usize,
        transitions: total.transitions as usize,
        unexplored: (total.left + total.leases) as usize,
        actions: total.spent.actions,
        resets: total.spent.resets,
        actions_now: total.spent.actions.saturating_sub(actions_before),
        elapsed: started.elapsed(),
    }
}
