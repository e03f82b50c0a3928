//! Scans the data of a file: cuts tensors into pieces, and threads take piece after piece.

use std::collections::BTreeMap;
use std::mem::take;
use std::sync::{Arc, Mutex};

use super::byte_tally::{ByteKind, ByteTally};
use super::open_piece::{OpenPiece, Whole, run};
use super::split::{Piece, Target, split};
use super::tally::Tally;
use super::target_tally::{TalliedRange, TargetTally, add};
use crate::model::{Checksum, Data, Error, FullDescription, ReadAt, Tensor, verified};
use crate::options::{Asked, Options};
use crate::sync::lock;

/// The most bytes of a piece. Large enough to make the cost of taking a piece negligible, small
/// enough that all threads end at about the same time.
const PIECE: u64 = 4 << 20;

/// The tallies of the tensors of a file.
#[derive(Default)]
pub(crate) struct TensorTallies {
    /// For each tensor, its tally. None for a tensor without bytes to scan.
    tallies: Vec<BoxedTally>,
    /// If places are asked for: the pieces that may have NaN or infinity, in the order of the
    /// tensors. A piece without a tally has to be scanned for places.
    pub(super) bad: Vec<(Piece, Option<Tally>)>,
    /// The parts of other files whose checksum is wrong.
    pub(crate) damaged: Vec<FullDescription>,
    /// The tallies of the bytes of the tensors that were taken, for lint.
    pub(crate) bytes: BTreeMap<usize, Arc<ByteTally>>,
}

/// In a box, since a hostile file can describe a million tensors without bytes.
type BoxedTally = Option<Box<TargetTally>>;

impl TensorTallies {
    /// The tally of the numbers in a tensor.
    pub(super) fn tally(&self, tensor: usize) -> Tally {
        self.tallies[tensor].as_ref().map(|tally| tally.numbers).unwrap_or_default()
    }

    /// The tally of the numbers in a tensor, whose memory the next report takes.
    pub(crate) fn take(&mut self, tensor: usize) -> Tally {
        let Some(tally) = self.tallies[tensor].take() else { return Tally::default() };
        if let Some(bytes) = tally.bytes {
            // Small tensors have the same tally as others, and share that of the one before.
            let before = self.bytes.last_key_value().map(|(_, before)| before);
            let shared = before.filter(|before| ***before == *bytes).cloned();
            self.bytes.insert(tensor, shared.unwrap_or_else(|| bytes.into()));
        }
        tally.numbers
    }

    /// The tallies of tensors of which only the header was read.
    pub(crate) fn unseen(tensors: &[Tensor]) -> Self {
        let tallies = tensors.iter().map(|_| None).collect();
        Self { tallies, ..Self::default() }
    }

    /// Tallies that were made elsewhere, each of a whole tensor.
    pub(crate) fn new(
        tensors: &[Tensor],
        tallies: Vec<TargetTally>,
        damaged: Vec<FullDescription>,
    ) -> Self {
        let tallies = tallies.into_iter();
        let tallies = tallies.map(|tally| (!tally.ranges.is_empty()).then(|| Box::new(tally)));
        let mut all = Self { tallies: tallies.collect(), damaged, ..Self::default() };
        let mut bad: Vec<(Piece, Option<Tally>)> = Vec::new();
        for piece in split(tensors, &[], &[], PIECE) {
            let Target::Tensor(index) = piece.of else { continue };
            let tally = all.tally(index);
            if tally.is_bad() && !tally.has_few() {
                bad.push((piece, None));
            } else if tally.is_bad() && bad.last().is_none_or(|(last, _)| last.of != piece.of) {
                // The tally knows the places of all. It is that of the first piece.
                bad.push((piece, Some(tally)));
            }
        }
        all.bad = bad;
        all
    }
}

/// Scans all tensors. Verifies the checksums. `kinds` says what the tensors are to lint: nothing
/// if there are none.
///
/// # Errors
/// [`Error`] if data cannot be decoded, if a checksum of the input is wrong, or if the observer
/// asked to stop.
pub(crate) fn scan(
    source: &dyn ReadAt,
    tensors: &[Tensor],
    checksums: &[Checksum],
    kinds: &[ByteKind],
    options: &Options,
) -> Result<TensorTallies, Error> {
    let most = PIECE.max(source.reads().step as u64);
    let mut pieces = split(tensors, checksums, kinds, most);
    // Decoders of tensors with 0 bytes are run too: their data may be longer than the shape says.
    let is_empty = |tensor: &Tensor| {
        tensor.is_scanned() && matches!(tensor.data, Data::Decoded(_)) && tensor.data.length() == 0
    };
    let empty = tensors.iter().enumerate().filter(|(_, tensor)| is_empty(tensor));
    pieces.extend(empty.map(|(index, _)| Piece { of: Target::Tensor(index), start: 0, length: 0 }));
    if !checksums.is_empty() {
        // In the order of the file, so that numbers and checksums of the same bytes follow each
        // other and the bytes are still in a cache.
        pieces.sort_by_key(|piece| place(piece, tensors, checksums));
    }
    // A lock for each tensor and checksum: threads would wait for a common one.
    let all: Vec<Mutex<BoxedTally>> = tensors.iter().map(|_| Mutex::default()).collect();
    let sums: Vec<Mutex<Vec<TalliedRange>>> = checksums.iter().map(|_| Mutex::default()).collect();
    let (places, bad) = (options.places || options.draw, Mutex::new(Vec::new()));
    let open = |index: usize| match pieces[index] {
        piece @ Piece { of: Target::Tensor(index), .. } => OpenPiece {
            kind: kinds.get(index).copied().unwrap_or_default(),
            ..open_piece(source, &tensors[index], piece, options.asked())
        },
        piece @ Piece { of: Target::Checksum(index), .. } => {
            let Checksum { name, other, range, .. } = &checksums[index];
            let whole = Whole::Checksum(other.as_deref(), range.start);
            OpenPiece { piece, source, name, whole, asked: options.asked(), kind: ByteKind::Other }
        }
    };
    run(pieces.len(), open, options, |index, tally| {
        let piece = pieces[index];
        let numbers = tally.numbers;
        let merged = match piece.of {
            Target::Tensor(index) => lock(&all[index]).get_or_insert_default().merge(tally),
            Target::Checksum(index) => {
                let mut ranges = lock(&sums[index]);
                tally.ranges.into_iter().all(|range| add(&mut ranges, range))
            }
        };
        debug_assert!(merged, "pieces do not overlap");
        if places && numbers.is_bad() {
            lock(&bad).push((piece, Some(numbers)));
        }
        Ok::<_, Error>(())
    })?;
    let mut damaged = Vec::new();
    let tallies = all.into_iter().map(|slot| lock(&slot).take()).collect();
    for (checksum, ranges) in checksums.iter().zip(sums) {
        let tally = TargetTally { ranges: take(&mut *lock(&ranges)), ..TargetTally::default() };
        let is_right = tally.crc() == Some(checksum.crc);
        damaged.extend(verified(&checksum.name, checksum.file(), is_right)?);
    }
    let mut bad = take(&mut *lock(&bad));
    bad.sort_unstable_by_key(|(piece, _)| (piece.of, piece.start));
    Ok(TensorTallies { tallies, bad, damaged, ..TensorTallies::default() })
}

/// A piece of a tensor, with its open file.
pub(super) fn open_piece<'a>(
    source: &'a dyn ReadAt,
    tensor: &'a Tensor,
    piece: Piece,
    asked: Asked,
) -> OpenPiece<'a> {
    let name = tensor.name.as_deref().unwrap_or_default();
    let whole = Whole::Tensor(&tensor.content, &tensor.data);
    OpenPiece { piece, source, name, whole, asked, kind: ByteKind::Other }
}

/// The offset of a piece in the file. The maximum if the piece is not in the file.
fn place(piece: &Piece, tensors: &[Tensor], checksums: &[Checksum]) -> u64 {
    let start = match piece.of {
        Target::Tensor(index) => match &tensors[index].data {
            Data::Input(range) => range.start,
            Data::Other { .. } | Data::Owned(_) | Data::Decoded(_) => return u64::MAX,
        },
        Target::Checksum(index) if checksums[index].other.is_some() => return u64::MAX,
        Target::Checksum(index) => checksums[index].range.start,
    };
    start + piece.start
}
