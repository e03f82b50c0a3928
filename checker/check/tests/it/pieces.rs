//! A check in pieces, as by the workers of a page, and a check by another process: what travels
//! between them is serialised, and comes in any order.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use nonfinite_check::json::{self, Listed};
use nonfinite_check::lint::Linter;
use nonfinite_check::work::{self, Plan, PlannedPiece, Tallies};
use nonfinite_check::{Error, FileFormat, Options, Report, check_file, distributed};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Numbers that differ between calls and are the same in every run (xorshift).
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % end.max(1)
    }
}

/// Serialises and deserialises a value.
pub(crate) fn sent<T: Serialize + DeserializeOwned>(value: &T) -> T {
    let text = serde_json::to_string(value).expect("there is a form of it");
    serde_json::from_str(&text).expect("what was written can be read")
}

/// Checks the pieces in groups at random.
pub(crate) fn tallies(
    mut left: Vec<PlannedPiece>,
    random: &mut Random,
) -> Result<Vec<Tallies>, work::Error> {
    let mut found = Vec::new();
    while !left.is_empty() {
        let count = 1 + random.below(left.len().min(40));
        let start = random.below(left.len() - count + 1);
        let some: Vec<PlannedPiece> =
            left.drain(start..start + count).map(|piece| sent(&piece)).collect();
        found.push(sent(&work::check_pieces(&some, &Options::default())?));
    }
    Ok(found)
}

/// The report by the tallies of all pieces of a plan.
pub(crate) fn merge(
    plan: &Plan,
    found: Vec<Tallies>,
    options: &Options,
) -> Result<Report, work::Error> {
    Linter::new(options.clone()).merge(plan, found)
}

/// The report of a file that is checked in pieces. It has statistics, since a linter makes plans.
pub(crate) fn report_of_pieces(
    path: &str,
    options: &Options,
    random: &mut Random,
) -> Result<Report, Error> {
    let unwrap = |error| match error {
        work::Error::Check(error) => error,
        other => panic!("{other}"),
    };
    // At most some hundred pieces.
    let length = std::fs::metadata(path).map_or(0, |file| file.len()) as usize;
    let most = [64, 1 << 10, 1 << 14, 1 << 20][random.below(4)].max(length / 200);
    let most = NonZeroUsize::new(most).expect("not 0");
    let plan = Linter::new(options.clone()).plan(path, most).map_err(unwrap)?;
    let mut plan: Plan = sent(&plan);
    let found = tallies(plan.take_pieces(), random).map_err(unwrap)?;
    merge(&plan, found, options).map_err(unwrap)
}

/// Asserts that a file has the report of its check if it is checked in pieces, except for places,
/// and if another process checks it.
#[track_caller]
pub(crate) fn assert_same_elsewhere(path: &Path, options: &Options, random: &mut Random) {
    let options =
        Options { stats: true, places: true, draw: true, observer: None, ..options.clone() };
    let expected = check_file(path, &options).expect("a good file");
    let mut without_places = expected.clone();
    without_places.tensors.iter_mut().for_each(|tensor| Arc::make_mut(tensor).places = None);
    let in_pieces = report_of_pieces(path.to_str().expect("plain characters"), &options, random);
    assert_eq!(in_pieces.expect("a good file"), without_places, "in pieces");
    let files = distributed::files(path, &options);
    let found = |file: &Path| {
        let is_listed = files.iter().any(|listed| listed == file);
        is_listed.then(|| distributed::tally(file, &options).ok().as_ref().map(sent)).flatten()
    };
    let report = distributed::report(path, found, &options).expect("a report");
    assert_eq!(report, expected, "by another process");
    let text = |report: Report| json::document(&[(PathBuf::new(), Ok(report))], &[], Listed::All);
    assert_eq!(text(report), text(expected));
}

/// Asserts that the bytes, as a file, have this report, also by [`assert_same_elsewhere`].
#[track_caller]
pub(crate) fn assert_same_in_pieces(
    bytes: &[u8],
    format: FileFormat,
    options: &Options,
    expected: &Report,
) {
    let mut file =
        tempfile::Builder::new().suffix(&format!(".{}", format.name())).tempfile().unwrap();
    file.write_all(bytes).unwrap();
    let options = &Options { observer: None, ..options.clone() };
    assert_eq!(check_file(file.path(), options).expect("a good file"), *expected, "as a file");
    let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ bytes.len() as u64);
    assert_same_elsewhere(file.path(), options, &mut random);
}
