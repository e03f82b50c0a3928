//! One and two threads, and the limit of two threads that only read or write:
//! `parallel/SINK/FORMAT/PREDICATE/SIZE`.

use std::hint::black_box;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, criterion_group, criterion_main};
use nonfinite::{Backend, Elements, Predicate, TensorView};
use nonfinite_benches::limits::{Floor, Load};
use nonfinite_benches::{Data, Sample, bytes_of};
use rayon::{ThreadPool, ThreadPoolBuilder};

const THREADS: usize = 2;

type Run = fn(Backend, Elements<'_>, &mut [u8]);

/// A sink, its predicate, and its function on one thread and on several.
const SINKS: [(&str, &str, Run, Run); 7] = [
    (
        "mask",
        "finite",
        |backend, x, out| {
            TensorView::from(x).with_backend(backend).mask(Predicate::Finite, out).unwrap()
        },
        |backend, x, out| {
            TensorView::from(x).with_backend(backend).par().mask(Predicate::Finite, out).unwrap()
        },
    ),
    (
        "mask",
        "nan",
        |backend, x, out| {
            TensorView::from(x).with_backend(backend).mask(Predicate::Nan, out).unwrap()
        },
        |backend, x, out| {
            TensorView::from(x).with_backend(backend).par().mask(Predicate::Nan, out).unwrap()
        },
    ),
    (
        "bits",
        "finite",
        |backend, x, out| {
            TensorView::from(x).with_backend(backend).bits(Predicate::Finite, out, 0).unwrap()
        },
        |backend, x, out| {
            TensorView::from(x).with_backend(backend).par().bits(Predicate::Finite, out, 0).unwrap()
        },
    ),
    (
        "all",
        "finite",
        |backend, x, _| {
            black_box(TensorView::from(x).with_backend(backend).all(Predicate::Finite));
        },
        |backend, x, _| {
            black_box(TensorView::from(x).with_backend(backend).par().all(Predicate::Finite));
        },
    ),
    (
        "position",
        "nan",
        |backend, x, _| {
            black_box(TensorView::from(x).with_backend(backend).position(Predicate::Nan));
        },
        |backend, x, _| {
            black_box(TensorView::from(x).with_backend(backend).par().position(Predicate::Nan));
        },
    ),
    (
        "count",
        "nan",
        |backend, x, _| {
            black_box(TensorView::from(x).with_backend(backend).count(Predicate::Nan));
        },
        |backend, x, _| {
            black_box(TensorView::from(x).with_backend(backend).par().count(Predicate::Nan));
        },
    ),
    (
        "census",
        "all",
        |backend, x, _| {
            black_box(TensorView::from(x).with_backend(backend).census());
        },
        |backend, x, _| {
            black_box(TensorView::from(x).with_backend(backend).par().census());
        },
    ),
];

/// Inputs that fit into the caches, and inputs that do not.
fn sizes() -> Vec<usize> {
    nonfinite_benches::sizes_or(&[8 << 20, 256 << 20])
}

/// Both halves, which are whole blocks, each on a thread.
fn load_by(pool: &ThreadPool, load: Load, x: &[u8]) {
    let (first, second) = x.split_at(x.len() / 2);
    pool.join(|| load(first), || load(second));
}

fn floor_by(pool: &ThreadPool, floor: Floor, x: &[u8], out: &mut [bool]) {
    let (first, second) = x.split_at(x.len() / 2);
    let (out_first, out_second) = out.split_at_mut(out.len() / 2);
    pool.join(|| floor(first, out_first), || floor(second, out_second));
}

/// The limits of the machine for one thread and for two.
fn limits<T: Sample>(
    group: &mut BenchmarkGroup<'_, WallTime>,
    pool: &ThreadPool,
    x: &[u8],
    masks: bool,
) {
    let Some((width, load, floor)) = nonfinite_benches::limits_for::<T>().pop() else { return };
    if !masks {
        group.bench_function(format!("limit load {width}"), |b| b.iter(|| load(black_box(x))));
        group.bench_function(format!("limit load {width}, {THREADS} threads"), |b| {
            b.iter(|| load_by(pool, load, black_box(x)));
        });
        return;
    }
    let elements = x.len() / size_of::<T>();
    let (mut slots, begin) = nonfinite_benches::aligned_slots(elements);
    let slots = &mut slots[begin..begin + elements];
    let mut of = |kind: &str, floor: Floor| {
        group.bench_function(format!("limit {kind} {width}"), |b| {
            b.iter(|| floor(black_box(x), black_box(slots)));
        });
        group.bench_function(format!("limit {kind} {width}, {THREADS} threads"), |b| {
            b.iter(|| floor_by(pool, floor, black_box(x), black_box(slots)));
        });
    };
    of("mask", floor);
    if let (true, Some((_, past))) =
        (x.len() >= nonfinite_benches::BEYOND_CACHES, nonfinite_benches::past_for::<T>().pop())
    {
        of("stream", past);
    }
}

fn format<T: Sample>(c: &mut Criterion) {
    let pool = ThreadPoolBuilder::new().num_threads(THREADS).build().expect("threads");
    for bytes in sizes() {
        let typed: Vec<T> = Data::Clean.make(bytes);
        let x = Elements::from(&typed[..]);
        let mut out = vec![0; x.len()];
        for (sink, predicate, one, several) in SINKS {
            let name = format!(
                "parallel/{sink}/{}/{predicate}/{}",
                T::NAME,
                nonfinite_benches::name(bytes)
            );
            let mut group = nonfinite_benches::group(c, name, bytes);
            let backend = Backend::active();
            group.bench_function(format!("nonfinite {}", backend.name()), |b| {
                b.iter(|| one(backend, black_box(x), black_box(&mut out)));
            });
            group.bench_function(format!("nonfinite {}, {THREADS} threads", backend.name()), |b| {
                b.iter(|| pool.install(|| several(backend, black_box(x), black_box(&mut out))));
            });
            limits::<T>(&mut group, &pool, bytes_of(&typed), sink == "mask");
            group.finish();
        }
    }
}

criterion_group! {
    name = parallel;
    config = nonfinite_benches::criterion();
    targets = format::<f32>, format::<half::bf16>
}
criterion_main!(parallel);
