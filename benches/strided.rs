//! Strided tensors: `strided/CASE/FORMAT/SIZE`, beside ndarray and the loop one would write. The
//! output is dense and row-major.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use ndarray::{Array2, ArrayView, ArrayView2, ArrayViewMut, IxDyn, ShapeBuilder, Zip, s};
use nonfinite::{Backend, Predicate, TensorView};
use nonfinite_benches::{Data, Sample};

/// A layout of about `elements` elements.
struct Case {
    name: String,
    sizes: Vec<usize>,
    strides: Vec<isize>,
}

impl Case {
    fn new(name: impl Into<String>, sizes: &[usize], strides: &[isize]) -> Self {
        Self { name: name.into(), sizes: sizes.to_vec(), strides: strides.to_vec() }
    }

    /// Where coordinate 0 is, and the elements from the first to the last.
    fn memory(&self) -> (usize, usize) {
        let reach = |sign: isize| -> usize {
            let reaches = self.sizes.iter().zip(&self.strides);
            reaches.map(|(&size, stride)| (stride * sign).max(0) as usize * (size - 1)).sum()
        };
        (reach(-1), reach(-1) + reach(1) + 1)
    }
}

fn cases(elements: usize) -> Vec<Case> {
    let mut cases = vec![Case::new("contiguous", &[elements], &[1])];
    for row in [3, 16, 32, 48, 64, 100, 256, 1000, 4000] {
        if row <= elements {
            let (rows, pitch) = ((elements / row).max(1), row as isize + 24);
            cases.push(Case::new(format!("padded rows of {row}"), &[rows, row], &[pitch, 1]));
        }
    }
    for channels in [3, 4, 16, 64] {
        let pixels = elements / channels;
        cases.push(Case::new(
            format!("NHWC to NCHW {channels}"),
            &[channels, pixels],
            &[1, channels as isize],
        ));
    }
    let side = elements.isqrt();
    cases.push(Case::new("transposed", &[side, side], &[1, side as isize]));
    cases.push(Case::new("broadcast row", &[side, side], &[0, 1]));
    cases.push(Case::new("broadcast column", &[side, side], &[1, 0]));
    cases.push(Case::new("backwards", &[elements], &[-1]));
    cases.push(Case::new("every second", &[elements / 2], &[2]));
    cases.push(Case::new("one channel of 64", &[elements / 64], &[64]));
    cases
}

fn of_format<T: Sample>(c: &mut Criterion) {
    for bytes in nonfinite_benches::sizes() {
        for case in cases(bytes / size_of::<T>()) {
            let (offset, memory) = case.memory();
            let elements: usize = case.sizes.iter().product();
            let x: Vec<T> = Data::Clean.make(memory * size_of::<T>());
            let name =
                format!("strided/{}/{}/{}", case.name, T::NAME, nonfinite_benches::name(bytes));
            let mut group = nonfinite_benches::group(c, name, elements * size_of::<T>());
            let mut out = vec![false; elements];
            let view = TensorView::strided(&x[..], offset, &case.sizes, &case.strides)
                .expect("a layout within x");
            for backend in nonfinite_benches::backends() {
                let view = view.with_backend(backend);
                group.bench_function(format!("nonfinite {}", backend.name()), |b| {
                    b.iter(|| black_box(view).mask(Predicate::Finite, black_box(&mut out[..])));
                });
            }
            let view = view_of(&x, &case);
            group.bench_function("ndarray", |b| {
                b.iter(|| {
                    let out = ArrayViewMut::from_shape(&case.sizes[..], black_box(&mut out[..]))
                        .expect("its size");
                    Zip::from(out)
                        .and(black_box(view.view()))
                        .for_each(|out, &x| *out = x.finite());
                });
            });
            group.bench_function("nested loop", |b| {
                b.iter(|| nested(black_box(&x), offset, &case, black_box(&mut out)));
            });
            group.finish();
        }
    }
}

/// ndarray accepts no negative strides, so its own `invert_axis` reverses axes.
fn view_of<'x, T>(x: &'x [T], case: &Case) -> ArrayView<'x, T, IxDyn> {
    let strides: Vec<usize> = case.strides.iter().map(|stride| stride.unsigned_abs()).collect();
    let shape = IxDyn(&case.sizes).strides(IxDyn(&strides));
    let mut view = ArrayView::from_shape(shape, x).expect("a layout within x");
    for (axis, &stride) in case.strides.iter().enumerate() {
        if stride < 0 {
            view.invert_axis(ndarray::Axis(axis));
        }
    }
    view
}

/// The loop that a user would write for one or two dimensions.
fn nested<T: Sample>(x: &[T], offset: usize, case: &Case, out: &mut [bool]) {
    let (rows, columns) = match case.sizes[..] {
        [columns] => (1, columns),
        [rows, columns] => (rows, columns),
        _ => unreachable!("cases of one or two dimensions"),
    };
    let step = case.strides[case.strides.len() - 1];
    for row in 0..rows {
        let start = offset as isize + if rows == 1 { 0 } else { case.strides[0] * row as isize };
        for (column, out) in out[row * columns..][..columns].iter_mut().enumerate() {
            *out = x[(start + column as isize * step) as usize].finite();
        }
    }
}

/// One question of f32, on every backend.
fn views<R>(
    c: &mut Criterion,
    case: &str,
    view: TensorView<'_>,
    mut ours: impl FnMut(TensorView<'_>) -> R,
    mut naive: impl FnMut() -> R,
) {
    let bytes = view.len() * size_of::<f32>();
    let name = format!("strided/{case}/f32/{}", nonfinite_benches::name(bytes));
    let mut group = nonfinite_benches::group(c, name, bytes);
    for backend in nonfinite_benches::backends() {
        let view = view.with_backend(backend);
        group.bench_function(format!("nonfinite {}", backend.name()), |b| {
            b.iter(|| ours(black_box(view)))
        });
    }
    group.bench_function("nested loop", |b| b.iter(&mut naive));
    group.finish();
}

/// One question of an array, by a view of it, on the active backend.
fn arrays<R>(
    c: &mut Criterion,
    case: &str,
    x: ArrayView2<'_, f32>,
    ours: impl Fn(&ArrayView2<'_, f32>) -> R,
    naive: impl Fn(&ArrayView2<'_, f32>) -> R,
) {
    let bytes = x.len() * size_of::<f32>();
    let name = format!("strided/{case}/f32/{}", nonfinite_benches::name(bytes));
    let mut group = nonfinite_benches::group(c, name, bytes);
    group.bench_function(format!("nonfinite {}", Backend::active().name()), |b| {
        b.iter(|| ours(black_box(&x)))
    });
    group.bench_function("nested loop", |b| b.iter(|| naive(black_box(&x))));
    group.finish();
}

/// Whether each column of `x` holds a non-finite element: the loop that a user would write, over
/// one row after the other.
fn any_by_column(x: &[f32], out: &mut [bool]) {
    out.fill(false);
    for row in x.chunks_exact(out.len()) {
        for (x, out) in row.iter().zip(&mut *out) {
            *out |= !x.is_finite();
        }
    }
}

/// Shapes at which a loop of ours was once slower than the nested loop: down axis 0, by steps, and
/// with rows of a few elements.
fn cliffs(c: &mut Criterion) {
    for [rows, columns] in [[4096, 1024], [197, 768]] {
        let x: Vec<f32> = Data::Clean.make(rows * columns * size_of::<f32>());
        let (sizes, strides) = ([columns, rows], [1, columns as isize]);
        let view = TensorView::strided(&x[..], 0, &sizes, &strides).expect("a layout within x");
        let (mut out, mut others) = (vec![false; columns], vec![false; columns]);
        let ours = |view: TensorView<'_>| {
            let rows = view.rows(1).expect("two dimensions");
            rows.any(Predicate::NonFinite, black_box(&mut out)).expect("a place for each");
        };
        let case = format!("any_rows down axis 0 of {rows} by {columns}");
        views(c, &case, view, ours, || any_by_column(black_box(&x), black_box(&mut others)));
    }

    let x: Vec<f32> = Data::Clean.make(500_000 * 8 * size_of::<f32>());
    let x = ArrayView2::from_shape((500_000, 8), &x).expect("its size");
    let any = |x: &ArrayView2<'_, f32>| TensorView::from(x).any(Predicate::NonFinite);
    let naive =
        |x: &ArrayView2<'_, f32>| x.outer_iter().any(|row| row.iter().any(|x| !x.is_finite()));
    arrays(c, "ndarray any of every second of 8", x.slice(s![.., ..;2]), any, naive);
    let five = x.slice(s![.., ..5]);
    arrays(c, "ndarray any of 5 of 8", five, any, naive);
    let mask = |x: &ArrayView2<'_, f32>| {
        let mut out = Array2::from_elem(x.raw_dim(), false);
        let into = out.as_slice_mut().expect("a new array is in row-major order");
        TensorView::from(x).mask(Predicate::Finite, into).expect("as many results");
        out
    };
    arrays(c, "ndarray mask of 5 of 8", five, mask, |x| x.mapv(f32::is_finite));

    let x: Vec<f32> = Data::Clean.make(262_144 * 4 * size_of::<f32>());
    let view = TensorView::strided(&x[..], 0, &[262_144, 3], &[4, 1]).expect("a layout within x");
    let bad = |row: &[f32; 4]| row[..3].iter().filter(|x| !x.is_finite()).count();
    let any = || black_box(&x).as_chunks().0.iter().any(|row| bad(row) != 0);
    views(c, "any of 3 of 4", view, |view| view.any(Predicate::NonFinite), any);
    let count = || black_box(&x).as_chunks().0.iter().map(bad).sum();
    views(c, "count of 3 of 4", view, |view| view.count(Predicate::NonFinite), count);
}

fn strided(c: &mut Criterion) {
    of_format::<f32>(c);
    of_format::<half::f16>(c);
    cliffs(c);
}

criterion_group! {
    name = all;
    config = nonfinite_benches::criterion();
    targets = strided
}
criterion_main!(all);
