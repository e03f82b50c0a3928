//! Arrays of `ndarray` in every layout, against their elements one by one.
#![cfg(feature = "ndarray-0_17")]

use ndarray::{Array, Array2, ArrayD, ArrayViewD, Axis, Ix2, IxDyn, ShapeBuilder, Slice, s};
use nonfinite::{Error, Format, LayoutError, MaskView, Predicate, TensorView};
use nonfinite_oracle::{Expected, Framed, Layout};

fn check(x: ArrayViewD<'_, f32>, name: &str) {
    let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_ne_bytes()).collect();
    let expected = Expected::strided(Format::F32, &bytes, &Layout::dense(x.shape()));
    let view = TensorView::from(&x);
    nonfinite_oracle::check(&view, &expected, &mut Framed::default())
        .unwrap_or_else(|wrong| panic!("{name}: {wrong}"));
    // Into outputs of other layouts.
    let want = x.mapv(f32::is_nan);
    let mut columns = ArrayD::from_elem(x.raw_dim().f(), true);
    view.mask_into(Predicate::Nan, MaskView::from(&mut columns)).unwrap();
    assert_eq!(columns, want, "{name}");
    let wider: Vec<usize> = x.shape().iter().map(|size| 2 * size + 1).collect();
    let mut room = ArrayD::from_elem(IxDyn(&wider), true);
    let mut part = room.view_mut();
    for (axis, &size) in x.shape().iter().enumerate() {
        part.slice_axis_inplace(Axis(axis), Slice::new(0, Some(2 * size as isize), 2));
    }
    view.mask_into(Predicate::Nan, MaskView::from(&mut part.view_mut())).unwrap();
    assert_eq!(part, want, "{name}");
    let inside = want.iter().filter(|&&hit| !hit).count();
    assert_eq!(room.iter().filter(|&&hit| !hit).count(), inside, "{name} wrote outside");
}

#[test]
fn layouts() {
    let x = Array::from_shape_fn((5, 7, 150), |(i, j, k)| match (i * 31 + j * 7 + k) % 41 {
        0 => f32::NAN,
        1 => f32::INFINITY,
        2 => f32::NEG_INFINITY,
        n => n as f32,
    });
    check(x.view().into_dyn(), "row-major");
    check(x.t().into_dyn(), "column-major");
    check(x.view().permuted_axes([1, 2, 0]).into_dyn(), "permuted");
    check(x.slice(s![.., 1..6, 3..140]).into_dyn(), "padded");
    check(x.slice(s![..;2, .., ..;3]).into_dyn(), "steps");
    check(x.slice(s![..;-1, .., ..;-1]).into_dyn(), "backwards");
    check(x.slice(s![..;-2, ..;3, ..;-2]).into_dyn(), "steps backwards");
    check(x.slice(s![1, 2, ..]).broadcast((4, 150)).unwrap().into_dyn(), "broadcast");
    check(x.slice(s![1, .., 3..4]).broadcast((7, 9)).unwrap().into_dyn(), "broadcast last");
    check(x.slice(s![2, 3, 4]).into_dyn(), "rank 0");
    check(x.slice(s![.., 3..3, ..]).into_dyn(), "empty");
}

/// Every other element of one dimension: these are copied to one piece.
#[test]
fn steps() {
    for elements in 0..200 {
        let x: Vec<f32> = (0..2 * elements)
            .map(|i| [f32::NAN, f32::NAN, 1.0, 1.0, f32::INFINITY, 1.0, 1.0][i % 7])
            .collect();
        let x = Array::from(x);
        check(x.slice(s![..;2]).into_dyn(), &format!("{elements} in steps of 2"));
    }
}

/// A single hit, in parts that do not lie in one piece.
#[test]
fn one_hit() {
    for at in 0..12 {
        let x =
            Array::from_shape_fn((3, 8), |(i, j)| if 4 * i + j / 2 == at { f32::NAN } else { 1.0 });
        check(x.slice(s![.., ..;2]).into_dyn(), "one of two dimensions");
        check(x.slice(s![at / 4, ..;2]).into_dyn(), "one of a row");
    }
}

#[test]
fn shapes_that_differ() {
    let x = Array2::<f64>::zeros((2, 3));
    let mut out = Array2::from_elem((2, 4), true);
    let refused =
        TensorView::from(&x).mask_into(Predicate::Nan, MaskView::from(&mut out.view_mut()));
    assert_eq!(
        refused,
        Err(Error::Layout(LayoutError::OutputSize { dimension: 1, input: 3, output: 4 }))
    );
    assert!(out.iter().all(|&slot| slot));
    let mut out = ArrayD::from_elem(IxDyn(&[6]), true);
    let refused =
        TensorView::from(&x).mask_into(Predicate::Nan, MaskView::from(&mut out.view_mut()));
    assert_eq!(refused, Err(Error::Layout(LayoutError::OutputRank { input: 2, output: 1 })));
    let half = Array::<half::f16, Ix2>::from_elem((3, 3), half::f16::NAN);
    assert_eq!(TensorView::from(&half).count(Predicate::Nan), 9);
}
