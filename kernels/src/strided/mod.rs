//! Tensors that do not lie in one piece.

use crate::drive::{Census, Class};
use crate::out::MaskOut;
use crate::path::Path;
use crate::rule::Rule;

/// One dimension: how many elements, and how far apart they are in elements of the input and in bytes of the output, or
/// whatever else a sink makes of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dim {
    /// Coordinates in this dimension.
    pub size: usize,
    /// From one coordinate to the next, in elements of the input.
    pub input: isize,
    /// From one coordinate to the next in the output.
    pub output: isize,
}

/// Which elements to look at, and in which order: the first dimension is the innermost.
#[derive(Clone, Copy, Debug)]
pub struct Grid<'a> {
    /// The element at coordinate 0.
    pub input: usize,
    /// Where coordinate 0 goes in the output.
    pub output: usize,
    /// The dimensions, innermost first. Without any there is one element.
    pub dims: &'a [Dim],
}

impl Grid<'_> {
    /// Whether the innermost dimension, if there is one, lies in one piece.
    #[must_use]
    pub fn is_forward(&self) -> bool {
        self.dims.first().is_none_or(|dim| dim.input == 1)
    }

    /// Calls `visit` with input and output of every element, in order, until it returns true.
    fn each(&self, mut visit: impl FnMut(usize, usize) -> bool) {
        let elements = self.dims.iter().map(|dim| dim.size).product();
        for index in 0..elements {
            let (mut input, mut output, mut rest) = (self.input, self.output, index);
            for dim in self.dims {
                let at = (rest % dim.size) as isize;
                rest /= dim.size;
                input = input.wrapping_add_signed(dim.input.wrapping_mul(at));
                output = output.wrapping_add_signed(dim.output.wrapping_mul(at));
            }
            if visit(input, output) {
                return;
            }
        }
    }
}

/// Element `index` of `x`.
///
/// # Panics
/// If there is none.
fn element<'x>(x: &'x [u8], rule: &Rule, index: usize) -> &'x [u8] {
    x.chunks_exact(rule.size()).nth(index).expect("an element of the input")
}

/// The byte at `output` for every element: 1 where the rule holds, else 0. Other bytes stay as they are.
///
/// # Panics
/// If the grid reaches outside of `x` or `out`.
pub fn mask(path: Option<Path>, x: &[u8], rule: &Rule, out: &mut MaskOut<'_>, grid: Grid<'_>) {
    let out = out.slots_mut();
    grid.each(|input, output| {
        crate::mask(path, element(x, rule, input), rule, MaskOut::from(&mut out[output..=output]));
        false
    });
}

/// One bit an element, in order, as [`crate::bits`] has it.
///
/// # Panics
/// If the grid reaches outside of `x`, or the results outside of `out`.
pub fn bits(path: Option<Path>, x: &[u8], rule: &Rule, out: &mut [u8], offset: usize, grid: Grid<'_>) {
    let mut offset = offset;
    grid.each(|input, _| {
        crate::bits(path, element(x, rule, input), rule, out, offset);
        offset += 1;
        false
    });
}

/// What `output` is for the first element, in order, that the rule holds for.
///
/// # Panics
/// If the grid reaches outside of `x`.
#[must_use]
pub fn position(path: Option<Path>, x: &[u8], rule: &Rule, grid: Grid<'_>) -> Option<usize> {
    let mut first = None;
    grid.each(|input, output| {
        let hit = crate::position(path, element(x, rule, input), rule).is_some();
        first = hit.then_some(output);
        hit
    });
    first
}

/// How many elements the rule holds for.
///
/// # Panics
/// If the grid reaches outside of `x`.
#[must_use]
pub fn count(path: Option<Path>, x: &[u8], rule: &Rule, grid: Grid<'_>) -> usize {
    let mut count = 0;
    grid.each(|input, _| {
        count += crate::count(path, element(x, rule, input), rule);
        false
    });
    count
}

/// How many elements are NaN, +Inf and -Inf, by the rule for NaN, see [`crate::census`]. There are no indices.
///
/// # Panics
/// If the grid reaches outside of `x`.
#[must_use]
pub fn census(path: Option<Path>, x: &[u8], nan: &Rule, grid: Grid<'_>) -> Census {
    let mut census = Census::default();
    grid.each(|input, _| {
        let here = crate::census(path, element(x, nan, input), nan);
        add(&mut census.nan, here.nan);
        add(&mut census.pos_inf, here.pos_inf);
        add(&mut census.neg_inf, here.neg_inf);
        false
    });
    census
}

fn add(sum: &mut Class, class: Class) {
    sum.count += class.count;
}
