//! A fixture by its name: its files, its expected counts, and the check of its libraries.

use std::io;
use std::path::Path;

use crate::expected::Expected;
use crate::files::{self, SiteFiles};
use crate::libraries;
use crate::reply::{ServerMemory, SiteReply, SiteRequest};
use crate::routes;

/// A fixture needs a library that is not installed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path} is missing: run npm ci in sites/")]
pub struct MissingLibrary {
    /// The missing file, relative to `sites/`.
    pub path: &'static str,
}

/// One of the fixture applications.
#[derive(Clone, Copy, Debug)]
pub struct Site {
    files: &'static SiteFiles,
}

impl Site {
    /// The names of all fixtures.
    pub fn names() -> impl Iterator<Item = &'static str> {
        files::ALL.iter().map(|files| files.site)
    }

    /// Finds a fixture by its name.
    pub fn find(name: &str) -> Option<Self> {
        files::ALL.iter().find(|files| files.site == name).map(|files| Self { files })
    }

    /// The name of the fixture.
    pub fn name(self) -> &'static str {
        self.files.site
    }

    /// The expected result of a crawl. `None` for `broken`, which cannot be crawled.
    pub fn expected(self) -> Option<Expected> {
        let text = self.files.expected?;
        Some(toml::from_str(text).expect("the tests read every expected.toml"))
    }

    /// The text of one of its files.
    pub fn text(self, name: &str) -> Option<&'static str> {
        self.files.files.iter().find(|(found, _)| *found == name).map(|(_, text)| *text)
    }

    /// The user name and the password that the server demands, as an address has them, and the
    /// header that a browser sends for them, or its beginning.
    pub(crate) fn login(self) -> Option<(&'static str, &'static str)> {
        let header = match self.name() {
            "members" => "Basic YWRhOms5L3p3aGlzcGVyeg==",
            "members-digest" => "Digest username=\"ada\"",
            _ => return None,
        };
        Some(("ada:k9%2Fzwhisperz", header))
    }

    /// The arguments of the command for a crawl of the fixture. Writes the files that they name
    /// into a directory.
    pub fn crawl_arguments(self, directory: &Path) -> io::Result<Vec<String>> {
        let mut arguments = self.expected().map(|it| it.crawl.args).unwrap_or_default();
        for argument in &mut arguments {
            if let Some((_, text)) = self.files.files.iter().find(|(name, _)| *name == argument) {
                let path = directory.join(&argument);
                std::fs::write(&path, text)?;
                *argument = path.display().to_string();
            }
        }
        Ok(arguments)
    }

    /// Checks that the front-end library of the fixture is installed.
    pub fn check_libraries(self) -> Result<(), MissingLibrary> {
        libraries::check(self.name())
    }

    /// The reply to a request.
    pub(crate) fn answer(self, request: &SiteRequest, memory: &ServerMemory) -> SiteReply {
        let own = || routes::answer(request, memory, self);
        let library = || libraries::answer(self.name(), &request.path);
        let file = || self.file(request.path.strip_prefix('/')?);
        let nothing =
            || SiteReply::html("<!doctype html><title>404</title><h1>Not found</h1>").status(404);
        own().or_else(library).or_else(file).unwrap_or_else(nothing)
    }

    /// A file of the fixture. The empty name is the first page.
    pub(crate) fn file(self, name: &str) -> Option<SiteReply> {
        let name = if name.is_empty() { "index.html" } else { name };
        Some(SiteReply::new(content_type(name), self.text(name)?.as_bytes()))
    }
}

fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map_or("", |(_, ending)| ending) {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "svg" => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_expected_result_is_readable_and_names_its_difficulty() {
        for site in Site::names().filter_map(Site::find) {
            let Some(expected) = site.expected() else {
                assert_eq!(site.name(), "broken");
                continue;
            };
            assert!(expected.difficulty.ends_with('.'), "{}", site.name());
            assert!(expected.states > 0 && expected.transitions > 0, "{}", site.name());
        }
    }

    #[test]
    fn every_first_page_is_html_in_utf_8() {
        for site in Site::names().filter_map(Site::find).filter(|site| site.name() != "broken") {
            let reply = site.answer(
                &SiteRequest { path: "/".into(), ..SiteRequest::default() },
                &ServerMemory::default(),
            );
            if site.name() == "session" {
                assert_eq!(reply.status, 302, "there is no session yet");
                continue;
            }
            assert_eq!(reply.status, 200, "{}", site.name());
            let text = String::from_utf8(reply.body.into_owned()).unwrap();
            assert!(text.starts_with("<!doctype html>"), "{}", site.name());
            assert!(text.contains("<meta charset=\"utf-8\">"), "{}", site.name());
        }
    }

    #[test]
    fn a_missing_file_is_not_found() {
        let site = Site::find("toggles").unwrap();
        for path in ["/missing", "/../toggles/index.html", "//index.html", "/expected.toml"] {
            let reply = site.answer(
                &SiteRequest { path: path.into(), ..SiteRequest::default() },
                &ServerMemory::default(),
            );
            assert_eq!(reply.status, 404, "{path}");
        }
    }

    #[test]
    fn the_table_in_the_readme_matches_the_expected_results() {
        let manual = include_str!("../../../sites/README.md");
        let rows: Vec<Vec<&str>> = manual
            .lines()
            .filter_map(|line| line.strip_prefix("| ")?.strip_suffix(" |"))
            .map(|row| row.split(" | ").collect())
            .skip(2)
            .collect();
        let sites: Vec<_> = Site::names().filter_map(Site::find).collect();
        let expected: Vec<_> = sites
            .iter()
            .filter_map(|site| site.expected().map(|found| (site.name(), found)))
            .collect();
        assert_eq!(rows.len(), expected.len());
        for (row, (name, expected)) in rows.iter().zip(&expected) {
            let number = |cell: &str| {
                cell.split(' ').next().unwrap().replace(',', "").parse::<u64>().unwrap()
            };
            assert_eq!(&row[..2], [*name, expected.difficulty.as_str()]);
            assert_eq!(
                (number(row[2]), number(row[3])),
                (expected.states, expected.transitions),
                "{name}"
            );
        }
    }
}
