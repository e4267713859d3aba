//! What the commands of `argiope` share with those of the lab: command lines, failures and exit
//! codes, output, progress, applications, processes of a cluster. It must not know any command.

pub mod arguments;
pub mod browser;
pub mod cluster;
pub mod failure;
pub mod format;
pub mod interrupt;
pub mod logging;
pub mod names;
pub mod output;
pub mod processes;
pub mod progress;
pub mod source;
pub mod strategy_runs;
pub mod table;
pub mod terminal;
pub mod threads;
