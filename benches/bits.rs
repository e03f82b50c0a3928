//! Packed bits: `bits/FORMAT/PREDICATE/SIZE/DATA`. The other loops test the number (`std`) or its
//! bits (`bits`).

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use nonfinite::TensorView;
use nonfinite_benches::loops::{self, Ask, Finite, FiniteBits, Nan, NanBits};
use nonfinite_benches::{Data, Sample, bytes_of};
use nonfinite_kernels::bytes_mut;

fn cell<T: Sample, A: Ask, B: Ask>(
    c: &mut Criterion,
    bytes: usize,
    (data, data_name): (Data, &str),
) {
    let x: Vec<T> = data.make(bytes);
    let mut out = vec![0u64; x.len().div_ceil(64)];
    let name =
        format!("bits/{}/{}/{}/{data_name}", T::NAME, A::NAME, nonfinite_benches::name(bytes));
    let mut group = nonfinite_benches::group(c, name, bytes);
    for backend in nonfinite_benches::backends() {
        group.bench_function(format!("nonfinite {}", backend.name()), |b| {
            b.iter(|| {
                TensorView::from(black_box(&x[..]))
                    .with_backend(backend)
                    .bits(A::PREDICATE, black_box(bytes_mut(&mut out)), 0)
                    .unwrap()
            });
        });
        group.bench_function(format!("nonfinite {} from bit 3", backend.name()), |b| {
            let mut out = vec![0u8; x.len() / 8 + 1];
            b.iter(|| {
                TensorView::from(black_box(&x[..]))
                    .with_backend(backend)
                    .bits(A::PREDICATE, black_box(&mut out), 3)
                    .unwrap()
            });
        });
    }
    group.bench_function("std", |b| {
        b.iter(|| loops::bits::<T, A>(black_box(&x), black_box(&mut out)));
    });
    group.bench_function("std multiversion", |b| {
        b.iter(|| loops::bits_avx2::<T, A>(black_box(&x), black_box(&mut out)));
    });
    if nonfinite_benches::has_avx512() {
        group.bench_function("std multiversion v4", |b| {
            b.iter(|| loops::bits_avx512::<T, A>(black_box(&x), black_box(&mut out)));
        });
    }
    let arch = pulp::Arch::new();
    group.bench_function("std pulp", |b| {
        b.iter(|| loops::bits_pulp::<T, A>(arch, black_box(&x), black_box(&mut out)));
    });
    group.bench_function("bits multiversion", |b| {
        b.iter(|| loops::bits_avx2::<T, B>(black_box(&x), black_box(&mut out)));
    });
    for (width, load, _) in nonfinite_benches::limits_for::<T>() {
        group.bench_function(format!("limit load {width}"), |b| {
            b.iter(|| load(black_box(bytes_of(&x))))
        });
    }
    group.finish();
}

fn format<T: Sample>(c: &mut Criterion) {
    for bytes in nonfinite_benches::sizes() {
        for data in Data::ALL {
            cell::<T, Finite, FiniteBits>(c, bytes, data);
            cell::<T, Nan, NanBits>(c, bytes, data);
        }
        for &data in Data::dense(bytes) {
            cell::<T, Nan, NanBits>(c, bytes, data);
        }
    }
}

criterion_group! {
    name = bits;
    config = nonfinite_benches::criterion();
    targets = format::<f32>, format::<f64>, format::<half::f16>, format::<half::bf16>
}
criterion_main!(bits);
