//! Tables and figures of the static scheme, as figures 3 and 4 of the paper on Dist-RIA.

use super::lines::{Panel, Series};
use crate::rings::published::{self, Static};
use crate::rings::{Divided, RingMeasurement};
use argiope::format::name;
use argiope::table::Table;
use argiope_sim::star::TimeBreakdown;

/// The sum over all crawlers.
fn sum(times: &[TimeBreakdown]) -> TimeBreakdown {
    times.iter().fold(TimeBreakdown::default(), |sum, time| TimeBreakdown {
        acting: sum.acting + time.acting,
        network: sum.network + time.network,
        coordinator: sum.coordinator + time.coordinator,
        idle: sum.idle + time.idle,
    })
}

/// Shares of the time of all crawlers, in percent: acting, network, coordinator, idle.
fn percent(run: &RingMeasurement) -> [f64; 4] {
    let time = sum(&run.times);
    let parts = [time.acting, time.network, time.coordinator, time.idle];
    let whole = parts.iter().sum::<u64>().max(1) as f64;
    parts.map(|part| 100.0 * part as f64 / whole)
}

fn title(divided: &Divided) -> String {
    format!("{}, {} by {}", name(&divided.run.testbed), divided.strategy, divided.division)
}

/// As figure 3: the time over the number of crawlers, and its breakdown. All runs have the same
/// division.
pub fn over_crawlers(runs: &[&Divided]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let header = [
        "crawlers",
        "seconds",
        "optimal",
        "speed-up",
        "acting",
        "network",
        "coordinator",
        "idle",
        "actions",
    ];
    let mut table = Table::new(header);
    let mut mean = [0.0; 4];
    for divided in runs {
        let run = &divided.run;
        let parts = percent(run);
        for (mean, part) in mean.iter_mut().zip(parts) {
            *mean += part / runs.len() as f64;
        }
        let optimal = first.run.seconds() * first.run.crawlers as f64 / run.crawlers as f64;
        let mut row = vec![
            run.crawlers.to_string(),
            format!("{:.2}", run.seconds()),
            format!("{optimal:.2}"),
            format!("{:.2}", run.speed_up(&first.run)),
        ];
        row.extend(parts.map(|part| format!("{part:.1} %")));
        row.push(run.counts.spent.actions.to_string());
        table.row(row);
    }
    let mut text = format!(
        "{}\n{table}on average {:.2} % acting, {:.2} % idle",
        title(first),
        mean[0],
        mean[3]
    );
    if let Some(Static { acting, idle, actions, .. }) = published::divided(&first.run.testbed) {
        text += &format!(
            "; published: {acting:.2} % acting, {idle:.2} % idle, {actions} actions by one crawler"
        );
    }
    text.push('\n');
    text
}

/// As figure 4: the idle time of each crawler, in percent.
pub fn idle_times(runs: &[&Divided]) -> String {
    let Some(first) = runs.first() else { return String::new() };
    let crawlers = (0..first.run.times.len()).map(|number| number.to_string());
    let mut table = Table::new(["idle in %".to_owned()].into_iter().chain(crawlers));
    for divided in runs {
        let whole = divided.run.counts.ended_at.max(1) as f64;
        let idle = |time: &TimeBreakdown| format!("{:.1}", 100.0 * time.idle as f64 / whole);
        table.row([title(divided)].into_iter().chain(divided.run.times.iter().map(idle)));
    }
    table.to_string()
}

/// The speed-up over the number of crawlers, one line for each division, and the optimal one.
pub fn panel(testbed: &str, groups: &[Vec<&Divided>]) -> Panel {
    let mut series: Vec<Series> = Vec::new();
    for runs in groups {
        let Some(first) = runs.first() else { continue };
        series.push(Series {
            name: format!("{}, {}", first.strategy, first.division),
            points: runs
                .iter()
                .map(|it| (it.run.crawlers as f64, it.run.speed_up(&first.run)))
                .collect(),
            dashed: false,
        });
    }
    if let Some(runs) = groups.first() {
        series.push(Series {
            name: "optimal".to_owned(),
            points: runs
                .iter()
                .map(|it| (it.run.crawlers as f64, it.run.crawlers as f64))
                .collect(),
            dashed: true,
        });
    }
    Panel {
        title: format!("{}, static division", name(testbed)),
        across: "crawlers",
        up: "speed-up",
        logarithmic: false,
        series,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rings::measure;
    use argiope_sim::cluster::scenario::Scenario;
    use argiope_sim::crawler::World;
    use argiope_sim::testbeds::random;

    #[test]
    fn the_breakdown_covers_the_whole_time() {
        let model = random(40, 5, 1);
        let world = World::new(&model);
        let runs: Vec<Divided> = [1, 4]
            .into_iter()
            .map(|crawlers| {
                let mut scenario = Scenario::new(1, crawlers, model.reset_cost, 1);
                scenario.division = Some(argiope_controller::star::division::Division::Stride);
                Divided {
                    strategy: "greedy",
                    division: "stride",
                    run: measure("random", &world, &scenario),
                }
            })
            .collect();
        for divided in &runs {
            assert_eq!(divided.run.wrong, None);
            let whole = percent(&divided.run).iter().sum::<f64>();
            assert!((whole - 100.0).abs() < 1e-9, "{whole}");
            for time in &divided.run.times {
                let all = time.acting + time.network + time.coordinator + time.idle;
                assert!(all <= divided.run.counts.ended_at, "{time:?}");
            }
        }
        let runs: Vec<&Divided> = runs.iter().collect();
        assert_eq!(over_crawlers(&runs).lines().count(), 5);
        assert!(idle_times(&runs[1..]).contains("greedy by stride"));
        assert_eq!(panel("random", &[runs]).series.len(), 2);
    }
}
