//! The answer of a server outside: reads the first version of HTTP, bounded in every length.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// The largest head of an answer.
const LARGEST_HEAD: usize = 64 << 10;
/// The largest resource.
const LARGEST_BODY: usize = 16 << 20;
/// The headers that are not for the page: of the connection, cookies, and what makes the browser
/// send something by itself.
const DROPPED: [&str; 13] = [
    "alt-svc",
    "clear-site-data",
    "connection",
    "content-encoding",
    "content-length",
    "keep-alive",
    "link",
    "nel",
    "report-to",
    "reporting-endpoints",
    "set-cookie",
    "strict-transport-security",
    "transfer-encoding",
];

/// The answer of a server outside.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct OutsiderAnswer {
    pub(crate) status: u16,
    /// The headers for the page, with their names in lower case.
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl OutsiderAnswer {
    /// Whether the same request may get the same answer again in this crawl.
    pub(super) fn may_be_kept(&self) -> bool {
        let forbids = |(name, value): &(String, String)| {
            name == "cache-control" && value.to_ascii_lowercase().contains("no-store")
        };
        self.status == 200 && !self.headers.iter().any(forbids)
    }
}

/// How the end of a body is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Framing {
    None,
    Length(usize),
    Chunks,
    UntilEnd,
}

/// Reads an answer to GET.
pub(super) async fn read(mut stream: impl AsyncRead + Unpin) -> io::Result<OutsiderAnswer> {
    let mut bytes = Vec::with_capacity(16 << 10);
    loop {
        let end = read_until(&mut stream, &mut bytes, |bytes| {
            bytes.windows(4).position(|four| four == b"\r\n\r\n")
        });
        let end = end.await?;
        let (status, headers) = head(&bytes[..end]).ok_or_else(|| wrong("no head"))?;
        bytes.drain(..end + 4);
        if (100..200).contains(&status) {
            continue;
        }
        let framing = framing(status, &headers)?;
        let body = read_body(&mut stream, bytes, framing).await?;
        let headers = headers.into_iter().filter(|(name, _)| !DROPPED.contains(&name.as_str()));
        return Ok(OutsiderAnswer { status, headers: headers.collect(), body });
    }
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("the answer has {what}"))
}

/// Reads until something is found among the bytes; where, is the answer.
async fn read_until(
    stream: &mut (impl AsyncRead + Unpin),
    bytes: &mut Vec<u8>,
    find: impl Fn(&[u8]) -> Option<usize>,
) -> io::Result<usize> {
    loop {
        if let Some(at) = find(bytes) {
            return Ok(at);
        }
        if bytes.len() > LARGEST_HEAD {
            return Err(wrong("a head that is too large"));
        }
        if stream.read_buf(bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
}

type Headers = Vec<(String, String)>;

fn head(bytes: &[u8]) -> Option<(u16, Headers)> {
    let text = String::from_utf8_lossy(bytes);
    let mut lines = text.split("\r\n");
    let status = lines.next()?.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()?;
    let header = |line: &str| {
        let (name, value) = line.split_once(':')?;
        let is_token =
            |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
        let value = value.trim().to_owned();
        let valid =
            !name.is_empty() && name.bytes().all(is_token) && !value.contains(['\r', '\n', '\0']);
        valid.then(|| (name.to_ascii_lowercase(), value))
    };
    Some((status, lines.filter_map(header).collect()))
}

fn framing(status: u16, headers: &Headers) -> io::Result<Framing> {
    let value =
        |name: &str| headers.iter().find(|(found, _)| found == name).map(|(_, value)| value);
    if matches!(status, 204 | 304) {
        return Ok(Framing::None);
    }
    if value("content-encoding").is_some_and(|value| !value.eq_ignore_ascii_case("identity")) {
        return Err(wrong("an encoding that was not asked for"));
    }
    if value("transfer-encoding").is_some_and(|value| value.eq_ignore_ascii_case("chunked")) {
        return Ok(Framing::Chunks);
    }
    match value("content-length") {
        Some(length) => Ok(Framing::Length(length.parse().map_err(|_| wrong("no valid length"))?)),
        None => Ok(Framing::UntilEnd),
    }
}

async fn read_body(
    stream: &mut (impl AsyncRead + Unpin),
    mut bytes: Vec<u8>,
    framing: Framing,
) -> io::Result<Vec<u8>> {
    match framing {
        Framing::None => Ok(Vec::new()),
        Framing::Chunks => read_chunks(stream, bytes).await,
        Framing::Length(length) => {
            fill(stream, &mut bytes, length).await?;
            bytes.truncate(length);
            Ok(bytes)
        }
        Framing::UntilEnd => {
            // A server that closes without the last message of TLS has sent everything, too.
            while let Ok(1..) = stream.read_buf(&mut bytes).await {
                if bytes.len() > LARGEST_BODY {
                    return Err(wrong("more bytes than are loaded"));
                }
            }
            Ok(bytes)
        }
    }
}

async fn fill(
    stream: &mut (impl AsyncRead + Unpin),
    bytes: &mut Vec<u8>,
    length: usize,
) -> io::Result<()> {
    if length > LARGEST_BODY {
        return Err(wrong("more bytes than are loaded"));
    }
    while bytes.len() < length {
        if stream.read_buf(bytes).await? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(())
}

async fn read_chunks(
    stream: &mut (impl AsyncRead + Unpin),
    mut bytes: Vec<u8>,
) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let line = |bytes: &[u8]| bytes.windows(2).position(|two| two == b"\r\n");
        let end = read_until(stream, &mut bytes, line).await?;
        let size = std::str::from_utf8(&bytes[..end]).unwrap_or_default();
        let size = size.split(';').next().unwrap_or_default().trim();
        let size = usize::from_str_radix(size, 16).map_err(|_| wrong("no valid chunk"))?;
        bytes.drain(..end + 2);
        if size == 0 {
            return Ok(body);
        }
        if size > LARGEST_BODY - body.len() {
            return Err(wrong("more bytes than are loaded"));
        }
        fill(stream, &mut bytes, size + 2).await?;
        body.extend_from_slice(&bytes[..size]);
        bytes.drain(..size + 2);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(text: &str) -> io::Result<OutsiderAnswer> {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(read(text.as_bytes()))
    }

    #[test]
    fn a_body_ends_as_its_head_says() {
        for (text, body) in [
            ("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabcd", "abc"),
            ("HTTP/1.0 200\r\n\r\nall of it", "all of it"),
            ("HTTP/1.1 204 x\r\n\r\nnothing", ""),
            (
                "HTTP/1.1 103 Hints\r\nLink: <x>\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\na",
                "a",
            ),
            (
                "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nA;x=y\r\n0123456789\r\n0\r\n\r\n",
                "abc0123456789",
            ),
        ] {
            assert_eq!(answered(text).unwrap().body, body.as_bytes(), "{text}");
        }
    }

    #[test]
    fn an_answer_that_lies_is_an_error() {
        for text in [
            "",
            "nothing",
            "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n\r\nabc",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n",
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nab",
        ] {
            assert!(answered(text).is_err(), "{text}");
        }
        let endless = format!("HTTP/1.1 200 OK\r\nx: {}", "y".repeat(2 * LARGEST_HEAD));
        assert!(answered(&endless).is_err());
    }

    #[test]
    fn headers_that_make_the_browser_act_are_dropped() {
        let text = "HTTP/1.1 200 OK\r\nLink: </x>; rel=preload\r\nReport-To: {}\r\nset-cookie: a\r\n\
                    Content-Type: text/css\r\nb\u{7f}d: x\r\n\r\n";
        let headers = answered(text).unwrap().headers;
        assert_eq!(headers, [("content-type".to_owned(), "text/css".to_owned())]);
    }
}
