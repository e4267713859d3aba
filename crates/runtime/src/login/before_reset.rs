//! `--before-reset`: puts the server's data back before each reset, by a command or by a request.
//! A command is started without a shell. A request is a POST without a body, by plain http.

use std::io::{self, Read};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use argiope_explore::quoted::{Escaped, Quoted};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::settings::Scope;

/// How long a command or a request may take.
const LIMIT: Duration = Duration::from_secs(60);
/// Between two looks at a command, at first and at most.
const POLL: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(20));
/// How much of an answer or of standard error is read.
const READ: u64 = 4096;

/// What puts the server's data back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BeforeReset {
    /// A program and its arguments.
    Command(Vec<String>),
    /// The host with its port, and the path of an address.
    Post {
        /// Host and port, as the request names them.
        authority: String,
        /// Path and query.
        path: String,
    },
}

impl BeforeReset {
    /// Reads a command or an address. A sentence says what is wrong.
    pub fn read(text: &str) -> Result<Self, String> {
        if text.starts_with("https://") {
            return Err("--before-reset requests http addresses only; for https, write a command \
                        such as 'curl -fsS -X POST ADDRESS'"
                .to_owned());
        }
        if let Some(rest) = text.strip_prefix("http://") {
            Scope::of(text).map_err(|why| format!("--before-reset: {why}"))?;
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            let (authority, path) = rest.split_at(end);
            if authority.contains('@') {
                return Err("--before-reset: write the address without a login".to_owned());
            }
            let path = path.split('#').next().unwrap_or_default();
            let slash = if path.starts_with('/') { "" } else { "/" };
            return Ok(Self::Post {
                authority: authority.to_owned(),
                path: format!("{slash}{path}"),
            });
        }
        let words = words(text)?;
        if words.is_empty() {
            return Err("--before-reset names no command".to_owned());
        }
        Ok(Self::Command(words))
    }

    /// Does it, and waits for the end. A sentence says why it failed.
    pub async fn perform(&self) -> Result<(), String> {
        match self {
            Self::Command(words) => run(words).await,
            Self::Post { authority, path } => {
                let answer = tokio::time::timeout(LIMIT, post(authority, path)).await;
                let failed = |why: &dyn std::fmt::Display| {
                    format!("--before-reset: http://{authority}{path} {why}")
                };
                let late = io::Error::from(io::ErrorKind::TimedOut);
                match answer.unwrap_or(Err(late)) {
                    Ok(200..300) => Ok(()),
                    Ok(status) => Err(failed(&format!("answered with status {status}"))),
                    Err(error) => Err(failed(&format!("cannot be requested: {error}"))),
                }
            }
        }
    }
}

/// The words of a command: divided by spaces, except in quotes; a backslash keeps the next
/// character as it is.
fn words(text: &str) -> Result<Vec<String>, String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut rest = text.chars();
    while let Some(one) = rest.next() {
        match (quote, one) {
            (None, ' ' | '\t' | '\n') => words.extend(word.take()),
            (None, '"' | '\'') => {
                quote = Some(one);
                word.get_or_insert_default();
            }
            (Some(open), _) if one == open => quote = None,
            (None | Some('"'), '\\') => {
                let next = rest.next().ok_or("--before-reset ends with a backslash")?;
                word.get_or_insert_default().push(next);
            }
            _ => word.get_or_insert_default().push(one),
        }
    }
    if quote.is_some() {
        return Err("--before-reset has a quote that is not closed".to_owned());
    }
    words.extend(word);
    Ok(words)
}

async fn run(words: &[String]) -> Result<(), String> {
    let name = Quoted(&words[0]);
    let began = Instant::now();
    let child = Command::new(&words[0])
        .args(&words[1..])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn();
    let mut child =
        child.map_err(|error| format!("--before-reset: cannot start {name}: {error}"))?;
    // It must not wait for a reader; what it says last is shown.
    let stderr = child.stderr.take();
    let reader = std::thread::spawn(move || tail(stderr));
    let mut pause = POLL.0;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if began.elapsed() < LIMIT => tokio::time::sleep(pause).await,
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                let seconds = LIMIT.as_secs();
                return Err(format!("--before-reset: {name} did not end within {seconds} s"));
            }
            Err(error) => return Err(format!("--before-reset: {name} is lost: {error}")),
        }
        pause = (pause * 2).min(POLL.1);
    };
    if status.success() {
        return Ok(());
    }
    // A process that it left behind may keep standard error open: do not wait for that one.
    let said = if reader.is_finished() { reader.join().unwrap_or_default() } else { String::new() };
    let said = said.lines().next_back().map(|line| format!(": {}", Escaped(line, 200)));
    Err(format!("--before-reset: {name} ended with {status}{}", said.unwrap_or_default()))
}

/// The last bytes of a stream.
fn tail(stream: Option<impl Read>) -> String {
    let Some(mut stream) = stream else { return String::new() };
    let mut kept = Vec::new();
    let mut bytes = [0; READ as usize];
    while let Ok(length @ 1..) = stream.read(&mut bytes) {
        kept.extend_from_slice(&bytes[..length]);
        let excess = kept.len().saturating_sub(READ as usize);
        kept.drain(..excess);
    }
    String::from_utf8_lossy(&kept).into_owned()
}

/// Sends a POST without a body. Returns the status.
async fn post(authority: &str, path: &str) -> io::Result<u16> {
    let has_port = authority
        .rsplit_once(':')
        .is_some_and(|(_, port)| !port.is_empty() && port.bytes().all(|one| one.is_ascii_digit()));
    let address = if has_port { authority.to_owned() } else { format!("{authority}:80") };
    // The standard library resolves names; that may block, as it may for any dialled address.
    let mut stream = TcpStream::connect(&address).await?;
    let request = format!(
        "POST {path} HTTP/1.1\r\nHost: {authority}\r\nUser-Agent: argiope\r\nAccept: */*\r\n\
         Content-Length: 0\r\nConnection: close\r\n\r\n"
    );
    stream.write_all(request.as_bytes()).await?;
    let mut answer = Vec::new();
    stream.take(READ).read_to_end(&mut answer).await?;
    let line = String::from_utf8_lossy(&answer);
    let status = line.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1)?.parse().ok());
    status.ok_or_else(|| io::Error::other("it does not speak http"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn perform(text: &str) -> Result<(), String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(BeforeReset::read(text)?.perform())
    }

    #[test]
    fn a_command_is_divided_into_words_and_no_shell_reads_it() {
        let command = |text| BeforeReset::read(text).map(|it| format!("{it:?}"));
        assert_eq!(
            command(r#"sh -c 'cp a "b c"; d' x\ y """#).unwrap(),
            r#"Command(["sh", "-c", "cp a \"b c\"; d", "x y", ""])"#
        );
        assert!(command("a 'b").unwrap_err().contains("not closed"));
        assert!(command(" ").unwrap_err().contains("names no command"));
        assert!(command("https://a/").unwrap_err().contains("curl"));
        assert!(command("http://u:p@a/").unwrap_err().contains("without a login"));
        assert_eq!(
            BeforeReset::read("http://a:8/b?c#d"),
            Ok(BeforeReset::Post { authority: "a:8".into(), path: "/b?c".into() })
        );
    }

    #[test]
    fn a_command_that_fails_says_why() {
        assert_eq!(perform("true"), Ok(()));
        let failed = perform("sh -c 'echo one >&2; echo no database >&2; exit 3'").unwrap_err();
        assert!(failed.contains("exit status: 3"), "{failed}");
        assert!(perform("/no/such/program").unwrap_err().contains("cannot start"));
        let refused = perform("http://127.0.0.1:9/reset").unwrap_err();
        assert!(refused.contains("cannot be requested"), "{refused}");
    }
}
