//! Strided tensors and their rows against nested loops over coordinates.

use nonfinite::{Elements, Error, Format, LayoutError, MaskView, Predicate, TensorView};
use quickcheck::{Arbitrary, Gen, QuickCheck};

use crate::exhaustive;
use crate::oracle::{self, Expected, Framed, Layout, Question, backends, mixed};
use crate::tensors::either;

/// Compares every answer on every backend. Masks go into each of the outputs too.
fn check(format: Format, bytes: &[u8], from: &Layout, to: &[Layout]) {
    let mut expected = Expected::strided(format, bytes, from).into_outputs(to.to_vec());
    // The oracle of statistics computes with f64, which is slow in an emulator.
    if !exhaustive() && from.len() >= 700 {
        let questions = Question::ALL.iter().filter(|question| **question != Question::Stats);
        expected = expected.only(&questions.copied().collect::<Vec<_>>());
    }
    let view = from.view(Elements::from_bytes(bytes, format).unwrap()).unwrap();
    oracle::check_view(view, &expected, &mut Framed::default())
        .unwrap_or_else(|wrong| panic!("{wrong}"));
}

/// The same with one element in `rare` at an edge.
fn check_mixed(format: Format, rare: usize, from: &Layout, to: &[Layout]) {
    check(format, &mixed(format, from.memory(), rare), from, to);
}

/// Answers are alike on all backends: only the text of a view tells.
#[test]
fn views_take_the_backend_given() {
    let view = TensorView::shaped(&[1.0f32][..], &[1]).unwrap();
    assert!(format!("{view:?}").contains("backend: None"), "{view:?}");
    for &backend in backends() {
        let taken = format!("{:?}", view.with_backend(backend));
        assert!(taken.contains(&format!("backend: Some({backend:?})")), "{taken}");
    }
}

#[derive(Clone, Debug)]
struct Case(Format, usize, Layout, Layout);

impl Arbitrary for Case {
    fn arbitrary(g: &mut Gen) -> Self {
        let [format, rare] =
            [&[0, 1, 2, 3, 4, 12][..], &[1, 3, 100, 100_000]].map(|from| *g.choose(from).unwrap());
        let mut pick = |n: usize| usize::arbitrary(g) % n;
        let sizes = Layout::any_sizes(5, either(600, 6000), &mut pick);
        let (from, to) = (Layout::any(&sizes, &mut pick), Layout::any(&sizes, &mut pick));
        Self(Format::ALL[format], rare, from, to)
    }
}

#[test]
fn random_layouts() {
    fn agrees(Case(format, rare, from, to): Case) {
        const MOST: usize = 1 << 18;
        let (first, last) = from.reach();
        if from.len() > 1 << 14 || first < 0 || last >= MOST as i128 {
            // Far away, or too many: made or refused.
            let x = Elements::from_bytes(&[0; 64], format).unwrap();
            let fits = from.is_empty() || first >= 0 && last < x.len() as i128;
            return assert!(from.view(x).is_ok() == fits || from.len() >= 1 << 30);
        }
        let mut room = vec![0; MOST];
        let to = if to.output(&mut room).is_ok() { vec![to] } else { Vec::new() };
        check_mixed(format, rare, &from, &to);
    }
    QuickCheck::new().tests(either(60, 600)).quickcheck(agrees as fn(Case));
}

/// Layouts that engines have, large enough for whole tiles and blocks.
#[test]
fn layouts_of_engines() {
    for format in [Format::F32, Format::F16, Format::F64, Format::F8E5M2] {
        let channels = [1, 2, 3, 4, 5, 8, 13, 16, 31, 64, 65, 130];
        for (turn, c) in channels.into_iter().step_by(either(2, 1)).enumerate() {
            let p = (either(700, 2800) / c).max(70);
            let (sizes, [channels, pixels]) = ([2, c, p], [c as isize, p as isize]);
            let with = |strides: [isize; 3]| Layout::new(&sizes, &strides);
            let nchw = with([pixels * channels, pixels, 1]);
            // Batch of two, NHWC read as NCHW; padded; steps; backwards.
            let layouts = [
                with([pixels * channels, 1, channels]),
                with([channels * (pixels + 3), pixels + 3, 1]),
                with([2 * pixels * channels, 2 * pixels, 2]),
                with([-(pixels * channels), pixels, -1]),
                with([pixels * (channels + 1), 1, channels + 1]),
            ];
            for (i, from) in layouts.iter().enumerate() {
                // By default each pair for every third number of channels.
                let outputs = [&nchw].into_iter().chain(&layouts[..4]).enumerate();
                let outputs = outputs.filter(|(k, _)| exhaustive() || (i + k + turn) % 3 == 0);
                let outputs: Vec<Layout> = outputs.map(|(_, to)| to.clone()).collect();
                check_mixed(format, 7, from, &outputs);
            }
        }
    }
}

/// Layouts for every path of the code.
#[test]
fn layouts_of_paths() {
    // Sizes and strides, innermost first.
    let layouts: [&[(usize, isize)]; 23] = [
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
        &[(2, 1); 12],
        &[(1, isize::MIN), (3, 1), (1, isize::MAX)],
    ];
    for layout in layouts {
        let (sizes, strides): (Vec<_>, Vec<_>) = layout.iter().rev().copied().unzip();
        let from = Layout::new(&sizes, &strides);
        for format in [Format::F8E4M3FnUz, Format::F16, Format::F32, Format::F64] {
            for rare in [1, 2, 7, 1000] {
                check_mixed(format, rare, &from, &[Layout::dense(&sizes)]);
            }
        }
    }
}

/// Rows of every length from 1 to 200: with padding, which is one pass over all rows, and with gaps
/// between elements.
#[test]
fn rows_of_every_length() {
    for format in [Format::F32, Format::F16, Format::F64, Format::F8E4M3] {
        for n in (1..=200).step_by(either(7, 1)) {
            let columns = n as isize;
            let to = [Layout::new(&[3, n], &[columns + 2, 1])];
            check_mixed(format, 5, &Layout::new(&[3, n], &[columns + 1, 1]), &to);
            // Elements apart from each other, and one row of them.
            check_mixed(format, 5, &Layout::new(&[3, n], &[2 * columns + 1, 2]), &to);
            for stride in [2, -1] {
                check_mixed(format, 5, &Layout::new(&[n], &[stride]), &[Layout::dense(&[n])]);
            }
            // A line each, and the same element twice and more.
            if n <= 70 {
                let lines = Layout::new(&[5, n], &[columns + 3, 1]);
                check_mixed(format, 3, &lines, &[Layout::dense(&[5, n])]);
                check_mixed(format, 2, &Layout::new(&[5, n], &[1, 0]), &[]);
            }
        }
    }
}

/// As many rows of one byte, and of some, as are looked at together, and more.
#[test]
fn many_short_rows() {
    for n in [1, 3, 8, 63] {
        let sizes = [5000 / n, n];
        let from = Layout::new(&sizes, &[n as isize + 1, 1]);
        check_mixed(Format::F8E4M3, 3, &from, &[Layout::dense(&sizes)]);
    }
}

/// Rows of hits only, answered across memory: sums in bytes must not overflow.
#[test]
fn rows_of_hits_across_memory() {
    for rows in [1usize, 3, 64, 128] {
        for length in [255, 256, 257, 512, 600] {
            let (x, sizes) = (vec![f32::NAN; length * rows], [length, rows]);
            for &backend in backends() {
                let view = TensorView::shaped(&x, &sizes).unwrap().with_backend(backend);
                let mut counts = vec![0; rows];
                view.rows(0).unwrap().count(Predicate::Nan, &mut counts).unwrap();
                assert_eq!(counts, vec![length; rows], "{rows} rows of {length}, {backend:?}");
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
        assert_eq!(view.coordinate(0).unwrap().len(), 0);
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
    // No row, and the product of the other sizes overflows: nothing may be multiplied.
    let sizes = [3, usize::MAX, usize::MAX, 0];
    let none = TensorView::strided(&x[..0], 77, &sizes, &[isize::MIN; 4]).unwrap();
    let nulls = none.with_validity(&[], 0).unwrap();
    let large = Predicate::exceeds(Format::F32, 1.0).unwrap();
    for predicate in [Predicate::Nan, Predicate::Finite, large] {
        for view in [none, nulls] {
            for rows in (0..3).map(|axis| view.rows(axis).unwrap()) {
                rows.any(predicate, &mut []).unwrap();
                rows.all(predicate, &mut []).unwrap();
                rows.count(predicate, &mut []).unwrap();
                rows.census(&mut []).unwrap();
                rows.stats(&mut []).unwrap();
            }
        }
    }
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
    assert!(huge.coordinate(most + some + 5).unwrap().eq([some / 2, 1, 5]));
    for (size, stride) in [(usize::MAX, isize::MAX), (2, isize::MAX), (2, 2), (3, 1)] {
        let outside = LayoutError::OutOfBounds { dimension: 0, size, stride, elements: 2 };
        let (sizes, strides) = ([size], [stride]);
        let refused = TensorView::strided(&x, 0, &sizes, &strides).map(|view| view.len());
        assert_eq!(refused, Err(outside.into()));
    }
    // As many dimensions as there can be, and one more.
    let (sizes, strides) = ([1; 65], [5; 65]);
    let refused = Error::from(LayoutError::TooManyDimensions { dimensions: 65 });
    let strided = |rank| TensorView::strided(&x, 0, &sizes[..rank], &strides[..rank]);
    assert_eq!(strided(64).unwrap().count(Predicate::Finite), 1);
    let view = strided(64).unwrap();
    let coordinate = view.coordinate(0).unwrap();
    assert_eq!((coordinate.len(), coordinate.eq([0; 64])), (64, true));
    assert_eq!(strided(65).unwrap_err(), refused);
    let shaped = |rank| TensorView::shaped(&x[..1], &sizes[..rank]);
    assert_eq!(shaped(64).unwrap().count(Predicate::Finite), 1);
    assert_eq!(shaped(65).unwrap_err(), refused);
    let most = usize::BITS as usize - 1;
    let (sizes, strides) = ([2; 63], [0; 63]);
    let deep = TensorView::strided(&x, 0, &sizes[..most], &strides[..most]).unwrap();
    assert_eq!(deep.count(Predicate::Finite), 1 << most);
    let mut memory = vec![0.0f32; 1 << 12];
    memory[(1 << 12) - 1] = f32::NAN;
    let strides: Vec<isize> = (0..12).map(|i| 1 << i).collect();
    let view = TensorView::strided(&memory, 0, &[2; 12], &strides).unwrap();
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
    let refused = |offset, sizes: &[usize], strides: &[isize]| match TensorView::strided(
        &x[..],
        offset,
        sizes,
        strides,
    ) {
        Err(Error::Layout(error)) => error,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(0, &[2, 3], &[1]), LayoutError::StrideCount { sizes: 2, strides: 1 });
    assert_eq!(refused(10, &[], &[]), LayoutError::OffsetOutOfBounds { offset: 10, elements: 10 });
    assert_eq!(
        refused(usize::MAX, &[2], &[-1]),
        LayoutError::OffsetOutOfBounds { offset: usize::MAX, elements: 10 }
    );
    assert_eq!(
        refused(0, &[usize::MAX, 3, 5], &[0, 0, 0]),
        LayoutError::TooManyElements { dimension: 0 }
    );
    let outside = |dimension, size, stride| LayoutError::OutOfBounds {
        dimension,
        size,
        stride,
        elements: 10,
    };
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
    for (shape, elements) in [(&[3, 4], 12), (&[3, 3], 9), (&[0, 1], 0)] {
        let refused = TensorView::shaped(&x[..], shape).map(|view| view.len());
        assert_eq!(refused, Err(LayoutError::ElementCount { elements, given: 10 }.into()));
    }

    let overlap = |sizes: &[usize], strides: &[isize]| {
        MaskView::strided(&mut [false; 64][..], 32, sizes, strides)
            .map(|view| view.len())
            .unwrap_err()
    };
    assert_eq!(
        overlap(&[2, 2], &[1, 1]),
        LayoutError::Overlap { dimension: 1, stride: 1, needed: 2 }
    );
    assert_eq!(overlap(&[2], &[0]), LayoutError::Overlap { dimension: 0, stride: 0, needed: 1 });
    assert_eq!(
        overlap(&[2, 3], &[-2, 1]),
        LayoutError::Overlap { dimension: 0, stride: -2, needed: 3 }
    );
    // Injective, but not by steps over all there is below.
    assert_eq!(
        overlap(&[2, 3], &[3, 2]),
        LayoutError::Overlap { dimension: 0, stride: 3, needed: 5 }
    );

    let view = TensorView::shaped(&x[..], &[2, 5]).unwrap();
    let mut room = [true; 12];
    assert_eq!(
        view.mask(Predicate::Nan, &mut room[..9]),
        Err(Error::OutputLength { elements: 10, output: 9 })
    );
    let mut out = MaskView::shaped(&mut room[..], &[2, 6]).unwrap();
    assert_eq!(
        view.mask_into(Predicate::Nan, &mut out),
        Err(LayoutError::OutputSize { dimension: 1, input: 5, output: 6 }.into())
    );
    let mut out = MaskView::shaped(&mut room[..10], &[10]).unwrap();
    assert_eq!(
        view.mask_into(Predicate::Nan, &mut out),
        Err(LayoutError::OutputRank { input: 2, output: 1 }.into())
    );
    assert_eq!(room, [true; 12]);
    let mut out = MaskView::shaped(&mut room[..10], &[2, 5]).unwrap();
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
    let outside_of_view = view.coordinate(10).map(|coordinate| coordinate.len());
    assert_eq!(outside_of_view, Err(Error::Index { index: 10, elements: 10 }));
    for error in [outside(3, 2, -1), refused(0, &[2, 3], &[1]), overlap(&[2, 2], &[1, 1])] {
        let text = error.to_string();
        assert!(text.contains("dimension") || text.contains("strides"), "{text}");
    }
}
