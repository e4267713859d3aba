//! A WebSocket server for tests: it sends every short message back, a little later.

use std::io::{BufReader, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use base64::Engine as _;

/// Answers the handshake of RFC 6455, section 4.2.2, and then every message.
pub fn echo(mut reader: BufReader<&TcpStream>, key: &str) {
    let accepted = sha1(format!("{key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11").as_bytes());
    let accepted = base64::engine::general_purpose::STANDARD.encode(accepted);
    let head = "HTTP/1.1 101 Switching Protocols\r\nupgrade: websocket\r\nconnection: upgrade";
    let mut stream = *reader.get_ref();
    let _ = write!(stream, "{head}\r\nsec-websocket-accept: {accepted}\r\n\r\n");
    let mut head = [0; 6];
    while reader.read_exact(&mut head).is_ok() && head[0] & 15 == 1 {
        let mut text = vec![0; usize::from(head[1] & 127)];
        assert!(text.len() < 126, "the tests send short messages");
        if reader.read_exact(&mut text).is_err() {
            return;
        }
        for (at, byte) in text.iter_mut().enumerate() {
            *byte ^= head[2 + at % 4];
        }
        thread::sleep(Duration::from_millis(60));
        let _ = stream.write_all(&[&[0x81, text.len() as u8], &*text].concat());
    }
}

/// The handshake needs it; no crate of this workspace has it. RFC 3174.
fn sha1(message: &[u8]) -> [u8; 20] {
    let mut padded = message.to_vec();
    padded.push(0x80);
    padded.resize((padded.len() + 8).next_multiple_of(64) - 8, 0);
    padded.extend((message.len() as u64 * 8).to_be_bytes());
    let mut hash: [u32; 5] = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0];
    for block in padded.chunks_exact(64) {
        let mut words: Vec<u32> = block
            .chunks_exact(4)
            .map(|bytes| u32::from_be_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
            .collect();
        for at in 16..80 {
            let mixed = words[at - 3] ^ words[at - 8] ^ words[at - 14] ^ words[at - 16];
            words.push(mixed.rotate_left(1));
        }
        let [mut a, mut b, mut c, mut d, mut e] = hash;
        for (at, word) in words.iter().enumerate() {
            let (mixed, constant) = match at / 20 {
                0 => ((b & c) | (!b & d), 0x5a827999),
                1 => (b ^ c ^ d, 0x6ed9eba1),
                2 => ((b & c) | (b & d) | (c & d), 0x8f1bbcdc),
                _ => (b ^ c ^ d, 0xca62c1d6_u32),
            };
            let next = a.rotate_left(5).wrapping_add(mixed).wrapping_add(e);
            let next = next.wrapping_add(constant).wrapping_add(*word);
            (e, d, c, b, a) = (d, c, b.rotate_left(30), a, next);
        }
        for (sum, part) in hash.iter_mut().zip([a, b, c, d, e]) {
            *sum = sum.wrapping_add(part);
        }
    }
    let mut bytes = [0; 20];
    for (to, word) in bytes.chunks_exact_mut(4).zip(hash) {
        to.copy_from_slice(&word.to_be_bytes());
    }
    bytes
}

#[test]
fn the_hash_is_the_one_of_the_standard() {
    let expected = [0xa9, 0x99, 0x3e, 0x36, 0x47, 0x06, 0x81, 0x6a, 0xba, 0x3e];
    assert_eq!(sha1(b"abc")[..10], expected);
}
