//! Every format, including the small ones that no other crate has:
//! `format/SINK/FORMAT/PREDICATE/SIZE`.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use nonfinite::{Backend, Elements, Format, Predicate, TensorView};

type Sink = (&'static str, fn(Backend, Elements<'_>, &mut [u8]));

const SINKS: [Sink; 4] = [
    ("mask", |backend, x, out| {
        TensorView::from(x).with_backend(backend).mask(Predicate::Finite, out).unwrap()
    }),
    ("bits", |backend, x, out| {
        TensorView::from(x).with_backend(backend).bits(Predicate::Finite, out, 0).unwrap()
    }),
    ("all", |backend, x, _| {
        black_box(TensorView::from(x).with_backend(backend).all(Predicate::Finite));
    }),
    ("census", |backend, x, _| {
        black_box(TensorView::from(x).with_backend(backend).census());
    }),
];

fn formats(c: &mut Criterion) {
    for bytes in nonfinite_benches::sizes() {
        // Finite in all of them. Zeros would be one page of memory, mapped again and again.
        let room = vec![1; bytes];
        let mut out = vec![0; bytes];
        for format in Format::ALL.iter().copied() {
            let x = Elements::from_bytes(&room, format).expect("a whole number of elements");
            for (sink, run) in SINKS {
                let name =
                    format!("format/{sink}/{format}/finite/{}", nonfinite_benches::name(bytes));
                let mut group = nonfinite_benches::group(c, name, bytes);
                for backend in nonfinite_benches::backends() {
                    group.bench_function(format!("nonfinite {}", backend.name()), |b| {
                        b.iter(|| run(backend, black_box(x), black_box(&mut out[..x.len()])));
                    });
                }
                for (width, load, floor) in nonfinite_benches::limits_of(format.size_in_bytes()) {
                    if sink == "mask" {
                        let slots = &mut vec![false; x.len()][..];
                        group.bench_function(format!("limit mask {width}"), |b| {
                            b.iter(|| floor(black_box(&room), black_box(slots)));
                        });
                    }
                    group.bench_function(format!("limit load {width}"), |b| {
                        b.iter(|| load(black_box(&room)))
                    });
                }
                group.finish();
            }
        }
    }
}

criterion_group! {
    name = all;
    config = nonfinite_benches::criterion();
    targets = formats
}
criterion_main!(all);
