//! How much memory the process really holds, as far as the system tells.

use std::fs;

/// The resident bytes of this process, where the system has `/proc`. (`status` rather than `statm`:
/// it counts in kilobytes, so the size of a page need not be known.)
pub fn resident() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
