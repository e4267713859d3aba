//! The tables 4.1 to 4.4 of the thesis on crawling with partial knowledge (5 controllers, 100
//! crawlers), as data. They stand beside measurements and never mix with them.

/// A row of tables 4.1 to 4.3.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// The application, by the thesis' name.
    pub application: &'static str,
    /// The scheme, by our name.
    pub scheme: &'static str,
    /// The cost of all crawlers, in actions.
    pub cost: f64,
    /// Messages that report the progress of a search.
    pub remember: u64,
    /// Messages of searches.
    pub search: u64,
    /// Messages of all kinds.
    pub messages: u64,
    /// Simulated milliseconds.
    pub milliseconds: f64,
}

impl Row {
    /// The mean duration of an action in milliseconds, if crawlers are never idle.
    pub fn action(&self) -> f64 {
        self.milliseconds * CRAWLERS as f64 / self.cost
    }
}

/// The crawlers of tables 4.1 to 4.4.
pub const CRAWLERS: usize = 100;
/// The controllers of tables 4.1 to 4.4.
pub const CONTROLLERS: usize = 5;

const fn row(
    application: &'static str,
    scheme: &'static str,
    cost: f64,
    [remember, search, messages]: [u64; 3],
    milliseconds: f64,
) -> Row {
    Row { application, scheme, cost, remember, search, messages, milliseconds }
}

/// Tables 4.1 to 4.3.
pub const ROWS: &[Row] = &[
    row("Bebop", "shared", 3_116_092.0, [0, 0, 1_795_184], 110_812.0),
    row("Bebop", "forward-local", 3_059_602.0, [304_599, 1_296_928, 3_360_286], 110_259.0),
    row("Bebop", "forward-global", 3_059_544.0, [249_233, 448_539, 2_472_503], 109_289.0),
    row("JQuery File Tree", "shared", 1_953_017.0, [0, 0, 2_151_770], 31_220.0),
    row(
        "JQuery File Tree",
        "forward-local",
        1_890_958.0,
        [334_619, 8_900_600, 10_904_140],
        39_005.0,
    ),
    row("JQuery File Tree", "forward-global", 1_890_599.0, [272_327, 396_030, 2_477_898], 30_402.0),
    row("ClipMarks", "shared", 430_117.0, [0, 0, 1_556_324], 6_646.0),
    row("ClipMarks", "forward-local", 414_869.0, [28_507, 366_347, 2_094_430], 6_953.0),
    row("ClipMarks", "forward-global", 414_345.0, [20_323, 33_516, 1_560_460], 6_462.0),
];

/// The published row of an application and a scheme.
pub fn find(application: &str, scheme: &str) -> Option<&'static Row> {
    ROWS.iter().find(|row| row.application == application && row.scheme == scheme)
}

/// A column of table 4.4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Depths {
    /// The application, by the thesis' name.
    pub application: &'static str,
    /// Candidates by their distance from the crawler, in actions.
    pub found: [u64; 16],
    /// Candidates reached by a reset, since the search found none.
    pub by_reset: u64,
    /// Candidates assigned to a crawler that had waited.
    pub waited: u64,
}

/// Table 4.4.
pub const DEPTHS: [Depths; 3] = [
    Depths {
        application: "ClipMarks",
        found: [321_903, 19_723, 11_979, 878, 6, 25, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0],
        by_reset: 452,
        waited: 218,
    },
    Depths {
        application: "JQuery File Tree",
        found: [
            47_911, 50_482, 66_169, 77_181, 62_722, 47_239, 33_082, 16_661, 12_541, 7_327, 3_989,
            1_754, 857, 441, 220, 94,
        ],
        by_reset: 881,
        waited: 103,
    },
    Depths {
        application: "Bebop",
        found: [
            31_018, 30_500, 27_970, 21_017, 38_307, 57_569, 70_721, 69_510, 55_278, 36_665, 19_782,
            8_020, 2_220, 328, 0, 0,
        ],
        by_reset: 57,
        waited: 9,
    },
];

/// The depths of an application.
pub fn depths(application: &str) -> Option<&'static Depths> {
    DEPTHS.iter().find(|depths| depths.application == application)
}

/// The figures of the paper on Dist-RIA for a file tree: shares of the crawlers' time in percent,
/// averaged over 1 to 15 crawlers, and the number of actions of one crawler (its table I).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Static {
    /// Our name of the test-bed.
    pub testbed: &'static str,
    /// Time spent on actions.
    pub acting: f64,
    /// Idle time.
    pub idle: f64,
    /// Actions of one crawler.
    pub actions: u64,
}

/// The two file trees of that paper.
pub const STATIC: [Static; 2] = [
    Static { testbed: "filetree:httpd", acting: 76.38, idle: 19.77, actions: 7_461 },
    Static { testbed: "filetree:cassandra", acting: 85.31, idle: 11.34, actions: 27_149 },
];

/// The published row of a test-bed whose work was divided in advance.
pub fn divided(testbed: &str) -> Option<&'static Static> {
    STATIC.iter().find(|printed| printed.testbed == testbed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_transition_of_table_4_4_was_found_at_some_depth() {
        for (application, transitions) in
            [("ClipMarks", 355_201), ("JQuery File Tree", 429_654), ("Bebop", 468_971)]
        {
            let depths = depths(application).expect("it was published");
            let sum = depths.found.iter().sum::<u64>() + depths.by_reset + depths.waited;
            assert_eq!(sum, transitions, "{application}");
        }
    }

    #[test]
    fn an_action_takes_milliseconds() {
        for row in ROWS {
            assert!((1.0..4.0).contains(&row.action()), "{row:?}");
        }
        assert_eq!(find("Bebop", "local"), None);
    }
}
