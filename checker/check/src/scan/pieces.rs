//! Looks at the data of a file: cuts tensors into pieces, and threads take piece after piece.

use std::mem::take;
use std::sync::Mutex;
use std::sync::atomic::AtomicUsize;

use super::byte_facts::{ByteKind, Facts};
use super::covered::Covered;
use super::scanner::Scanner;
use super::split::{Cut, Target, split};
use super::tally::Tally;
use super::tasks::{Task, Whole, look_and_release, run};
use crate::model::{Checksum, Data, Error, Outline, ReadAt, Tensor, verified};
use crate::options::{Asked, Options};
use crate::sync::lock;

/// The most bytes of a piece. Large enough to make the cost of taking a piece negligible, small
/// enough that all threads end at about the same time.
const PIECE: usize = 4 << 20;

/// What was found in the tensors of a file.
pub(crate) struct Scanned {
    /// For each tensor, what was found. None for a tensor without bytes to look at.
    found: Vec<Slot>,
    /// If places are asked for: the pieces that may have NaN or infinity, in the order of the
    /// tensors. A piece without a tally has to be looked at for places.
    pub(super) bad: Vec<(Cut, Option<Tally>)>,
    /// The parts of other files whose checksum is wrong.
    pub(crate) damaged: Vec<Outline>,
}

/// In a box, since a hostile file can describe a million tensors without bytes.
type Slot = Option<Box<Covered>>;

impl Scanned {
    /// The findings in a tensor.
    pub(crate) fn tally(&self, tensor: usize) -> Tally {
        self.found[tensor].as_ref().map(|covered| covered.tally).unwrap_or_default()
    }

    /// What lint has seen of a tensor.
    pub(crate) fn take_facts(&mut self, tensor: usize) -> Facts {
        let facts = self.found[tensor].as_mut().and_then(|covered| covered.facts.take());
        facts.map(|facts| *facts).unwrap_or_default()
    }

    /// What was found elsewhere in the tensors of a file, each as a whole.
    pub(crate) fn new(tensors: &[Tensor], found: Vec<Covered>, damaged: Vec<Outline>) -> Self {
        let found = found.into_iter();
        let found = found.map(|covered| (!covered.parts.is_empty()).then(|| Box::new(covered)));
        let mut scanned = Self { found: found.collect(), bad: Vec::new(), damaged };
        let mut bad: Vec<(Cut, Option<Tally>)> = Vec::new();
        for piece in split(tensors, &[], &[], PIECE) {
            let Target::Tensor(index) = piece.of else { continue };
            let tally = scanned.tally(index);
            if tally.is_bad() && !tally.has_few() {
                bad.push((piece, None));
            } else if tally.is_bad() && bad.last().is_none_or(|(last, _)| last.of != piece.of) {
                // The tally knows the places of all. It is that of the first piece.
                bad.push((piece, Some(tally)));
            }
        }
        scanned.bad = bad;
        scanned
    }
}

/// Looks at all tensors. Verifies the checksums. `kinds` says what the tensors are to lint: nothing
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
) -> Result<Scanned, Error> {
    let most = PIECE.max(source.reads().step);
    let mut pieces = split(tensors, checksums, kinds, most);
    // Decoders of tensors with 0 bytes are run too: their data may be longer than the shape says.
    let is_empty = |tensor: &Tensor| {
        tensor.is_scanned() && matches!(tensor.data, Data::Decoded(_)) && tensor.data.length() == 0
    };
    let empty = tensors.iter().enumerate().filter(|(_, tensor)| is_empty(tensor));
    pieces.extend(empty.map(|(index, _)| Cut { of: Target::Tensor(index), start: 0, length: 0 }));
    if !checksums.is_empty() {
        // In the order of the file, so that numbers and checksums of the same bytes follow each
        // other and the bytes are still in a cache.
        pieces.sort_by_key(|piece| place(piece, tensors, checksums));
    }
    // A lock for each tensor and checksum: threads would wait for a common one.
    let slots = tensors.len() + checksums.len();
    let all: Vec<Mutex<Slot>> = (0..slots).map(|_| Mutex::default()).collect();
    let (places, bad) = (options.places || options.draw, Mutex::new(Vec::new()));
    let task = |index: usize| match pieces[index] {
        piece @ Cut { of: Target::Tensor(index), .. } => Task {
            kind: kinds.get(index).copied().unwrap_or_default(),
            ..task(source, &tensors[index], piece, options.asked())
        },
        piece @ Cut { of: Target::Checksum(index), .. } => {
            let Checksum { name, other, range, .. } = &checksums[index];
            let whole = Whole::Checksum(other.as_deref(), range.start);
            Task { piece, source, name, whole, asked: options.asked(), kind: ByteKind::Other }
        }
    };
    run(pieces.len(), task, options, |index, found| {
        let piece = pieces[index];
        let tally = found.tally;
        let slot = match piece.of {
            Target::Tensor(index) => index,
            Target::Checksum(index) => tensors.len() + index,
        };
        let merged = lock(&all[slot]).get_or_insert_default().merge(found);
        debug_assert!(merged, "pieces do not overlap");
        if places && tally.is_bad() {
            lock(&bad).push((piece, Some(tally)));
        }
        Ok::<_, Error>(())
    })?;
    let mut damaged = Vec::new();
    let mut found: Vec<Slot> = all.into_iter().map(|slot| lock(&slot).take()).collect();
    for (checksum, covered) in checksums.iter().zip(found.split_off(tensors.len())) {
        let covered = covered.unwrap_or_default();
        let is_right = covered.crc() == Some(checksum.crc);
        damaged.extend(verified(&checksum.name, checksum.file(), is_right)?);
    }
    let mut bad = take(&mut *lock(&bad));
    bad.sort_unstable_by_key(|(piece, _)| (piece.of, piece.start));
    Ok(Scanned { found, bad, damaged })
}

/// A task for a piece of a tensor.
fn task<'a>(source: &'a dyn ReadAt, tensor: &'a Tensor, piece: Cut, asked: Asked) -> Task<'a> {
    let name = tensor.name.as_deref().unwrap_or_default();
    let whole = Whole::Tensor(&tensor.content, &tensor.data);
    Task { piece, source, name, whole, asked, kind: ByteKind::Other }
}

/// Looks at a piece of a tensor, with this scanner only. `decoded` counts the bytes that were
/// decoded since the memory of the map was given back.
///
/// # Errors
/// As [`scan`].
pub(super) fn scan_again(
    source: &dyn ReadAt,
    tensor: &Tensor,
    piece: Cut,
    scanner: &mut Scanner,
    decoded: &AtomicUsize,
    options: &Options,
) -> Result<(), Error> {
    let task = task(source, tensor, piece, options.asked());
    look_and_release(&task, None, scanner, decoded, options).map(drop)
}

/// The offset of a piece in the file. The maximum if the piece is not in the file.
fn place(piece: &Cut, tensors: &[Tensor], checksums: &[Checksum]) -> usize {
    let start = match piece.of {
        Target::Tensor(index) => match &tensors[index].data {
            Data::Input(range) => range.start,
            Data::Other { .. } | Data::Owned(_) | Data::Decoded(_) => return usize::MAX,
        },
        Target::Checksum(index) if checksums[index].other.is_some() => return usize::MAX,
        Target::Checksum(index) => checksums[index].range.start,
    };
    start + piece.start
}
