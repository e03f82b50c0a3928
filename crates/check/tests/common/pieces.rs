//! A check in pieces, as on a cluster: pieces are cut, serialised and merged at random.

use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;

use nonfinite_check::json::{self, Listed};
use nonfinite_check::work::{self, Piece, Plan, Tallies};
use nonfinite_check::{Error, FileFormat, Options, Report};
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

/// Splits pieces at random: about one in four, and then the rest of it again.
pub(crate) fn cut(pieces: Vec<Piece>, random: &mut Random) -> Vec<Piece> {
    let mut cut = Vec::new();
    for piece in pieces {
        let mut rest = Some(piece);
        while let Some(piece) = rest {
            let most = if random.below(4) == 0 { 1 + random.below(200) as u64 } else { u64::MAX };
            let (first, others) = piece.split(most);
            cut.push(first);
            rest = others;
        }
    }
    cut
}

/// Merges in groups of random members.
pub(crate) fn merge_at_random(mut tallies: Vec<Tallies>, random: &mut Random) -> Vec<Tallies> {
    for _ in 0..random.below(2 * tallies.len()) {
        let one = tallies.swap_remove(random.below(tallies.len()));
        if tallies.is_empty() {
            return vec![one];
        }
        let other = tallies.swap_remove(random.below(tallies.len()));
        tallies.push(sent(&one).merge(other).expect("tallies of one plan"));
    }
    tallies
}

/// The report of a file that is checked in pieces.
pub(crate) fn report_of_pieces(
    path: &str,
    options: &Options,
    random: &mut Random,
) -> Result<Report, Error> {
    let unwrap = |error| match error {
        work::Error::Check(error) => error,
        other => panic!("{other}"),
    };
    // At most some hundred pieces, since each opens the file.
    let length = std::fs::metadata(path).map_or(0, |file| file.len()) as usize;
    let most = [64, 1 << 10, 1 << 14, 1 << 20][random.below(4)].max(length / 200);
    let most = NonZeroUsize::new(most).expect("not 0");
    let mut plan: Plan = sent(&work::plan(path, most, options).map_err(unwrap)?);
    let pieces = plan.take_pieces();
    let mut left = if pieces.len() < 100 { cut(pieces, random) } else { pieces };
    let mut tallies = Vec::new();
    while !left.is_empty() {
        // Some pieces are checked alone, some with their neighbours, some in random groups.
        let count = 1 + random.below(left.len().min(40));
        let start = random.below(left.len() - count + 1);
        let some: Vec<Piece> = left.drain(start..start + count).map(|piece| sent(&piece)).collect();
        let found = match &some[..] {
            [one] => work::check_piece(one),
            more => work::check_pieces(more, &Options::default()),
        };
        tallies.push(sent(&found.map_err(unwrap)?));
    }
    let tallies = merge_at_random(tallies, random);
    Ok(work::merge(&plan, tallies, options).expect("every piece is there"))
}

/// Asserts that the bytes, as a file in pieces, have this report without its places, byte for byte
/// in JSON.
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
    let path = file.path().to_str().expect("a path of plain characters");
    let mut random = Random(0x9E37_79B9_7F4A_7C15 ^ bytes.len() as u64);
    let report = report_of_pieces(path, options, &mut random)
        .unwrap_or_else(|error| panic!("{}: {error}", format.name()));
    // Pieces have no places.
    let mut expected = expected.clone();
    expected.tensors.iter_mut().for_each(|tensor| tensor.places = None);
    assert_eq!(report, expected, "in pieces");
    let text =
        |report: &Report| json::document(&[(PathBuf::new(), Ok(report.clone()))], &[], Listed::All);
    assert_eq!(text(&report), text(&expected));
}
