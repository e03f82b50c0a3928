//! The places for one answer each row.

use crate::backend::Backend;
use crate::rule::Rule;
use crate::{Census, Occurrences};

use super::dims::{Tile, first_of, line, walk};

/// The most elements of a tile.
pub(super) const TILE: usize = 4096;

/// The output, with one place for each row.
#[derive(Debug)]
pub enum Rows<'o> {
    /// Whether the rule holds for any element.
    Any(&'o mut [bool]),
    /// The number of elements for which the rule holds.
    Count(&'o mut [usize]),
    /// The first element for which the rule holds, counted along the row.
    Position(&'o mut [Option<usize>]),
    /// The number of elements and the first one for each of three rules: NaN, +Inf, -Inf.
    Census(&'o mut [Census]),
}

impl Rows<'_> {
    /// The number of places.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Any(out) => out.len(),
            Self::Count(out) => out.len(),
            Self::Position(out) => out.len(),
            Self::Census(out) => out.len(),
        }
    }

    /// Whether there is no place.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    #[inline(never)]
    pub(super) fn clear(&mut self) {
        match self {
            Self::Any(out) => out.fill(false),
            Self::Count(out) => out.fill(0),
            Self::Position(out) => out.fill(None),
            Self::Census(out) => out.fill(Census::default()),
        }
    }

    /// Whether the answer is final: no later element of the row can change it.
    pub(super) fn is_answered(&self, row: usize) -> bool {
        match self {
            Self::Any(out) => out[row],
            Self::Position(out) => out[row].is_some(),
            Self::Count(_) | Self::Census(_) => false,
        }
    }

    /// Whether the answers are final for all rows of a tile.
    pub(super) fn are_answered(&self, tile: &Tile) -> bool {
        if !matches!(self, Self::Any(_) | Self::Position(_)) {
            return false;
        }
        let mut tile = tile.clone();
        let _ = tile.split();
        let (rows, others) = first_of(&tile);
        let mut all = true;
        walk(others, &mut |_, first| {
            line(rows, |_, row| all &= self.is_answered((tile.output + first + row) as usize));
        });
        all
    }

    /// Records that the rule number `class` holds for `count` more elements of a row, the first of
    /// them at index `first`.
    #[inline(never)]
    pub(super) fn add(&mut self, row: usize, class: usize, count: usize, first: usize) {
        match self {
            Self::Any(out) => out[row] = true,
            Self::Count(out) => out[row] += count,
            Self::Position(out) => earlier(&mut out[row], first),
            Self::Census(out) => {
                let Census { nan, pos_inf, neg_inf } = &mut out[row];
                let Occurrences { count: all, first: slot } = [nan, pos_inf, neg_inf][class];
                *all += count;
                earlier(slot, first);
            }
        }
    }
}

/// The question for each row.
#[derive(Clone, Copy, Debug)]
pub(super) struct Question<'q> {
    pub(super) backend: Backend,
    pub(super) search: &'q Rule,
    pub(super) rules: &'q [&'q Rule],
    /// How often the tensor repeats each element of a row.
    pub(super) repeats: usize,
}

/// Sets the index if it is lower.
#[inline(always)]
pub(super) fn earlier(slot: &mut Option<usize>, index: usize) {
    *slot = Some(slot.map_or(index, |slot| slot.min(index)));
}
