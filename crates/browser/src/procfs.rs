//! Reads /proc. Knows nothing of browsers.

use std::fs;
use std::os::unix::fs::MetadataExt;

/// The fields of `/proc/PID/stat` that this crate uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stat {
    pub(crate) parent: u32,
    pub(crate) group: u32,
    /// Clock ticks from boot to the start of the process: with the id it names a process for good.
    pub(crate) started: u64,
    /// Dead, and not yet waited for.
    pub(crate) zombie: bool,
}

/// The ids of all visible processes.
pub(crate) fn processes() -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

/// Reads `/proc/PID/stat`; `None` if there is no such process.
pub(crate) fn stat(pid: u32) -> Option<Stat> {
    parse_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The program's name stands in parentheses and may hold parentheses and blanks, so the fields are
/// counted from the last parenthesis.
fn parse_stat(text: &str) -> Option<Stat> {
    let (_, fields) = text.rsplit_once(')')?;
    let fields: Vec<&str> = fields.split_whitespace().collect();
    Some(Stat {
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
        zombie: matches!(*fields.first()?, "Z" | "X"),
    })
}

/// The command line of a process of the same user, its arguments ended by zero bytes; empty for the
/// processes of other users.
pub(crate) fn own_command_line(pid: u32) -> Vec<u8> {
    let own = fs::metadata(format!("/proc/{pid}"))
        .is_ok_and(|metadata| metadata.uid() == rustix::process::geteuid().as_raw());
    if own { fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default() } else { Vec::new() }
}

/// The memory that only this process uses, in bytes. The proportional share (smaps_rollup) is more
/// exact, but takes the kernel 15 ms for each process instead of 0.1 ms.
pub(crate) fn memory(pid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/statm")).ok()?;
    let mut fields = text.split_whitespace().skip(1).map(str::parse::<u64>);
    let (resident, shared) = (fields.next()?.ok()?, fields.next()?.ok()?);
    Some(resident.saturating_sub(shared) * rustix::param::page_size() as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_parentheses_and_blanks_does_not_confuse() {
        let text = "7 (a) b (c)) S 1 2 3 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 99 0 0";
        let stat = parse_stat(text).unwrap();
        assert_eq!(stat, Stat { parent: 1, group: 2, started: 99, zombie: false });
    }

    #[test]
    fn we_are_among_the_processes_and_take_memory() {
        let me = std::process::id();
        assert!(processes().contains(&me));
        assert!(stat(me).unwrap().started > 0);
        assert!(!own_command_line(me).is_empty());
        assert!(memory(me).unwrap() > 0);
    }
}
