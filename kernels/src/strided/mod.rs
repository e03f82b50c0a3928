//! Tensors that do not lie in one piece.
//!
//! The innermost dimension is a line. Where lines lie in one piece, `lines` has the loops, which choose the path
//! once for all lines. Short lines (but for masks), and those with steps between their elements, are brought together by
//! `gather` for the dense kernels. Masks whose output runs another way than the input go through `tile`.

mod gather;
mod interleave;
mod lines;
mod rows;
mod tile;
mod transpose;
mod walk;

use core::mem::MaybeUninit;

use crate::drive::Census;
use crate::out::MaskOut;
use crate::path::Path;
use crate::rule::Rule;

use gather::{Gather, ROOM};
pub use rows::{any_rows, count_rows};
pub(crate) use tile::{Scatter, Target, scatter};
use walk::Walk;

/// One dimension: how many coordinates, and how far one is from the next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dim {
    /// Coordinates in this dimension.
    pub size: usize,
    /// From one coordinate to the next, in elements of the input.
    pub input: isize,
    /// From one coordinate to the next in the output: bytes of a mask, or what [`position`] is to tell.
    pub output: isize,
}

impl Dim {
    /// A dimension that changes nothing.
    const ONE: Self = Self { size: 1, input: 1, output: 1 };
}

/// Which elements to look at, and in which order.
#[derive(Clone, Copy, Debug)]
pub struct Grid<'a> {
    /// The element at coordinate 0.
    pub input: usize,
    /// Where coordinate 0 is in the output.
    pub output: usize,
    /// The dimensions, innermost first, at most [`Grid::MOST`]. Without any there is one element.
    pub dims: &'a [Dim],
}

impl Grid<'_> {
    /// Dimensions that a grid may have. As many of two elements each have more elements than there is memory.
    pub const MOST: usize = 64;

    /// The innermost dimension.
    #[inline(always)]
    fn line(&self) -> Dim {
        self.dims.first().copied().unwrap_or(Dim::ONE)
    }

    fn is_empty(&self) -> bool {
        self.dims.iter().any(|dim| dim.size == 0)
    }

    /// What the output is for the element of this index, counted in order.
    fn output_of(&self, mut index: usize) -> usize {
        let mut output = self.output;
        for dim in self.dims {
            output = output.wrapping_add_signed(dim.output.wrapping_mul((index % dim.size) as isize));
            index /= dim.size;
        }
        output
    }

    /// How many elements.
    fn len(&self) -> usize {
        self.dims.iter().fold(1, |len, dim| len.saturating_mul(dim.size))
    }
}

/// The byte at `output` for every element: 1 where the rule holds, else 0. Other bytes stay as they are. `path` is the
/// active one if `None`.
///
/// It is fastest where the innermost dimension has the smallest steps in the output.
///
/// # Panics
/// If the grid reaches outside of `x` or `out`, where some results may have been written, or has too many dimensions.
pub fn mask(path: Option<Path>, x: &[u8], rule: &Rule, out: &mut MaskOut<'_>, grid: Grid<'_>) {
    let out = out.slots_mut();
    if grid.is_empty() {
        return;
    }
    match rule {
        Rule::Constant { answer, .. } => tile::fill(*answer, out, grid),
        Rule::Test(test) => tile::mask(path.unwrap_or_else(Path::active), x, test, out, grid),
    }
}

/// One bit an element, in order, from bit `offset` on, as [`crate::bits`] has it. `path` is the active one if `None`.
///
/// # Panics
/// If the grid reaches outside of `x`, or the results outside of `out`, where some may have been written, or if the grid has too
/// many dimensions.
pub fn bits(path: Option<Path>, x: &[u8], rule: &Rule, out: &mut [u8], mut offset: usize, grid: Grid<'_>) {
    if grid.is_empty() {
        return;
    }
    let path = Some(path.unwrap_or_else(Path::active));
    if lines::are(&grid) {
        let size = grid.line().size;
        let mut walk = Walk::lines(grid);
        loop {
            crate::bits(path, row(x, rule.size(), walk.input, size), rule, out, offset);
            offset += size;
            if !walk.next() {
                return;
            }
        }
    }
    let mut gather = Gather::new(grid);
    let mut room = [0; ROOM];
    while let Some(bytes) = gather.fill(x, rule.size(), &mut room) {
        crate::bits(path, bytes, rule, out, offset);
        offset += bytes.len() / rule.size();
    }
}

/// What `output` is for the first element, in order, that the rule holds for. `path` is the active one if `None`.
///
/// # Panics
/// If the grid reaches outside of `x`, or has too many dimensions.
#[must_use]
pub fn position(path: Option<Path>, x: &[u8], rule: &Rule, grid: Grid<'_>) -> Option<usize> {
    if grid.is_empty() {
        return None;
    }
    match rule {
        Rule::Constant { answer, .. } => answer.then_some(grid.output),
        Rule::Test(test) => {
            let path = path.unwrap_or_else(Path::active);
            if lines::are(&grid) {
                return Path::run::<lines::Position>(Some(path), x, test, (grid, None));
            }
            let mut gather = Gather::new(grid);
            let mut room = [0; ROOM];
            let mut before = 0;
            while let Some(bytes) = gather.fill(x, test.size(), &mut room) {
                if let Some(hit) = crate::position(Some(path), bytes, rule) {
                    return Some(grid.output_of(before + hit));
                }
                before += bytes.len() / test.size();
            }
            None
        }
    }
}

/// How many elements the rule holds for. `path` is the active one if `None`.
///
/// # Panics
/// If the grid reaches outside of `x`, or has too many dimensions.
#[must_use]
pub fn count(path: Option<Path>, x: &[u8], rule: &Rule, grid: Grid<'_>) -> usize {
    if grid.is_empty() {
        return 0;
    }
    match rule {
        Rule::Constant { answer, .. } => usize::from(*answer) * grid.len(),
        // What is rare is found faster.
        Rule::Test(test) if test.negate() => grid.len() - count(path, x, &rule.not(), grid),
        Rule::Test(test) => {
            let path = path.unwrap_or_else(Path::active);
            if lines::are(&grid) {
                return Path::run::<lines::Count>(Some(path), x, test, (grid, None));
            }
            let mut gather = Gather::new(grid);
            let (mut room, mut all) = ([0; ROOM], 0);
            while let Some(bytes) = gather.fill(x, test.size(), &mut room) {
                all += crate::count(Some(path), bytes, rule);
            }
            all
        }
    }
}

/// How many elements are NaN, +Inf and -Inf, by the rule for NaN, see [`crate::census`]. No `first` is told: see
/// [`position`]. `path` is the active one if `None`.
///
/// # Panics
/// If the grid reaches outside of `x`, or has too many dimensions.
#[must_use]
pub fn census(path: Option<Path>, x: &[u8], nan: &Rule, grid: Grid<'_>) -> Census {
    let mut census = Census::default();
    if grid.is_empty() {
        return census;
    }
    match nan {
        Rule::Test(test) if test.infinities().is_some() => {
            let path = path.unwrap_or_else(Path::active);
            if lines::are(&grid) {
                return Path::run::<lines::Take>(Some(path), x, test, grid);
            }
            let mut gather = Gather::new(grid);
            let mut room = [0; ROOM];
            while let Some(bytes) = gather.fill(x, test.size(), &mut room) {
                lines::add(&mut census, crate::census(Some(path), bytes, nan));
            }
            census
        }
        _ => {
            census.nan.count = count(path, x, nan, grid);
            census
        }
    }
}

/// Elements `start..start + size` of `x`.
///
/// # Panics
/// If they are not there.
fn row(x: &[u8], element: usize, start: usize, size: usize) -> &[u8] {
    let end = start.checked_add(size).and_then(|end| end.checked_mul(element));
    match end.and_then(|end| x.get(start * element..end)) {
        Some(row) => row,
        None => outside(),
    }
}

/// Results `start..start + size` of `out`.
///
/// # Panics
/// If they are not there.
#[inline(always)]
fn results(out: &mut [MaybeUninit<bool>], start: usize, size: usize) -> &mut [MaybeUninit<bool>] {
    match start.checked_add(size).and_then(|end| out.get_mut(start..end)) {
        Some(results) => results,
        None => outside(),
    }
}

#[cold]
#[inline(never)]
fn outside() -> ! {
    panic!("the grid reaches outside of the slice")
}
