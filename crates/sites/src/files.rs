//! The files of every fixture, embedded in the program.

/// The files of one fixture.
#[derive(Debug)]
pub(crate) struct SiteFiles {
    /// The name of the fixture.
    pub(crate) site: &'static str,
    /// The text of `expected.toml`.
    pub(crate) expected: Option<&'static str>,
    /// The files that it serves: name and text.
    pub(crate) files: &'static [(&'static str, &'static str)],
}

/// A fixture with these files and its `expected.toml`. `in` names the folder of a page that two
/// fixtures share.
macro_rules! site {
    ($site:literal, $($file:literal),+) => { site!($site in $site, $($file),+) };
    ($site:literal in $folder:literal, $($file:literal),+) => {
        SiteFiles {
            site: $site,
            expected: Some(include_str!(concat!("../../../sites/", $site, "/expected.toml"))),
            files: &[$(($file, include_str!(concat!("../../../sites/", $folder, "/", $file)))),+],
        }
    };
}

/// All fixtures, in the order of their names.
pub(crate) const ALL: &[SiteFiles] = &[
    site!("accounts", "index.html"),
    site!("areas", "index.html", "bare.html", "left.html", "picture.svg", "right.html"),
    site!("astray", "index.html"),
    site!("boxless", "index.html"),
    site!("brakes", "index.html"),
    SiteFiles { site: "broken", expected: None, files: &[] },
    site!("crashing", "index.html"),
    site!("deep", "index.html"),
    site!("delegated", "index.html"),
    site!("demo", "index.html", "app.js", "style.css"),
    site!("details", "index.html"),
    site!("dialogs", "index.html"),
    site!("durations", "index.html"),
    site!("endless", "index.html"),
    site!("filetree", "index.html"),
    site!("filetree-cassandra" in "filetree", "index.html"),
    site!("form", "index.html", "inputs.toml"),
    site!("frames", "index.html", "deeper.html", "extra.html", "inner.html", "switch.js"),
    site!("generated-ids", "index.html"),
    site!("gestures", "index.html"),
    site!("hidden", "index.html"),
    site!("hover", "index.html"),
    site!("leaving", "index.html", "service.js", "shared.js", "ways.js"),
    site!("links", "index.html", "a.html", "b.html", "c.html", "more.js"),
    site!("long-poll", "index.html"),
    site!("members", "index.html", "second.html", "greeting.txt"),
    site!("members-digest" in "members", "index.html", "second.html", "greeting.txt"),
    site!("moving", "index.html"),
    site!("nested-hover", "index.html"),
    site!("nondeterministic", "index.html"),
    site!("one-way", "index.html"),
    site!("parked", "index.html"),
    site!("react", "index.html"),
    site!("recent", "index.html"),
    site!("refresh", "index.html", "home.html", "loop.html", "moved.html", "slow.html"),
    site!("ripples", "index.html"),
    site!("router", "index.html"),
    site!("same-label", "index.html"),
    site!("sandboxed", "index.html"),
    site!("session", "index.html", "login.html", "login.toml", "print.html", "second.html"),
    site!("shadow", "index.html"),
    site!("shelves", "index.html"),
    site!("shifted", "index.html"),
    site!("sign-up", "index.html"),
    site!("slow-fetch", "index.html", "extra.js"),
    site!("spinning", "index.html"),
    site!("splash", "index.html"),
    site!("storage", "index.html"),
    site!("streams", "index.html"),
    site!("taps", "index.html"),
    site!("timers", "index.html"),
    site!("toggles", "index.html"),
    site!("transition", "index.html"),
    site!("visited", "index.html"),
    site!("volatile", "index.html"),
    site!("volatile-late", "index.html"),
    site!("vue", "index.html"),
    site!("windows", "index.html"),
    site!("wizard", "index.html"),
    site!("written", "index.html"),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_under_sites_is_embedded() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sites");
        let mut found = BTreeSet::new();
        for folder in std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap()) {
            let name = folder.file_name().into_string().unwrap();
            if !folder.file_type().unwrap().is_dir() || name == "node_modules" {
                continue;
            }
            for file in std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap()) {
                found.insert(format!("{name}/{}", file.file_name().into_string().unwrap()));
            }
        }
        let expectations = ALL.iter().filter(|files| files.expected.is_some());
        let mut embedded: BTreeSet<_> =
            expectations.map(|files| format!("{}/expected.toml", files.site)).collect();
        let shared = ["filetree-cassandra", "members-digest"];
        let own = ALL.iter().filter(|files| !shared.contains(&files.site));
        embedded.extend(
            own.flat_map(|site| site.files.iter().map(|(file, _)| format!("{}/{file}", site.site))),
        );
        // The routes of the file tree embed it.
        embedded.insert("filetree/tree.json".into());
        assert_eq!(found, embedded);
    }

    #[test]
    fn the_names_are_sorted_and_unique() {
        assert!(ALL.windows(2).all(|pair| pair[0].site < pair[1].site));
    }
}
