//! Views that are not dense, large masks, and refusals.

use nonfinite::{Elements, Error, Format, Occurrences, Predicate, TensorView};
use nonfinite_oracle::{Asked, Expected, Kind, Layout, backends, kind};
use rayon::ThreadPoolBuilder;

use crate::{ALONE, check, pools, random};

/// Layouts whose parts are boxes. Elements are wide, so that few of them are enough for several
/// threads.
#[test]
fn strided_views() {
    let mut random = random();
    // The upper 16 bits hold all kinds.
    let codes: Vec<u8> = (0..3 << 18).flat_map(|_| (random() << 48).to_ne_bytes()).collect();
    let x = Elements::from_bytes(&codes, Format::F64).unwrap();
    let layouts: [(&[usize], &[isize]); 7] = [
        (&[1 << 18], &[3]),
        (&[1 << 18, 3], &[1, 1 << 18]),
        (&[3, 1 << 18], &[1, 3]),
        (&[2, 1, 256, 513], &[1 << 18, 5, 1024, 1]),
        (&[550, 950], &[975, 1]),
        (&[5, 7, 10_000], &[1, 25_000, 2]),
        (&[3, 1 << 18], &[0, 3]),
    ];
    let asked = [Predicate::Nan, Predicate::Finite, Predicate::NanOrPositiveInf].map(Asked::Is);
    let pools = pools();
    for (turn, (sizes, strides)) in layouts.into_iter().enumerate() {
        let layout = Layout::new(sizes, strides);
        let expected = Expected::strided(Format::F64, &codes, &layout).asking(&asked);
        // Parts do not depend on the backend.
        let (pool, backend) = (&pools[turn % 4..][..1], backends()[turn % backends().len()]);
        check(pool, &layout.view(x).unwrap().with_backend(backend).par(), &expected);
    }
}

/// On every backend, by one thread and by three.
#[test]
fn large_masks() {
    let elements = (1 << 21) + 70;
    let format = Format::F8E5M2;
    // One more than all codes, so that the pattern moves.
    let codes: Vec<u8> = (0..=255).chain([0x7F]).collect();
    let x: Vec<u8> = codes.iter().copied().cycle().take(elements).collect();
    let hits: Vec<u8> =
        codes.iter().map(|&code| u8::from(kind(format, code.into()) == Kind::Nan)).collect();
    let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for &backend in backends() {
        let view = TensorView::from_bytes(&x, format).unwrap().with_backend(backend);
        for threads in [false, true] {
            let mut mask = vec![0xA5; elements];
            let written = if threads {
                pool.install(|| view.par().mask(Predicate::Nan, &mut mask))
            } else {
                view.mask(Predicate::Nan, &mut mask)
            };
            assert_eq!(written, Ok(()));
            let wrong = mask.chunks(hits.len()).position(|piece| *piece != hits[..piece.len()]);
            let at = format!("{}, piece of {} results", backend.name(), hits.len());
            assert_eq!(wrong, None, "{at}, threads: {threads}");
        }
    }
}

/// A view that names one element so often that no pool could take parts of it.
#[test]
fn huge_broadcasts() {
    let sizes = [isize::MAX as usize];
    let view = TensorView::strided(&[f32::NAN], 0, &sizes, &[0]).unwrap().par();
    assert!(view.any(Predicate::Nan) && !view.any(Predicate::Inf) && view.all(Predicate::Nan));
    assert_eq!((view.count(Predicate::Nan), view.position(Predicate::Nan)), (sizes[0], Some(0)));
    assert_eq!(view.census().nan, Occurrences::new(sizes[0], Some(0)));
}

#[test]
fn what_does_not_fit_is_refused() {
    let x = vec![f32::NAN; ALONE];
    let view = TensorView::from(&x).par();
    for wrong in [ALONE - 1, ALONE + 1] {
        let mut mask = vec![false; wrong];
        let error = Error::OutputLength { elements: ALONE, output: wrong };
        assert_eq!(view.mask(Predicate::Nan, &mut mask), Err(error));
        assert!(!mask.contains(&true), "nothing is written");
    }
    for (room, offset) in
        [(ALONE / 8, 1), (ALONE / 8, 7), (ALONE / 8 - 1, 0), (ALONE / 8, usize::MAX)]
    {
        let mut bitmap = vec![0; room];
        let error = Error::OutputBits { elements: ALONE, offset, bytes: room };
        assert_eq!(view.bits(Predicate::Nan, &mut bitmap, offset), Err(error));
        assert!(bitmap.iter().all(|&byte| byte == 0), "nothing is written");
    }
    let mut rows = [true; 3];
    let shape = [ALONE / 4, 4];
    let rows_of = TensorView::shaped(&x, &shape).unwrap().par().rows(1).unwrap();
    let error = Error::Rows { rows: ALONE / 4, output: 3 };
    assert_eq!(rows_of.any(Predicate::Nan, &mut rows), Err(error));
    assert_eq!(rows, [true; 3], "nothing is written");
}
