//! The first message of a TLS client, read as far as needed to tell a socket from other
//! connections: a browser offers the second version of HTTP on all of them but sockets.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

/// The kind of a record that holds a handshake, and of a hello in it.
const HANDSHAKE: u8 = 22;
const CLIENT_HELLO: u8 = 1;
/// The extension that lists protocols.
const PROTOCOLS: u16 = 16;
/// The largest hello that is read.
const LARGEST: usize = 32 << 10;

/// Reads the bytes of the first message, all records of it.
pub(super) async fn read(client: &mut (impl AsyncRead + Unpin)) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    loop {
        let start = bytes.len();
        bytes.resize(start + 5, 0);
        client.read_exact(&mut bytes[start..]).await?;
        let length = usize::from(u16::from_be_bytes([bytes[start + 3], bytes[start + 4]]));
        if bytes[start] != HANDSHAKE || bytes.len() + length > LARGEST {
            return Ok(bytes);
        }
        let body = bytes.len();
        bytes.resize(body + length, 0);
        client.read_exact(&mut bytes[body..]).await?;
        if message(&bytes).is_some() {
            return Ok(bytes);
        }
    }
}

/// The first message without the heads of its records; `None` if it is not complete.
fn message(records: &[u8]) -> Option<Vec<u8>> {
    let mut message = Vec::new();
    let mut rest = records;
    while let Some((head, after)) = rest.split_at_checked(5) {
        let length = usize::from(u16::from_be_bytes([head[3], head[4]]));
        let (body, after) = after.split_at_checked(length)?;
        message.extend_from_slice(body);
        rest = after;
    }
    let length = message.get(1..4)?;
    let length =
        usize::from(length[0]) << 16 | usize::from(length[1]) << 8 | usize::from(length[2]);
    (message.len() >= 4 + length)
        .then(|| message[4..4 + length].to_vec())
        .filter(|_| message[0] == CLIENT_HELLO)
}

/// Whether a hello offers the second version of HTTP. What cannot be read does not.
pub(super) fn offers_http2(records: &[u8]) -> bool {
    let offers = || -> Option<bool> {
        let message = message(records)?;
        // Version and random number, then session, cipher suites and compression methods.
        let mut rest = Cursor(message.get(34..)?);
        rest.skip_short()?;
        rest.skip_long()?;
        rest.skip_short()?;
        let mut extensions = Cursor(rest.take_long()?);
        while !extensions.0.is_empty() {
            let kind = extensions.number()?;
            let body = extensions.take_long()?;
            if kind == PROTOCOLS {
                let mut names = Cursor(Cursor(body).take_long()?);
                while !names.0.is_empty() {
                    if names.take_short()? == b"h2" {
                        return Some(true);
                    }
                }
            }
        }
        Some(false)
    };
    offers().unwrap_or(false)
}

/// Reads pieces that begin with their length.
struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    fn take(&mut self, length: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(length)?;
        self.0 = rest;
        Some(taken)
    }

    fn number(&mut self) -> Option<u16> {
        self.take(2).map(|two| u16::from_be_bytes([two[0], two[1]]))
    }

    fn take_short(&mut self) -> Option<&'a [u8]> {
        let length = self.take(1)?[0];
        self.take(length.into())
    }

    fn take_long(&mut self) -> Option<&'a [u8]> {
        let length = self.number()?;
        self.take(length.into())
    }

    fn skip_short(&mut self) -> Option<()> {
        self.take_short().map(drop)
    }

    fn skip_long(&mut self) -> Option<()> {
        self.take_long().map(drop)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hello(protocols: &[&[u8]]) -> Vec<u8> {
        let mut names: Vec<u8> = Vec::new();
        for name in protocols {
            names.push(name.len() as u8);
            names.extend_from_slice(name);
        }
        let long = |bytes: &[u8]| [&(bytes.len() as u16).to_be_bytes()[..], bytes].concat();
        let extension =
            [&0u16.to_be_bytes()[..], &long(b"x"), &16u16.to_be_bytes()[..], &long(&long(&names))]
                .concat();
        let body = [&[0; 34][..], &[2, 7, 7], &long(&[1, 2]), &[1, 0], &long(&extension)].concat();
        [&[CLIENT_HELLO, 0][..], &long(&body)].concat()
    }

    fn records(message: &[u8], length: usize) -> Vec<u8> {
        let record = |piece: &[u8]| {
            [&[HANDSHAKE, 3, 1][..], &(piece.len() as u16).to_be_bytes(), piece].concat()
        };
        message.chunks(length).flat_map(record).collect()
    }

    #[test]
    fn a_socket_offers_only_the_first_version_of_the_protocol() {
        for length in [10_000, 16] {
            assert!(offers_http2(&records(&hello(&[b"h2", b"http/1.1"]), length)));
            assert!(!offers_http2(&records(&hello(&[b"http/1.1"]), length)));
        }
    }

    #[test]
    fn what_is_cut_off_or_no_hello_is_read_without_harm() {
        let whole = records(&hello(&[b"h2"]), 10_000);
        for end in 0..whole.len() {
            assert!(!offers_http2(&whole[..end]), "{end}");
        }
        assert!(!offers_http2(&[0xff; 400]));
    }

    #[test]
    fn a_hello_in_several_records_is_read_whole() {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let sent = [records(&hello(&[b"h2"]), 16), b"more".to_vec()].concat();
        let read = runtime.block_on(read(&mut &sent[..])).unwrap();
        assert_eq!(read, sent[..sent.len() - 4]);
    }
}
