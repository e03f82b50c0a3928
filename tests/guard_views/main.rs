//! Strided tensors at both ends of memory between guard pages: a read or write outside of the
//! memory ends the process. Padding of outputs must keep its values.
#![cfg(unix)]

#[path = "../guard/pages.rs"]
mod pages;

use nonfinite::{Backend, Elements, Format, MaskView, Predicate, TensorView};
use pages::Guarded;

/// Sizes and strides of the layouts of a few engines, for these numbers of channels and pixels.
fn layouts(c: usize, p: usize) -> Vec<[(usize, isize); 2]> {
    let (channels, pixels) = (c as isize, p as isize);
    vec![
        [(c, pixels), (p, 1)],
        [(c, 1), (p, channels)],
        [(c, 1), (p, channels + 1)],
        [(c, pixels + 3), (p, 1)],
        [(c, 2 * pixels), (p, 2)],
        [(c, -pixels), (p, -1)],
        [(c, -1), (p, channels)],
        [(c, 3 * pixels), (p, -3)],
    ]
}

/// The offset, and the elements from the first to the last.
fn reach(layout: &[(usize, isize)]) -> (usize, usize) {
    let reach = |sign: isize| -> usize {
        layout.iter().map(|&(size, stride)| (sign * stride).max(0) as usize * (size - 1)).sum()
    };
    (reach(-1), reach(-1) + reach(1) + 1)
}

fn places(layout: &[(usize, isize)]) -> Vec<usize> {
    let mut places = vec![reach(layout).0 as isize];
    for &(size, stride) in layout {
        places =
            places.iter().flat_map(|at| (0..size as isize).map(move |i| at + i * stride)).collect();
    }
    places.into_iter().map(|place| place as usize).collect()
}

#[test]
fn views_touch_nothing_outside() {
    let reduced = std::env::var_os("NONFINITE_REDUCED").is_some();
    let shapes: &[(usize, usize)] = match reduced {
        false => &[
            (1, 1),
            (2, 3),
            (3, 500),
            (4, 70),
            (5, 65),
            (16, 64),
            (17, 80),
            (64, 64),
            (70, 9),
            (2, 1100),
        ],
        true => &[(2, 3), (3, 130), (17, 80)],
    };
    let room = 1 << 15;
    let (mut input, mut output) = (Guarded::new(8 * room), Guarded::new(room));
    for backend in nonfinite_oracle::backends() {
        println!("backend {}: ran", backend.name());
        for &(c, p) in shapes {
            for from in layouts(c, p) {
                for to in layouts(c, p) {
                    for at_end in [false, true] {
                        check::<4>(
                            backend,
                            Format::F32,
                            &mut input,
                            &mut output,
                            at_end,
                            &from,
                            &to,
                            |raw| f32::from_ne_bytes(raw).is_nan(),
                        );
                        check::<8>(
                            backend,
                            Format::F64,
                            &mut input,
                            &mut output,
                            at_end,
                            &from,
                            &to,
                            |raw| f64::from_ne_bytes(raw).is_nan(),
                        );
                    }
                }
            }
        }
    }
}

fn first_of(hits: &[bool]) -> Option<usize> {
    hits.iter().position(|&hit| hit)
}

#[allow(clippy::too_many_arguments, reason = "what a case is made of")]
fn check<const SIZE: usize>(
    backend: Backend,
    format: Format,
    input: &mut Guarded,
    output: &mut Guarded,
    at_end: bool,
    from: &[(usize, isize)],
    to: &[(usize, isize)],
    is_nan: fn([u8; SIZE]) -> bool,
) {
    let part = |bytes: &mut [u8], size: usize| {
        if at_end { bytes.len() - size..bytes.len() } else { 0..size }
    };
    let (offset, memory) = reach(from);
    let bytes = input.bytes();
    let range = part(bytes, memory * SIZE);
    let bytes = &mut bytes[range];
    for (i, raw) in bytes.chunks_exact_mut(SIZE).enumerate() {
        // All ones is NaN in every IEEE format.
        raw.fill(if i % 7 == 3 { 0xFF } else { 0 });
    }
    let raws: Vec<[u8; SIZE]> = bytes.as_chunks::<SIZE>().0.to_vec();
    let hits: Vec<bool> = places(from).into_iter().map(|place| is_nan(raws[place])).collect();
    let (sizes, strides): (Vec<_>, Vec<_>) = from.iter().copied().unzip();
    let view =
        TensorView::strided(Elements::from_bytes(bytes, format).unwrap(), offset, &sizes, &strides);
    let view = view.unwrap().on(backend);
    let at = || format!("{} {format} {from:?} to {to:?}, at the end: {at_end}", backend.name());

    assert_eq!(view.count(Predicate::Nan), hits.iter().filter(|&&hit| hit).count(), "{}", at());
    assert_eq!(view.position(Predicate::Nan), hits.iter().position(|&hit| hit), "{}", at());
    assert!(!view.any(Predicate::Inf), "{}", at());
    assert_eq!(view.census().nan.first, hits.iter().position(|&hit| hit), "{}", at());
    let stats = view.stats();
    assert_eq!(stats.census, view.census(), "{}", at());
    assert_eq!(stats.zeros, hits.iter().filter(|&&hit| !hit).count(), "{}", at());
    let mut along = vec![stats; sizes[0]];
    view.rows(1).unwrap().stats(&mut along).unwrap();
    assert_eq!(along.iter().map(|row| row.zeros).sum::<usize>(), stats.zeros, "{}", at());
    let mut rows = vec![false; sizes[0]];
    view.rows(1).unwrap().any(Predicate::Nan, &mut rows).unwrap();
    let mut counts = vec![0; sizes[0]];
    view.rows(1).unwrap().count(Predicate::Nan, &mut counts).unwrap();
    for (row, hits) in hits.chunks(sizes[1]).enumerate() {
        let count = hits.iter().filter(|&&hit| hit).count();
        assert_eq!((rows[row], counts[row]), (count > 0, count), "row {row} {}", at());
    }

    let mut columns = vec![0; sizes[1]];
    view.rows(0).unwrap().count(Predicate::Nan, &mut columns).unwrap();
    for (column, &count) in columns.iter().enumerate() {
        let hits = hits.iter().skip(column).step_by(sizes[1]).filter(|&&hit| hit).count();
        assert_eq!(count, hits, "column {column} {}", at());
    }
    let mut bitmap = vec![0; hits.len().div_ceil(8)];
    view.bits(Predicate::Nan, &mut bitmap, 0).unwrap();
    let bits = (0..hits.len()).map(|i| bitmap[i / 8] >> (i % 8) & 1 == 1);
    assert!(bits.eq(hits.iter().copied()), "{}", at());

    // The first hit and every third element are null.
    let first = first_of(&hits);
    let valid: Vec<bool> = (0..hits.len()).map(|i| i % 3 != 0 && Some(i) != first).collect();
    let validity = nonfinite_oracle::bitmap(&valid, 5);
    let nullable = view.with_validity(&validity, 5).unwrap();
    let left: Vec<bool> = hits.iter().zip(&valid).map(|(&hit, &valid)| hit && valid).collect();
    let count = left.iter().filter(|&&hit| hit).count();
    assert_eq!(nullable.count(Predicate::Nan), count, "{}", at());
    assert_eq!(nullable.any(Predicate::Nan), count > 0, "{}", at());
    assert_eq!(nullable.position(Predicate::Nan), first_of(&left), "{}", at());
    assert_eq!(nullable.stats().census, nullable.census(), "{}", at());

    let (offset, memory) = reach(to);
    let room = output.bytes();
    let range = part(room, memory);
    let out = &mut room[range];
    out.fill(0xA5);
    let mut want = out.to_vec();
    for (place, &hit) in places(to).into_iter().zip(&hits) {
        want[place] = u8::from(hit);
    }
    let (sizes, strides): (Vec<_>, Vec<_>) = to.iter().copied().unzip();
    let mut out_view = MaskView::strided(&mut *out, offset, &sizes, &strides).unwrap();
    view.mask_into(Predicate::Nan, &mut out_view).unwrap();
    assert!(out == want, "{}", at());
}
