//! The places of bad numbers: their common pattern, and their density.

use std::num::NonZeroUsize;

use nonfinite_check::{AxisPlaces, FileFormat, Lit, Map, Options, Places, Report, Steps};

use crate::report_with;
use crate::write::{Entry, gguf, npy, safetensors};
use crate::zip::deflated;

fn options() -> Options {
    Options { places: true, draw: true, ..Options::default() }
}

fn places_of(bytes: &[u8], format: FileFormat) -> Option<Box<Places>> {
    report_with(bytes, format, &options()).tensors.remove(0).places.clone()
}

/// An array of f32 with NaN at these elements, counted in the order of the file.
fn array(shape: &[usize], fortran: bool, bad: impl Fn(usize) -> bool) -> Vec<u8> {
    let numbers = (0..shape.iter().product()).map(|i| if bad(i) { f32::NAN } else { i as f32 });
    npy("<f4", shape, fortran, &numbers.flat_map(f32::to_le_bytes).collect::<Vec<_>>())
}

/// The coordinate of an element, counted in the order of the file.
pub(crate) fn coordinate(shape: &[usize], fortran: bool, element: usize) -> Vec<usize> {
    let mut rest = element;
    let mut coordinate = vec![0; shape.len()];
    let mut axes: Vec<_> = (0..shape.len()).collect();
    if !fortran {
        axes.reverse();
    }
    for axis in axes {
        coordinate[axis] = rest % shape[axis];
        rest /= shape[axis];
    }
    coordinate
}

/// A coordinate as reports have it.
pub(crate) fn wide(coordinate: &[usize]) -> Vec<u64> {
    coordinate.iter().map(|&index| index as u64).collect()
}

/// Extent, number of indices, and runs of them.
type Axis = (u64, u64, Vec<(u64, u64)>);

/// The expected report on the axes for bad elements at these coordinates, by sorting.
fn axes(shape: &[usize], bad: &[Vec<usize>]) -> Vec<Axis> {
    let axis = |(axis, &extent): (usize, &usize)| {
        let mut indices: Vec<_> = bad.iter().map(|coordinate| coordinate[axis] as u64).collect();
        indices.sort_unstable();
        indices.dedup();
        let runs = indices.chunk_by(|a, b| a + 1 == *b).map(|run| (run[0], run[run.len() - 1]));
        let runs: Vec<_> = runs.collect();
        let runs = if runs.len() > AxisPlaces::MOST_RANGES { Vec::new() } else { runs };
        (extent as u64, indices.len() as u64, runs)
    };
    shape.iter().enumerate().map(axis).collect()
}

/// The expected lit cells, by counting.
fn lit(shape: &[usize], bad: &[Vec<usize>], map: &Map) -> Vec<Lit> {
    let (rank, at) = (shape.len(), |coordinate: &[usize], from_end: usize| {
        coordinate.len().checked_sub(from_end).map_or(0, |axis| coordinate[axis])
    });
    let cells = map.groups.count() * map.rows.count() * map.columns.count();
    let mut counts = vec![0; cells];
    for coordinate in bad {
        let leading = shape.iter().zip(coordinate).take(rank.saturating_sub(2));
        let group = leading.fold(0, |group, (extent, index)| group * extent + index);
        let of = |index: usize, steps: Steps| index / steps.step as usize;
        let cell = of(group, map.groups) * map.rows.count() + of(at(coordinate, 2), map.rows);
        counts[cell * map.columns.count() + of(at(coordinate, 1), map.columns)] += 1;
    }
    let lit = (0..).zip(counts).filter(|(_, elements)| *elements > 0);
    lit.map(|(cell, elements)| Lit { cell, elements }).collect()
}

/// Whether a statement is exact and complete, by parsing its words.
fn check_statement(statement: &str, shape: &[usize], bad: &[Vec<usize>]) {
    let all: usize = shape.iter().product();
    let context = format!("{statement:?} of {bad:?} in {shape:?}");
    match statement {
        "everything" => return assert_eq!(bad.len(), all, "{context}"),
        "one element" => return assert_eq!(bad.len(), 1, "{context}"),
        _ => {}
    }
    if let Some(counts) = statement.strip_prefix("spread over ") {
        for ((extent, indices, _), words) in axes(shape, bad).iter().zip(counts.split(", ")) {
            let words: Vec<_> = words.split(' ').collect();
            let expected = match words[..] {
                ["all", count, ..] => (count, count),
                [count, "of", of, ..] => (count, of),
                _ => panic!("{context}"),
            };
            let parsed = (expected.0.parse(), expected.1.parse());
            assert_eq!(parsed, (Ok(*indices), Ok(*extent)), "{context}");
        }
        return assert_eq!(counts.split(", ").count(), shape.len(), "{context}");
    }
    let (named, amount) = statement.rsplit_once(" only, ").expect("a form that is known");
    // The axes that are named, each with its indices.
    let mut sets: Vec<Option<Vec<usize>>> = vec![None; shape.len()];
    let mut axis = 0;
    for word in named.split([' ', ',']).filter(|word| !word.is_empty()) {
        match word {
            "row" | "rows" => axis = shape.len() - 2,
            "column" | "columns" => axis = shape.len() - 1,
            "index" | "indices" if shape.len() == 1 => axis = 0,
            "index" | "indices" | "of" => {}
            "axis" => axis = usize::MAX,
            _ if axis == usize::MAX => axis = word.parse().expect("the number of an axis"),
            // The extent, after `of`.
            _ if named.contains(&format!(" of {word}")) && axis + 2 < shape.len() => {
                assert_eq!(word.parse(), Ok(shape[axis]), "{context}");
            }
            _ => {
                let (first, last) = word.split_once('-').unwrap_or((word, word));
                let indices = first.parse().unwrap()..=last.parse().unwrap();
                sets[axis]
                    .get_or_insert_default()
                    .extend::<std::ops::RangeInclusive<usize>>(indices);
            }
        }
    }
    let is_named = |coordinate: &[usize]| {
        let axes = sets.iter().zip(coordinate);
        axes.into_iter().all(|(set, index)| set.as_ref().is_none_or(|set| set.contains(index)))
    };
    assert!(bad.iter().all(|coordinate| is_named(coordinate)), "only: {context}");
    let within = (0..all).filter(|&i| is_named(&coordinate(shape, false, i))).count();
    match amount {
        "in full" => assert_eq!(bad.len(), within, "{context}"),
        _ => assert_eq!(amount, format!("{} of {within} elements there", bad.len()), "{context}"),
    }
}

#[track_caller]
fn check(shape: &[usize], fortran: bool, is_bad: impl Fn(usize) -> bool) {
    let all: usize = shape.iter().product();
    let bad: Vec<_> =
        (0..all).filter(|&i| is_bad(i)).map(|i| coordinate(shape, fortran, i)).collect();
    let places = places_of(&array(shape, fortran, is_bad), FileFormat::NPY);
    let Some(places) = places else { return assert!(bad.is_empty(), "{bad:?} in {shape:?}") };
    assert_eq!((places.elements, places.of), (bad.len() as u64, all as u64));
    let found: Vec<_> =
        places.axes.iter().map(|axis| (axis.extent, axis.indices, axis.ranges.clone())).collect();
    assert_eq!(found, axes(shape, &bad), "{bad:?} in {shape:?}");
    let map = places.map.as_ref().expect("a map was asked for");
    assert_eq!(map.lit, lit(shape, &bad, map), "{shape:?}");
    check_statement(&places.statement(""), shape, &bad);
}

/// Every set of elements of small arrays.
#[test]
fn all_sets() {
    for shape in [&[][..], &[1], &[4], &[10], &[2, 3], &[3, 3], &[1, 9], &[2, 2, 2], &[2, 1, 2, 2]]
    {
        let all: usize = shape.iter().product();
        for set in 0..1usize << all {
            for fortran in [false, true] {
                check(shape, fortran, |i| set >> i & 1 == 1);
            }
        }
    }
}

/// Larger arrays: several words, steps and pieces.
#[test]
fn large_sets() {
    for shape in [
        &[5, 7, 61][..],
        &[130, 200],
        &[3, 70, 70, 2],
        &[70, 2, 3],
        &[2, 65, 129],
        &[300_000],
        &[1100, 1100],
        &[100_000, 3],
        &[3, 100_000],
    ] {
        for fortran in [false, true] {
            check(shape, fortran, |_| true);
            check(shape, fortran, |i| i % 7 == 3);
            check(shape, fortran, |i| i * 2_654_435_761 % 9973 == 1);
            check(shape, fortran, |i| i / 200 == 5);
            let all: usize = shape.iter().product();
            check(shape, fortran, |i| i == 0 || i + 1 == all);
        }
    }
}

#[test]
fn statements() {
    let of = |shape: &[usize], is_bad: &dyn Fn(&[usize]) -> bool| {
        let bytes = array(shape, false, |i| is_bad(&coordinate(shape, false, i)));
        places_of(&bytes, FileFormat::NPY).unwrap()
    };
    let square =
        |is_bad: fn(usize, usize) -> bool| of(&[40, 300], &|at| is_bad(at[0], at[1])).statement("");
    assert_eq!(square(|_, _| true), "everything");
    assert_eq!(square(|row, _| row == 17), "row 17 only, in full");
    assert_eq!(square(|_, column| column == 100), "column 100 only, in full");
    assert_eq!(square(|row, _| (10..30).contains(&row)), "rows 10-29 only, in full");
    assert_eq!(square(|row, _| row > 0), "rows 1-39 only, in full");
    assert_eq!(
        square(|row, column| row > 37 && column < 2),
        "rows 38-39, columns 0-1 only, in full"
    );
    assert_eq!(
        square(|row, column| row == 17 && column % 2 == 0),
        "row 17 only, 150 of 300 elements there"
    );
    assert_eq!(square(|row, column| row * column == 1), "one element");
    assert_eq!(
        square(|row, column| row % 2 == 0 && column % 2 == 0),
        "spread over 20 of 40 rows, 150 of 300 columns"
    );
    assert_eq!(square(|row, column| row + column > 3), "spread over all 40 rows, all 300 columns");
    let experts = of(&[64, 3, 3], &|at| at[0] == 20);
    assert_eq!(experts.statement("blk.0.ffn_gate_exps.weight"), "expert 20 of 64 only, in full");
    assert_eq!(experts.statement("layers.0.mlp.experts.w1"), "expert 20 of 64 only, in full");
    assert_eq!(experts.statement("conv"), "axis 0 index 20 of 64 only, in full");
    let heads = of(&[2, 12, 4, 4], &|at| at[1] == 10 || at[1] == 11);
    assert_eq!(heads.statement("experts"), "axis 1 indices 10-11 of 12 only, in full");
    let vector = of(&[1000], &|at| [3, 5, 6].contains(&at[0]));
    assert_eq!(vector.statement(""), "indices 3, 5-6 only, in full");
    let vector = of(&[1000], &|at| at[0] < 7 && at[0] % 2 == 0);
    assert_eq!(vector.statement(""), "indices 0, 2, 4, 6 only, in full");
    // Five runs are too many to be listed.
    let vector = of(&[1000], &|at| at[0] < 9 && at[0] % 2 == 0);
    assert_eq!(vector.statement(""), "spread over 5 of 1000 indices");
}

/// An axis with more than half of its indices bad is named only if the pattern is complete with it.
#[test]
fn statements_of_few_indices() {
    let bad = [[0, 1], [1, 2], [2, 1]];
    let bytes = array(&[4, 4], false, |i| bad.contains(&[i / 4, i % 4]));
    let places = places_of(&bytes, FileFormat::NPY).unwrap();
    assert_eq!(places.statement(""), "columns 1-2 only, 3 of 8 elements there");
}

/// Steps of the axes before rows and columns.
#[test]
fn groups() {
    let of = |shape: &[usize]| places_of(&array(shape, false, |i| i == 0), FileFormat::NPY);
    let group = |shape: &[usize], step, name| of(shape).unwrap().group(step, name);
    for (shape, step, expected) in [
        (&[64, 2, 2][..], 20, "expert 20 of 64"),
        (&[65, 2, 2], 1, "experts 2-3 of 65"),
        (&[65, 2, 2], 32, "expert 64 of 65"),
        (&[2, 12, 4, 4], 13, "axes 0-1 at [1, 1]"),
        (&[3, 70, 2, 2], 20, "axes 0-1 from [1, 10] to [1, 13]"),
        (&[2, 3, 4, 2, 2], 23, "axes 0-2 at [1, 2, 3]"),
    ] {
        assert_eq!(group(shape, step, "experts").as_deref(), Some(expected), "{shape:?}");
    }
    assert_eq!(group(&[64, 2, 2], 20, "conv").as_deref(), Some("axis 0 index 20 of 64"));
    assert_eq!([group(&[2, 3], 0, ""), group(&[3], 0, ""), group(&[], 0, "")], [None, None, None]);
    let mut places = of(&[64, 2, 2]).unwrap();
    places.map = None;
    assert_eq!(places.group(20, ""), None);
}

/// A bad scale makes the elements of its block bad, or of its part of the block.
#[test]
fn scales() {
    let of = |kind: u32, shape: &[usize], block: usize, nan: &[(usize, &[u8])]| {
        let mut data = vec![0; block * 6];
        for (at, bytes) in nan {
            data[*at..][..bytes.len()].copy_from_slice(bytes);
        }
        let bytes = gguf(&[Entry { name: "x", kind, shape, data: &data }], false, &[]);
        places_of(&bytes, FileFormat::GGUF).unwrap()
    };
    let nan = &0x7E00u16.to_le_bytes()[..];
    // Q4_K: both scales of block 4 are bad, which is the second of row 1.
    let places = of(12, &[2, 768], 144, &[(4 * 144, nan), (4 * 144 + 2, nan)]);
    assert_eq!((places.elements, places.of), (256, 1536));
    assert_eq!(places.statement(""), "row 1, columns 256-511 only, in full");
    let map = places.map.unwrap();
    assert_eq!((map.columns.step, map.columns.extent, map.rows.count()), (256, 768, 2));
    assert_eq!(map.lit, [Lit { cell: 4, elements: 256 }]);
    // Q6_K: the first column of blocks.
    let places = of(14, &[2, 768], 210, &[(208, nan), (3 * 210 + 208, nan)]);
    assert_eq!(places.statement(""), "columns 0-255 only, in full");
    // NVFP4: each of four scales has 16 elements.
    let places = of(40, &[2, 192], 36, &[(36 + 2, &[0x7F])]);
    assert_eq!(places.elements, 16);
    assert_eq!(places.statement(""), "row 0, columns 96-111 only, in full");
}

#[test]
fn complex_numbers() {
    let numbers = [[0.0, f32::NAN], [0.0, 0.0], [f32::NAN, f32::INFINITY]].concat();
    let data: Vec<u8> = numbers.into_iter().flat_map(f32::to_le_bytes).collect();
    let places = places_of(&npy("<c8", &[3], false, &data), FileFormat::NPY).unwrap();
    assert_eq!((places.elements, places.of), (2, 3));
    assert_eq!(places.statement(""), "indices 0, 2 only, in full");
    // Elements behind the first chunk.
    let count = 20_000;
    for place in [9000, count - 1] {
        let mut data = vec![0; 8 * count];
        data[8 * place + 4..][..4].copy_from_slice(&f32::NAN.to_le_bytes());
        let bytes = npy("<c8", &[count], false, &data);
        let places = places_of(&bytes, FileFormat::NPY).unwrap();
        assert_eq!((places.elements, places.of), (1, count as u64));
        assert_eq!(places.axes[0].ranges, [(place as u64, place as u64)]);
    }
}

/// The report of a tensor has a statement for more than three places.
#[test]
fn statements_of_reports() {
    let statement = |bytes: &[u8], format| {
        let tensor = report_with(bytes, format, &options()).tensors.remove(0);
        tensor.statement()
    };
    let rows = |bad: usize| statement(&array(&[5], false, |i| i < bad), FileFormat::NPY);
    assert_eq!([rows(0), rows(1), rows(3)], [None, None, None]);
    assert_eq!(rows(4).as_deref(), Some("indices 0-3 only, in full"));
    let mut data = vec![0; 34 * 3];
    data[34..36].copy_from_slice(&0x7E00u16.to_le_bytes());
    let entry = Entry { name: "x", kind: 8, shape: &[3, 32], data: &data };
    let scales = statement(&gguf(&[entry], false, &[]), FileFormat::GGUF);
    assert_eq!(scales.as_deref(), Some("32 weights: row 1 only, in full"));
}

/// Only the kinds that make the tensor bad have places.
#[test]
fn allowed_kinds() {
    let numbers = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 0.0];
    let data: Vec<u8> = numbers.into_iter().flat_map(f32::to_le_bytes).collect();
    let bytes = npy("<f4", &[4], false, &data);
    let of = |kinds: &str| {
        let options = Options { fail_on: kinds.parse().unwrap(), ..options() };
        report_with(&bytes, FileFormat::NPY, &options).tensors.remove(0).places.clone()
    };
    let statement = |kinds| of(kinds).unwrap().statement("");
    assert_eq!(statement("all"), "indices 0-2 only, in full");
    assert_eq!(statement("nan,-inf"), "indices 0, 2 only, in full");
    assert_eq!(statement("nan,+inf"), "indices 0-1 only, in full");
    assert_eq!(statement("inf"), "indices 1-2 only, in full");
    let options = Options { allow: vec!["*:all".parse().unwrap()], ..options() };
    assert_eq!(report_with(&bytes, FileFormat::NPY, &options).tensors[0].places, None);
}

/// Decoded and swapped data, any number of threads, and options that are off.
#[test]
fn ways_to_the_data() {
    let is_bad = |i: usize| i / 1000 == 7 || i == 2_000_000;
    let shape = [2000, 1001];
    let plain = array(&shape, false, is_bad);
    let expected = places_of(&plain, FileFormat::NPY).unwrap();
    let archive = deflated(&[("x.npy", &plain)]);
    assert_eq!(places_of(&archive, FileFormat::NPZ).as_ref(), Some(&expected));
    let numbers = (0..2_002_000).map(|i| if is_bad(i) { f32::NAN } else { 0.0 });
    let swapped: Vec<u8> = numbers.flat_map(f32::to_be_bytes).collect();
    let swapped = npy(">f4", &shape, false, &swapped);
    assert_eq!(places_of(&swapped, FileFormat::NPY).as_ref(), Some(&expected));
    for threads in [1, 2, 16] {
        let options = Options { threads: NonZeroUsize::new(threads), ..options() };
        let places = &report_with(&plain, FileFormat::NPY, &options).tensors[0].places;
        assert_eq!(places.as_ref(), Some(&expected), "{threads} threads");
    }
    let without_map = Options { draw: false, ..options() };
    let places = &report_with(&plain, FileFormat::NPY, &without_map).tensors[0].places;
    let mut without = expected;
    without.map = None;
    assert_eq!(places.as_ref(), Some(&without));
    let report = report_with(&plain, FileFormat::NPY, &Options::default());
    assert_eq!(report.tensors[0].places, None);
}

/// The bits for indices are bounded.
#[test]
fn most_indices() {
    for (more, is_said) in [(0, true), (1, false)] {
        let length = Places::MOST_INDICES as usize + more;
        let mut data = vec![0; length];
        data[length - 1] = 0x7F;
        let entry = Entry { name: "x", kind: "F8_E4M3", shape: &[length], data: &data };
        let report = report_with(&safetensors(&[entry]), FileFormat::SAFETENSORS, &options());
        assert_eq!(report.tensors[0].found.nan.count, 1);
        assert_eq!(report.tensors[0].places.is_some(), is_said);
    }
}

/// The cells of all maps are bounded.
#[test]
fn most_lit_cells() {
    let most = Map::MOST_LIT / (64 * 64);
    let data = vec![0x7F; 64 * 64];
    let names: Vec<_> = (0..most + 2).map(|i| i.to_string()).collect();
    let entry = |name| Entry { name, kind: "F8_E4M3", shape: &[64, 64], data: &data };
    let mut entries: Vec<_> = names.iter().map(|name| entry(name)).collect();
    // One more cell is too much.
    entries.push(Entry { name: "one", kind: "F8_E4M3", shape: &[1], data: &[0x7F] });
    let bytes = safetensors(&entries);
    let with = |threads| -> Report {
        let options = Options { threads: NonZeroUsize::new(threads), ..options() };
        report_with(&bytes, FileFormat::SAFETENSORS, &options)
    };
    let report = with(1);
    for (index, tensor) in report.tensors.iter().enumerate() {
        let places = tensor.places.as_ref().unwrap();
        assert_eq!(places.statement(""), "everything");
        assert_eq!(places.map.is_some(), index < most, "{index}");
    }
    assert_eq!(with(5), report);
}
