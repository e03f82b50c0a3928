//! Short inputs, for the time of the call itself and of dispatch: `short/FORMAT/finite/ELEMENTS`.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use nonfinite::{Backend, Predicate, TensorView};
use nonfinite_benches::loops::{self, Finite};
use nonfinite_benches::{Data, Sample, all_finite, is_finite};

const LENGTHS: [usize; 12] = [1, 3, 7, 15, 31, 48, 63, 64, 100, 128, 200, 300];

fn format<T: Sample>(c: &mut Criterion) {
    for n in LENGTHS {
        let x: Vec<T> = Data::Clean.make(n * size_of::<T>());
        let mut out = vec![false; n];
        let mut group = nonfinite_benches::group(
            c,
            format!("short/{}/finite/{n}", T::NAME),
            size_of_val(&x[..]),
        );
        let active = Backend::active();
        for backend in nonfinite_benches::backends() {
            // The functions of the crate use the active backend.
            backend.activate();
            group.bench_function(format!("nonfinite {}", backend.name()), |b| {
                b.iter(|| is_finite(black_box(&x), black_box(&mut out)));
            });
            group.bench_function(format!("nonfinite {} without dispatch", backend.name()), |b| {
                b.iter(|| {
                    TensorView::from(black_box(&x[..]))
                        .on(backend)
                        .mask(Predicate::Finite, black_box(&mut out[..]))
                        .unwrap()
                });
            });
        }
        active.activate();
        group.bench_function("std", |b| {
            b.iter(|| loops::mask::<T, Finite>(black_box(&x), black_box(&mut out)));
        });
        group.bench_function("std multiversion", |b| {
            b.iter(|| loops::mask_avx2::<T, Finite>(black_box(&x), black_box(&mut out)));
        });
        group.bench_function("nonfinite all", |b| b.iter(|| all_finite(black_box(&x))));
        group.bench_function("std all", |b| b.iter(|| loops::all::<T, Finite>(black_box(&x))));
        group.finish();
    }
}

criterion_group! {
    name = short;
    config = nonfinite_benches::criterion();
    targets = format::<f32>, format::<f64>, format::<half::f16>, format::<half::bf16>
}
criterion_main!(short);
