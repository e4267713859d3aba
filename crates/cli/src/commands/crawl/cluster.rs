//! `argiope crawl --cluster` and `argiope attach`: a crawl that a ring of controllers shares. It is begun, followed and
//! fetched from here; it goes on whether somebody follows it or not.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use argiope_controller::input::StoppedBy;
use argiope_controller::peer::schemes;
use argiope_controller::star::{self, division};
use argiope_runtime::cluster::Switch;
use argiope_runtime::cluster::client::{Client, ClientError, Fetched};
use argiope_runtime::cluster::protocol::{CrawlId, CrawlTally, Order, Status};
use argiope_runtime::crawl::{CrawlProgress, CrawlSummary};
use argiope_runtime::learned;
use argiope_runtime::settings::{CrawlSettings, Scope};
use argiope_runtime::store::Store;
use argiope_sim::cluster::spec::RECOVERIES;
use argiope_sites::Server;
use argiope_wire::Role;
use clap::builder::PossibleValuesParser;
use tokio::sync::Notify;

use super::progress::ProgressPrinter;
use super::report::Ended;
use super::run_dir::{self, RunDir};
use super::{CrawlArgs, DEMO, all_masks};
use crate::recorded::{self, refused};
use argiope::cluster::{Security, block_on, chance};
use argiope::failure::{CommandFailure, FAILED, INTERRUPTED, LIMIT};
use argiope::{format, interrupt, output, terminal};

/// So often what is missing is asked for again, with a pause between.
const FETCHES: u32 = 5;
const PAUSE: Duration = Duration::from_secs(1);
/// So long the controllers of a ring are looked for before a crawl that was followed is let go.
const LONGEST_SEARCH: Duration = Duration::from_secs(30);

/// What a crawl on a ring needs beside the rest.
#[derive(clap::Args)]
#[command(next_help_heading = "On a ring of controllers")]
pub struct ClusterCrawlArgs {
    /// Let the ring crawl that a controller there is in, with its crawlers (several: whichever answers)
    #[arg(long, value_name = "ADDR", value_delimiter = ',', conflicts_with_all = ["resume", "tabs", "browser"])]
    cluster: Vec<String>,
    /// What controllers know of each other's states [default: forward-global]; static divides the work among crawlers in
    /// advance, around one coordinator: the controller that is dialled, without which the crawl waits
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(scheme_names()))]
    scheme: Option<String>,
    /// How the static scheme divides the actions of a state [default: stride]
    #[arg(long, value_name = "HOW", value_parser = PossibleValuesParser::new(division::ALL.map(|(name, _)| name)))]
    division: Option<String>,
    /// What becomes of what a lost controller knew [default: redundancy]; not with static
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(RECOVERIES))]
    recovery: Option<String>,
    /// On how many other controllers there are copies [default: 1]; not with static
    #[arg(long, value_name = "R", value_parser = clap::value_parser!(u32).range(0..=4))]
    backups: Option<u32>,
    /// Do not wait for it: print its id and end
    #[arg(long)]
    detach: bool,
    #[command(flatten)]
    security: Security,
}

impl ClusterCrawlArgs {
    /// Whether a ring is to do it.
    pub fn is_wanted(&self) -> bool {
        !self.cluster.is_empty()
    }

    /// What was given and means nothing without a ring.
    pub fn pointless(&self) -> Option<&'static str> {
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

    /// Whether the work is to be divided in advance.
    fn is_static(&self) -> bool {
        self.scheme.as_deref() == Some(star::NAME)
    }

    fn order(&self, settings: &CrawlSettings) -> Result<Order, CommandFailure> {
        let usual = Order { settings: settings.clone(), ..Order::new(settings.url.clone()) };
        if self.is_static() {
            let given =
                [("--recovery", self.recovery.is_some()), ("--backups", self.backups.is_some())];
            if let Some((name, _)) = given.into_iter().find(|(_, given)| *given) {
                return Err(CommandFailure::Input(format!(
                    "{name} means nothing with --scheme static: all is on the disk of its one coordinator"
                )));
            }
            return Ok(usual.divided(self.division.as_deref().unwrap_or(division::ALL[0].0)));
        }
        if self.division.is_some() {
            return Err(CommandFailure::Input(
                "only the static scheme has a division: --scheme static".to_owned(),
            ));
        }
        Ok(Order {
            scheme: self.scheme.clone().unwrap_or(usual.scheme),
            recovery: self.recovery.clone().unwrap_or(usual.recovery),
            backups: self.backups.unwrap_or(usual.backups),
            settings: usual.settings,
        })
    }
}

fn scheme_names() -> Vec<&'static str> {
    schemes::ALL.iter().map(|scheme| scheme.name).chain([star::NAME]).collect()
}

const AFTER_HELP: &str = "\
With the id that `argiope crawl --cluster ADDR --detach` printed:
  argiope attach 6f2a90c1d3b4e587 --cluster 127.0.0.1:7401
  argiope attach 6f2a90c1d3b4e587 --cluster 127.0.0.1:7401 --stop

Ctrl-C lets go of a crawl; it goes on, and can be attached to again.

Exit codes: 0 complete, 1 failed, 2 bad input, 3 let go, 4 stopped before it was complete.";

/// As typed.
#[derive(clap::Args)]
#[command(after_help = AFTER_HELP)]
pub struct AttachArgs {
    /// The crawl
    #[arg(value_name = "ID", value_parser = crawl_id)]
    id: CrawlId,
    /// Where controllers of the ring listen
    #[arg(long, value_name = "ADDR", value_delimiter = ',', required = true)]
    cluster: Vec<String>,
    /// Stop it first; what was found so far is fetched
    #[arg(long)]
    stop: bool,
    /// The directory for the run, new or empty [default: out/HOST-N]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print one JSON object instead of the summary
    #[arg(long)]
    json: bool,
    /// No progress on standard error
    #[arg(long)]
    quiet: bool,
    #[command(flatten)]
    security: Security,
}

fn crawl_id(text: &str) -> Result<CrawlId, String> {
    let number = u64::from_str_radix(text, 16).ok().filter(|_| text.len() == 16);
    number.map(CrawlId).ok_or_else(|| "an id has sixteen digits from 0 to f".to_owned())
}

/// A crawl that is followed.
struct Following<'a> {
    switch: &'a Switch,
    addresses: Vec<String>,
    id: CrawlId,
    limits: Limits,
    stopped_by: Option<StoppedBy>,
    /// The most tabs that worked for it at a time, as far as was seen.
    tabs: u32,
    last: Status,
    started: Instant,
}

/// When to stop. A ring is told so when somebody who follows it sees that it is time: it may go a little further.
#[derive(Default)]
struct Limits {
    states: Option<u64>,
    actions: Option<u64>,
    until: Option<Instant>,
}

/// What became of a crawl that was followed.
enum Followed {
    Over,
    LetGo,
}

/// Begins a crawl on a ring.
pub fn run(args: &CrawlArgs) -> Result<(), CommandFailure> {
    let started = Instant::now();
    let server = if args.what.demo {
        Some(Server::start(DEMO).map_err(|error| CommandFailure::Failed(error.to_string()))?)
    } else {
        None
    };
    let url =
        server.as_ref().map(Server::url).or_else(|| args.what.url.clone()).unwrap_or_default();
    Scope::of(&url).map_err(CommandFailure::Input)?;
    let settings = args.settings(url);
    if settings.max_depth.is_some() {
        return Err(CommandFailure::Input("--max-depth is not known to a ring".to_owned()));
    }
    let ring = &args.ring;
    let order = ring.order(&settings)?;
    let switch = ring.security.switch(Role::Client, chance()?, None)?;
    let id = CrawlId(chance()? as u64);
    let limits = Limits {
        states: settings.max_states.map(|limit| limit as u64),
        actions: settings.max_actions,
        until: args.max_time.map(|time| started + time),
    };
    let place = if ring.detach {
        None
    } else {
        Some(place_for(args.out.as_deref(), &settings, args.what.demo)?)
    };
    let mut following = Following {
        switch: &switch,
        addresses: ring.cluster.clone(),
        id,
        limits,
        stopped_by: None,
        tabs: 1,
        last: Status::default(),
        started,
    };
    let interrupted = interrupt::listen();
    let begun = block_on(async {
        tokio::select! {
            begun = following.begin(order) => begun,
            () = interrupted.notified() => Err(ClientError::Refused("interrupted before the crawl began".to_owned())),
        }
    })?;
    if let Err(error) = begun {
        if let Some(place) = place {
            place.undo();
        }
        return Err(failed(&error));
    }
    let Some(place) = place else {
        let again =
            format!("{} attach {id} --cluster {}", format::program(), ring.cluster.join(","));
        terminal::message(&format!("the crawl continues; to attach to it: {again}"));
        return output::print(&format!("{id}\n"));
    };
    follow(&mut following, &place, &settings, args.json, args.quiet)
}

/// Follows a crawl that somebody began.
pub fn attach(args: &AttachArgs) -> Result<(), CommandFailure> {
    let switch = args.security.switch(Role::Client, chance()?, None)?;
    let mut following = Following {
        switch: &switch,
        addresses: args.cluster.clone(),
        id: args.id,
        limits: Limits::default(),
        stopped_by: None,
        tabs: 1,
        last: Status::default(),
        started: Instant::now(),
    };
    let settings = block_on(async {
        let mut client = Client::dial_any(following.switch, &following.addresses).await?;
        if args.stop {
            client.stop(args.id).await?;
        }
        let status = client.status().await?;
        let crawl = status.crawls.into_iter().find(|crawl| crawl.id == args.id);
        let crawl = crawl.ok_or_else(|| {
            ClientError::Refused(format!("there is no crawl {} on this ring", args.id))
        })?;
        Ok(crawl.order.settings)
    })?
    .map_err(|error: ClientError| failed(&error))?;
    let place = place_for(args.out.as_deref(), &settings, false)?;
    follow(&mut following, &place, &settings, args.json, args.quiet)
}

fn place_for(
    out: Option<&std::path::Path>,
    settings: &CrawlSettings,
    demo: bool,
) -> Result<RunDir, CommandFailure> {
    let scope = Scope::of(&settings.url).map_err(CommandFailure::Input)?;
    let name = if demo { DEMO.to_owned() } else { run_dir::name_of(&scope.site) };
    match out {
        Some(path) => Ok(RunDir::given(path)),
        None => RunDir::chosen(&name),
    }
}

fn failed(error: &ClientError) -> CommandFailure {
    match error {
        ClientError::Refused(_) => CommandFailure::Input(error.to_string()),
        ClientError::Dial(_) | ClientError::Gone(_) | ClientError::Confused(_) => {
            CommandFailure::Failed(error.to_string())
        }
    }
}

/// Follows a crawl to its end, fetches it, and says how it ended.
fn follow(
    following: &mut Following<'_>,
    place: &RunDir,
    settings: &CrawlSettings,
    json: bool,
    quiet: bool,
) -> Result<(), CommandFailure> {
    let as_json = serde_json::to_value(settings).expect("settings are JSON");
    let store = Store::create(&place.path, &as_json).map_err(|error| refused(&error))?;
    let interrupted = interrupt::listen();
    let mut watch = ProgressPrinter::new(quiet, false);
    let followed = block_on(async {
        let followed = following.follow_to_the_end(&mut watch, &interrupted).await?;
        let fetched = match followed {
            Followed::LetGo => None,
            Followed::Over => Some(following.fetch().await?),
        };
        Ok::<_, ClientError>(fetched)
    });
    watch.end();
    let fetched = match followed? {
        Ok(Some(fetched)) => fetched,
        Ok(None) => {
            place.undo();
            let again =
                format!("attach {} --cluster {}", following.id, following.addresses.join(","));
            terminal::message(&format!(
                "the crawl continues; to attach to it again: {} {again}",
                format::program()
            ));
            return Err(CommandFailure::Ended(INTERRUPTED));
        }
        Err(error) => {
            place.undo();
            return Err(failed(&error));
        }
    };
    tell(following, &store, &fetched, place, settings, json)
}

fn tell(
    following: &Following<'_>,
    store: &Store,
    fetched: &Fetched,
    place: &RunDir,
    settings: &CrawlSettings,
    json: bool,
) -> Result<(), CommandFailure> {
    let learned = learned::load(store).map_err(|error| refused(&error))?;
    fetched.write(store, learned.reset_cost).map_err(|error| refused(&error))?;
    let learned = learned::load(store).map_err(|error| refused(&error))?;
    let controller = recorded::controller(store, settings, learned.reset_cost)?;
    let incomplete = fetched.incomplete();
    let mut summary = CrawlSummary::of(&controller, incomplete.is_none(), following.stopped_by);
    summary.progress.actions_now = summary.progress.actions;
    let settings = CrawlSettings { tabs: following.tabs, ..settings.clone() };
    let masks = all_masks(&learned);
    let wall = following.started.elapsed();
    let ended =
        Ended { settings: &settings, summary: &summary, wall, out: &place.path, masks: &masks };
    output::print(&if json { ended.json() } else { ended.text() })?;
    match incomplete {
        None => Ok(()),
        Some(_) if following.stopped_by.is_some() => Err(CommandFailure::Ended(LIMIT)),
        Some(why) => {
            terminal::message(&format!("the model is incomplete: {why}"));
            Err(CommandFailure::Ended(FAILED))
        }
    }
}

impl Following<'_> {
    async fn begin(&self, order: Order) -> Result<(), ClientError> {
        Client::dial_any(self.switch, &self.addresses).await?.start(self.id, order).await
    }

    /// Whichever controller answers within some time; those that were heard of since as well.
    async fn dial_again(&self) -> Result<Client, ClientError> {
        let until = Instant::now() + LONGEST_SEARCH;
        loop {
            match Client::dial_any(self.switch, &self.addresses).await {
                Err(error) if Instant::now() > until => return Err(error),
                Err(_) => tokio::time::sleep(PAUSE).await,
                Ok(client) => {
                    client.follow(self.id).await?;
                    return Ok(client);
                }
            }
        }
    }

    async fn follow_to_the_end(
        &mut self,
        watch: &mut ProgressPrinter,
        interrupted: &Notify,
    ) -> Result<Followed, ClientError> {
        loop {
            let mut client = tokio::select! {
                client = self.dial_again() => client?,
                () = interrupted.notified() => return Ok(Followed::LetGo),
            };
            loop {
                let status = tokio::select! {
                    status = client.next_progress() => status,
                    () = interrupted.notified() => return Ok(Followed::LetGo),
                };
                let status = match status {
                    Ok(status) => status,
                    // Another controller will know.
                    Err(ClientError::Gone(_)) => break,
                    Err(error) => return Err(error),
                };
                self.heard_of(&status);
                let total = status.total(self.id);
                watch.show(&progress(&total, self.started));
                let over = total.finished;
                self.tabs = self.tabs.max(total.crawlers);
                if status.crawls.iter().any(|crawl| crawl.id == self.id && crawl.stopped) {
                    // By somebody else, if it was not for a limit.
                    self.stopped_by.get_or_insert(StoppedBy::Interrupt);
                }
                self.last = status;
                if over {
                    return Ok(Followed::Over);
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

    /// Controllers that can be dialled when this one is gone.
    fn heard_of(&mut self, status: &Status) {
        for member in &status.members {
            if !self.addresses.contains(&member.member.address) {
                self.addresses.push(member.member.address.clone());
            }
        }
    }

    /// Everything from everybody.
    async fn fetch(&self) -> Result<Fetched, ClientError> {
        let mut fetched = Fetched::beside(&self.last, self.id);
        let mut last = None;
        for attempt in 0..FETCHES {
            if attempt > 0 {
                tokio::time::sleep(PAUSE).await;
            }
            for address in &self.addresses {
                let asked = match Client::dial(self.switch, address).await {
                    Ok(mut client) => client.fetch(self.id, &mut fetched).await,
                    Err(error) => Err(error),
                };
                if let Err(error) = asked {
                    last = Some(error);
                }
            }
            if fetched.incomplete().is_none()
                || (self.stopped_by.is_some() && fetched.counts().0 > 0)
            {
                return Ok(fetched);
            }
        }
        match last {
            Some(error) if fetched.counts().0 == 0 => Err(error),
            _ => Ok(fetched),
        }
    }
}

impl Limits {
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

fn progress(total: &CrawlTally, started: Instant) -> CrawlProgress {
    CrawlProgress {
        states: total.states as usize,
        transitions: total.transitions as usize,
        unexplored: (total.left + total.leases) as usize,
        actions: total.spent.actions,
        resets: total.spent.resets,
        actions_now: total.spent.actions,
        elapsed: started.elapsed(),
    }
}
