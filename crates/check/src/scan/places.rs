//! The second look at bad tensors, for the places of their bad numbers.

use std::collections::BTreeMap;
use std::thread;

use nonfinite::Predicate;

use super::look::{Look, Marks};
use super::pieces::scan_in_order;
use super::scanner::Scanner;
use super::tally::Tally;
use crate::model::{ByKind, Content, Data, Error, Kinds, ReadAt, Tensor};
use crate::options::Options;
use crate::places::{Collector, Map, Places};

/// The places in bad tensors, as [`Options::places`] and [`Options::draw`] ask for them, by the
/// index of the tensor.
///
/// # Errors
/// [`Error`] if data cannot be decoded, or if the observer asked to stop.
pub(crate) fn places(
    source: &dyn ReadAt,
    tensors: &[Tensor],
    tallies: &[Tally],
    options: &Options,
) -> Result<BTreeMap<usize, Places>, Error> {
    let mut found = BTreeMap::new();
    if !options.places && !options.draw {
        return Ok(found);
    }
    let tensors = tensors.iter().zip(tallies).enumerate();
    let bad = tensors
        .filter_map(|(index, (tensor, tally))| Some((index, Bad::new(tensor, tally, options)?)));
    let bad: Vec<_> = bad.collect();
    if bad.is_empty() {
        return Ok(found);
    }
    if let Some(observer) = &options.observer {
        let lengths = bad.iter().map(|(_, bad)| bad.tensor.data.length() as u64);
        observer.started(lengths.fold(0, u64::saturating_add));
    }
    let threads = options.threads();
    let mut lit = 0;
    // Takes as many tensors at a time as there are threads, so that few maps are in memory. The
    // decision which maps to keep follows the order of the tensors, so the report does not depend
    // on the timing of threads.
    for bad in bad.chunks(threads) {
        for ((index, _), places) in bad.iter().zip(at_once(source, bad, options)) {
            let Some(mut places) = places? else { continue };
            let more = places.map.as_ref().map_or(0, |map| map.lit.len());
            if lit + more > Map::MOST_LIT {
                places.map = None;
            } else {
                lit += more;
            }
            found.insert(*index, places);
        }
    }
    Ok(found)
}

type Answer = Result<Option<Places>, Error>;

/// Fewer bytes than this are not worth a thread.
const FEW: usize = 1 << 20;

/// Looks at these tensors with a thread for each, unless they are short.
fn at_once(source: &dyn ReadAt, bad: &[(usize, Bad<'_>)], options: &Options) -> Vec<Answer> {
    let one = |(_, bad): &(usize, Bad<'_>)| bad.places(source, options);
    let bytes = bad.iter().map(|(_, bad)| bad.tensor.data.length());
    if bytes.fold(0, usize::saturating_add) < FEW {
        return bad.iter().map(one).collect();
    }
    let [first, others @ ..] = bad else { return Vec::new() };
    thread::scope(|scope| {
        let others: Vec<_> = others.iter().map(|bad| scope.spawn(move || one(bad))).collect();
        let joined = others.into_iter().map(|thread| match thread.join() {
            Ok(answer) => answer,
            Err(panic) => std::panic::resume_unwind(panic),
        });
        [one(first)].into_iter().chain(joined).collect()
    })
}

/// A tensor to look at again.
struct Bad<'a> {
    tensor: &'a Tensor,
    kinds: Kinds,
    found: Kinds,
}

impl<'a> Bad<'a> {
    /// None for a tensor that is not bad.
    fn new(tensor: &'a Tensor, tally: &Tally, options: &Options) -> Option<Self> {
        let found = tally.found.map(|found| found.count > 0);
        let kinds = options.bad(&tensor.description, found);
        (!kinds.is_empty()).then_some(Self { tensor, kinds, found })
    }

    fn places(&self, source: &dyn ReadAt, options: &Options) -> Answer {
        let (unit, shared) = match self.tensor.content {
            Content::Floats { parts, .. } => (1, parts.max(1)),
            Content::Blocks { blocks, .. } => {
                let unit = blocks.elements_of_a_scale();
                (unit, (blocks.scales.count() * unit / blocks.elements.max(1)).max(1))
            }
            Content::AlwaysFinite
            | Content::NotFloat
            | Content::Unreadable(_)
            | Content::Damaged(_) => return Ok(None),
        };
        let Some(collector) = Collector::new(self.tensor, unit, options.draw) else {
            return options.advance(self.tensor.data.length()).map(|()| None);
        };
        // Nulls may be left out between the numbers of a column.
        let has_gaps = match self.tensor.data {
            Data::Column(_) => true,
            Data::Input(_) | Data::Other { .. } | Data::Owned(_) | Data::Decoded(_) => false,
        };
        let marks = Marks::new(collector, self.predicates(), shared, has_gaps);
        let mut scanner = Scanner::with(Look::Mark(Box::new(marks)));
        scan_in_order(source, self.tensor, &mut scanner, options)?;
        match scanner.into_look() {
            Look::Mark(marks) => Ok(marks.collector.finish()),
            Look::Count(_) => Ok(None),
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
