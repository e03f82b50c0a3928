//! Files by their URL, from a small server with ranges and faults. `checker/oracles/remote` tests
//! real clients and servers.

use std::fmt;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nonfinite_check::{
    Error, FileFormat, Observer, Options, Report, check_bytes, check_url, distributed,
};

use crate::pieces::{assert_same_in_pieces, sent};
use crate::server::{Server, State};
use crate::write::{Entry, gguf, npy, safetensors};
use crate::zip::deflated;

/// Numbers with a NaN here and there.
fn floats(count: usize) -> Vec<u8> {
    let number = |i: usize| if i % 1013 == 7 { f32::NAN } else { i as f32 };
    (0..count).flat_map(|i| number(i).to_le_bytes()).collect()
}

/// Files of formats with a header, and of others; each has a NaN.
fn files() -> Vec<(&'static str, FileFormat, Vec<u8>)> {
    let data = floats(100_000);
    let array = npy("<f4", &[100, 1000], true, &data);
    let entry = Entry { name: "x", kind: "F32", shape: &[100_000], data: &data };
    let weight = Entry { name: "x", kind: 0, shape: &[100_000], data: &data };
    let archive = deflated(&[("x.npy", &array)]);
    vec![
        ("/x.npy", FileFormat::NPY, array),
        ("/x.safetensors", FileFormat::SAFETENSORS, safetensors(&[entry])),
        ("/x.gguf", FileFormat::GGUF, gguf(&[weight], false, &[])),
        ("/x.npz", FileFormat::NPZ, archive),
    ]
}

fn options() -> Options {
    Options { stats: true, ..Options::default() }
}

#[track_caller]
fn report(server: &Server, path: &str) -> Report {
    check_url(&format!("{}{path}", server.url), &options())
        .unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn failure(server: &Server, path: &str) -> Error {
    check_url(&format!("{}{path}", server.url), &options()).unwrap_err()
}

#[test]
fn reports_are_those_of_the_bytes() {
    for (path, format, bytes) in files() {
        let expected = check_bytes(&bytes, format, &options()).unwrap();
        assert!(expected.is_bad());
        assert_same_in_pieces(&bytes, format, &options(), &expected);
        let server = Server::of(path, &bytes);
        assert_eq!(report(&server, path), expected, "{path}");
        let places = Options { places: true, draw: true, ..Options::default() };
        let found = check_url(&format!("{}{path}", server.url), &places).unwrap();
        assert!(found.tensors[0].places.is_some());
        assert_eq!(found, check_bytes(&bytes, format, &places).unwrap(), "{path}");
        // A query is sent and is no part of the name.
        assert_eq!(report(&server, &format!("{path}?sign=a/b")), expected, "{path}");
        // Another process fetches the data, and this one nothing.
        let url = format!("{}{path}", server.url);
        let tally = sent(&distributed::tally(url.as_ref(), &places).unwrap());
        server.state().files.clear();
        let report = distributed::report(url.as_ref(), |_| Some(tally.clone()), &places);
        assert_eq!(report.unwrap(), found, "{path}");
    }
}

#[test]
fn only_headers_and_floats_are_fetched() {
    let data = floats(1 << 20);
    let integers = vec![1; 24 << 20];
    let entry = |name, kind, data| Entry { name, kind, shape: &[1 << 20], data };
    let bytes = safetensors(&[
        entry("a", "F32", &data),
        Entry { name: "b", kind: "U8", shape: &[24 << 20], data: &integers },
        entry("c", "F32", &data),
    ]);
    let server = Server::of("/x.safetensors", &bytes);
    let expected = check_bytes(&bytes, FileFormat::SAFETENSORS, &options()).unwrap();
    assert_eq!(report(&server, "/x.safetensors"), expected);
    let sent = server.state().sent;
    let floats = 2 * data.len();
    assert!((floats..floats + (128 << 10)).contains(&sent), "{sent} bytes for {floats}");
}

/// Windows of a header double, so that a long one takes few requests.
#[test]
fn long_headers_and_many_small_tensors() {
    let data = floats(4);
    let names: Vec<String> = (0..20_000).map(|i| format!("layer.{i}.weight")).collect();
    let entries: Vec<_> =
        names.iter().map(|name| Entry { name, kind: "F32", shape: &[4], data: &data }).collect();
    let bytes = safetensors(&entries);
    let server = Server::of("/x.safetensors", &bytes);
    let expected = check_bytes(&bytes, FileFormat::SAFETENSORS, &options()).unwrap();
    assert_eq!(report(&server, "/x.safetensors"), expected);
    let requests = server.state().requests.len();
    assert!(requests <= 12, "{requests} requests for {} bytes", bytes.len());
}

/// A header that is read bit by bit comes in windows, each as long as all before. Data in the last
/// window is not fetched again, although it is longer than the first window.
#[test]
fn windows_of_a_header() {
    let names: Vec<String> = (0..6000).map(|i| format!("layer.{i}.weight")).collect();
    let empty = |name| Entry { name, kind: 24, shape: &[0], data: &[] };
    let mut entries: Vec<_> = names.iter().map(|name| empty(name)).collect();
    let data = floats(25_000);
    entries.push(Entry { name: "x", kind: 0, shape: &[25_000], data: &data });
    let bytes = gguf(&entries, false, &[]);
    assert!((362_144..524_288).contains(&bytes.len()), "{}", bytes.len());
    let server = Server::of("/x.gguf", &bytes);
    let expected = check_bytes(&bytes, FileFormat::GGUF, &options()).unwrap();
    assert_eq!(report(&server, "/x.gguf"), expected);
    let ranges: Vec<String> = server.state().requests.iter().map(|it| range(it)).collect();
    let last = format!("262144-{}", bytes.len() - 1);
    assert_eq!(ranges, ["0-65535", "65536-131071", "131072-262143", &last]);
}

/// A server of 20 tensors of floats with this many bytes of integers behind each.
fn spread(gap: usize) -> Server {
    let (data, gap) = (floats(4), vec![1; gap]);
    let names: Vec<String> = (0..40).map(|i| format!("{i:02}")).collect();
    let (four, length) = ([4], [gap.len()]);
    let mut entries = Vec::new();
    for name in names.chunks(2) {
        entries.push(Entry { name: &name[0], kind: "F32", shape: &four, data: &data });
        entries.push(Entry { name: &name[1], kind: "U8", shape: &length, data: &gap });
    }
    Server::of("/x.safetensors", &safetensors(&entries))
}

/// Requests wait for each other only if many are in flight, whatever the number of threads.
#[test]
fn requests_in_flight() {
    let options = Options { threads: NonZeroUsize::new(1), ..Options::default() };
    let server = spread(300 << 10);
    server.state().hold = 17;
    check_url(&format!("{}/x.safetensors", server.url), &options).unwrap();
    assert_eq!(server.state().most_open, 16);
}

/// Short gaps between tensors are fetched along, which saves requests.
#[test]
fn gaps_between_tensors() {
    // One is for the header and the first tensor.
    for (gap, requests) in [(256 << 10, 2), ((256 << 10) + 1, 20)] {
        let server = spread(gap);
        report(&server, "/x.safetensors");
        assert_eq!(server.state().requests.len(), requests, "{gap}");
    }
}

/// The range of a request.
fn range(request: &str) -> String {
    let lines = request.to_ascii_lowercase();
    let range = lines.lines().find_map(|line| line.strip_prefix("range: bytes="));
    range.expect("a range").to_owned()
}

#[test]
fn sharded_sets() {
    let data = floats(2000);
    let shard = |name| safetensors(&[Entry { name, kind: "F32", shape: &[2000], data: &data }]);
    let map = br#"{"weight_map":{"a":"1.safetensors","b":"2.safetensors"}}"#;
    let files = [
        ("/m/model.safetensors.index.json", map.to_vec()),
        ("/m/1.safetensors", shard("a")),
        ("/m/2.safetensors", shard("b")),
        ("/bad/model.safetensors.index.json", map.to_vec()),
        ("/out/model.safetensors.index.json", br#"{"weight_map":{"a":"../1"}}"#.to_vec()),
    ];
    let files = files.map(|(path, bytes)| (path.to_owned(), bytes)).into_iter().collect();
    let server = Server::new(State { files, tag: Some("\"x\"".to_owned()), ..State::default() });
    let report = report(&server, "/m/model.safetensors.index.json");
    let found: Vec<_> =
        report.tensors.iter().map(|x| (x.name.as_deref().unwrap(), x.found.nan.count)).collect();
    assert_eq!(found, [("a", 2), ("b", 2)]);
    let file = report.tensors[1].file.as_ref().unwrap();
    assert_eq!(file.to_str(), Some(&*format!("{}/m/2.safetensors", server.url)));
    let url = format!("{}/m/model.safetensors.index.json", server.url);
    let shards = distributed::files(url.as_ref(), &options());
    assert_eq!(
        shards,
        ["1", "2"].map(|name| format!("{}/m/{name}.safetensors", server.url)).map(PathBuf::from)
    );
    let found = |file: &Path| {
        shards.iter().any(|it| it == file).then(|| distributed::tally(file, &options()).unwrap())
    };
    assert_eq!(distributed::report(url.as_ref(), found, &options()).unwrap(), report);
    let missing = failure(&server, "/bad/model.safetensors.index.json");
    assert!(matches!(missing, Error::Remote { .. }), "{missing:?}");
    let outside = failure(&server, "/out/model.safetensors.index.json");
    assert!(matches!(outside, Error::Outside(_)), "{outside:?}");
}

/// Changes the server when the header of a file has been read.
struct Then<F>(Arc<Server>, F);

impl<F> fmt::Debug for Then<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Then")
    }
}

impl<F: Fn(&mut State) + Send + Sync> Observer for Then<F> {
    fn started(&self, _: u64) {
        (self.1)(&mut self.0.state());
    }

    fn advanced(&self, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Temporary failures are tried again: a busy server, cut connections, short answers.
#[test]
fn faults_that_pass() {
    for (path, format, bytes) in files() {
        let expected = check_bytes(&bytes, format, &options()).unwrap();
        for tag in [None, Some("\"one\""), Some("W/\"weak\"")] {
            let server = Server::of(path, &bytes);
            server.state().tag = tag.map(str::to_owned);
            // The first answer tells length and version.
            let check = |set: &dyn Fn(&mut State)| {
                set(&mut server.state());
                assert_eq!(report(&server, path), expected, "{path} {tag:?}");
            };
            check(&|state| state.busy = 2);
            assert_eq!(server.state().busy, 0);
            if tag == Some("\"one\"") {
                check(&|state| state.cut = 2);
                assert_eq!(server.state().cut, 0);
            }
        }
    }
    // Later answers than the first.
    let (path, format, bytes) = files().remove(0);
    let expected = check_bytes(&bytes, format, &options()).unwrap();
    let server = Arc::new(Server::of(path, &bytes));
    let url = format!("{}{path}", server.url);
    let then = |set: Box<dyn Fn(&mut State) + Send + Sync>| {
        let observer = Some(Arc::new(Then(Arc::clone(&server), set)) as Arc<dyn Observer>);
        check_url(&url, &Options { observer, ..options() })
    };
    for (cut, short) in [(2, 0), (0, 2), (1, 1)] {
        let report = then(Box::new(move |state| (state.cut, state.short) = (cut, short)));
        assert_eq!(report.unwrap(), expected);
        let left = server.state().cut;
        assert_eq!(left + server.state().short, 0);
    }
    // Not for ever, and not if the failure stays.
    let fails = |set: fn(&mut State), requests: usize, message: &str| {
        (server.state().short, server.state().body) = (0, None);
        match then(Box::new(move |state| {
            state.requests.clear();
            set(state);
        })) {
            Err(Error::Decode { error, .. }) => {
                assert!(error.to_string().contains(message), "{error}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(server.state().requests.len(), requests);
    };
    fails(|state| state.short = usize::MAX, 3, "");
    // The body is not as long as its header says.
    let other = "the server sent fewer or more bytes than it was asked for";
    let more = "the server sent more bytes than it was asked for";
    fails(|state| state.body = Some(0), 3, other);
    fails(|state| state.body = Some(399_999), 3, other);
    fails(|state| state.body = Some(400_001), 3, more);
    fails(|state| state.files.clear(), 1, "");
}

/// Another version of the file during the check.
#[test]
fn files_that_change() {
    for (path, _, bytes) in files() {
        for ignores_conditions in [false, true] {
            let server = Server::of(path, &bytes);
            server.state().changes_after = Some(1);
            server.state().ignores_conditions = ignores_conditions;
            let error = failure(&server, path);
            let url = format!("{}{path}", server.url);
            assert!(matches!(&error, Error::Changed(changed) if *changed == url), "{error:?}");
            // The server sends no bytes of another version if the request names the version.
            let last = server.state().requests.pop().unwrap().to_ascii_lowercase();
            assert!(last.contains("\nif-match: \"one\""), "{last}");
        }
    }
}

#[test]
fn what_cannot_be_checked() {
    let server = Server::of("/x.npy", &npy("<f4", &[3], false, &[0; 12]));
    server.state().files.insert("/empty.npy".to_owned(), Vec::new());
    server.state().files.insert("/page.html".to_owned(), b"<html>".to_vec());
    assert!(matches!(failure(&server, "/none.npy"), Error::Remote { .. }));
    assert!(matches!(failure(&server, "/empty.npy"), Error::Empty));
    assert!(matches!(failure(&server, "/page.html"), Error::Text { .. }));
    server.state().ignores_ranges = true;
    let error = failure(&server, "/x.npy");
    assert!(matches!(error, Error::Remote { .. }), "{error:?}");
    for bad in ["s3://bucket", "hf://owner/model", "x.npy", "ftp://host/x.npy"] {
        let error = check_url(bad, &options()).unwrap_err();
        assert!(matches!(error, Error::Remote { .. }), "{bad}: {error:?}");
    }
}

/// The bound counts for formats that are downloaded, and for no others.
#[test]
fn downloads_are_bounded() {
    for (path, format, bytes) in files() {
        let server = Server::of(path, &bytes);
        let url = format!("{}{path}", server.url);
        let check = |most: usize| {
            let max_bytes = Some(most as u64);
            check_url(&url, &Options { max_bytes, ..Options::default() })
        };
        // What deflated members decode to counts as well.
        check(bytes.len().max(500_000)).unwrap();
        let result = check(bytes.len() - 1);
        match result {
            Err(Error::Download { length, most }) => {
                assert_eq!(
                    (format, length, most + 1),
                    (FileFormat::NPZ, bytes.len() as u64, length)
                );
            }
            other => assert!(format != FileFormat::NPZ && other.is_ok(), "{other:?}"),
        }
    }
}
