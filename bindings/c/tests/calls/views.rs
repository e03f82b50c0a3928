//! Strided tensors against the oracle, element by element.

use std::ptr::{null, null_mut, without_provenance, without_provenance_mut};

use nonfinite_capi::*;

use crate::common::{
    CANARY, PREDICATES, bitmaps, census, count, first, formats, memory, on_each_backend, stats,
};
use crate::oracle::{Kind, holds};

/// Sizes, strides and offset in a memory of 420 elements.
const LAYOUTS: [(&[usize], &[isize], isize); 12] = [
    (&[], &[], 5),
    (&[0], &[7], isize::MAX >> 20), // far outside, also where isize has 32 bits
    (&[3, 0, 4], &[1, -99, 1], -1),
    (&[400], &[1], 20),
    (&[200], &[2], 1),
    (&[400], &[-1], 419),
    (&[4, 5, 20], &[100, 20, 1], 3),
    (&[4, 5, 20], &[1, 80, 4], 0),
    (&[6, 64], &[70, 1], 0),
    (&[6, 64], &[-70, -1], 413),
    (&[3, 2, 65], &[0, 130, 2], 10),
    (&[1, 70, 1], &[isize::MAX, 6, isize::MIN], 0),
];

fn view(
    data: &[u8],
    format: FormatCode,
    (sizes, strides, offset): (&[usize], &[isize], isize),
) -> View {
    View {
        data: data.as_ptr().cast(),
        format,
        rank: sizes.len(),
        sizes: sizes.as_ptr(),
        strides: strides.as_ptr(),
        offset,
        validity: null(),
        validity_offset: 0,
    }
}

/// Row-major coordinates of these sizes.
fn coordinates(sizes: &[usize]) -> Vec<Vec<usize>> {
    sizes.iter().fold(vec![vec![]], |outer, &size| {
        outer.iter().flat_map(|c| (0..size).map(move |i| [c.as_slice(), &[i]].concat())).collect()
    })
}

fn place(coordinate: &[usize], strides: &[isize], offset: isize) -> usize {
    let steps: isize =
        coordinate.iter().zip(strides).map(|(&i, &stride)| (i as isize).wrapping_mul(stride)).sum();
    (offset + steps) as usize
}

fn packed(sizes: &[usize]) -> Vec<isize> {
    (0..sizes.len()).map(|i| sizes[i + 1..].iter().product::<usize>() as isize).collect()
}

fn check(backend: &str, x: &View, sizes: &[usize], kinds: &[Kind], numbers: &Stats) {
    for (predicate, meaning) in PREDICATES {
        let at = format!("{backend} {} {meaning:?} {sizes:?}", x.format);
        let answers: Vec<bool> = kinds.iter().map(|&kind| holds(meaning, kind)).collect();
        // Packed, and column-major backwards with gaps.
        let backwards: Vec<isize> = packed(sizes).iter().map(|stride| -3 * stride).collect();
        let reach = 3 * kinds.len();
        for (strides, offset, step) in [(None, 1, 1), (Some(&backwards), reach as isize, -3)] {
            let mut out = vec![CANARY; reach + 2];
            let mut new = out.clone();
            for (i, &answer) in answers.iter().enumerate() {
                new[(offset + i as isize * step) as usize] = answer.into();
            }
            let strides = strides.map_or(null(), |strides: &Vec<isize>| strides.as_ptr());
            // SAFETY: the view is of the memory of the test; the output has room for all results at
            // these strides.
            let status = unsafe { nf_view_mask(x, predicate, out.as_mut_ptr(), offset, strides) };
            assert_eq!((status, out), (NF_OK, new), "{at} step {step}");
        }
        for offset in [0, 13] {
            let (mut bits, new) = bitmaps(&answers, offset);
            // SAFETY: as above, and a bitmap as it is.
            let status =
                unsafe { nf_view_bits(x, predicate, bits.as_mut_ptr(), bits.len(), offset) };
            assert_eq!((status, bits), (NF_OK, new), "{at} from bit {offset}");
        }
        let (mut any, mut all, mut number, mut index) = (false, false, 0, 0);
        let mut coordinate = vec![usize::MAX; sizes.len()];
        let places = coordinate.as_mut_ptr();
        // SAFETY: as above, slots, and one number a dimension.
        unsafe {
            assert_eq!(nf_view_any(x, predicate, &mut any), NF_OK, "{at}");
            assert_eq!(nf_view_all(x, predicate, &mut all), NF_OK, "{at}");
            assert_eq!(nf_view_count(x, predicate, &mut number), NF_OK, "{at}");
            assert_eq!(nf_view_first(x, predicate, &mut index, places), NF_OK, "{at}");
        }
        assert_eq!((number, index), (count(&answers), first(&answers)), "{at}");
        assert_eq!((any, all), (number > 0, number == kinds.len() as u64), "{at}");
        let found = any.then(|| coordinates(sizes).swap_remove(index as usize));
        assert_eq!(coordinate, found.unwrap_or(vec![usize::MAX; sizes.len()]), "{at}");
    }
    let mut taken = Census::default();
    // SAFETY: as above, and a slot.
    assert_eq!(unsafe { nf_view_census(x, &mut taken) }, NF_OK);
    assert_eq!(taken, census(kinds), "{backend} {} {sizes:?}", x.format);
    let mut taken = Stats::default();
    // SAFETY: as above, and a slot.
    assert_eq!(unsafe { nf_view_stats(x, &mut taken) }, NF_OK);
    assert_eq!(taken, *numbers, "{backend} {} {sizes:?}", x.format);
}

#[test]
fn every_layout_every_format() {
    for (code, format) in formats() {
        let (bytes, kinds) = memory(format, 420);
        on_each_backend(|backend| {
            for layout @ (sizes, strides, offset) in LAYOUTS {
                let places: Vec<usize> =
                    coordinates(sizes).iter().map(|c| place(c, strides, offset)).collect();
                let named: Vec<Kind> = places.iter().map(|&at| kinds[at]).collect();
                let size = format.size_in_bytes();
                let gathered: Vec<u8> =
                    places.iter().flat_map(|at| &bytes[1 + at * size..][..size]).copied().collect();
                let numbers = stats(format, &gathered);
                check(backend, &view(&bytes[1..], code, layout), sizes, &named, &numbers);
                if named.len() <= 400 {
                    let x =
                        View { strides: null(), ..view(&bytes[1..], code, (sizes, strides, 20)) };
                    let (first, last) = (20, 20 + named.len());
                    let numbers = stats(format, &bytes[1 + first * size..][..named.len() * size]);
                    check(backend, &x, sizes, &kinds[first..last], &numbers);
                }
            }
        });
    }
}

#[test]
fn data_may_point_behind_what_it_names() {
    let x = [f32::NAN, 0.0, 1.0, f32::INFINITY];
    let end = View {
        data: x.as_ptr().wrapping_add(100).cast(),
        format: NF_FORMAT_F32,
        rank: 2,
        sizes: [2, 2].as_ptr(),
        strides: [-1, 2].as_ptr(),
        offset: -99,
        validity: null(),
        validity_offset: 0,
    };
    let mut out = [CANARY; 4];
    // SAFETY: elements 1 3 0 2 of `x`.
    assert_eq!(unsafe { nf_view_mask(&end, NF_IS_NON_FINITE, out.as_mut_ptr(), 0, null()) }, NF_OK);
    assert_eq!(out, [0, 1, 1, 0]);
    let (mut index, mut at) = (9, [9; 2]);
    // SAFETY: two dimensions.
    unsafe {
        assert_eq!(nf_view_first(&end, NF_IS_NAN, &mut index, at.as_mut_ptr()), NF_OK);
        assert_eq!((index, at), (2, [1, 0]));
        assert_eq!(nf_view_first(&end, NF_IS_INF, &mut index, null_mut()), NF_OK);
        assert_eq!(index, 1);
        let misaligned = without_provenance_mut(4);
        let status = nf_view_first(&end, NF_IS_INF, &mut index, misaligned);
        assert_eq!((status, index), (NF_ERR_MISALIGNED, 1));
    }
}

/// Results are written when all elements, sizes and strides were read.
#[test]
fn a_coordinate_may_take_the_place_of_the_sizes() {
    let (x, mut sizes) = ([0.0, 1.0, 2.0, f64::NAN], [2usize; 2]);
    let own = &raw mut sizes;
    let x = View {
        data: x.as_ptr().cast(),
        rank: 2,
        sizes: own.cast(),
        strides: null(),
        ..view(&[], NF_FORMAT_F64, (&[], &[], 0))
    };
    let mut index = 9;
    // SAFETY: four elements, two sizes, and as many places.
    let status = unsafe { nf_view_first(&x, NF_IS_NAN, &mut index, own.cast()) };
    assert_eq!((status, index, sizes), (NF_OK, 3, [1, 1]));
}

#[test]
fn bad_views_are_refused() {
    let x = [1f32; 16];
    let (sizes, strides) = ([2usize, 2, 2], [4isize, 2, 1]);
    let good = View {
        data: x.as_ptr().cast(),
        format: NF_FORMAT_F32,
        rank: 3,
        sizes: sizes.as_ptr(),
        strides: strides.as_ptr(),
        offset: 0,
        validity: null(),
        validity_offset: 0,
    };
    let huge = [usize::MAX, usize::MAX, 1];
    let broadcast = [0isize; 3];
    let far = [isize::MAX, isize::MAX, 1];
    let apart = [isize::MAX / 2 + 1, isize::MIN / 2, 1];
    let bad = [
        (View { data: null(), ..good }, NF_ERR_NULL),
        (View { data: null(), offset: 100, ..good }, NF_ERR_NULL),
        (View { sizes: null(), ..good }, NF_ERR_NULL),
        (View { sizes: without_provenance(9), ..good }, NF_ERR_MISALIGNED),
        (View { strides: without_provenance(9), ..good }, NF_ERR_MISALIGNED),
        (View { rank: usize::MAX, ..good }, NF_ERR_LENGTH),
        (View { format: 0, ..good }, NF_ERR_FORMAT),
        (View { offset: isize::MAX, ..good }, NF_ERR_LENGTH),
        (View { offset: isize::MIN, ..good }, NF_ERR_LENGTH),
        (View { data: without_provenance(64), offset: -17, ..good }, NF_ERR_LENGTH),
        (View { data: without_provenance(usize::MAX - 20), ..good }, NF_ERR_LENGTH),
        (View { strides: far.as_ptr(), ..good }, NF_ERR_LENGTH),
        (View { strides: apart.as_ptr(), ..good }, NF_ERR_LENGTH),
        (View { sizes: huge.as_ptr(), ..good }, NF_ERR_LENGTH),
        (View { sizes: huge.as_ptr(), strides: null(), ..good }, NF_ERR_LENGTH),
        (View { sizes: huge.as_ptr(), strides: broadcast.as_ptr(), ..good }, NF_ERR_LENGTH),
    ];
    for (x, status) in bad
        .iter()
        .map(|(x, status)| (&raw const *x, *status))
        .chain([(null(), NF_ERR_NULL), (without_provenance(12), NF_ERR_MISALIGNED)])
    {
        let at = format!("{x:?} {status}");
        let mut out = [CANARY; 8];
        let (mut flag, mut word, mut census) = (true, 77, Census::default());
        let mut stats = Stats::default();
        let mut coordinate = [9; 3];
        // SAFETY: refused.
        unsafe {
            assert_eq!(nf_view_mask(x, NF_IS_NAN, out.as_mut_ptr(), 0, null()), status, "{at}");
            assert_eq!(nf_view_bits(x, NF_IS_NAN, out.as_mut_ptr(), 8, 0), status, "{at}");
            assert_eq!(nf_view_any(x, NF_IS_NAN, &mut flag), status, "{at}");
            assert_eq!(nf_view_all(x, NF_IS_NON_FINITE, &mut flag), status, "{at}");
            assert_eq!(nf_view_count(x, NF_IS_NAN, &mut word), status, "{at}");
            let places = coordinate.as_mut_ptr();
            assert_eq!(nf_view_first(x, NF_IS_NAN, &mut word, places), status, "{at}");
            assert_eq!(nf_view_census(x, &mut census), status, "{at}");
            assert_eq!(nf_view_stats(x, &mut stats), status, "{at}");
        }
        assert_eq!((out, flag, word, coordinate), ([CANARY; 8], true, 77, [9; 3]), "{at}");
        assert_eq!(census, Census::default(), "{at}");
        assert_eq!(stats, Stats::default(), "{at}");
    }
    // The same view with wrong arguments.
    let mut out = [CANARY; 8];
    // SAFETY: refused.
    unsafe {
        for predicate in [0, 9] {
            assert_eq!(
                nf_view_mask(&good, predicate, out.as_mut_ptr(), 0, null()),
                NF_ERR_PREDICATE
            );
            assert_eq!(nf_view_bits(&good, predicate, out.as_mut_ptr(), 8, 0), NF_ERR_PREDICATE);
            let (mut flag, mut word) = (true, 77);
            assert_eq!(nf_view_any(&good, predicate, &mut flag), NF_ERR_PREDICATE);
            assert_eq!(nf_view_all(&good, predicate, &mut flag), NF_ERR_PREDICATE);
            assert_eq!(nf_view_count(&good, predicate, &mut word), NF_ERR_PREDICATE);
            let status = nf_view_first(&good, predicate, &mut word, null_mut());
            assert_eq!(status, NF_ERR_PREDICATE);
        }
        assert_eq!(nf_view_any(&good, NF_IS_NAN, null_mut()), NF_ERR_NULL);
        assert_eq!(nf_view_all(&good, NF_IS_NAN, null_mut()), NF_ERR_NULL);
        assert_eq!(nf_view_count(&good, NF_IS_NAN, without_provenance_mut(4)), NF_ERR_MISALIGNED);
        let status = nf_view_first(&good, NF_IS_NAN, without_provenance_mut(4), null_mut());
        assert_eq!(status, NF_ERR_MISALIGNED);
        assert_eq!(nf_view_census(&good, without_provenance_mut(4)), NF_ERR_MISALIGNED);
        assert_eq!(nf_view_stats(&good, without_provenance_mut(4)), NF_ERR_MISALIGNED);
        assert_eq!(nf_view_bits(&good, NF_IS_NAN, out.as_mut_ptr(), 8, 57), NF_ERR_OUTPUT_LENGTH);
        assert_eq!(
            nf_view_bits(&good, NF_IS_NAN, out.as_mut_ptr(), 8, usize::MAX),
            NF_ERR_OUTPUT_LENGTH
        );
    }
    assert_eq!(out, [CANARY; 8]);
}

#[test]
fn bad_outputs_are_refused() {
    let mut memory = [0u64; 64];
    let start = memory.as_mut_ptr();
    let (mut sizes, mut strides, mut out_strides) = ([2usize, 3], [3isize, 1], [3isize, 1]);
    let x = View {
        data: start.cast(),
        format: NF_FORMAT_F64,
        rank: 2,
        sizes: (&raw mut sizes).cast(),
        strides: (&raw mut strides).cast(),
        offset: 0,
        validity: null(),
        validity_offset: 0,
    };
    let mut out = [CANARY; 64];
    let mask = |out: *mut u8, offset: isize, strides: *const isize| {
        // SAFETY: six elements of `memory`; where it is not refused, the output is in an array with
        // room for it.
        unsafe { nf_view_mask(&x, NF_IS_FINITE, out, offset, strides) }
    };
    let all = out.as_mut_ptr();
    for strides in [[0isize, 1], [1, 1], [2, 1], [-2, 1], [3, 0], [3, 2]] {
        assert_eq!(mask(all, 20, strides.as_ptr()), NF_ERR_OUTPUT_STRIDES, "{strides:?}");
    }
    assert_eq!(mask(null_mut(), 0, null()), NF_ERR_NULL);
    assert_eq!(mask(null_mut(), 8, null()), NF_ERR_NULL);
    assert_eq!(mask(all, 0, without_provenance(4)), NF_ERR_MISALIGNED);
    assert_eq!(mask(all, isize::MAX, null()), NF_ERR_LENGTH);
    assert_eq!(mask(without_provenance_mut(3), -4, null()), NF_ERR_LENGTH);
    assert_eq!(mask(all, 0, [isize::MAX, 1].as_ptr()), NF_ERR_LENGTH);
    // Over the input: over its elements (bytes 0..48), and over its description.
    let bytes = start.cast::<u8>();
    assert_eq!(mask(bytes.wrapping_add(47), 0, null()), NF_ERR_OVERLAP);
    assert_eq!(mask(bytes.wrapping_add(64), -20, null()), NF_ERR_OVERLAP);
    assert_eq!(mask((&raw mut sizes).cast(), 0, null()), NF_ERR_OVERLAP);
    assert_eq!(mask((&raw mut strides).cast(), 8, null()), NF_ERR_OVERLAP);
    let own = &raw mut out_strides;
    assert_eq!(mask(own.cast(), 8, own.cast()), NF_ERR_OVERLAP);
    // SAFETY: refused.
    unsafe {
        assert_eq!(nf_view_bits(&x, NF_IS_NAN, bytes, 64, 8 * 47), NF_ERR_OVERLAP);
    }
    assert_eq!((out, memory), ([CANARY; 64], [0; 64]));
    assert_eq!((sizes, strides, out_strides), ([2, 3], [3, 1], [3, 1]));
    assert_eq!(mask(bytes.wrapping_add(48), 0, null()), NF_OK);
}
