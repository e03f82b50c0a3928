//! One question about one type.
use std::hint::black_box;

use nonfinite::Predicate;

fn main() {
    black_box(nonfinite::all(black_box(&[1.0_f32; 100][..]), Predicate::Finite));
}
