//! Grids against loops over coordinates, and what reaches outside: no answer, whatever the path.

use nonfinite_kernels::strided::{Dim, Grid, any_rows, bits, census, count, count_rows, mask, position};
use nonfinite_kernels::{Census, MaskOut, Path, Rule};

const CANARY: u8 = 7;

/// A shape with strides, innermost first: sizes, strides of the input, strides of the output; and where coordinate 0 is in
/// the input and in the output.
type Shape = (&'static [(usize, isize, isize)], usize, usize);

/// Of every way that is taken.
const SHAPES: [Shape; 37] = [
    (&[], 0, 0),
    // Lines of elements in one piece, short and long, into lines and backwards.
    (&[(40, 1, 1)], 0, 0),
    (&[(200, 1, 1)], 0, 0),
    (&[(5, 1, 1), (7, 6, 9)], 0, 0),
    (&[(64, 1, 1), (5, 65, 66)], 0, 0),
    (&[(100, 1, 1), (3, 101, 102)], 0, 0),
    (&[(100, 1, 1), (2, 101, 301), (3, 202, 100)], 0, 0),
    (&[(40, 1, -1)], 0, 39),
    (&[(64, 1, -1), (3, 64, 70)], 0, 63),
    (&[(100, 1, -1), (3, 101, 102)], 0, 99),
    (&[(40, -1, 1)], 39, 0),
    (&[(100, -1, 1)], 99, 0),
    (&[(100, -1, 1), (3, 101, 102)], 99, 0),
    (&[(100, -1, 2), (3, 101, 201)], 99, 0),
    (&[(100, -1, -1), (3, 101, 102)], 99, 99),
    // Elements apart.
    (&[(40, 2, 1)], 0, 0),
    (&[(10, 2, 1), (4, 10, 10)], 0, 0),
    (&[(64, 2, 1), (2, 128, 64)], 0, 0),
    (&[(100, 2, 1), (3, 201, 102)], 0, 0),
    (&[(100, 3, -1), (17, 300, 100), (2, 5100, 1700)], 0, 99),
    (&[(300, 2, 2), (3, 700, 601)], 0, 0),
    (&[(50, -2, 1)], 98, 0),
    (&[(70, -2, 1), (3, 139, 70)], 138, 0),
    // Columns.
    (&[(90, 3, 1), (3, 1, 100)], 0, 0),
    (&[(90, 20, 1), (20, 1, 100)], 0, 0),
    (&[(30, 40, 41), (40, 1, 1)], 0, 0),
    (&[(20, 40, 1), (2, 800, 20), (40, 1, 40)], 0, 0),
    (&[(30, 40, -1), (40, -1, 30)], 39, 29),
    (&[(70, 10, 1), (10, 1, -80)], 0, 720),
    // One element for many results.
    (&[(90, 0, 1)], 0, 0),
    (&[(90, 0, 2)], 0, 0),
    (&[(30, 0, 1)], 0, 0),
    (&[(10, 0, 1), (4, 10, 10)], 0, 0),
    (&[(90, 0, 1), (20, 1, 100)], 0, 0),
    (&[(90, 0, 2), (20, 1, 200)], 0, 0),
    (&[(33, 0, 2), (9, 1, 70), (3, 9, 700)], 0, 0),
    (&[(20, 1, 1), (4, 0, 25)], 0, 0),
];

struct Case {
    dims: Vec<Dim>,
    input: usize,
    output: usize,
    /// Where in the input and the output all coordinates are, in row-major order.
    places: Vec<(usize, usize)>,
    elements: usize,
    results: usize,
}

impl Case {
    fn new(&(shape, input, output): &Shape) -> Self {
        let dims: Vec<Dim> = shape.iter().map(|&(size, input, output)| Dim { size, input, output }).collect();
        let mut places = vec![(input, output)];
        for dim in dims.iter().rev() {
            let along = |(from, to): (usize, usize)| {
                (0..dim.size as isize).map(move |i| {
                    (from.wrapping_add_signed(i * dim.input), to.wrapping_add_signed(i * dim.output))
                })
            };
            places = places.into_iter().flat_map(along).collect();
        }
        let elements = places.iter().map(|place| place.0).max().unwrap() + 1;
        let results = places.iter().map(|place| place.1).max().unwrap() + 1;
        Self { dims, input, output, places, elements, results }
    }

    fn grid(&self) -> Grid<'_> {
        Grid { input: self.input, output: self.output, dims: &self.dims }
    }

    /// For searches: the outputs are the places in row-major order.
    fn numbered(&self) -> Vec<Dim> {
        let mut step = 1;
        let number = |dim: &Dim| {
            let output = step;
            step *= dim.size as isize;
            Dim { output, ..*dim }
        };
        self.dims.iter().map(number).collect()
    }

    fn line(&self) -> usize {
        self.dims.first().map_or(1, |dim| dim.size)
    }
}

fn paths() -> Vec<Option<Path>> {
    let mut paths = vec![None];
    paths.extend(Path::all().filter_map(|(_, path)| path).map(Some));
    paths
}

/// Elements of four bytes, NaN among them.
fn tensor(elements: usize) -> Vec<u8> {
    let x = |i: usize| match i * 7919 % 11 {
        0 => f32::NAN,
        1 => f32::from_bits(0xFFC0_0000 + i as u32),
        2 => f32::NEG_INFINITY,
        3 => f32::INFINITY,
        _ => f32::from_bits(i as u32),
    };
    (0..elements).flat_map(|i| x(i).to_ne_bytes()).collect()
}

/// Whether a rule holds for an element.
type Holds = fn(f32) -> bool;

fn nan() -> Rule {
    Rule::greater(4, 0x7FFF_FFFF, 0x7F80_0000)
}

/// A rule that has no bits to search for first.
fn screenless() -> Rule {
    Rule::equal(4, 0xFF, 0)
}

fn always() -> Rule {
    Rule::Constant { answer: true, size: 4 }
}

/// All shapes with all rules.
fn questions() -> impl Iterator<Item = (Case, Rule, Holds)> {
    let rules: [(Rule, Holds); 5] = [
        (nan(), f32::is_nan),
        (nan().not(), |x| !x.is_nan()),
        (screenless(), |x| x.to_bits() % 256 == 0),
        (screenless().not(), |x| x.to_bits() % 256 != 0),
        (always(), |_| true),
    ];
    SHAPES.iter().flat_map(move |shape| rules.map(|(rule, holds)| (Case::new(shape), rule, holds)))
}

fn element(x: &[u8], at: usize) -> f32 {
    f32::from_ne_bytes(x[4 * at..][..4].try_into().unwrap())
}

#[test]
fn as_loops() {
    for (case, rule, holds) in questions() {
        let rule = &rule;
        let x = tensor(case.elements);
        let hits: Vec<bool> = case.places.iter().map(|&(from, _)| holds(element(&x, from))).collect();
        let (grid, numbered) = (case.grid(), case.numbered());
        let numbered = Grid { output: 0, dims: &numbered, ..grid };
        for path in paths() {
            let at = format!("{path:?} {rule:?} {:?}", case.dims);
            let (mut out, mut want) = (vec![CANARY; case.results], vec![CANARY; case.results]);
            for (&(_, to), &hit) in case.places.iter().zip(&hits) {
                want[to] = u8::from(hit);
            }
            mask(path, &x, rule, &mut MaskOut::from(&mut out[..]), grid);
            assert!(out == want, "mask {at}");

            let mut packed = vec![0x5A; hits.len() / 8 + 2];
            let mut want = packed.clone();
            for (i, &hit) in hits.iter().enumerate() {
                let bit = i + 5;
                want[bit / 8] = want[bit / 8] & !(1 << (bit % 8)) | u8::from(hit) << (bit % 8);
            }
            bits(path, &x, rule, &mut packed, 5, numbered);
            assert!(packed == want, "bits {at}");

            let all = hits.iter().filter(|&&hit| hit).count();
            assert_eq!(count(path, &x, rule, numbered), all, "{at}");
            assert_eq!(position(path, &x, rule, numbered), hits.iter().position(|&hit| hit), "{at}");
            assert_eq!(census(path, &x, rule, numbered).nan.count, all, "{at}");

            let rows: Vec<usize> =
                hits.chunks(case.line()).map(|line| line.iter().filter(|&&hit| hit).count()).collect();
            let (mut counts, mut any) = (vec![77; rows.len()], vec![true; rows.len()]);
            count_rows(path, &x, rule, &mut counts, grid);
            any_rows(path, &x, rule, &mut any, grid);
            assert_eq!(counts, rows, "{at}");
            assert!(any.iter().zip(&rows).all(|(&any, &count)| any == (count > 0)), "{at}");
        }
    }
}

/// Nothing is read or written, wherever it would be.
#[test]
fn of_no_element() {
    let none = Dim { size: 0, input: 1, output: 1 };
    let some = Dim { size: 3, input: 5, output: 5 };
    for dims in [vec![none], vec![none, some], vec![some, none], vec![some, none, some]] {
        let grid = Grid { input: usize::MAX, output: usize::MAX, dims: &dims };
        for path in paths() {
            let mut out = [CANARY; 3];
            mask(path, &[], &nan(), &mut MaskOut::from(&mut out[..]), grid);
            bits(path, &[], &nan(), &mut out, 3, grid);
            assert_eq!(out, [CANARY; 3]);
            assert_eq!((count(path, &[], &nan(), grid), position(path, &[], &nan(), grid)), (0, None));
            assert_eq!(census(path, &[], &nan(), grid), Census::default());
        }
    }
    // Rows of none, of a grid and of a rule that holds for everything.
    let dims = [none, some, some];
    let grid = Grid { input: usize::MAX, output: 0, dims: &dims };
    for (path, rule) in
        paths().into_iter().flat_map(|path| [(path, nan()), (path, always()), (path, nan().not())])
    {
        let (mut counts, mut any) = ([77; 9], [true; 9]);
        count_rows(path, &[], &rule, &mut counts, grid);
        any_rows(path, &[], &rule, &mut any, grid);
        assert_eq!((counts, any), ([0; 9], [false; 9]), "{path:?} {rule:?}");
    }
}

/// One element or one result is missing: a panic, and nothing is read or written outside.
#[test]
#[cfg(not(target_family = "wasm"))]
fn what_reaches_outside_is_refused() {
    use std::cell::Cell;
    use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};

    thread_local!(static EXPECTED: Cell<bool> = const { Cell::new(false) });
    // Ten thousand panics are wanted here: 20,000 lines where all output is shown.
    let report = take_hook();
    set_hook(Box::new(move |panic| {
        if !EXPECTED.get() {
            report(panic);
        }
    }));
    fn refused<R>(ask: impl FnOnce() -> R) -> bool {
        EXPECTED.set(true);
        let panicked = catch_unwind(AssertUnwindSafe(ask)).is_err();
        EXPECTED.set(false);
        panicked
    }
    // What is the same for all elements does not read them.
    for (case, rule, holds) in questions().filter(|(_, rule, _)| *rule != always()) {
        let (x, grid, numbered) = (tensor(case.elements), case.grid(), case.numbered());
        let numbered = Grid { output: 0, dims: &numbered, ..grid };
        let short = &x[..x.len() - 4];
        let rows = case.places.len() / case.line();
        // Nothing to find before the end.
        let kinds = [f32::from_bits(0xFF00), f32::NAN, 1.0, f32::from_bits(0x3F80_0001)];
        let plain = kinds.into_iter().find(|x| !holds(*x)).unwrap();
        let clean = plain.to_ne_bytes().repeat(short.len() / 4);
        for path in paths() {
            let at = format!("{path:?} {rule:?} {:?}", case.dims);
            let mut out = vec![CANARY; case.results];
            assert!(
                refused(|| mask(path, short, &rule, &mut MaskOut::from(&mut out[..]), grid)),
                "mask {at}"
            );
            let mut room = vec![CANARY; case.results];
            let (room, behind) = room.split_at_mut(case.results - 1);
            assert!(
                refused(|| mask(path, &x, &rule, &mut MaskOut::from(&mut room[..]), grid)),
                "output {at}"
            );
            assert_eq!(behind, [CANARY]);
            let mut packed = vec![0; case.places.len() / 8 + 1];
            assert!(refused(|| bits(path, short, &rule, &mut packed, 0, numbered)), "bits {at}");
            assert!(refused(|| count(path, short, &rule, numbered)), "count {at}");
            assert!(refused(|| position(path, &clean, &rule, numbered)), "position {at}");
            assert!(refused(|| census(path, short, &rule, numbered)), "census {at}");
            assert!(refused(|| count_rows(path, short, &rule, &mut vec![0; rows], grid)), "count_rows {at}");
            assert!(refused(|| any_rows(path, &clean, &rule, &mut vec![true; rows], grid)), "any_rows {at}");
            for wrong in [rows + 1, rows - 1] {
                assert!(
                    refused(|| count_rows(path, &x, &rule, &mut vec![0; wrong], grid)),
                    "{wrong} rows {at}"
                );
                assert!(
                    refused(|| any_rows(path, &x, &rule, &mut vec![true; wrong], grid)),
                    "{wrong} rows {at}"
                );
            }
        }
    }
}
