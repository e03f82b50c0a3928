//! Replacing non-finite elements, and unscaling: `replace/FORMAT/SIZE/DATA`, `copying/...`,
//! `unscale/...`. The limit is a copy (memcpy), and for operations in place also a pure read.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use nonfinite::scale::{Scalable, unscale_and_check};
use nonfinite::{Backend, Replacement, replace_non_finite, replace_non_finite_into};
use nonfinite_benches::{Data, Sample, bytes_of};

/// The loop that a user would write.
#[inline(never)]
fn std_replace<T: Sample>(x: &mut [T], with: Replacement<T>) {
    for x in x {
        if x.nan() {
            *x = with.nan;
        } else if *x == T::INF {
            *x = with.pos_inf;
        } else if *x == T::NEG_INF {
            *x = with.neg_inf;
        }
    }
}

/// The functions of the crate on every backend.
fn each_backend(mut run: impl FnMut(Backend)) {
    let active = Backend::active();
    for backend in nonfinite_benches::backends() {
        backend.activate();
        run(backend);
    }
    active.activate();
}

fn format<T: Sample + Scalable>(c: &mut Criterion) {
    let with = Replacement::<T>::finite();
    for bytes in nonfinite_benches::sizes() {
        for (data, data_name) in Data::ALL {
            let x: Vec<T> = data.make(bytes);
            let mut out = x.clone();
            let name = |task: &str| {
                format!("{task}/{}/{}/{data_name}", T::NAME, nonfinite_benches::name(bytes))
            };

            let mut group = nonfinite_benches::group(c, name("replace"), bytes);
            // Restores the replaced elements, outside of the clock.
            each_backend(|backend| {
                group.bench_function(format!("nonfinite {}", backend.name()), |b| {
                    b.iter_batched_ref(
                        || x.clone(),
                        |x| replace_non_finite(black_box(x), with),
                        BatchSize::LargeInput,
                    );
                });
            });
            group.bench_function("std", |b| {
                b.iter_batched_ref(
                    || x.clone(),
                    |x| std_replace(black_box(x), with),
                    BatchSize::LargeInput,
                );
            });
            for (width, load, _) in nonfinite_benches::limits_for::<T>() {
                group.bench_function(format!("limit load {width}"), |b| {
                    b.iter(|| load(bytes_of(black_box(&x))))
                });
            }
            group.finish();

            let mut group = nonfinite_benches::group(c, name("copying"), bytes);
            each_backend(|backend| {
                group.bench_function(format!("nonfinite {}", backend.name()), |b| {
                    b.iter(|| replace_non_finite_into(black_box(&x), black_box(&mut out), with));
                });
            });
            group.bench_function("limit copy", |b| {
                b.iter(|| black_box(&mut out).copy_from_slice(black_box(&x)));
            });
            group.finish();
        }

        // The factor is one, so that products stay normal.
        let mut x: Vec<T> = Data::Clean.make(bytes);
        let mut out = x.clone();
        let name = format!("unscale/{}/{}/clean", T::NAME, nonfinite_benches::name(bytes));
        let mut group = nonfinite_benches::group(c, name, bytes);
        each_backend(|backend| {
            group.bench_function(format!("nonfinite {}", backend.name()), |b| {
                b.iter(|| unscale_and_check(black_box(&mut x), black_box(1.0)));
            });
        });
        group.bench_function("limit copy", |b| {
            b.iter(|| black_box(&mut out).copy_from_slice(black_box(&x)));
        });
        group.finish();
    }
}

criterion_group! {
    name = sanitise;
    config = nonfinite_benches::criterion();
    targets = format::<f32>, format::<f64>, format::<half::f16>, format::<half::bf16>
}
criterion_main!(sanitise);
