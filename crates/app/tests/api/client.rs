//! A client that sends what it is told and shows the whole answer.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::{Arc, Weak};
use std::time::Duration;

use signpost_app::wiring::Traffic;

/// Sends requests with some headers; a blocking client, as tests need no other.
#[derive(Clone)]
pub(crate) struct Client {
    address: SocketAddr,
    headers: Vec<(String, String)>,
    agent: ureq::Agent,
    /// Whose clicks must all be counted before statistics are asked for.
    traffic: Option<Weak<Traffic>>,
}

/// What came back.
#[derive(Debug, Clone)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) bytes: Vec<u8>,
    pub(crate) text: String,
}

impl Client {
    pub(crate) fn new(address: SocketAddr) -> Self {
        let config = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0)
            .allow_non_standard_methods(true)
            .timeout_global(Some(Duration::from_mins(1)))
            .build();
        Self { address, headers: Vec::new(), agent: config.into(), traffic: None }
    }

    /// The same client, which asks for clicks and statistics when all clicks have arrived there:
    /// they may be a second late, and no test shall depend on that second.
    pub(crate) fn patient(self, traffic: &Arc<Traffic>) -> Self {
        Self { traffic: Some(Arc::downgrade(traffic)), ..self }
    }

    /// The same client on connections of its own.
    pub(crate) fn fresh(&self) -> Self {
        Self {
            headers: self.headers.clone(),
            traffic: self.traffic.clone(),
            ..Self::new(self.address)
        }
    }

    /// The same client, asking another service.
    pub(crate) fn at(&self, address: SocketAddr) -> Self {
        Self { address, ..self.clone() }
    }

    /// The same client with a further header.
    pub(crate) fn with(&self, name: &str, value: &str) -> Self {
        let mut client = self.clone();
        client.headers.push((name.to_owned(), value.to_owned()));
        client
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, None)
    }

    pub(crate) fn head(&self, path: &str) -> Answer {
        self.send("HEAD", path, None)
    }

    pub(crate) fn post(&self, path: &str, json: &str) -> Answer {
        self.send("POST", path, Some(json.as_bytes()))
    }

    pub(crate) fn put(&self, path: &str, json: &str) -> Answer {
        self.send("PUT", path, Some(json.as_bytes()))
    }

    pub(crate) fn patch(&self, path: &str, json: &str) -> Answer {
        self.send("PATCH", path, Some(json.as_bytes()))
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, None)
    }

    /// Any method; a body is sent as JSON unless a header says otherwise.
    pub(crate) fn send(&self, method: &str, path: &str, body: Option<&[u8]>) -> Answer {
        if let Some(traffic) = self.traffic.as_ref().and_then(Weak::upgrade)
            && (path.contains("/stats") || path.contains("/clicks"))
        {
            traffic.settle_for_tests();
        }
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("http://{}{path}", self.address));
        for (name, value) in &self.headers {
            request = request.header(name, value);
        }
        let typed = self.headers.iter().any(|(name, _)| name == "content-type");
        if body.is_some() && !typed {
            request = request.header("content-type", "application/json");
        }
        let mut answer = match body {
            Some(body) => self.agent.run(request.body(body).unwrap()),
            None => self.agent.run(request.body(()).unwrap()),
        }
        .unwrap_or_else(|error| panic!("{method} {path}: {error}"));
        let headers = answer
            .headers()
            .iter()
            .map(|(n, v)| {
                (n.as_str().to_owned(), String::from_utf8_lossy(v.as_bytes()).into_owned())
            })
            .collect();
        let mut bytes = Vec::new();
        answer.body_mut().as_reader().read_to_end(&mut bytes).unwrap();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let answer = Answer { status: answer.status().as_u16(), headers, bytes, text };
        // What holds for every answer is looked at in every answer.
        assert_ne!(answer.status, 500, "{method} {path}: {}", answer.text);
        assert!(answer.header("x-request-id").is_some(), "{method} {path}: {}", answer.status);
        answer
    }

    /// GET of a path that a URL parser would repair, sent as it stands.
    pub(crate) fn get_as_is(&self, path: &str) -> Answer {
        let mut lines = vec![format!("GET {path} HTTP/1.1"), "Connection: close".to_owned()];
        if self.headers.iter().all(|(name, _)| name != "host") {
            lines.push(format!("Host: {}", self.address));
        }
        lines.extend(self.headers.iter().map(|(name, value)| format!("{name}: {value}")));
        self.raw(format!("{}\r\n\r\n", lines.join("\r\n")).as_bytes())
    }

    /// Sends raw bytes on a connection of its own and reads until the other side closes it, or
    /// until the whole answer is there.
    pub(crate) fn raw(&self, bytes: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        stream.write_all(bytes).unwrap();
        let mut received = Vec::new();
        let mut part = [0; 4096];
        loop {
            if let Some(answer) = Answer::of_bytes(&received) {
                return answer;
            }
            match stream.read(&mut part) {
                Ok(n) if n > 0 => received.extend_from_slice(&part[..n]),
                end => panic!("{end:?} after {}", String::from_utf8_lossy(&received)),
            }
        }
    }
}

impl Answer {
    /// The answer in what was received, once it is whole.
    fn of_bytes(received: &[u8]) -> Option<Self> {
        let end = received.windows(4).position(|four| four == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(&received[..end]).into_owned();
        let mut lines = head.split("\r\n");
        let status = lines.next()?.split(' ').nth(1)?.parse().ok()?;
        let headers: Vec<(String, String)> = lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| (name.to_lowercase(), value.to_owned()))
            .collect();
        let length = headers.iter().find(|(name, _)| name == "content-length");
        let length: usize = length.map_or(0, |(_, n)| n.parse().unwrap());
        let bytes = received.get(end + 4..end + 4 + length)?.to_vec();
        let text = String::from_utf8_lossy(&bytes).into_owned();
        Some(Self { status, headers, bytes, text })
    }

    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_str(&self.text).unwrap_or_else(|e| panic!("{e}: {}", self.text))
    }

    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, v)| v.as_str())
    }

    /// The machine-readable code of a problem, after checking the rest of its form.
    pub(crate) fn problem(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{}", self.text);
        let problem = self.json();
        assert_eq!(problem["status"], self.status, "{}", self.text);
        assert_eq!(problem["requestId"].as_str(), self.header("x-request-id"), "{}", self.text);
        for field in ["type", "title", "detail"] {
            assert!(problem[field].is_string(), "{field}: {}", self.text);
        }
        problem["code"].as_str().unwrap().to_owned()
    }

    /// The refused fields of a problem, each with its code.
    pub(crate) fn refused(&self) -> Vec<(String, String)> {
        let problem = self.json();
        let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
        let errors = problem["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
        errors.iter().map(|error| (text(&error["field"]), text(&error["code"]))).collect()
    }
}
