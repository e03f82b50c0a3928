//! Statistics and thresholds, for slices of three types and for a strided view.
use std::hint::black_box;

use nonfinite::{Element, Predicate, TensorView, stats};

fn ask<T: Element>(x: &[T]) {
    let x = black_box(x);
    black_box(stats(x));
    let view = TensorView::strided(x, 0, black_box(&[10, 10]), black_box(&[1, 10])).unwrap();
    black_box(view.stats());
    let _ = black_box(view.rows(black_box(1)).unwrap().stats(black_box(&mut vec![stats(x); 10])));
    let large = Predicate::exceeds(T::FORMAT, black_box(100.0)).unwrap();
    black_box((view.any(large), view.count(large), view.position(large)));
    let _ = black_box(view.mask(large, &mut [false; 100]));
}

fn main() {
    ask(&[1.0_f32; 100]);
    ask(&[1.0_f64; 100]);
    ask(&[half::f16::ONE; 100]);
}
