//! Byte masks: `mask/FORMAT/PREDICATE/SIZE/DATA` against the limits and the loops of others.

use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use nonfinite::TensorView;
use nonfinite_benches::loops::{
    self, Ask, Finite, FiniteBits, Inf, Nan, NanBits, NegativeInf, PositiveInf,
};
use nonfinite_benches::{Data, Sample, bytes_of, limits};

fn cell<T: Sample, A: Ask>(c: &mut Criterion, bytes: usize, data: Data, data_name: &str) {
    let x: Vec<T> = data.make(bytes);
    let mut out = vec![false; x.len()];
    let name =
        format!("mask/{}/{}/{}/{data_name}", T::NAME, A::NAME, nonfinite_benches::name(bytes));
    let mut group = nonfinite_benches::group(c, name, bytes);
    for backend in nonfinite_benches::backends() {
        group.bench_function(format!("nonfinite {}", backend.name()), |b| {
            b.iter(|| {
                TensorView::from(black_box(&x[..]))
                    .with_backend(backend)
                    .mask(A::PREDICATE, black_box(&mut out[..]))
                    .unwrap()
            });
        });
    }
    group.bench_function("std", |b| {
        b.iter(|| loops::mask::<T, A>(black_box(&x), black_box(&mut out)));
    });
    group.bench_function("std multiversion", |b| {
        b.iter(|| loops::mask_avx2::<T, A>(black_box(&x), black_box(&mut out)));
    });
    if nonfinite_benches::has_avx512() {
        group.bench_function("std multiversion v4", |b| {
            b.iter(|| loops::mask_avx512::<T, A>(black_box(&x), black_box(&mut out)));
        });
    }
    let arch = pulp::Arch::new();
    group.bench_function("std pulp", |b| {
        b.iter(|| loops::mask_pulp::<T, A>(arch, black_box(&x), black_box(&mut out)));
    });
    match A::NAME {
        name if name == Finite::NAME => bit_tricks::<T, FiniteBits>(&mut group, &x, &mut out),
        name if name == Nan::NAME => bit_tricks::<T, NanBits>(&mut group, &x, &mut out),
        // Comparisons with a number have none.
        _ => {}
    }
    let mut slots = vec![false; x.len()];
    for (width, load, floor) in nonfinite_benches::limits_for::<T>() {
        group.bench_function(format!("limit load {width}"), |b| {
            b.iter(|| load(black_box(bytes_of(&x))))
        });
        group.bench_function(format!("limit mask {width}"), |b| {
            b.iter(|| floor(black_box(bytes_of(&x)), black_box(&mut slots)));
        });
    }
    if bytes >= nonfinite_benches::BEYOND_CACHES {
        let (mut slots, begin) = nonfinite_benches::aligned_slots(x.len());
        for (width, past) in nonfinite_benches::past_for::<T>() {
            let slots = &mut slots[begin..begin + x.len()];
            group.bench_function(format!("limit stream {width}"), |b| {
                b.iter(|| past(black_box(bytes_of(&x)), black_box(slots)));
            });
        }
    }
    let mut copied = vec![0; bytes];
    group.bench_function("limit copy", |b| {
        b.iter(|| limits::copy(black_box(bytes_of(&x)), black_box(&mut copied)));
    });
    group.finish();
}

/// The question asked of the bits, by the same loops.
fn bit_tricks<T: Sample, A: Ask>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    x: &[T],
    out: &mut [bool],
) {
    group.bench_function("bits", |b| b.iter(|| loops::mask::<T, A>(black_box(x), black_box(out))));
    group.bench_function("bits multiversion", |b| {
        b.iter(|| loops::mask_avx2::<T, A>(black_box(x), black_box(out)));
    });
    let arch = pulp::Arch::new();
    group.bench_function("bits pulp", |b| {
        b.iter(|| loops::mask_pulp::<T, A>(arch, black_box(x), black_box(out)));
    });
}

fn format<T: Sample>(c: &mut Criterion) {
    for bytes in nonfinite_benches::sizes() {
        for (data, name) in Data::ALL {
            cell::<T, Finite>(c, bytes, data, name);
            cell::<T, Nan>(c, bytes, data, name);
            if name == "clean" {
                cell::<T, Inf>(c, bytes, data, name);
                cell::<T, PositiveInf>(c, bytes, data, name);
                cell::<T, NegativeInf>(c, bytes, data, name);
            }
        }
        for &(data, name) in Data::dense(bytes) {
            cell::<T, Finite>(c, bytes, data, name);
            cell::<T, Nan>(c, bytes, data, name);
        }
    }
}

criterion_group! {
    name = masks;
    config = nonfinite_benches::criterion();
    targets = format::<f32>, format::<f64>, format::<half::f16>, format::<half::bf16>
}
criterion_main!(masks);
