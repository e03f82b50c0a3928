//! Strided tensors against nested loops over coordinates.

use nonfinite::{Elements, Error, Format, MaskView, Predicate, TensorView};
use quickcheck::{Arbitrary, Gen, QuickCheck};

use crate::layouts::{Layout, check, mixed};
use crate::{backends, reduced};

/// Answers are alike on all backends: only the text of a view tells.
#[test]
fn views_take_the_backend_given() {
    let view = TensorView::shaped(&[1.0f32][..], &[1]).unwrap();
    assert!(format!("{view:?}").contains("backend: None"), "{view:?}");
    for backend in backends() {
        let taken = format!("{:?}", view.on(backend));
        assert!(taken.contains(&format!("backend: Some({backend:?})")), "{taken}");
    }
}

#[derive(Clone, Debug)]
struct Case {
    format: Format,
    bytes: Vec<u8>,
    from: Layout,
    to: Layout,
}

impl Arbitrary for Case {
    fn arbitrary(g: &mut Gen) -> Self {
        let format = *g
            .choose(&[
                Format::F32,
                Format::F64,
                Format::F16,
                Format::Bf16,
                Format::F8E4M3Fn,
                Format::F4E2M1Fn,
            ])
            .unwrap();
        let below = |g: &mut Gen, n: usize| usize::arbitrary(g) % n;
        let most = if reduced() { 600 } else { 6000 };
        let mut sizes: Vec<usize> = Vec::new();
        let rank = below(g, 6);
        let mut room = most;
        for _ in 0..rank {
            let limit = match below(g, 8) {
                0 => room,
                1 => 1,
                2..5 => 70,
                _ => 5,
            };
            let size = 1 + below(g, limit.min(room));
            room /= size;
            sizes.push(size);
        }
        if below(g, 20) == 0 && rank > 0 {
            sizes[below(g, rank)] = 0;
        }
        let layout = |g: &mut Gen| {
            let mut order: Vec<usize> = (0..rank).collect();
            for i in 1..rank {
                order.swap(i, below(g, i + 1));
            }
            let often = below(g, 3);
            let padding: Vec<usize> =
                (0..rank).map(|_| if below(g, 4) < often { below(g, 5) } else { 0 }).collect();
            let backwards: Vec<bool> = (0..rank).map(|_| below(g, 6) < often).collect();
            Layout::permuted(&sizes, &order, &backwards, &padding)
        };
        let to = layout(g);
        let mut from = layout(g);
        match below(g, 4) {
            // Some dimensions broadcast.
            0 => {
                let mut strides = from.strides.clone();
                for stride in &mut strides {
                    *stride *= below(g, 3).min(1) as isize;
                }
                from = Layout::new(&sizes, &strides);
            }
            // Dimensions may overlap and interleave.
            1 => {
                let strides: Vec<isize> = (0..rank).map(|_| below(g, 23) as isize - 11).collect();
                from = Layout::new(&sizes, &strides);
            }
            _ => {}
        }
        // The stride of a dimension of size 1 has no meaning.
        for (stride, &size) in from.strides.iter_mut().zip(&sizes) {
            if size == 1 {
                *stride = isize::arbitrary(g);
            }
        }
        let rare = *g.choose(&[1, 3, 100, 100_000]).unwrap();
        let bytes = mixed(format, from.memory, rare);
        Self { format, bytes, from, to }
    }
}

#[test]
fn random_layouts() {
    fn agrees(case: Case) {
        check(case.format, &case.bytes, &case.from, &[&case.to]);
    }
    let tests = if reduced() { 60 } else { 600 };
    QuickCheck::new().tests(tests).quickcheck(agrees as fn(Case));
}

/// Layouts that engines have, large enough for whole tiles and blocks.
#[test]
fn layouts_of_engines() {
    let scale = if reduced() { 1 } else { 4 };
    for format in [Format::F32, Format::F16, Format::F64, Format::F8E5M2] {
        let channels = [1, 2, 3, 4, 5, 8, 13, 16, 31, 64, 65, 130];
        let step = if reduced() { 2 } else { 1 };
        for (turn, channels) in channels.into_iter().step_by(step).enumerate() {
            let pixels = (scale * 700 / channels).max(70);
            // Batch of two, NHWC read as NCHW.
            let (n, c, p) = (2, channels, pixels);
            let sizes = [n, c, p];
            let nhwc = Layout::new(&sizes, &[(p * c) as isize, 1, c as isize]);
            let padded = Layout::new(&sizes, &[(p * (c + 1)) as isize, 1, c as isize + 1]);
            let nchw = Layout::new(&sizes, &[(p * c) as isize, p as isize, 1]);
            let rows = Layout::new(&sizes, &[(c * (p + 3)) as isize, p as isize + 3, 1]);
            let steps = Layout::new(&sizes, &[(2 * p * c) as isize, 2 * p as isize, 2]);
            let backwards = Layout::new(&sizes, &[-((p * c) as isize), p as isize, -1]);
            let inputs = [&nhwc, &padded, &rows, &steps, &backwards];
            let outputs = [&nchw, &nhwc, &rows, &steps, &backwards];
            for (i, from) in inputs.into_iter().enumerate() {
                // With less input each pair for every third number of channels.
                let outputs: Vec<&Layout> = (outputs.into_iter().enumerate())
                    .filter(|(k, _)| !reduced() || (i + k + turn) % 3 == 0)
                    .map(|(_, to)| to)
                    .collect();
                check(format, &mixed(format, from.memory, 7), from, &outputs);
            }
        }
    }
}

/// Rank 0, no elements, strides of size 1, and huge broadcasts that are answered without a walk.
#[test]
fn edges_of_layouts() {
    let x = [1.0, f32::NAN];
    for (offset, nan) in [(0, false), (1, true)] {
        let view = TensorView::strided(&x[..], offset, &[], &[]).unwrap();
        let mut out = [!nan];
        view.mask(Predicate::Nan, &mut out[..]).unwrap();
        assert_eq!((view.len(), view.any(Predicate::Nan), out), (1, nan, [nan]));
        assert_eq!(view.position(Predicate::Nan), nan.then_some(0));
        view.coordinate(0, &mut []).unwrap();
    }
    // Rows that repeat an element: 2 of them, as long as can be.
    let long = isize::MAX as usize / 2;
    let rows = [2, long];
    let view = TensorView::strided(&x[..], 0, &rows, &[1, 0]).unwrap();
    let (mut counts, mut any) = ([7; 2], [true; 2]);
    view.rows(1).unwrap().count(Predicate::Nan, &mut counts).unwrap();
    view.rows(1).unwrap().any(Predicate::Nan, &mut any).unwrap();
    assert_eq!((counts, any), ([0, long], [false, true]));
    let mut stats = [nonfinite::Stats::default(); 2];
    view.rows(1).unwrap().stats(&mut stats).unwrap();
    assert_eq!(stats.map(|row| (row.normals, row.census.nan.count)), [(long, 0), (0, long)]);
    let none = TensorView::strided(&x[..0], 77, &[3, 0, usize::MAX, usize::MAX], &[isize::MIN; 4])
        .unwrap();
    assert!(none.is_empty() && none.all(Predicate::Nan) && !none.any(Predicate::Never));
    assert_eq!((none.count(Predicate::Finite), none.position(Predicate::Finite)), (0, None));
    none.mask(Predicate::Nan, &mut [false; 0][..]).unwrap();
    none.bits(Predicate::Nan, &mut [], 0).unwrap();
    assert_eq!(none.census(), nonfinite::Census::default());
    let one = TensorView::strided(&x[..], 1, &[1, 1], &[isize::MIN, isize::MAX]).unwrap();
    assert_eq!(one.position(Predicate::Nan), Some(0));

    // As many elements as a signed offset can almost count, on 64 bits and on 32.
    let half = usize::BITS / 2 - 2;
    let (some, most) = (1 << half, 1 << (2 * half));
    let sizes = [some, 2, some];
    let huge = TensorView::strided(&x[..], 0, &sizes, &[0, 1, 0]).unwrap();
    assert_eq!(huge.len(), 2 * most);
    assert_eq!(huge.count(Predicate::Nan), most);
    assert_eq!(huge.position(Predicate::Nan), Some(some));
    assert_eq!(huge.census().nan, nonfinite::Occurrences::new(most, Some(some)));
    assert!(!huge.any(Predicate::Inf) && !huge.all(Predicate::Finite));
    let stats = huge.stats();
    assert_eq!((stats.census, stats.normals, stats.max), (huge.census(), most, stats.min));
    // Of two zeros the first is negative, and no other zero is looked for.
    let zeros = [-0.0, 0.0];
    let stats = TensorView::strided(&zeros[..], 0, &sizes, &[0, 1, 0]).unwrap().stats();
    let number = |x: nonfinite::Extreme| (x.bits, x.index);
    assert_eq!((stats.zeros, stats.min.map(number)), (2 * most, Some((1 << 63, 0))));
    let mut at = [9; 3];
    huge.coordinate(most + some + 5, &mut at).unwrap();
    assert_eq!(at, [some / 2, 1, 5]);
    // Strides of type `usize` that no signed stride can be, with and without a meaning.
    let unsigned = |sizes: &[usize], strides: &[usize]| {
        TensorView::strided_unsigned(&x, 0, sizes, strides).map(|view| view.count(Predicate::Nan))
    };
    assert_eq!(unsigned(&[1, 2], &[usize::MAX, 1]), Ok(1));
    assert_eq!(unsigned(&[0, 2], &[usize::MAX, usize::MAX]), Ok(0));
    assert_eq!(unsigned(&[2, 1], &[1, 5]), Ok(1));
    for (size, stride) in [(usize::MAX, isize::MAX), (2, isize::MAX), (2, 2), (3, 1)] {
        let outside = Error::OutOfBounds { dimension: 0, size, stride, elements: 2 };
        assert_eq!(unsigned(&[size], &[stride as usize]), Err(outside));
    }
    for (size, stride) in [(usize::MAX, usize::MAX), (2, isize::MAX as usize + 1)] {
        assert_eq!(
            unsigned(&[1, size], &[5, stride]),
            Err(Error::LargeStride { dimension: 1, stride })
        );
    }
    // As many dimensions as there can be, and more of size 1.
    let (sizes, strides) = ([1; 300], [5; 300]);
    assert_eq!(
        TensorView::strided(&x[..], 0, &sizes, &strides).unwrap().count(Predicate::Finite),
        1
    );
    assert_eq!(TensorView::shaped(&x[..], &sizes).unwrap().count(Predicate::Finite), 1);
    let most = usize::BITS as usize - 1;
    let deep = TensorView::strided(&x[..], 0, &[2; 63][..most], &[0; 63][..most]).unwrap();
    assert_eq!(deep.count(Predicate::Finite), 1 << most);
    let mut memory = vec![0.0f32; 1 << 12];
    memory[(1 << 12) - 1] = f32::NAN;
    let strides: Vec<isize> = (0..12).map(|i| 1 << i).collect();
    let view = TensorView::strided(&memory[..], 0, &[2; 12], &strides).unwrap();
    assert_eq!(view.position(Predicate::Nan), Some((1 << 12) - 1));
}

/// A rule that is constant for a format reads no element: these would take years.
#[test]
fn constant_rules_are_answered_without_a_walk() {
    let size = 1 << (usize::BITS / 3 - 1);
    let (bytes, sizes) = (vec![0x7F; 3 * size], [size; 3]);
    let of = |format| {
        TensorView::strided(Elements::from_bytes(&bytes, format).unwrap(), 0, &sizes, &[1; 3])
    };
    let view = of(Format::F4E2M1Fn).unwrap();
    assert_eq!(view.count(Predicate::Finite), view.len());
    assert_eq!((view.count(Predicate::Nan), view.count(Predicate::Never)), (0, 0));
    assert_eq!(view.census(), nonfinite::Census::default());
    assert_eq!(view.position(Predicate::Finite), Some(0));
    assert!(view.all(Predicate::Finite) && !view.any(Predicate::NonFinite));
    assert_eq!(of(Format::F8E4M3Fn).unwrap().count(Predicate::NegativeInf), 0);
}

#[test]
fn what_views_refuse() {
    let x = [0.0f32; 10];
    let refused = |offset, sizes: &[usize], strides: &[isize]| {
        TensorView::strided(&x[..], offset, sizes, strides).map(|view| view.len()).unwrap_err()
    };
    assert_eq!(refused(0, &[2, 3], &[1]), Error::StrideCount { sizes: 2, strides: 1 });
    assert_eq!(refused(10, &[], &[]), Error::OffsetOutOfBounds { offset: 10, elements: 10 });
    assert_eq!(
        refused(usize::MAX, &[2], &[-1]),
        Error::OffsetOutOfBounds { offset: usize::MAX, elements: 10 }
    );
    assert_eq!(
        refused(0, &[usize::MAX, 3, 5], &[0, 0, 0]),
        Error::TooManyElements { dimension: 0 }
    );
    let outside =
        |dimension, size, stride| Error::OutOfBounds { dimension, size, stride, elements: 10 };
    assert_eq!(refused(0, &[11], &[1]), outside(0, 11, 1));
    assert_eq!(refused(0, &[2, 2], &[1, -1]), outside(1, 2, -1));
    assert_eq!(refused(5, &[2, 3], &[-5, -1]), outside(1, 3, -1));
    assert_eq!(refused(4, &[4, 2, 2], &[1, 2, 1]), outside(2, 2, 1));
    // Products that wrap around in 64 bits to something small.
    for (size, stride) in [
        (usize::MAX, 1),
        (usize::MAX / 2 + 2, 2),
        (3, isize::MIN),
        (5, isize::MIN / 2),
        (3, isize::MAX),
        (usize::MAX, isize::MIN),
        (usize::MAX, isize::MAX),
        ((1 << (usize::BITS / 2)) + 1, 1 << (usize::BITS / 2)),
    ] {
        assert_eq!(refused(0, &[size], &[stride]), outside(0, size, stride));
        assert_eq!(refused(9, &[1, size], &[0, stride]), outside(1, size, stride));
    }
    assert_eq!(
        TensorView::shaped(&x[..], &[3, 4]).map(|view| view.len()).unwrap_err(),
        outside(1, 4, 1)
    );
    assert_eq!(
        TensorView::shaped(&x[..], &[4, 3]).map(|view| view.len()).unwrap_err(),
        outside(1, 3, 1)
    );

    let overlap = |sizes: &[usize], strides: &[isize]| {
        MaskView::strided(&mut [false; 64][..], 32, sizes, strides)
            .map(|view| view.len())
            .unwrap_err()
    };
    assert_eq!(overlap(&[2, 2], &[1, 1]), Error::Overlap { dimension: 1, stride: 1, needed: 2 });
    assert_eq!(overlap(&[2], &[0]), Error::Overlap { dimension: 0, stride: 0, needed: 1 });
    assert_eq!(overlap(&[2, 3], &[-2, 1]), Error::Overlap { dimension: 0, stride: -2, needed: 3 });
    // Injective, but not by steps over all there is below.
    assert_eq!(overlap(&[2, 3], &[3, 2]), Error::Overlap { dimension: 0, stride: 3, needed: 5 });

    let view = TensorView::shaped(&x[..], &[2, 5]).unwrap();
    let mut room = [true; 12];
    assert_eq!(
        view.mask(Predicate::Nan, &mut room[..9]),
        Err(Error::OutputLength { elements: 10, output: 9 })
    );
    let mut out = MaskView::shaped(&mut room[..], &[2, 6]).unwrap();
    assert_eq!(
        view.mask_into(Predicate::Nan, &mut out),
        Err(Error::OutputSize { dimension: 1, input: 5, output: 6 })
    );
    let mut out = MaskView::shaped(&mut room[..], &[10]).unwrap();
    assert_eq!(
        view.mask_into(Predicate::Nan, &mut out),
        Err(Error::OutputRank { input: 2, output: 1 })
    );
    assert_eq!(room, [true; 12]);
    let mut out = MaskView::shaped(&mut room[..], &[2, 5]).unwrap();
    let nan = [f32::NAN; 10];
    let full = TensorView::shaped(&nan[..], &[2, 5]).unwrap();
    assert_eq!(
        (full.mask_into(Predicate::Finite, &mut out), room[9], room[10]),
        (Ok(()), false, true)
    );
    let mut bytes = [7u8; 2];
    assert_eq!(
        view.bits(Predicate::Finite, &mut bytes, 7),
        Err(Error::OutputBits { elements: 10, offset: 7, bytes: 2 })
    );
    assert!(view.bits(Predicate::Finite, &mut bytes, usize::MAX).is_err());
    assert_eq!(bytes, [7; 2]);
    assert_eq!(view.coordinate(10, &mut [0; 2]), Err(Error::Index { index: 10, elements: 10 }));
    assert_eq!(
        view.coordinate(0, &mut [0; 3]),
        Err(Error::CoordinateLength { dimensions: 2, coordinate: 3 })
    );
    for error in [outside(3, 2, -1), refused(0, &[2, 3], &[1]), overlap(&[2, 2], &[1, 1])] {
        let text = error.to_string();
        assert!(text.contains("dimension") || text.contains("strides"), "{text}");
    }
}

/// Rows of hits only, answered across memory: sums in bytes must not overflow.
#[test]
fn rows_of_hits_across_memory() {
    for rows in [1usize, 3, 64, 128] {
        for length in [255, 256, 257, 512, 600] {
            let x = vec![f32::NAN; length * rows];
            let sizes = [length, rows];
            for backend in backends() {
                let view = TensorView::shaped(&x, &sizes).unwrap().on(backend);
                let mut counts = vec![0; rows];
                view.rows(0).unwrap().count(Predicate::Nan, &mut counts).unwrap();
                assert_eq!(counts, vec![length; rows], "{rows} rows of {length}, {backend:?}");
            }
        }
    }
}
