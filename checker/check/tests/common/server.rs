//! A small HTTP server with ranges and faults, for tests.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};

/// The behaviour of the server, and a record of its requests.
#[derive(Default)]
pub(crate) struct State {
    /// Files by path, such as `/x.npy`.
    pub(crate) files: BTreeMap<String, Vec<u8>>,
    /// The entity tag of all files.
    pub(crate) tag: Option<String>,
    /// Changes the tag after this number of answers with status 206.
    pub(crate) changes_after: Option<usize>,
    /// Whether `If-Match` is ignored.
    pub(crate) ignores_conditions: bool,
    /// Whether ranges are ignored.
    pub(crate) ignores_ranges: bool,
    /// The number of requests to answer with status 503 and 429 in turn.
    pub(crate) busy: usize,
    /// The number of pages and ranges to cut in the middle of the body, together with the
    /// connection.
    pub(crate) cut: usize,
    /// The number of answers with a shorter range than requested.
    pub(crate) short: usize,
    /// The number of bytes in the bodies of ranges, whatever their `Content-Range` says.
    pub(crate) body: Option<usize>,
    /// Ranges are sent when this many are requested, or after a second.
    pub(crate) hold: usize,
    /// The number of ranges that are requested and not yet sent, and its maximum.
    pub(crate) open: usize,
    pub(crate) most_open: usize,
    /// Pages by path and query: the body and the `Link` header.
    pub(crate) pages: BTreeMap<String, (String, Option<String>)>,
    /// Redirections, from a path to a URL.
    pub(crate) redirects: BTreeMap<String, String>,
    /// Request lines and headers.
    pub(crate) requests: Vec<String>,
    /// The number of bytes in the bodies of answers.
    pub(crate) sent: usize,
    /// The number of answers with status 206.
    pub(crate) answers: usize,
}

/// A server that ends with the process.
pub(crate) struct Server {
    state: Arc<Mutex<State>>,
    pub(crate) url: String,
}

impl Server {
    pub(crate) fn new(state: State) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let state = Arc::new(Mutex::new(state));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&shared);
                // The head and the body of an answer are separate packets, and the second one would
                // wait for 40 ms.
                let _ = stream.set_nodelay(true);
                // Clients may close the connection at any time.
                thread::spawn(move || while answer(&stream, &state).is_some() {});
            }
        });
        Self { state, url }
    }

    /// A server of one file, which has a tag.
    pub(crate) fn of(path: &str, bytes: &[u8]) -> Self {
        let files = BTreeMap::from([(path.to_owned(), bytes.to_vec())]);
        Self::new(State { files, tag: Some("\"one\"".to_owned()), ..State::default() })
    }

    pub(crate) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("no panic")
    }
}

/// Answers a request. None if the connection ends.
fn answer(stream: &TcpStream, shared: &Mutex<State>) -> Option<()> {
    let mut lines = BufReader::new(stream).lines();
    let request: Vec<String> =
        lines.by_ref().map_while(Result::ok).take_while(|line| !line.is_empty()).collect();
    let target = request.first()?.split(' ').nth(1)?.to_owned();
    let path = target.split('?').next()?.to_owned();
    let header = |name: &str| {
        let values = request.iter().filter_map(|line| line.split_once(": "));
        values.filter(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value).next()
    };
    let mut state = shared.lock().ok()?;
    state.requests.push(request.join("\n"));
    let send = |status: &str, headers: &str, body: &[u8], length: usize| {
        let head = format!("HTTP/1.1 {status}\r\nContent-Length: {length}\r\n{headers}\r\n");
        let mut stream = stream;
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(body)).ok()
    };
    if let Some(to) = state.redirects.get(&path) {
        return send("302 Found", &format!("Location: {to}\r\n"), b"", 0);
    }
    if state.busy > 0 {
        state.busy -= 1;
        let status = if state.busy % 2 == 0 { "503 Slow Down" } else { "429 Too Many Requests" };
        return send(status, "", b"", 0);
    }
    if let Some((body, link)) = state.pages.get(&target) {
        let link = link.as_ref().map(|link| format!("Link: {link}\r\n")).unwrap_or_default();
        let is_cut = state.cut > 0;
        let sent = if is_cut { body.len() / 2 } else { body.len() };
        send("200 OK", &link, &body.as_bytes()[..sent], body.len())?;
        if is_cut {
            state.cut -= 1;
            stream.shutdown(std::net::Shutdown::Both).ok()?;
            return None;
        }
        return Some(());
    }
    let Some(bytes) = state.files.get(&path).cloned() else {
        return send("404 Not Found", "", b"", 0);
    };
    if state.changes_after.is_some_and(|after| state.answers >= after) {
        state.tag = Some("\"two\"".to_owned());
    }
    let tag = state.tag.clone();
    let tagged = tag.as_ref().map(|tag| format!("ETag: {tag}\r\n")).unwrap_or_default();
    let matches = header("if-match").is_none_or(|wanted| Some(wanted) == tag.as_deref());
    if !matches && !state.ignores_conditions {
        return send("412 Precondition Failed", "", b"", 0);
    }
    let range = header("range").and_then(|range| range.strip_prefix("bytes=")?.split_once('-'));
    let Some((start, end)) = range.filter(|_| !state.ignores_ranges) else {
        state.sent += bytes.len();
        return send("200 OK", &tagged, &bytes, bytes.len());
    };
    let start: usize = start.parse().ok()?;
    let mut end = end.parse::<usize>().map_or(bytes.len(), |last| bytes.len().min(last + 1));
    if start >= bytes.len() {
        return send("416 Range Not Satisfiable", "", b"", 0);
    }
    state.answers += 1;
    if state.short > 0 {
        state.short -= 1;
        end = end.min(start + 10);
    }
    let mut body = bytes[start..end].to_vec();
    state.body.into_iter().for_each(|length| body.resize(length, 0));
    let range = format!("{tagged}Content-Range: bytes {start}-{}/{}\r\n", end - 1, bytes.len());
    if state.cut > 0 && body.len() > 1 {
        state.cut -= 1;
        state.sent += body.len() / 2;
        send("206 Partial Content", &range, &body[..body.len() / 2], body.len())?;
        stream.shutdown(std::net::Shutdown::Both).ok()?;
        return None;
    }
    state.sent += body.len();
    state.open += 1;
    state.most_open = state.most_open.max(state.open);
    drop(state);
    let start = Instant::now();
    while shared.lock().ok().is_some_and(|state| state.open < state.hold)
        && start.elapsed() < Duration::from_secs(1)
    {
        thread::sleep(Duration::from_millis(2));
    }
    let sent = send("206 Partial Content", &range, &body, body.len());
    shared.lock().ok()?.open -= 1;
    sent
}
