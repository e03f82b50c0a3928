//! The questions of most programs, for three types.
use std::hint::black_box;

use nonfinite::{Element, Predicate, census, count, is_finite, is_infinite, is_nan};

fn ask<T: Element>(x: &[T]) {
    let (x, mut out) = (black_box(x), vec![false; x.len()]);
    is_nan(x, &mut out);
    is_infinite(x, &mut out);
    is_finite(x, &mut out);
    black_box(&out);
    black_box((count(x, black_box(Predicate::Nan)), census(x)));
}

fn main() {
    ask(&[1.0_f32; 100]);
    ask(&[1.0_f64; 100]);
    ask(&[half::f16::ONE; 100]);
}
