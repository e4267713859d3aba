//! Addresses at which no application is to be found: what a crawl must refuse with a sentence.

use crate::reply::{Ask, Reply};

/// One path per kind of trouble; any other, such as `/missing`, is not found.
pub(super) fn answer(ask: &Ask) -> Option<Reply> {
    Some(match ask.path.as_str() {
        "/" => Reply::html(INDEX),
        "/empty" => Reply::html(""),
        "/error" => Reply::html("<!doctype html><title>500</title><h1>Something went wrong</h1>")
            .status(500),
        "/loop" => Reply::redirect("/loop/again"),
        "/loop/again" => Reply::redirect("/loop"),
        "/moved" => Reply::redirect("/"),
        "/pdf" => Reply::new("application/pdf", PDF.as_bytes()),
        "/download" => Reply::new("application/octet-stream", &b"not for reading"[..])
            .header("content-disposition", "attachment; filename=\"report.bin\""),
        "/slow-never" => Reply::html("<!doctype html>").never(),
        _ => return None,
    })
}

const INDEX: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>broken</title>\
                     <p>This address is good; the others here are not.</p></html>";

/// The smallest document that viewers take.
const PDF: &str = "%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n\
                   2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
                   3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 72]>>endobj\n\
                   trailer<</Root 1 0 R>>\n%%EOF\n";
