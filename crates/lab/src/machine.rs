//! Load and memory, as `/proc` reports them.

/// The busy seconds of all cores since the machine started.
pub fn busy_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let ticks = |at: usize| -> u64 {
        text.split_whitespace().nth(at).and_then(|figure| figure.parse().ok()).unwrap_or_default()
    };
    // User, nice, system and interrupts; not idle, waiting and stolen time.
    let busy: u64 = [1, 2, 3, 6, 7].into_iter().map(ticks).sum();
    busy as f64 / rustix::param::clock_ticks_per_second() as f64
}

/// The cores that this process may use.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// The processes that were ready to run in the last minute, on average; "unknown" without `/proc`.
pub fn load_average() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split_whitespace().next().unwrap_or("unknown").to_owned()
}

/// The resident bytes of this process, where the system has `/proc`. (`status` rather than `statm`:
/// it counts in kilobytes, so the size of a page need not be known.)
pub fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
