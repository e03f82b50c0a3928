//! The most common programs, each in a few lines. Run with `cargo run --example common`.

use nonfinite::{MaskView, Predicate, TensorView};

fn main() -> Result<(), nonfinite::Error> {
    let mut x = vec![0.5f32, f32::NAN, -1.0, f32::INFINITY, 2.0, 3.0];

    // 1. Is everything finite?
    assert!(!nonfinite::all_finite(&x));

    // 2. Which elements are NaN: in a vector, in an array, as one bit each from bit 0 on.
    assert_eq!(nonfinite::mask_vec(&x, Predicate::Nan), [false, true, false, false, false, false]);
    let mut is_nan = [false; 6];
    nonfinite::is_nan(&x, &mut is_nan);
    let mut bits = [0u8; 1];
    nonfinite::bits(&x, Predicate::Nan, &mut bits, 0);
    assert_eq!((is_nan[1], bits), (true, [0b10]));

    // 3. How many NaN and infinities, and where is the first of each?
    let census = nonfinite::census(&x);
    assert!(!census.is_finite());
    println!("{census}, the first NaN at {:?}", census.nan.first);

    // 4. A shape from variables, and the coordinate of the first bad element.
    let (rows, columns) = (2, x.len() / 2);
    let matrix = TensorView::shaped(&x, &[rows, columns])?;
    let hit = matrix.first(Predicate::NonFinite).unwrap();
    println!("element {} at {:?}", hit.index, hit.coordinate);
    assert_eq!(hit.coordinate[..], [0, 1]);

    // 5. One answer for each row and each column.
    assert_eq!(matrix.rows(1)?.any_vec(Predicate::NonFinite), [true, true]);
    assert_eq!(matrix.rows(0)?.count_vec(Predicate::NonFinite), [1, 1, 0]);

    // 6. Every second column, without a copy.
    let (stride, step) = (columns as isize, 2);
    let every_second = TensorView::strided(&x, 0, &[rows, 2], &[stride, step])?;
    assert_eq!(every_second.count(Predicate::NonFinite), 1);

    // 7. The mask of the transposed matrix, written as a matrix of the other order.
    let mut mask = [false; 6];
    let transposed = TensorView::strided(&x, 0, &[columns, rows], &[1, stride])?;
    let out = MaskView::strided(&mut mask, 0, &[columns, rows], &[1, stride])?;
    transposed.mask_into(Predicate::Finite, out)?;
    assert_eq!(mask, [true, false, true, false, true, true]);

    // 8. Points as arrays: a slice of arrays is the slice of their numbers.
    let points = [[0.0f32, 1.0, 2.0, 1.0], [3.0, f32::NAN, 5.0, 1.0]];
    assert!(!nonfinite::all_finite(&points));
    let of_points = TensorView::shaped(&points, &[points.len(), 4])?;
    assert_eq!(of_points.rows(1)?.any_vec(Predicate::Nan), [false, true]);

    // 9. All bad elements, one after the other.
    let bad: Vec<usize> = TensorView::from(&x).positions(Predicate::NonFinite).collect();
    assert_eq!(bad, [1, 3]);

    // 10. Replace them.
    nonfinite::replace_non_finite(&mut x, nonfinite::Replacement::finite());
    assert!(nonfinite::all_finite(&x));
    Ok(())
}
