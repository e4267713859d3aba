//! Addresses without an application: a crawl must refuse each with a clear error. `/` is the
//! exception, and `/moved` redirects there: a crawl must follow it.

use crate::reply::{SiteReply, SiteRequest};

/// One path per kind of fault. Any other path, such as `/missing`, is not found.
pub(super) fn answer(request: &SiteRequest) -> Option<SiteReply> {
    Some(match request.path.as_str() {
        "/" => SiteReply::html(INDEX),
        "/empty" => SiteReply::html(""),
        "/error" => {
            SiteReply::html("<!doctype html><title>500</title><h1>Something went wrong</h1>")
                .status(500)
        }
        "/loop" => SiteReply::redirect("/loop/again"),
        "/loop/again" => SiteReply::redirect("/loop"),
        "/moved" => SiteReply::redirect("/"),
        "/elsewhere" => {
            let port = request.host.rsplit_once(':').map_or("80", |(_, port)| port);
            SiteReply::redirect(&format!("http://localhost:{port}/there?a=1&b=2"))
        }
        "/pdf" => SiteReply::new("application/pdf", PDF.as_bytes()),
        "/download" => SiteReply::new("application/octet-stream", &b"not for reading"[..])
            .header("content-disposition", "attachment; filename=\"report.bin\""),
        "/slow-never" => SiteReply::html("<!doctype html>").never(),
        _ => return None,
    })
}

const INDEX: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>broken</title>\
                     <p>This address is good; the others here are not.</p></html>";

/// A minimal document that viewers accept.
const PDF: &str = "%PDF-1.1\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n\
                   2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
                   3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 72 72]>>endobj\n\
                   trailer<</Root 1 0 R>>\n%%EOF\n";
