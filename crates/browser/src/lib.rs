#![doc = include_str!("../README.md")]

pub mod access;
pub mod agent;
pub mod border;
pub mod browser;
pub mod cdp;
pub mod connection;
pub mod door;
pub mod events;
pub mod find;
pub mod flags;
pub mod login;
pub mod note;
pub mod process;
pub mod profile;
pub mod sweep;
pub mod tab;

mod message;
mod outsider;
mod procfs;

pub use access::Access;
pub use border::{Border, CrawlBounds, ThirdParty};
pub use browser::{Browser, LaunchError, LaunchSettings, OpenedTab};
pub use connection::{CallError, PendingReply, ProtocolConnection, SessionId};
pub use events::{Event, Events};
pub use find::{Executable, FindError};
pub use login::Login;
