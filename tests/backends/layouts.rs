//! The harness of strided tensors: a layout, and every question about it against nested loops over
//! coordinates.

use nonfinite::{Backend, Elements, Error, Format, MaskView, Predicate, TensorView};

use crate::oracle::{Above, Kind, Summary, holds};
use crate::{CANARY, backends, expected, oracle, reduced};

/// Sizes, strides and an offset, and how long the memory under them must be.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) sizes: Vec<usize>,
    pub(crate) strides: Vec<isize>,
    pub(crate) offset: usize,
    pub(crate) memory: usize,
}

impl Layout {
    /// The layout with the least offset and memory for these strides.
    pub(crate) fn new(sizes: &[usize], strides: &[isize]) -> Self {
        let (mut first, mut last) = (0, 0);
        for (&size, &stride) in sizes.iter().zip(strides) {
            let reach = size.saturating_sub(1) as isize * stride;
            first += reach.min(0);
            last += reach.max(0);
        }
        let memory = if sizes.contains(&0) { 0 } else { (last - first) as usize + 1 };
        Self {
            sizes: sizes.to_vec(),
            strides: strides.to_vec(),
            offset: first.unsigned_abs(),
            memory,
        }
    }

    /// Dense in an order of the dimensions, some backwards, with `padding` places behind each run.
    pub(crate) fn permuted(
        sizes: &[usize],
        order: &[usize],
        backwards: &[bool],
        padding: &[usize],
    ) -> Self {
        let mut strides = vec![0; sizes.len()];
        let mut stride = 1;
        for &dimension in order {
            strides[dimension] = if backwards[dimension] { -stride } else { stride };
            stride = stride * sizes[dimension].max(1) as isize + padding[dimension] as isize;
        }
        Self::new(sizes, &strides)
    }

    /// The places of all coordinates, in row-major order.
    pub(crate) fn places(&self) -> Vec<usize> {
        let mut places = vec![self.offset as isize];
        for (&size, &stride) in self.sizes.iter().zip(&self.strides) {
            places = places
                .iter()
                .flat_map(|&at| (0..size as isize).map(move |i| at + i * stride))
                .collect();
        }
        places.into_iter().map(|at| at as usize).collect()
    }
}

/// Compares every operation on every backend with the oracle. Masks go into each of the outputs.
pub(crate) fn check(format: Format, bytes: &[u8], from: &Layout, outputs: &[&Layout]) {
    let kinds = expected(format, bytes);
    let kinds: Vec<Kind> = from.places().into_iter().map(|place| kinds[place]).collect();
    // The oracle of statistics computes with f64, which is slow in an emulator.
    let has_numbers = !reduced() || kinds.len() < 700;
    let numbers = has_numbers.then(|| Numbers::right(format, bytes, &from.sizes, &from.places()));
    for backend in backends() {
        let elements = Elements::from_bytes(bytes, format).unwrap();
        let view = TensorView::strided(elements, from.offset, &from.sizes, &from.strides).unwrap();
        let view = view.on(backend);
        if let Some(numbers) = &numbers {
            numbers.check(&view, &|| format!("{} {format} {from:?}", backend.name()));
        }
        for to in outputs {
            check_backend(backend, &view, from, to, &kinds);
        }
    }
}

fn check_backend(
    backend: Backend,
    view: &TensorView<'_>,
    from: &Layout,
    to: &Layout,
    kinds: &[Kind],
) {
    let format = view.format();
    let at = || format!("{} {format} {from:?} to {to:?}", backend.name());
    assert_eq!(
        (view.len(), view.is_empty(), view.format()),
        (kinds.len(), kinds.is_empty(), format)
    );
    assert_eq!(
        (view.sizes(), view.strides().collect::<Vec<_>>()),
        (&from.sizes[..], from.strides.clone())
    );
    for predicate in Predicate::ALL.iter().copied() {
        let hits: Vec<bool> = kinds.iter().map(|&kind| holds(predicate, kind)).collect();
        let first = hits.iter().position(|&hit| hit);
        let count = hits.iter().filter(|&&hit| hit).count();
        assert_eq!(view.any(predicate), first.is_some(), "any {predicate:?} {}", at());
        assert_eq!(view.all(predicate), count == hits.len(), "all {predicate:?} {}", at());
        assert_eq!(view.count(predicate), count, "count {predicate:?} {}", at());
        assert_eq!(view.position(predicate), first, "position {predicate:?} {}", at());

        let mut out = vec![true; hits.len()];
        view.mask(predicate, &mut out[..]).unwrap();
        assert!(out == hits, "mask {predicate:?} {}", at());

        let mut room = vec![CANARY; to.memory + 2];
        let mut want = room.clone();
        for (place, &hit) in to.places().into_iter().zip(&hits) {
            want[1 + place] = u8::from(hit);
        }
        let end = 1 + to.memory;
        let mut out =
            MaskView::strided(&mut room[1..end], to.offset, &to.sizes, &to.strides).unwrap();
        view.mask_into(predicate, &mut out).unwrap();
        assert!(room == want, "mask_into {predicate:?} {}", at());

        check_rows(view, predicate, &hits, &at);
        let indices = hits.iter().enumerate().filter(|(_, hit)| **hit).map(|(i, _)| i);
        let most = if reduced() { 5 } else { 50 };
        assert!(
            view.positions(predicate).take(most).eq(indices.take(most)),
            "positions {predicate:?} {}",
            at()
        );

        let offset = hits.len() % 11;
        let mut out = vec![CANARY; (offset + hits.len()).div_ceil(8)];
        let mut want = out.clone();
        for (bit, &hit) in (offset..).zip(&hits) {
            want[bit / 8] = want[bit / 8] & !(1 << (bit % 8)) | u8::from(hit) << (bit % 8);
        }
        view.bits(predicate, &mut out, offset).unwrap();
        assert!(out == want, "bits {predicate:?} {}", at());
    }
    check_census_rows(view, kinds, &at);
    let census = view.census();
    for (class, kind) in
        [(census.nan, Kind::Nan), (census.pos_inf, Kind::PosInf), (census.neg_inf, Kind::NegInf)]
    {
        assert_eq!(
            class.count,
            kinds.iter().filter(|&&k| k == kind).count(),
            "census {kind:?} {}",
            at()
        );
        assert_eq!(class.first, kinds.iter().position(|&k| k == kind), "census {kind:?} {}", at());
    }
}

fn check_rows(view: &TensorView<'_>, predicate: Predicate, hits: &[bool], at: &dyn Fn() -> String) {
    let sizes = view.sizes();
    for (number, &columns) in sizes.iter().enumerate() {
        let inner: usize = sizes.iter().skip(number + 1).product();
        let rows: usize = sizes.iter().take(number).product::<usize>() * inner;
        let row =
            |r: usize| (0..columns).map(move |i| (r / inner * columns + i) * inner + r % inner);
        let want: Vec<usize> = (0..rows).map(|r| row(r).filter(|&i| hits[i]).count()).collect();
        let (mut counts, mut any) = (vec![77; rows], vec![true; rows]);
        let mut first = vec![Some(77); rows];
        let asked = view.rows(number).unwrap();
        assert_eq!((asked.len(), asked.row_len()), (rows, columns), "axis {number} {}", at());
        asked.count(predicate, &mut counts).unwrap();
        asked.any(predicate, &mut any).unwrap();
        asked.position(predicate, &mut first).unwrap();
        let wrong = Error::Rows { rows, output: rows + 1 };
        assert_eq!(asked.count(predicate, &mut vec![0; rows + 1]), Err(wrong));
        assert!(counts == want, "count_rows {number} {predicate:?} {}: {counts:?} {want:?}", at());
        let found = any.iter().zip(&want).all(|(&any, &count)| any == (count > 0));
        assert!(found, "any_rows {number} {predicate:?} {}", at());
        let positions = (0..rows).map(|r| row(r).position(|i| hits[i]));
        assert!(positions.eq(first), "position_rows {number} {predicate:?} {}", at());
    }
    let axis = sizes.len();
    let wrong = Error::Axis { axis, dimensions: sizes.len() };
    assert_eq!(view.rows(axis).map(|rows| rows.len()), Err(wrong));
}

/// One census a row, along every axis.
fn check_census_rows(view: &TensorView<'_>, kinds: &[Kind], at: &dyn Fn() -> String) {
    let sizes = view.sizes();
    for (axis, &columns) in sizes.iter().enumerate() {
        let inner: usize = sizes.iter().skip(axis + 1).product();
        let rows: usize = sizes.iter().take(axis).product::<usize>() * inner;
        let row = |r: usize| {
            (0..columns).map(move |i| kinds[(r / inner * columns + i) * inner + r % inner])
        };
        let mut out = vec![nonfinite::Census::default(); rows];
        view.rows(axis).unwrap().census(&mut out).unwrap();
        for (r, census) in out.iter().enumerate() {
            for (class, kind) in [
                (census.nan, Kind::Nan),
                (census.pos_inf, Kind::PosInf),
                (census.neg_inf, Kind::NegInf),
            ] {
                assert_eq!(
                    class.count,
                    row(r).filter(|&k| k == kind).count(),
                    "axis {axis} {}",
                    at()
                );
                assert_eq!(class.first, row(r).position(|k| k == kind), "axis {axis} {}", at());
            }
        }
    }
}

/// The statistics of a tensor and of its rows along each axis, and which elements exceed
/// thresholds.
struct Numbers {
    whole: Summary,
    rows: Vec<Vec<Summary>>,
    above: Vec<(f64, Above)>,
}

impl Numbers {
    /// What is right for the elements at these places.
    fn right(format: Format, bytes: &[u8], sizes: &[usize], places: &[usize]) -> Self {
        let size = format.size_in_bytes();
        let raw = |place: usize| &bytes[place * size..][..size];
        let element = |i: usize| oracle::read(raw(places[i]));
        let rows = |axis: usize| {
            let (columns, inner) = (sizes[axis], sizes[axis + 1..].iter().product::<usize>());
            let row = move |r: usize| {
                (0..columns).map(move |i| (r / inner * columns + i) * inner + r % inner)
            };
            let count = sizes[..axis].iter().product::<usize>() * inner;
            (0..count).map(|r| oracle::summary(format, row(r).map(element))).collect()
        };
        let gathered: Vec<u8> = places.iter().flat_map(|&place| raw(place)).copied().collect();
        let gathered = Elements::from_bytes(&gathered, format).unwrap();
        let thresholds = oracle::thresholds(gathered).into_iter().take(2);
        Self {
            whole: oracle::summary(format, (0..places.len()).map(element)),
            rows: (0..sizes.len()).map(rows).collect(),
            above: thresholds.map(|t| (t, Above::right(gathered, t))).collect(),
        }
    }

    fn check(&self, view: &TensorView<'_>, at: &dyn Fn() -> String) {
        assert_eq!(Summary::from(view.stats()), self.whole, "stats {}", at());
        for (threshold, above) in &self.above {
            assert_eq!(Above::of(*view, *threshold), *above, "above {threshold} {}", at());
        }
        for (axis, rows) in self.rows.iter().enumerate() {
            let mut out = vec![nonfinite::stats(&[1.0f32]); rows.len()];
            view.rows(axis).unwrap().stats(&mut out).unwrap();
            for (stats, row) in out.into_iter().zip(rows) {
                assert_eq!(Summary::from(stats), *row, "stats, axis {axis} {}", at());
            }
        }
    }
}

/// `elements` of a format, one in `rare` not zero.
pub(crate) fn mixed(format: Format, elements: usize, rare: usize) -> Vec<u8> {
    let edges = oracle::edges(format);
    let mut bytes = Vec::new();
    for i in 0..elements {
        // 7919 is prime, so no stride below it sees a pattern.
        let bits = if i * 7919 % rare == 0 { edges[i * 31 % edges.len()] } else { 0 };
        oracle::write(format, bits, &mut bytes);
    }
    bytes
}
