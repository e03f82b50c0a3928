//! The most common programs, each in a few lines. Run with `cargo run --example common`.

use nonfinite::{MaskView, Predicate, TensorView};

fn main() -> Result<(), nonfinite::Error> {
    let mut x = vec![0.5f32, f32::NAN, -1.0, f32::INFINITY, 2.0, 3.0];

    // 1. Is everything finite?
    assert!(!nonfinite::all_finite(&x));

    // 2. Which elements are NaN: one `bool` each, and one bit each from bit 0 on.
    let (mut is_nan, mut bits) = (vec![false; x.len()], [0u8; 1]);
    nonfinite::is_nan(&x, &mut is_nan);
    nonfinite::bits(&x, Predicate::Nan, &mut bits, 0);
    assert_eq!((is_nan, bits), (vec![false, true, false, false, false, false], [0b10]));

    // 3. How many NaN and infinities, and where is the first of each?
    let census = nonfinite::census(&x);
    assert!(!census.is_finite());
    println!("{census}, the first NaN at {:?}", census.nan.first);

    // 4. A shape from variables, and the coordinate of the first bad element.
    let (rows, columns) = (2, x.len() / 2);
    let shape = [rows, columns];
    let matrix = TensorView::shaped(&x, &shape)?;
    let first = matrix.position(Predicate::NonFinite).unwrap();
    println!("element {first} at {:?}", matrix.coordinate(first)?);
    assert!(matrix.coordinate(first)?.eq([0, 1]));

    // 5. One answer for each row and each column.
    let (mut bad, mut counts) = ([false; 2], [0; 3]);
    matrix.rows(1)?.any(Predicate::NonFinite, &mut bad)?;
    matrix.rows(0)?.count(Predicate::NonFinite, &mut counts)?;
    assert_eq!((bad, counts), ([true, true], [1, 1, 0]));

    // 6. Every second column, without a copy.
    let (shape, strides) = ([rows, 2], [columns as isize, 2]);
    let every_second = TensorView::strided(&x, 0, &shape, &strides)?;
    assert_eq!(every_second.count(Predicate::NonFinite), 1);

    // 7. The mask of the transposed matrix, written as a matrix of the other order.
    let (mut mask, shape, strides) = ([false; 6], [columns, rows], [1, columns as isize]);
    let transposed = TensorView::strided(&x, 0, &shape, &strides)?;
    let out = MaskView::strided(&mut mask, 0, &shape, &strides)?;
    transposed.mask_into(Predicate::Finite, out)?;
    assert_eq!(mask, [true, false, true, false, true, true]);

    // 8. Points as arrays.
    let points = [[0.0f32, 1.0, 2.0, 1.0], [3.0, f32::NAN, 5.0, 1.0]];
    assert!(!nonfinite::all_finite(points.as_flattened()));
    let shape = [points.len(), 4];
    let of_points = TensorView::shaped(points.as_flattened(), &shape)?;
    of_points.rows(1)?.any(Predicate::Nan, &mut bad)?;
    assert_eq!(bad, [false, true]);

    // 9. All bad elements, one after the other.
    let bad: Vec<usize> = TensorView::from(&x).positions(Predicate::NonFinite).collect();
    assert_eq!(bad, [1, 3]);

    // 10. Replace them.
    nonfinite::replace_non_finite(&mut x, nonfinite::Replacement::finite());
    assert!(nonfinite::all_finite(&x));
    Ok(())
}
