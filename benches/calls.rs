//! The typed functions of README for few elements, where a call costs more than its loop:
//! `calls/QUESTION/FORMAT/ELEMENTS`, beside the plain loop. All elements are finite.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use nonfinite::Predicate;
use nonfinite_benches::loops::{self, Finite, Nan};
use nonfinite_benches::{Data, Sample};

fn calls<T: Sample>(c: &mut Criterion) {
    for n in (3..=10).map(|power| 1 << power) {
        let x: Vec<T> = Data::Clean.make(n * size_of::<T>());
        let (mut mask, mut bits) = (vec![false; n], vec![0; n.div_ceil(8)]);
        let (mut std_mask, mut words) = (vec![false; n], vec![0; n.div_ceil(64)]);
        let mut beside = |question, ours: &mut dyn FnMut(&[T]), std: &mut dyn FnMut(&[T])| {
            let name = format!("calls/{question}/{}/{n}", T::NAME);
            let mut group = nonfinite_benches::group(c, name, n * size_of::<T>());
            group.bench_function("nonfinite", |b| b.iter(|| ours(black_box(&x))));
            group.bench_function("std", |b| b.iter(|| std(black_box(&x))));
            group.finish();
        };
        beside("all", &mut |x| _ = black_box(nonfinite::all_finite(x)), &mut |x| {
            black_box(loops::all::<T, Finite>(x));
        });
        beside("mask", &mut |x| nonfinite::is_finite(x, black_box(&mut mask)), &mut |x| {
            loops::mask::<T, Finite>(x, black_box(&mut std_mask));
        });
        let nan = Predicate::Nan;
        beside("bits", &mut |x| nonfinite::bits(x, nan, black_box(&mut bits), 0), &mut |x| {
            loops::bits::<T, Nan>(x, black_box(&mut words));
        });
        beside("count", &mut |x| _ = black_box(nonfinite::count(x, nan)), &mut |x| {
            black_box(loops::count::<T, Nan>(x));
        });
        beside("position", &mut |x| _ = black_box(nonfinite::position(x, nan)), &mut |x| {
            black_box(loops::position::<T, Nan>(x));
        });
    }
}

criterion_group! {
    name = all;
    config = nonfinite_benches::criterion();
    targets = calls::<f32>, calls::<half::f16>
}
criterion_main!(all);
