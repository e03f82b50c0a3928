//! Lengths that were chosen by measuring, in bytes. `benches/record/designs.md` has figures of
//! others. What differs by backend stands in the constants of `Isa` and `Compiled`.

/// Up to this length one loop answers.
pub(crate) const ONE_LOOP: usize = 2048;

/// A search of this length or more has groups of 8 lines.
pub(crate) const EIGHT_FROM: usize = 1024;

/// From this length on, the groups of a mask begin at a cache line.
pub(crate) const ALIGN_FROM: usize = 4096;

/// The run of a count that begins with a hit.
pub(crate) const COUNT_RUN: usize = 1024;

/// The run of a census that begins with a hit. A hit behind more clean bytes is looked up alone.
pub(crate) const CENSUS_RUN: usize = 512;

/// After a run with more hits than one in this many bytes, the next run follows at once.
pub(crate) const DENSE: usize = 256;

/// The longest run of a count or a census, and the run of a mask or of bits.
pub(crate) const LONG_RUN: usize = 16 << 10;

/// What is copied at once, and then searched and replaced while it is in the nearest cache.
pub(crate) const COPIED: usize = 8 << 10;
