//! A quick measurement of the kernels: every cell in turns with its limit and with the compiler's
//! loops. A dozen cells take about a second, where criterion takes minutes. For work on a kernel;
//! records are made with criterion.
//!
//!     cargo run --profile bench -p nonfinite-benches --example shares -- mask/f32 avx512
//!
//! shows the cells whose names contain all these parts. `NONFINITE_BENCH_KIB=16,256` picks the
//! sizes. `share` is the time of the limit by ours, the median of rounds that take turns; `best` is
//! the fastest other loop, and its time by ours.

mod turns;

use std::cell::RefCell;
use std::hint::black_box;

use nonfinite::{Backend, Elements, Format, Predicate, TensorView};
use nonfinite_benches::loops::{self, Ask, Finite, Inf, Nan, PositiveInf};
use nonfinite_benches::{
    Data, Sample, all_finite, backends, bytes_of, has_avx512, is_finite, limits_of, sizes,
};
use nonfinite_kernels::bytes_mut;
use turns::{Filter, Loop, of};

/// At the same place in a page for all, where large allocations begin. Loops that take turns write
/// to the same output, since the choice of pages changes times by a tenth.
fn placed<T: Clone + 'static>(n: usize, value: T) -> &'static mut [T] {
    let room = vec![value; n + 8192 / size_of::<T>()].leak();
    let at = room.as_ptr().align_offset(4096) + 16 / size_of::<T>();
    &mut room[at..at + n]
}

impl Filter {
    fn masks<T: Sample, A: Ask>(&self, x: &[T], data: &str) {
        let bytes = size_of_val(x);
        let name =
            format!("mask/{}/{}/{}/{data}", T::NAME, A::NAME, nonfinite_benches::name(bytes));
        let out = &RefCell::new(placed(x.len(), false));
        let into = |name: &str, run: fn(&[T], &mut [bool])| {
            of(name, move || run(black_box(x), black_box(&mut out.borrow_mut())))
        };
        let ours = backends().into_iter().map(|backend| {
            of(backend.name(), move || {
                TensorView::from(black_box(x))
                    .on(backend)
                    .mask(A::PREDICATE, black_box(&mut out.borrow_mut()[..]))
                    .unwrap();
            })
        });
        let limits = limits_of(size_of::<T>()).into_iter().map(|(_, _, floor)| {
            of("floor", move || floor(black_box(bytes_of(x)), black_box(&mut out.borrow_mut())))
        });
        let mut others = vec![into("std avx2", loops::mask_avx2::<T, A>)];
        if has_avx512() {
            others.push(into("std avx512", loops::mask_avx512::<T, A>));
        }
        self.cell(&name, bytes, ours.collect(), limits.collect(), others);
    }

    fn bits<T: Sample, A: Ask>(&self, x: &[T], data: &str) {
        let bytes = size_of_val(x);
        let words = x.len().div_ceil(64);
        for offset in [0, 3] {
            let at = if offset == 0 { "bits" } else { "bits3" };
            let name =
                format!("{at}/{}/{}/{}/{data}", T::NAME, A::NAME, nonfinite_benches::name(bytes));
            let ours = backends().into_iter().map(|backend| {
                let out = placed(words + 1, 0u64);
                of(backend.name(), move || {
                    TensorView::from(black_box(x))
                        .on(backend)
                        .bits(A::PREDICATE, black_box(bytes_mut(out)), offset)
                        .unwrap()
                })
            });
            let (a, b) = (placed(words, 0), placed(words, 0));
            let mut others = vec![of("std avx2", move || {
                loops::bits_avx2::<T, A>(black_box(x), black_box(&mut *a))
            })];
            if has_avx512() {
                others.push(of("std avx512", move || {
                    loops::bits_avx512::<T, A>(black_box(x), black_box(&mut *b))
                }));
            }
            self.cell(&name, bytes, ours.collect(), loads(bytes_of(x), size_of::<T>()), others);
        }
    }

    fn reduction<T: Sample, R>(
        &self,
        sink: &str,
        x: &[T],
        data: &str,
        run: impl Fn(Backend, &[T]) -> R + Copy,
        others: Vec<Loop<'_>>,
    ) {
        let bytes = size_of_val(x);
        let name = format!("{sink}/{}/{}/{data}", T::NAME, nonfinite_benches::name(bytes));
        let ours = backends().into_iter().map(|backend| {
            of(backend.name(), move || {
                black_box(run(backend, black_box(x)));
            })
        });
        self.cell(&name, bytes, ours.collect(), loads(bytes_of(x), size_of::<T>()), others);
    }

    fn format<T: Sample + 'static>(&self) {
        for bytes in sizes() {
            for (data, data_name) in Data::ALL {
                let made: Vec<T> = data.make(bytes);
                let x = placed(made.len(), made[0]);
                x.copy_from_slice(&made);
                let x = &x[..];
                self.masks::<T, Finite>(x, data_name);
                self.masks::<T, Nan>(x, data_name);
                self.bits::<T, Finite>(x, data_name);
                self.bits::<T, Nan>(x, data_name);
                if data_name == "clean" {
                    self.masks::<T, Inf>(x, data_name);
                    self.masks::<T, PositiveInf>(x, data_name);
                    self.reduction(
                        "all/finite",
                        x,
                        data_name,
                        |backend, x| TensorView::from(x).on(backend).all(Predicate::Finite),
                        vec![],
                    );
                    self.reduction(
                        "position/nan",
                        x,
                        data_name,
                        |backend, x| TensorView::from(x).on(backend).position(Predicate::Nan),
                        vec![],
                    );
                }
                let others = || {
                    let mut others = vec![of("std avx2", move || {
                        black_box(loops::count_avx2::<T, Nan>(black_box(x)));
                    })];
                    if has_avx512() {
                        others.push(of("std avx512", move || {
                            black_box(loops::count_avx512::<T, Nan>(black_box(x)));
                        }));
                    }
                    others
                };
                self.reduction(
                    "count/nan",
                    x,
                    data_name,
                    |backend, x| TensorView::from(x).on(backend).count(Predicate::Nan),
                    others(),
                );
                self.reduction(
                    "count/finite",
                    x,
                    data_name,
                    |backend, x| TensorView::from(x).on(backend).count(Predicate::Finite),
                    vec![],
                );
                self.reduction(
                    "census",
                    x,
                    data_name,
                    |backend, x| TensorView::from(x).on(backend).census(),
                    vec![],
                );
            }
        }
    }

    /// The formats of one byte; 1 is finite in all of them. (Zeros would be one page of memory,
    /// mapped again and again.)
    fn small(&self) {
        for bytes in sizes() {
            let room = &*placed(bytes, 1);
            for format in [Format::F8E5M2, Format::F8E4M3Fn, Format::F8E4M3FnUz, Format::F8E8M0Fnu]
            {
                let x = Elements::from_bytes(room, format).expect("one byte each");
                let size = nonfinite_benches::name(bytes);
                for predicate in [Predicate::Finite, Predicate::Nan] {
                    let out = &RefCell::new(placed(bytes, false));
                    let ours = backends().into_iter().map(|backend| {
                        of(backend.name(), move || {
                            TensorView::from(black_box(x))
                                .on(backend)
                                .mask(predicate, black_box(&mut out.borrow_mut()[..]))
                                .unwrap();
                        })
                    });
                    let limits = limits_of(1).into_iter().map(|(_, _, floor)| {
                        of("floor", move || {
                            floor(black_box(room), black_box(&mut out.borrow_mut()))
                        })
                    });
                    self.cell(
                        &format!("mask/{format}/{predicate:?}/{size}"),
                        bytes,
                        ours.collect(),
                        limits.collect(),
                        vec![],
                    );
                    let ours = backends().into_iter().map(|backend| {
                        let out = placed(bytes / 8, 0);
                        of(backend.name(), move || {
                            TensorView::from(black_box(x))
                                .on(backend)
                                .bits(predicate, black_box(&mut *out), 0)
                                .unwrap()
                        })
                    });
                    self.cell(
                        &format!("bits/{format}/{predicate:?}/{size}"),
                        bytes,
                        ours.collect(),
                        loads(room, 1),
                        vec![],
                    );
                }
                let reduction = |sink: &str, run: fn(Backend, Elements<'_>)| {
                    let ours = backends()
                        .into_iter()
                        .map(|backend| of(backend.name(), move || run(backend, black_box(x))));
                    self.cell(
                        &format!("{sink}/{format}/{size}"),
                        bytes,
                        ours.collect(),
                        loads(room, 1),
                        vec![],
                    );
                };
                reduction("all/finite", |backend, x| {
                    black_box(TensorView::from(x).on(backend).all(Predicate::Finite));
                });
                reduction("count/nan", |backend, x| {
                    black_box(TensorView::from(x).on(backend).count(Predicate::Nan));
                });
                reduction("census", |backend, x| {
                    black_box(TensorView::from(x).on(backend).census());
                });
            }
        }
    }

    fn short<T: Sample>(&self) {
        for n in [
            1, 2, 3, 5, 7, 8, 12, 15, 16, 20, 24, 31, 32, 40, 48, 63, 64, 65, 80, 100, 127, 128,
            150, 200, 250, 300,
        ] {
            let x: Vec<T> = Data::Clean.make(n * size_of::<T>());
            let x = &x[..];
            let name = format!("short/{}/{n}", T::NAME);
            let active = Backend::active();
            for backend in backends() {
                // The functions of the crate use the active backend.
                backend.activate();
                let (mut a, mut b) = (vec![false; n], vec![false; n]);
                let ours = vec![
                    of(format!("{} chosen", backend.name()), move || {
                        is_finite(black_box(x), black_box(&mut a))
                    }),
                    of(format!("{} called", backend.name()), move || {
                        TensorView::from(black_box(x))
                            .on(backend)
                            .mask(Predicate::Finite, black_box(&mut b[..]))
                            .unwrap();
                    }),
                ];
                let (mut a, mut b) = (vec![false; n], vec![false; n]);
                let others = vec![
                    of("std", move || loops::mask::<T, Finite>(black_box(x), black_box(&mut a))),
                    of("std avx2", move || {
                        loops::mask_avx2::<T, Finite>(black_box(x), black_box(&mut b))
                    }),
                ];
                // The bar is the plain loop for less than a block, and the compiler's AVX2 loop for
                // more.
                let (mut c, mut d) = (vec![false; n], vec![false; n]);
                let bar = if n < 64 {
                    of("std", move || loops::mask::<T, Finite>(black_box(x), black_box(&mut c)))
                } else {
                    of("std avx2", move || {
                        loops::mask_avx2::<T, Finite>(black_box(x), black_box(&mut d))
                    })
                };
                self.cell(&name, n * size_of::<T>(), ours, vec![bar], others);
            }
            active.activate();
            let all = vec![of("active", move || {
                black_box(all_finite(black_box(x)));
            })];
            let bar = vec![of("std", move || {
                black_box(loops::all::<T, Finite>(black_box(x)));
            })];
            self.cell(&format!("shortall/{}/{n}", T::NAME), n * size_of::<T>(), all, bar, vec![]);
        }
    }
}

fn loads(x: &[u8], size: usize) -> Vec<Loop<'_>> {
    let load = |(_, load, _): (&str, fn(&[u8]), _)| of("load", move || load(black_box(x)));
    limits_of(size).into_iter().map(load).collect()
}

fn main() {
    let filter = Filter(std::env::args().skip(1).collect());
    filter.format::<f32>();
    filter.format::<f64>();
    filter.format::<half::f16>();
    filter.format::<half::bf16>();
    filter.small();
    filter.short::<f32>();
    filter.short::<f64>();
    filter.short::<half::f16>();
    filter.short::<half::bf16>();
}
