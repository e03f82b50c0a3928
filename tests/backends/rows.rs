//! Rows: of views, of slices, of bytes.

use nonfinite::{Elements, Format, Predicate, TensorView};

use crate::layouts::{Layout, check, mixed};
use crate::reduced;

/// Rows of every length from 1 to 200: with padding, which is one pass over all rows, and with gaps
/// between elements.
#[test]
fn rows_of_every_length() {
    for format in [Format::F32, Format::F16, Format::F64, Format::F8E4M3] {
        for n in (1..=200).step_by(if reduced() { 7 } else { 1 }) {
            let from = Layout::new(&[3, n], &[n as isize + 1, 1]);
            let to = Layout::new(&[3, n], &[n as isize + 2, 1]);
            check(format, &mixed(format, from.memory, 5), &from, &[&to]);
            // Elements apart from each other, and one row of them.
            let apart = Layout::new(&[3, n], &[2 * n as isize + 1, 2]);
            check(format, &mixed(format, apart.memory, 5), &apart, &[&to]);
            for stride in [2, -1] {
                let (from, to) = (Layout::new(&[n], &[stride]), Layout::new(&[n], &[1]));
                check(format, &mixed(format, from.memory, 5), &from, &[&to]);
            }
        }
    }
}

/// As many rows of one byte, and of some, as are looked at together, and more.
#[test]
fn many_short_rows() {
    for n in [1, 3, 8, 63] {
        let from = Layout::new(&[5000 / n, n], &[n as isize + 1, 1]);
        check(
            Format::F8E4M3,
            &mixed(Format::F8E4M3, from.memory, 3),
            &from,
            &[&Layout::new(&[5000 / n, n], &[n as isize, 1])],
        );
    }
}

/// Rows of slices and of bytes, on the active backend.
#[test]
fn rows_of_slices() {
    for columns in (0..200).step_by(if reduced() { 9 } else { 1 }) {
        for rows in [0, 1, 2, 9, 40] {
            let bytes = mixed(Format::F32, rows * columns, 50);
            let x: Vec<f32> = bytes
                .chunks_exact(4)
                .map(|raw| f32::from_ne_bytes(raw.try_into().unwrap()))
                .collect();
            let want = |r: usize| x[r * columns..][..columns].iter().filter(|x| x.is_nan()).count();
            let want: Vec<usize> = (0..rows).map(want).collect();
            let bad: Vec<bool> = want.iter().map(|&count| count > 0).collect();
            let (mut counts, mut any) = (vec![9; rows], vec![true; rows]);
            nonfinite::count_rows(&x, columns, Predicate::Nan, &mut counts);
            nonfinite::any_rows(&x, columns, Predicate::Nan, &mut any);
            assert_eq!((&counts, &any), (&want, &bad), "{rows} rows of {columns}");
            counts.fill(9);
            any.fill(true);
            let shape = [rows, columns];
            let elements = Elements::from_bytes(&bytes, Format::F32).unwrap();
            let view = TensorView::shaped(elements, &shape).unwrap().rows(1).unwrap();
            view.count(Predicate::Nan, &mut counts).unwrap();
            view.any(Predicate::Nan, &mut any).unwrap();
            assert_eq!((&counts, &any), (&want, &bad), "bytes of {rows} rows of {columns}");
        }
    }
}

/// Rows that are one element, seen twice and more.
#[test]
fn rows_of_one_element() {
    for n in [1, 2, 3, 70] {
        check(
            Format::F32,
            &mixed(Format::F32, 5, 2),
            &Layout::new(&[5, n], &[1, 0]),
            &[&Layout::new(&[5, n], &[n as isize, 1])],
        );
    }
}

/// Slices that are not rows.
#[test]
#[cfg(not(target_family = "wasm"))]
fn other_lengths_are_refused() {
    for wrong in [2, 4] {
        let panics = |ask: &dyn Fn(&[f32], &mut [bool])| {
            let ask = std::panic::AssertUnwindSafe(|| ask(&[f32::NAN; 6], &mut vec![false; wrong]));
            std::panic::catch_unwind(ask).expect_err("no panic").downcast::<String>().unwrap()
        };
        let text = *panics(&|x, out| nonfinite::any_rows(x, 2, Predicate::Nan, out));
        assert!(text.contains('6') && text.contains(&wrong.to_string()), "{text}");
        let text = *panics(&|x, out| {
            nonfinite::count_rows(x, 2, Predicate::Nan, &mut vec![0; out.len()]);
        });
        assert!(text.contains('6') && text.contains(&wrong.to_string()), "{text}");
    }
}
