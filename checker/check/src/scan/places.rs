//! The second scan of bad tensors, for the places of their bad numbers.

use std::collections::BTreeMap;
use std::sync::Mutex;

use nonfinite::Predicate;

use super::action::{Action, Marks};
use super::pieces::{TensorTallies, open_piece};
use super::scanner::Scanner;
use super::split::{Piece, Target};
use super::tally::Tally;
use crate::model::{ByKind, Content, Error, Kinds, ReadAt, Tensor};
use crate::options::Options;
use crate::places::{Collector, Places};
use crate::sync::{for_each, lock};

/// The places in bad tensors, as [`Options::places`] and [`Options::draw`] ask for them, by the
/// index of the tensor.
///
/// # Errors
/// [`Error`] if data cannot be decoded, or if the observer asked to stop.
pub(crate) fn places(
    source: &dyn ReadAt,
    tensors: &[Tensor],
    tallies: &TensorTallies,
    options: &Options,
) -> Result<BTreeMap<usize, Places>, Error> {
    let mut found = BTreeMap::new();
    if !options.places && !options.draw {
        return Ok(found);
    }
    let bad = tensors.iter().enumerate();
    let bad = bad.filter_map(|(index, tensor)| {
        let from =
            |index| tallies.bad.partition_point(|(piece, _)| piece.of < Target::Tensor(index));
        let pieces = &tallies.bad[from(index)..from(index + 1)];
        Some((index, Bad::new(tensor, &tallies.tally(index), pieces, options)?))
    });
    let bad: Vec<_> = bad.collect();
    if bad.is_empty() {
        return Ok(found);
    }
    if let Some(observer) = &options.observer {
        let lengths = bad.iter().map(|(_, bad)| bad.length());
        observer.started(lengths.fold(0, u64::saturating_add));
    }
    let mut lit = 0;
    // Takes as many tensors at a time as there are threads, so that few maps are in memory. The
    // decision which maps to keep follows the order of the tensors, so the report does not depend
    // on the timing of threads.
    for bad in bad.chunks(options.threads()) {
        for ((index, _), places) in bad.iter().zip(at_once(source, bad, options)?) {
            let Some(mut places) = places else { continue };
            places.bound_map(&mut lit);
            found.insert(*index, places);
        }
    }
    Ok(found)
}

/// Fewer bytes than this are not worth a thread.
const FEW: u64 = 1 << 20;

/// Scans the bad pieces of these tensors with all threads: each takes some pieces of a tensor.
fn at_once(
    source: &dyn ReadAt,
    bad: &[(usize, Bad<'_>)],
    options: &Options,
) -> Result<Vec<Option<Places>>, Error> {
    let bytes = bad.iter().map(|(_, bad)| bad.length());
    let is_short = bytes.fold(0, u64::saturating_add) < FEW;
    let most = options.threads().max(source.reads().at_once);
    let threads = if is_short { 1 } else { most };
    let mut parts = Vec::new();
    for (at, (_, bad)) in bad.iter().enumerate() {
        if bad.marks(options).is_none() {
            options.advance(bad.length())?;
            continue;
        }
        let length = bad.pieces.len().div_ceil(threads).max(1);
        parts.extend(bad.pieces.chunks(length).map(|pieces| (at, pieces)));
    }
    let found: Vec<Mutex<Option<Collector>>> = bad.iter().map(|_| Mutex::default()).collect();
    for_each(
        &parts,
        threads,
        || (),
        |(), (at, pieces)| {
            let Some(collector) = bad[*at].1.collect(source, pieces, options)? else {
                return Ok(());
            };
            let mut found = lock(&found[*at]);
            match &mut *found {
                Some(all) => all.merge(&collector),
                None => *found = Some(collector),
            }
            Ok::<_, Error>(())
        },
    )?;
    Ok(found.into_iter().map(|found| lock(&found).take()?.finish()).collect())
}

/// A tensor to scan again.
struct Bad<'a> {
    tensor: &'a Tensor,
    pieces: &'a [(Piece, Option<Tally>)],
    kinds: Kinds,
    found: Kinds,
}

impl<'a> Bad<'a> {
    /// None for a tensor that is not bad.
    fn new(
        tensor: &'a Tensor,
        tally: &Tally,
        pieces: &'a [(Piece, Option<Tally>)],
        options: &Options,
    ) -> Option<Self> {
        let found = tally.found.map(|found| found.count > 0);
        let kinds = options.bad(&tensor.description, found);
        (!kinds.is_empty()).then_some(Self { tensor, pieces, kinds, found })
    }

    /// Bytes of the bad pieces.
    fn length(&self) -> u64 {
        self.pieces.iter().fold(0, |length, (piece, _)| length.saturating_add(piece.length))
    }

    /// What marks the bad numbers. None for a tensor without places.
    fn marks(&self, options: &Options) -> Option<Marks> {
        let (unit, shared) = match self.tensor.content {
            Content::Floats { parts, .. } => (1, parts.max(1)),
            Content::Blocks { blocks, .. } => {
                let unit = blocks.elements_of_a_scale();
                let shared = blocks.scales.count() as u64 * unit / blocks.elements.max(1);
                // At most the scales of a block.
                (unit, shared.max(1) as usize)
            }
            Content::AlwaysFinite
            | Content::NotFloat
            | Content::Unreadable(_)
            | Content::Damaged(_) => return None,
        };
        let collector = Collector::new(self.tensor, unit, options.draw)?;
        Some(Marks::new(collector, self.predicates(), shared))
    }

    /// The places in some pieces, which are in order. A piece with few bad numbers is not read
    /// again: its tally knows the first of each kind.
    fn collect(
        &self,
        source: &dyn ReadAt,
        pieces: &[(Piece, Option<Tally>)],
        options: &Options,
    ) -> Result<Option<Collector>, Error> {
        let Some(marks) = self.marks(options) else { return Ok(None) };
        let mut scanner = Scanner::with(Action::Mark(Box::new(marks)));
        for (piece, tally) in pieces {
            let found = tally.map(|tally| tally.found.zip(self.kinds).into_array().into_iter());
            let found: Option<Vec<_>> = found
                .map(|found| found.filter(|(_, is_bad)| *is_bad).map(|(found, _)| found).collect());
            let few = found.filter(|found| found.iter().all(|found| found.count <= 1));
            match (scanner.action(), few) {
                (Action::Mark(marks), Some(found)) => {
                    let shared = marks.shared as u64;
                    let mut places: Vec<_> = found.iter().filter_map(|found| found.first).collect();
                    places.sort_unstable();
                    places.iter().for_each(|(place, _)| marks.collector.add(place / shared));
                    options.advance(piece.length)?;
                }
                _ => {
                    let open = open_piece(source, self.tensor, *piece, options.asked());
                    open.scan(None, &mut scanner, options)?;
                }
            }
        }
        match scanner.into_action() {
            Action::Mark(marks) => Ok(Some(marks.collector)),
            Action::Count(_) => Ok(None),
        }
    }

    /// The predicates of the bad numbers. Kinds that are allowed are left out.
    fn predicates(&self) -> Vec<Predicate> {
        if self.kinds == self.found {
            return vec![Predicate::NonFinite];
        }
        let some = self.kinds.zip(ByKind::PREDICATES).into_array().into_iter();
        some.filter_map(|(is_bad, predicate)| is_bad.then_some(predicate)).collect()
    }
}
