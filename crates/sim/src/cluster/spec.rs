//! The text form of scenarios: failover policies, faults, latencies and times.

use argiope_controller::peer::settings::Recovery;

use super::scenario::{FaultEvent, Latency};

/// Why a text is not valid in a scenario. Prints as one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{given:?} is not {what}; write {syntax}")]
pub struct SpecError {
    what: &'static str,
    given: String,
    syntax: &'static str,
}

/// The syntax of faults.
pub const FAULT_SYNTAX: &str = "none, poisson:PER_HOUR, at:20%,50%, neighbours:K@50%, \
     crawlers:at:30%, or NAME@SHARE (join@40%), where NAME is fail, fail:K, restart:TIME, \
     restart-twice:TIME, storm:K, rolling:K, blackout:TIME, return, slow:TIMES, freeze:TIME, part:TIME, \
     join, leave, lose-crawler, add-crawler or detach:TIME; put + between several";
/// The syntax of latencies.
pub const LATENCY_SYNTAX: &str =
    "1ms, 1ms..5ms, or 1ms~ (a heavy tail: some messages take up to a hundred times as long)";
/// The names of the failover policies.
pub const RECOVERIES: &[&str] = &["retry", "redundancy", "combined", "adaptive"];
/// The faults of a crawl: each with the share of the transitions it waits for, and the rate at
/// which each controller fails, per hour.
pub type FaultPlan = (Vec<(f64, FaultEvent)>, f64);

/// The failover policy of this name.
pub fn parse_recovery(given: &str) -> Option<Recovery> {
    match given {
        "retry" => Some(Recovery::Retry),
        "redundancy" => Some(Recovery::Redundancy),
        "combined" => Some(Recovery::Combined { period: None }),
        "adaptive" => Some(Recovery::Adaptive),
        _ => None,
    }
}

/// The name of a failover policy.
pub fn recovery_name(recovery: Recovery) -> &'static str {
    match recovery {
        Recovery::Retry => "retry",
        Recovery::Redundancy => "redundancy",
        Recovery::Combined { .. } => "combined",
        Recovery::Adaptive => "adaptive",
    }
}

fn invalid(what: &'static str, given: &str, syntax: &'static str) -> SpecError {
    SpecError { what, given: given.to_owned(), syntax }
}

/// Parses the faults of a crawl.
pub fn parse_faults(given: &str) -> Result<FaultPlan, SpecError> {
    let mut plan: FaultPlan = (Vec::new(), 0.0);
    for item in given.split('+') {
        if add(item, &mut plan).is_none() {
            return Err(invalid("a list of failures", given, FAULT_SYNTAX));
        }
    }
    Ok(plan)
}

fn add(item: &str, (faults, per_hour): &mut FaultPlan) -> Option<()> {
    if item == "none" {
        return Some(());
    }
    if let Some(rate) = item.strip_prefix("poisson:") {
        *per_hour += rate.parse().ok().filter(|&rate: &f64| rate.is_finite() && rate >= 0.0)?;
    } else if let Some(shares) = item.strip_prefix("at:") {
        for each in shares.split(',') {
            faults.push((parse_share(each)?, FaultEvent::Fail(1)));
        }
    } else if let Some(many) = item.strip_prefix("neighbours:") {
        let (many, at) = many.split_once('@')?;
        faults.push((
            parse_share(at)?,
            FaultEvent::Fail(many.parse().ok().filter(|&many| many > 0)?),
        ));
    } else if let Some(shares) = item.strip_prefix("crawlers:at:") {
        for each in shares.split(',') {
            faults.push((parse_share(each)?, FaultEvent::LoseCrawler));
        }
    } else {
        faults.push(parse_fault(item)?);
    }
    Some(())
}

/// Parses `NAME[:ARGUMENT]@SHARE`.
fn parse_fault(given: &str) -> Option<(f64, FaultEvent)> {
    let (what, at) = given.split_once('@')?;
    let (name, argument) =
        what.split_once(':').map_or((what, None), |(name, argument)| (name, Some(argument)));
    let fault = match (name, argument) {
        ("fail", None) => FaultEvent::Fail(1),
        ("fail", Some(many)) => FaultEvent::Fail(many.parse().ok().filter(|&many| many > 0)?),
        ("freeze", Some(time)) => FaultEvent::Freeze(parse_time(time)?),
        ("restart", Some(time)) => FaultEvent::Restart(parse_time(time)?),
        ("restart-twice", Some(time)) => FaultEvent::RestartTwice(parse_time(time)?),
        ("storm", Some(many)) => FaultEvent::Storm(many.parse().ok().filter(|&many| many > 0)?),
        ("rolling", Some(many)) => FaultEvent::Rolling(many.parse().ok().filter(|&many| many > 0)?),
        ("blackout", Some(time)) => FaultEvent::Blackout(parse_time(time)?),
        ("return", None) => FaultEvent::Return,
        ("slow", Some(times)) => {
            FaultEvent::Slow(times.parse().ok().filter(|times| (1..=1_000_000).contains(times))?)
        }
        ("part", Some(time)) => FaultEvent::Partition(parse_time(time)?),
        ("join", None) => FaultEvent::Join,
        ("leave", None) => FaultEvent::Leave,
        ("lose-crawler", None) => FaultEvent::LoseCrawler,
        ("add-crawler", None) => FaultEvent::AddCrawler,
        ("detach", Some(time)) => FaultEvent::Detach(parse_time(time)?),
        _ => return None,
    };
    Some((parse_share(at)?, fault))
}

fn parse_share(given: &str) -> Option<f64> {
    let percent: f64 = given.strip_suffix('%')?.parse().ok()?;
    (0.0..=100.0).contains(&percent).then_some(percent / 100.0)
}

/// Parses a time such as `2s`, `10ms` or `250us` into microseconds.
pub fn parse_time(given: &str) -> Option<u64> {
    let at = given.find(|one: char| one.is_ascii_alphabetic())?;
    let (number, unit) = given.split_at(at);
    let number: f64 = number.parse().ok()?;
    let scale = match unit {
        "us" => 1.0,
        "ms" => 1e3,
        "s" => 1e6,
        "m" => 6e7,
        "h" => 3.6e9,
        _ => return None,
    };
    let time = number * scale;
    (0.0..=1e15).contains(&time).then_some(time as u64)
}

/// Parses a latency.
pub fn parse_latency(given: &str) -> Result<Latency, SpecError> {
    let read = || {
        if let Some((from, to)) = given.split_once("..") {
            let (from, to) = (parse_time(from)?, parse_time(to)?);
            (from <= to).then_some(Latency::Uniform(from, to))
        } else if let Some(usual) = given.strip_suffix('~') {
            parse_time(usual).map(Latency::HeavyTail)
        } else {
            parse_time(given).map(Latency::Constant)
        }
    };
    read().ok_or_else(|| invalid("a latency", given, LATENCY_SYNTAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn faults_are_parsed_and_invalid_ones_are_refused() {
        assert_eq!(parse_faults("none"), Ok((vec![], 0.0)));
        assert_eq!(parse_faults("poisson:1.5"), Ok((vec![], 1.5)));
        let at = vec![(0.2, FaultEvent::Fail(1)), (0.5, FaultEvent::Fail(1))];
        assert_eq!(parse_faults("at:20%,50%"), Ok((at, 0.0)));
        assert_eq!(parse_faults("neighbours:2@50%"), Ok((vec![(0.5, FaultEvent::Fail(2))], 0.0)));
        assert_eq!(
            parse_faults("crawlers:at:30%"),
            Ok((vec![(0.3, FaultEvent::LoseCrawler)], 0.0))
        );
        let both = vec![(0.1, FaultEvent::Join), (0.4, FaultEvent::Partition(2_000_000))];
        assert_eq!(parse_faults("join@10%+part:2s@40%"), Ok((both, 0.0)));
        for wrong in
            ["", "at:", "at:20", "at:120%", "poisson:-1", "neighbours:0@5%", "fail:x@5%", "what@5%"]
        {
            assert!(parse_faults(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn latencies_are_parsed_and_invalid_ones_are_refused() {
        assert_eq!(parse_latency("1ms"), Ok(Latency::Constant(1000)));
        assert_eq!(parse_latency("300us..3ms"), Ok(Latency::Uniform(300, 3000)));
        assert_eq!(parse_latency("2ms~"), Ok(Latency::HeavyTail(2000)));
        for wrong in ["", "1", "ms", "3ms..1ms", "-1ms", "1parsec"] {
            assert!(parse_latency(wrong).is_err(), "{wrong}");
        }
    }
}
