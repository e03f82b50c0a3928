//! Strided tensors: `strided/CASE/FORMAT/SIZE`, against ndarray and a nested loop. The output is dense and row-major.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use ndarray::{ArrayView, ArrayViewMut, IxDyn, ShapeBuilder, Zip};
use nonfinite::{Predicate, TensorView};
use nonfinite_benches::{Data, Sample};

/// A layout of about so many elements.
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
            let name = format!("strided/{}/{}/{}", case.name, T::NAME, nonfinite_benches::name(bytes));
            let mut group = nonfinite_benches::group(c, name, elements * size_of::<T>());
            let mut out = vec![false; elements];
            let view =
                TensorView::new(&x[..], offset, &case.sizes, &case.strides).expect("a layout within x");
            for path in nonfinite_benches::paths() {
                let view = view.with_path(path);
                group.bench_function(format!("nonfinite {}", path.name()), |b| {
                    b.iter(|| black_box(view).mask(Predicate::Finite, black_box(&mut out[..])));
                });
            }
            let view = view_of(&x, &case);
            group.bench_function("ndarray", |b| {
                b.iter(|| {
                    let out =
                        ArrayViewMut::from_shape(&case.sizes[..], black_box(&mut out[..])).expect("its size");
                    Zip::from(out).and(black_box(view.view())).for_each(|out, &x| *out = x.finite());
                });
            });
            group.bench_function("nested loop", |b| {
                b.iter(|| nested(black_box(&x), offset, &case, black_box(&mut out)));
            });
            group.finish();
        }
    }
}

/// ndarray takes no negative strides from outside, so it turns the axes itself.
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

/// What one writes by hand for one or two dimensions.
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

fn strided(c: &mut Criterion) {
    of_format::<f32>(c);
    of_format::<half::f16>(c);
}

criterion_group! {
    name = all;
    config = nonfinite_benches::criterion();
    targets = strided
}
criterion_main!(all);
