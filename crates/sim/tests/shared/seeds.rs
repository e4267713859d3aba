//! The seeds of simulated crawls with faults.

/// The seeds for each scheme and failover policy: 200, with `ARGIOPE_LONG=1` 800, with
/// `ARGIOPE_SEEDS=N` N.
pub fn seeds() -> u64 {
    let given = std::env::var_os("ARGIOPE_SEEDS").and_then(|seeds| seeds.into_string().ok());
    let given = given.map(|seeds| seeds.parse().expect("ARGIOPE_SEEDS is a number"));
    given.unwrap_or(if std::env::var_os("ARGIOPE_LONG").is_some() { 800 } else { 200 })
}
