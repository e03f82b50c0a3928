//! Files by their URL, from a small server with ranges and faults. `ci/remote` tests real clients
//! and servers.

#[path = "../common/pieces.rs"]
mod pieces;
#[path = "../common/server.rs"]
mod server;
#[path = "../it/write.rs"]
mod write;
#[path = "../common/zip.rs"]
#[expect(dead_code, reason = "the writer of members uses a part of it")]
mod zip;

use std::num::NonZeroUsize;

use nonfinite_check::{Error, FileFormat, Options, Report, check_bytes, check_url, list_url};

use crate::pieces::{Random, assert_same_in_pieces, report_of_pieces};
use crate::server::{Server, State};
use crate::write::{Entry, Member, gguf, npy, safetensors, zip};

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
    let deflated = zip(&[Member { name: "x.npy", data: &array, deflate: true }]);
    vec![
        ("/x.npy", FileFormat::NPY, array),
        ("/x.safetensors", FileFormat::SAFETENSORS, safetensors(&[entry])),
        ("/x.gguf", FileFormat::GGUF, gguf(&[weight], false, &[])),
        ("/x.npz", FileFormat::NPZ, deflated),
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
        let url = format!("{}{path}", server.url);
        let in_pieces = report_of_pieces(&url, &options(), &mut Random(99));
        assert_eq!(in_pieces.unwrap(), expected, "{path}");
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

/// A server of 20 tensors of floats with this many bytes of integers behind each, and a plan.
fn spread(gap: usize, options: &Options) -> (Server, nonfinite_check::work::Plan) {
    let (data, gap) = (floats(4), vec![1; gap]);
    let names: Vec<String> = (0..40).map(|i| format!("{i:02}")).collect();
    let (four, length) = ([4], [gap.len()]);
    let mut entries = Vec::new();
    for name in names.chunks(2) {
        entries.push(Entry { name: &name[0], kind: "F32", shape: &four, data: &data });
        entries.push(Entry { name: &name[1], kind: "U8", shape: &length, data: &gap });
    }
    let server = Server::of("/x.safetensors", &safetensors(&entries));
    let url = format!("{}/x.safetensors", server.url);
    let plan = nonfinite_check::work::plan(&url, nonfinite_check::work::PIECE, options).unwrap();
    server.state().requests.clear();
    (server, plan)
}

/// Requests wait for each other only if many are in flight, whatever the number of threads.
#[test]
fn requests_in_flight() {
    let options = Options { threads: NonZeroUsize::new(1), ..Options::default() };
    let (server, plan) = spread(300 << 10, &options);
    server.state().hold = 17;
    server.state().most_open = 0;
    nonfinite_check::work::check_pieces(plan.pieces(), &options).unwrap();
    assert_eq!(server.state().most_open, 16);
}

/// Short gaps between tensors are fetched along, which saves requests.
#[test]
fn gaps_between_tensors() {
    for (gap, requests) in [(256 << 10, 1), ((256 << 10) + 1, 20)] {
        let (server, plan) = spread(gap, &options());
        nonfinite_check::work::check_pieces(plan.pieces(), &options()).unwrap();
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
    let missing = failure(&server, "/bad/model.safetensors.index.json");
    assert!(matches!(missing, Error::Remote { .. }), "{missing:?}");
    let outside = failure(&server, "/out/model.safetensors.index.json");
    assert!(matches!(outside, Error::Outside(_)), "{outside:?}");
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
    let server = Server::of(path, &bytes);
    let plan = nonfinite_check::work::plan(
        &format!("{}{path}", server.url),
        nonfinite_check::work::PIECE,
        &options(),
    );
    let plan = plan.unwrap();
    for faults in [(2, 0), (0, 2), (1, 1)] {
        server.state().cut = faults.0;
        server.state().short = faults.1;
        let found = nonfinite_check::work::check_pieces(plan.pieces(), &options()).unwrap();
        let report = nonfinite_check::work::merge(&plan, [found], &options()).unwrap();
        assert_eq!(report, expected);
        let left = server.state().cut;
        assert_eq!(left + server.state().short, 0);
    }
    // Not for ever, and not if the failure stays.
    let fails = |requests: usize, message: &str| {
        server.state().requests.clear();
        let found = nonfinite_check::work::check_piece(&plan.pieces()[0]);
        match found {
            Err(nonfinite_check::work::Error::Check(Error::Decode { error, .. })) => {
                assert!(error.to_string().contains(message), "{error}");
            }
            other => panic!("{other:?}"),
        }
        assert_eq!(server.state().requests.len(), requests);
    };
    server.state().short = usize::MAX;
    fails(3, "");
    server.state().short = 0;
    // The body is not as long as its header says.
    let other = "the server sent fewer or more bytes than it was asked for";
    let more = "the server sent more bytes than it was asked for";
    for (length, message) in [(0, other), (399_999, other), (400_001, more)] {
        server.state().body = Some(length);
        fails(3, message);
    }
    server.state().files.clear();
    fails(1, "");
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
    // A plan holds what it was made of.
    let (path, _, bytes) = files().remove(0);
    let server = Server::of(path, &bytes);
    let url = format!("{}{path}", server.url);
    let plan = nonfinite_check::work::plan(&url, nonfinite_check::work::PIECE, &options());
    server.state().tag = Some("\"later\"".to_owned());
    let found = nonfinite_check::work::check_piece(&plan.unwrap().pieces()[0]);
    assert!(matches!(found, Err(nonfinite_check::work::Error::Check(Error::Changed(_)))));
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

/// The URL of a file is no list of files. The tests of the command list models.
#[test]
fn urls_of_files() {
    for url in ["hf://owner/model/x.npy", "s3://bucket/key", "https://host/x.npy", "x.npy"] {
        assert!(list_url(url, &options()).unwrap().is_none(), "{url}");
    }
}
