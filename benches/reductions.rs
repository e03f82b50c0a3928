//! Reductions and the census: `OPERATION/FORMAT/PREDICATE/SIZE/DATA`.

use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use nonfinite::{Backend, Predicate, TensorView};
use nonfinite_benches::loops::{self, Ask, Finite, FiniteBits, Nan, NanBits};
use nonfinite_benches::{Data, Sample, bytes_of};

/// Times a function of the tensor.
fn time<T: Sample, R>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    name: &str,
    x: &[T],
    run: impl Fn(&[T]) -> R,
) {
    group.bench_function(name, |b| b.iter(|| run(black_box(x))));
}

/// A loop for comparison.
type Other<'a, T> = (&'a str, &'a dyn Fn(&[T]));

/// One operation: every backend, the limits, and the other loops.
fn operation<T: Sample, R>(
    c: &mut Criterion,
    name: String,
    x: &[T],
    ours: impl Fn(Backend, &[T]) -> R,
    others: &[Other<'_, T>],
) {
    let mut group = nonfinite_benches::group(c, name, size_of_val(x));
    for backend in nonfinite_benches::backends() {
        time(&mut group, &format!("nonfinite {}", backend.name()), x, |x| ours(backend, x));
    }
    for (name, run) in others {
        if !name.ends_with("v4") || nonfinite_benches::has_avx512() {
            time(&mut group, name, x, run);
        }
    }
    for (width, load, _) in nonfinite_benches::limits_for::<T>() {
        time(&mut group, &format!("limit load {width}"), x, |x| load(bytes_of(x)));
    }
    group.finish();
}

/// Keeps the result of a loop.
macro_rules! run {
    ($loop:ident, $ask:ident $(, $arch:ident)?) => {
        &|x| {
            black_box(loops::$loop::<T, $ask>($($arch,)? x));
        }
    };
}

fn format<T: Sample>(c: &mut Criterion) {
    let arch = pulp::Arch::new();
    for bytes in nonfinite_benches::sizes() {
        for &(data, data_name) in Data::ALL.iter().chain(Data::dense(bytes)) {
            let x: Vec<T> = data.make(bytes);
            let name = |operation: &str, predicate: &str| {
                format!(
                    "{operation}/{}/{predicate}/{}/{data_name}",
                    T::NAME,
                    nonfinite_benches::name(bytes)
                )
            };
            if data_name == "clean" {
                operation(
                    c,
                    name("all", Finite::NAME),
                    &x,
                    |backend, x| TensorView::from(x).with_backend(backend).all(Predicate::Finite),
                    &[
                        ("std", run!(all, Finite)),
                        ("std multiversion", run!(all_avx2, Finite)),
                        ("std chunks multiversion", run!(all_chunks_avx2, Finite)),
                        ("std chunks multiversion v4", run!(all_chunks_avx512, Finite)),
                        ("std chunks pulp", run!(all_chunks_pulp, Finite, arch)),
                        ("bits chunks multiversion", run!(all_chunks_avx2, FiniteBits)),
                    ],
                );
                operation(
                    c,
                    name("position", Nan::NAME),
                    &x,
                    |backend, x| TensorView::from(x).with_backend(backend).position(Predicate::Nan),
                    &[("std", run!(position, Nan)), ("std multiversion", run!(position_avx2, Nan))],
                );
            }
            operation(
                c,
                name("count", Nan::NAME),
                &x,
                |backend, x| TensorView::from(x).with_backend(backend).count(Predicate::Nan),
                &[
                    ("std", run!(count, Nan)),
                    ("std multiversion", run!(count_avx2, Nan)),
                    ("std multiversion v4", run!(count_avx512, Nan)),
                    ("std pulp", run!(count_pulp, Nan, arch)),
                    ("bits multiversion", run!(count_avx2, NanBits)),
                ],
            );
            operation(
                c,
                name("census", "all"),
                &x,
                |backend, x| TensorView::from(x).with_backend(backend).census(),
                &[],
            );
        }
        hit_in_first_block::<T>(c, bytes);
        statistics::<T>(c, bytes);
    }
}

/// Statistics of numbers of a normal distribution: as they are, one in 1000 NaN or infinite,
/// negative ones as zeros, and in order.
fn statistics<T: Sample>(c: &mut Criterion, bytes: usize) {
    let clean: Vec<T> = nonfinite_benches::normal(bytes);
    let mut sorted = clean.clone();
    sorted.sort_by(|a, b| a.partial_cmp(b).expect("finite"));
    let half_zeros =
        clean.iter().map(|&x| if x < T::default() { T::default() } else { x }).collect();
    let special: Vec<T> = Data::Dirty(1000).make(bytes);
    let dirty = clean.iter().zip(special).map(|(&x, y)| if y.finite() { x } else { y }).collect();
    for (data, x) in
        [("clean", clean), ("dirty", dirty), ("halfzeros", half_zeros), ("sorted", sorted)]
    {
        operation(
            c,
            format!("stats/{}/all/{}/{data}", T::NAME, nonfinite_benches::name(bytes)),
            &x,
            |backend, x| TensorView::from(x).with_backend(backend).stats(),
            &[
                ("std min max finite", &|x| {
                    black_box(loops::min_max_finite::<T>(x));
                }),
                ("std min max finite multiversion", &|x| {
                    black_box(loops::min_max_finite_avx2::<T>(x));
                }),
            ],
        );
    }
}

/// The time of a search that ends at its first element.
fn hit_in_first_block<T: Sample>(c: &mut Criterion, bytes: usize) {
    let mut x: Vec<T> = Data::Clean.make(bytes);
    x[0] = T::NAN;
    let name = format!("any/{}/nan/{}/firsthit", T::NAME, nonfinite_benches::name(bytes));
    operation(
        c,
        name,
        &x,
        |backend, x| TensorView::from(x).with_backend(backend).any(Predicate::Nan),
        &[],
    );
}

criterion_group! {
    name = reductions;
    config = nonfinite_benches::criterion();
    targets = format::<f32>, format::<f64>, format::<half::f16>, format::<half::bf16>
}
criterion_main!(reductions);
