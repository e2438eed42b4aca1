//! Just enough HTTP/1.1: a connection that is kept, and what was answered.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// A connection that takes one request after the other.
#[derive(Debug)]
pub(crate) struct Connection(BufReader<TcpStream>);

/// What was answered.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// A header's value; the name in lower case.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (own, value) = line.split_once(':')?;
            own.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    /// The body as JSON, `null` when it is none.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.body).unwrap_or_default()
    }
}

impl Connection {
    /// Connects; no read or write will take longer than `limit`.
    pub(crate) fn open(address: SocketAddr, limit: Duration) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, limit)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(limit))?;
        stream.set_write_timeout(Some(limit))?;
        Ok(Self(BufReader::new(stream)))
    }

    /// Sends a request and reads the answer. After an error the connection is of no use.
    pub(crate) fn ask(&mut self, request: &[u8]) -> io::Result<Answer> {
        self.0.get_mut().write_all(request)?;
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.0.read_line(&mut head)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
        let status = head.get(9..12).and_then(|digits| digits.parse().ok());
        let status = status.ok_or(io::ErrorKind::InvalidData)?;
        let mut answer = Answer { status, head, body: String::new() };
        if request.starts_with(b"HEAD ") {
            return Ok(answer);
        }
        let body = if answer.header("transfer-encoding") == Some("chunked") {
            self.chunks()?
        } else {
            let length = answer.header("content-length").and_then(|length| length.parse().ok());
            let mut body = vec![0; length.unwrap_or(0)];
            self.0.read_exact(&mut body)?;
            body
        };
        answer.body = String::from_utf8_lossy(&body).into_owned();
        Ok(answer)
    }

    fn chunks(&mut self) -> io::Result<Vec<u8>> {
        let mut body = Vec::new();
        loop {
            let mut size = String::new();
            self.0.read_line(&mut size)?;
            let size =
                usize::from_str_radix(size.trim(), 16).map_err(|_| io::ErrorKind::InvalidData)?;
            let begin = body.len();
            // With the line end behind each chunk.
            body.resize(begin + size + 2, 0);
            self.0.read_exact(&mut body[begin..])?;
            body.truncate(begin + size);
            if size == 0 {
                return Ok(body);
            }
        }
    }
}

/// One request on a connection of its own.
pub(crate) fn ask(
    address: SocketAddr,
    limit: Duration,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> io::Result<Answer> {
    use std::fmt::Write as _;
    let mut request =
        format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    for (name, value) in headers {
        let _ = write!(request, "{name}: {value}\r\n");
    }
    if !body.is_empty() {
        let _ =
            write!(request, "Content-Type: application/json\r\nContent-Length: {}\r\n", body.len());
    }
    let _ = write!(request, "\r\n{body}");
    Connection::open(address, limit)?.ask(request.as_bytes())
}
