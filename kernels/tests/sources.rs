//! Strided sources against loops over coordinates, with and without permission to read between
//! elements. Also sources that reach outside.
#![expect(unsafe_code, reason = "`Source::from_raw` is tested")]

use nonfinite_kernels::strided::{Rows, Source, Target, any, bits, counts, mask, position, rows};
use nonfinite_kernels::{Backend, MaskOut, Rule};

/// Sizes and strides, innermost first.
type Shape = &'static [(usize, isize)];

/// Layouts for every path of the code.
const SHAPES: [Shape; 24] = [
    &[],
    &[(40, 1)],
    &[(5000, 1)],
    &[(5, 1), (7, 6)],
    &[(64, 1), (5, 65)],
    &[(100, 1), (3, 300)],
    &[(3, 1), (40, 200), (3, 9000)],
    &[(700, 1), (3, 701)],
    &[(300, -1), (3, -300)],
    &[(40, 2)],
    &[(3000, 2)],
    &[(100, -3), (17, 301)],
    &[(50, 40)],
    &[(90, 3), (3, 1)],
    &[(90, -20), (20, 1)],
    &[(20, 40), (2, 800), (40, 1)],
    &[(90, 0)],
    &[(10, 0), (4, 10), (30, 40)],
    &[(30, 1), (70, 0)],
    // Elements with two or more coordinates.
    &[(6, 1), (9, 1), (8, -1)],
    &[(3, 2), (2, 3)],
    &[
        (2, 1),
        (2, 1),
        (2, 1),
        (2, 1),
        (2, 1),
        (2, 1),
        (2, 1),
        (2, 1),
        (2, 1),
        (2, 1),
        (2, 1),
        (2, 1),
    ],
    &[(5, 7), (0, 1)],
    &[(1, isize::MIN), (3, 1), (1, isize::MAX)],
];

/// The place of coordinate 0, and the number of elements from the first to the last.
fn reach(shape: &[(usize, isize)]) -> (usize, usize) {
    let (mut first, mut last) = (0, 0);
    for &(size, stride) in shape.iter().filter(|(size, _)| *size > 1) {
        let reach = (size - 1) as isize * stride;
        first += reach.min(0);
        last += reach.max(0);
    }
    (first.unsigned_abs(), (last - first) as usize + 1)
}

/// The place of each element, in row-major order.
fn places(shape: &[(usize, isize)]) -> Vec<usize> {
    let mut places = vec![reach(shape).0 as isize];
    for &(size, stride) in shape.iter().rev() {
        let steps =
            |at: isize| (0..size as isize).map(move |i| at.wrapping_add(i.wrapping_mul(stride)));
        places = places.into_iter().flat_map(steps).collect();
    }
    places.into_iter().map(|place| place as usize).collect()
}

#[test]
fn sources_against_loops() {
    for shape in SHAPES {
        let ((offset, memory), places) = (reach(shape), places(shape));
        for element in [1, 2, 4, 8] {
            for rare in [1, 2, 7, 1000] {
                // The last element is below the bound, and all others reach it.
                let values: Vec<u64> =
                    (0..memory as u64).map(|i| u64::from(i * 7919 % rare == 0)).collect();
                let bytes: Vec<u8> = values
                    .iter()
                    .flat_map(|value| value.to_le_bytes()[..element].to_vec())
                    .collect();
                let bytes: Vec<u8> = match cfg!(target_endian = "little") {
                    true => bytes,
                    false => {
                        bytes.chunks(element).flat_map(|raw| raw.iter().rev().copied()).collect()
                    }
                };
                let hits: Vec<bool> = places.iter().map(|&place| values[place] == 1).collect();
                let sizes = shape.iter().copied();
                let start = bytes.as_ptr().wrapping_add(offset * element);
                // SAFETY: all of it is in `bytes`.
                let apart = unsafe { Source::from_raw(start, element, sizes.clone(), false) };
                for x in [Source::new(&bytes, element, offset, sizes.clone()), apart] {
                    for (_, backend) in Backend::all().filter(|(_, backend)| backend.is_some()) {
                        check(backend, &x, &Rule::equal(element, 1, 1), &hits, shape);
                    }
                }
            }
        }
    }
}

fn check(backend: Option<Backend>, x: &Source<'_>, rule: &Rule, hits: &[bool], shape: Shape) {
    let at = || format!("{backend:?} {rule:?} {shape:?}");
    let count = hits.iter().filter(|&&hit| hit).count();
    assert_eq!((x.len(), x.is_empty()), (hits.len(), hits.is_empty()));
    assert_eq!(any(backend, x, rule), count > 0, "{}", at());
    assert_eq!(position(backend, x, rule), hits.iter().position(|&hit| hit), "{}", at());
    assert_eq!(counts(backend, x, rule, [rule]), [count], "{}", at());
    assert_eq!(counts(backend, x, &rule.not(), [&rule.not()]), [hits.len() - count], "{}", at());
    let mut out = vec![7; hits.len()];
    mask(backend, x, rule, Target::contiguous(MaskOut::from(&mut out[..])));
    assert!(out.iter().map(|&byte| byte == 1).eq(hits.iter().copied()), "{}", at());
    let mut bitmap = vec![0; hits.len() / 8 + 2];
    bits(backend, x, rule, &mut bitmap, 3);
    let bit = |i: usize| bitmap[(i + 3) / 8] >> ((i + 3) % 8) & 1 == 1;
    assert!((0..hits.len()).map(bit).eq(hits.iter().copied()), "{}", at());
    for (axis, &(size, _)) in shape.iter().enumerate() {
        let inner: usize = shape[..axis].iter().map(|&(size, _)| size).product();
        let outer: usize = shape[axis + 1..].iter().map(|&(size, _)| size).product();
        let row = |r: usize| {
            let first = r / inner * inner * size + r % inner;
            (0..size).map(move |i| first + i * inner)
        };
        let (mut counts, mut first) = (vec![9; inner * outer], vec![Some(9); inner * outer]);
        let mut any = vec![true; inner * outer];
        rows(backend, x, axis, rule, &[rule], Rows::Count(&mut counts));
        rows(backend, x, axis, rule, &[rule], Rows::Position(&mut first));
        rows(backend, x, axis, rule, &[rule], Rows::Any(&mut any));
        for r in 0..inner * outer {
            let want = row(r).filter(|&i| hits[i]).count();
            assert_eq!((counts[r], any[r]), (want, want > 0), "row {r} axis {axis} {}", at());
            assert_eq!(first[r], row(r).position(|i| hits[i]), "row {r} axis {axis} {}", at());
        }
    }
}

/// Also if the multiples of a step wrap around to a valid place.
#[test]
#[cfg(panic = "unwind")]
fn what_reaches_outside_is_refused() {
    let half = isize::MAX / 2 + 1;
    let shapes: [(usize, &[(usize, isize)]); 10] = [
        (7, &[]),
        (0, &[(8, 1)]),
        (5, &[(3, 1)]),
        (1, &[(3, -1)]),
        (usize::MAX, &[(2, 1)]),
        (usize::MAX, &[(2, -1)]),
        (0, &[(3, half)]),
        (1, &[(3, isize::MIN)]),
        (2, &[(5, isize::MAX)]),
        (0, &[(2, 0), (3, 2), (2, 3)]),
    ];
    for (offset, shape) in shapes {
        let source = || Source::new(&[0; 7], 1, offset, shape.iter().copied()).len();
        assert!(std::panic::catch_unwind(source).is_err(), "{offset} {shape:?}");
        let target = || {
            let mut out = [false; 7];
            let _ = Target::new(&mut MaskOut::from(&mut out[..]), offset, shape.iter().copied());
        };
        assert!(std::panic::catch_unwind(target).is_err(), "{offset} {shape:?}");
    }
    let other = || {
        let x = Source::new(&[0; 6], 1, 0, [(3, 1), (2, 3)].into_iter());
        let mut out = [true; 6];
        let mut out = MaskOut::from(&mut out[..]);
        mask(
            None,
            &x,
            &Rule::equal(1, 1, 1),
            Target::new(&mut out, 0, [(2, 1), (3, 2)].into_iter()),
        );
    };
    assert!(std::panic::catch_unwind(other).is_err());
}
