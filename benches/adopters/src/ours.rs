//! Our functions into the containers that the adopters return, and under validity bitmaps.

use nonfinite::{Element, Predicate, Stats, TensorView, bits};
use nonfinite_kernels::bytes_mut;

use crate::task::Answer;

/// A byte for each element, in new memory, as they allocate theirs.
pub fn mask<T: Element>(x: &[T], predicate: Predicate) -> Box<[bool]> {
    let mut out = Box::new_uninit_slice(x.len());
    nonfinite::mask(x, predicate, &mut out[..]);
    // SAFETY: `nonfinite::mask` has written every element.
    unsafe { out.assume_init() }
}

/// A bit for each element, the least significant first, in new memory.
pub fn words<T: Element>(x: &[T], predicate: Predicate) -> Vec<u64> {
    let mut out = vec![0; x.len().div_ceil(64)];
    bits(x, predicate, bytes_mut(&mut out), 0);
    out
}

/// How many valid elements are NaN: of a slice without a bitmap, all elements.
pub fn count_nan<T: Element>(x: &[T], bitmap: Option<&[u8]>) -> usize {
    match bitmap {
        None => nonfinite::count(x, Predicate::Nan),
        Some(bitmap) => {
            let column = TensorView::from(x).with_validity(bitmap, 0).expect("a bit an element");
            column.count(Predicate::Nan)
        }
    }
}

/// The extremes of elements that are all finite.
pub fn extremes(stats: Stats) -> Answer {
    Answer::Extremes([stats.min, stats.max].map(|x| x.expect("a finite element").value))
}
