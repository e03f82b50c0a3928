//! A watch against the oracle, and with several threads.
#![cfg(all(feature = "std", feature = "stats"))]

use std::panic::catch_unwind;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use nonfinite::{BadTensor, Error, Format, Predicate, TensorView, Totals, Watch};
use nonfinite_oracle::{Kind, backends, edges, holds, kind, value, write};

/// All codes of a byte, and the codes at the borders of each kind of a wider format.
fn codes(format: Format) -> Vec<u64> {
    if format.size_in_bytes() == 1 { (0..=0xFF).collect() } else { edges(format) }
}

fn bytes(format: Format, codes: &[u64]) -> Vec<u8> {
    let mut bytes = Vec::new();
    codes.iter().for_each(|&code| write(format, code, &mut bytes));
    bytes
}

/// The doublings of `x` that do not exceed `largest`, counted one by one.
fn doublings(mut x: f64, largest: f64) -> u32 {
    let mut count = 0;
    while x <= largest / 2.0 {
        (x, count) = (2.0 * x, count + 1);
    }
    count.min(2046)
}

#[test]
fn every_format_and_predicate() {
    for &format in Format::ALL {
        let codes = codes(format);
        let (bytes, kinds) = (bytes(format, &codes), codes.iter().map(|&code| kind(format, code)));
        let kinds: Vec<Kind> = kinds.collect();
        let nan = kinds.iter().filter(|&&kind| holds(Predicate::Nan, kind)).count();
        let inf = kinds.iter().filter(|&&kind| holds(Predicate::Inf, kind)).count();
        for &predicate in Predicate::ALL {
            let watch = Watch::new(predicate);
            for &backend in backends() {
                let name = backend.name();
                let view = TensorView::from_bytes(&bytes, format).unwrap().with_backend(backend);
                assert_eq!(watch.look(name, view), view.stats());
                let first = watch.first();
                let expected = kinds.iter().position(|&kind| holds(predicate, kind));
                assert_eq!(first.map(|bad| bad.index), expected, "{name} {format} {predicate}");
                let totals = watch.totals();
                assert_eq!((totals.tensors, totals.elements), (1, codes.len() as u64));
                assert_eq!(totals.bad_tensors, u64::from(expected.is_some()));
                assert_eq!(totals.nan, nan as u64);
                assert_eq!(totals.pos_inf + totals.neg_inf, inf as u64);
                if let Some(bad) = first {
                    assert_eq!((bad.name(), bad.call, bad.predicate), (name, 0, predicate));
                    assert_eq!((bad.elements, bad.format), (codes.len(), format));
                    assert_eq!(bad.coordinate(), [bad.index]);
                    assert_eq!(bad.stats, view.stats());
                }
                watch.clear();
                assert_eq!((watch.first(), watch.totals()), (None, Totals::default()));
            }
        }
    }
}

#[test]
fn headroom() {
    for &format in Format::ALL {
        let numbers = codes(format).into_iter().map(|code| (code, value(format, code)));
        let finite: Vec<_> = numbers.filter(|(_, x)| x.is_finite()).collect();
        let largest = finite.iter().map(|&(_, x)| x).fold(0.0, f64::max);
        let watch = Watch::new(Predicate::NonFinite);
        let mut least = None;
        let mut by_size = finite.clone();
        by_size.sort_by(|(_, a), (_, b)| a.abs().total_cmp(&b.abs()));
        for (code, x) in by_size {
            watch.look("x", TensorView::from_bytes(&bytes(format, &[code]), format).unwrap());
            least = (x != 0.0).then(|| doublings(x.abs(), largest));
            assert_eq!(watch.totals().headroom, least, "{format} {x}");
        }
        assert_eq!(least, Some(0), "{format}");
        // A smaller number later changes nothing.
        let code = finite[0].0;
        watch.look("x", TensorView::from_bytes(&bytes(format, &[code]), format).unwrap());
        assert_eq!(watch.totals().headroom, Some(0), "{format}");
    }
    let watch = Watch::new(Predicate::NonFinite);
    watch.look("none", &[0.0f32, f32::NAN, f32::NEG_INFINITY]);
    watch.look("empty", &[0.0f32; 0]);
    assert_eq!(watch.totals().headroom, None);
}

#[test]
fn totals_of_several_tensors() {
    static WATCH: Watch = Watch::new(Predicate::NanOrPositiveInf);
    WATCH.look("mask", &[f32::NEG_INFINITY, 0.0]);
    assert_eq!(WATCH.first(), None, "-Inf is meant");
    WATCH.look("small", &[1.0f64, 5e-324, 5e-324]);
    WATCH.look("bad", &[1.0f32, f32::NEG_INFINITY, f32::INFINITY, f32::NAN]);
    WATCH.look("later", &[f32::NAN]);
    let bad = WATCH.first().unwrap();
    assert_eq!((bad.name(), bad.call, bad.index), ("bad", 2, 2));
    let totals = WATCH.totals();
    assert_eq!((totals.tensors, totals.bad_tensors, totals.elements), (4, 2, 10));
    assert_eq!((totals.nan, totals.pos_inf, totals.neg_inf), (2, 1, 2));
    assert_eq!((totals.subnormals, totals.headroom), (2, Some(127)));

    // The next step counts its calls from 0.
    WATCH.clear();
    WATCH.look("x", &[1.0f32]);
    WATCH.look("y", &[f32::NAN]);
    let bad = WATCH.first().unwrap();
    assert_eq!((bad.name(), bad.call, WATCH.totals().tensors), ("y", 1, 2));
}

/// Element 5 of 6, in these dimensions.
fn bad(name: &str, sizes: &[usize]) -> BadTensor {
    let watch = Watch::new(Predicate::Nan);
    let x = [0.0, 0.0, 0.0, 0.0, 0.0, f32::NAN];
    let strides: Vec<isize> =
        (1..=sizes.len()).map(|i| sizes[i..].iter().product::<usize>() as isize).collect();
    let x = &x[6 - sizes.iter().product::<usize>()..];
    watch.look(name, TensorView::strided(x, 0, sizes, &strides).unwrap());
    watch.first().unwrap()
}

#[test]
fn names_and_coordinates() {
    let most = BadTensor::MAX_NAME;
    for length in [0, 1, most - 1, most] {
        let name = "n".repeat(length);
        let bad = bad(&name, &[6]);
        assert_eq!(bad.name(), name);
        let rest = " at [5]; 1 NaN, 0 +Inf, 0 -Inf among 6 elements of f32";
        assert_eq!(bad.to_string(), format!("nan: {name}{rest}"));
    }
    for (name, kept) in [
        ("n".repeat(most + 1), most),
        ("n".repeat(100 * most), most),
        // A character of two bytes and one of four that lie across the end.
        (format!("n{}", "\u{e4}".repeat(most)), most - 1),
        (format!("nn{}", "\u{1f980}".repeat(most)), most - 2),
    ] {
        let bad = bad(&name, &[6]);
        assert_eq!(bad.name(), &name[..kept]);
        assert!(bad.to_string().starts_with(&format!("nan: {}... at [5]", &name[..kept])));
        assert!(format!("{bad:?}").contains("n"), "names are printed as text");
    }

    assert!(bad("x", &[]).coordinate().is_empty());
    assert_eq!(bad("x", &[3, 2]).coordinate(), [2, 1]);
    let bad = bad("x", &[1, 1, 3, 1, 1, 2, 1, 1, 1]);
    assert_eq!((bad.index, bad.coordinate()), (5, &[0, 0, 2, 0, 0, 1, 0, 0, 0][..]));
    assert!(bad.to_string().starts_with("nan: x at [0, 0, 2, 0, 0, 1, 0, 0, 0]; 1 NaN"));
}

/// Finite elements can be bad.
#[test]
fn a_threshold() {
    let watch = Watch::new(Predicate::exceeds(Format::F32, 65504.0).unwrap());
    watch.look("fits", &[65504.0f32, -1.0]);
    watch.look("large", &[1.0f32, -1e5]);
    let bad = watch.first().unwrap();
    assert_eq!((bad.name(), bad.index, watch.totals().bad_tensors), ("large", 1, 1));

    // Another format is refused before anything is counted, with a NaN and without.
    let totals = watch.totals();
    let error = Error::ThresholdFormat { threshold: Format::F32, elements: Format::F64 };
    for x in [1.0, f64::NAN] {
        assert_eq!(watch.try_look("other", &[x]), Err(error));
        let panic = catch_unwind(|| watch.look("other", &[x])).unwrap_err();
        assert_eq!(panic.downcast_ref(), Some(&error.to_string()));
    }
    assert_eq!((watch.first(), watch.totals()), (Some(bad), totals));
}

#[test]
fn strides() {
    let watch = Watch::new(Predicate::NonFinite);
    let x = [1.0f32, 2.0, f32::NAN, 4.0, 5.0, f32::INFINITY];
    watch.look("transposed", TensorView::strided(&x, 0, &[2, 2], &[1, 3]).unwrap());
    assert_eq!(watch.first(), None, "the third column is not in the view");
    watch.look("transposed", TensorView::strided(&x, 0, &[3, 2], &[1, 3]).unwrap());
    let bad = watch.first().unwrap();
    assert_eq!((bad.index, bad.coordinate()), (4, &[2, 0][..]));
    assert_eq!((bad.stats.census.total(), bad.stats.finite()), (2, 4));
}

#[cfg(feature = "rayon")]
#[test]
fn a_view_of_several_threads() {
    let mut x = vec![1.0f32; 3 << 20];
    x[2_500_000] = f32::INFINITY;
    let watch = Watch::new(Predicate::NonFinite);
    watch.look("x", TensorView::from(&x).par());
    assert_eq!((watch.first().unwrap().index, watch.totals().elements), (2_500_000, 3 << 20));
}

/// Two threads take turns: the tensor that is bad first stays the first.
#[test]
fn the_first_stays() {
    let (watch, turn) = (Watch::new(Predicate::NonFinite), Barrier::new(2));
    thread::scope(|scope| {
        scope.spawn(|| {
            watch.look("clean", &[1.0f32]);
            turn.wait();
            turn.wait();
            watch.look("second", &[f64::NAN]);
            turn.wait();
        });
        turn.wait();
        watch.look("first", &[0.0, f32::INFINITY]);
        turn.wait();
        turn.wait();
    });
    let bad = watch.first().unwrap();
    assert_eq!((bad.name(), bad.call, bad.index, bad.format), ("first", 1, 1, Format::F32));
    assert_eq!((watch.totals().tensors, watch.totals().bad_tensors), (3, 2));
}

/// Threads that look at bad tensors at once: one of them wins as a whole, its tensor stays, and no
/// call is lost in the totals.
#[test]
fn threads_at_once() {
    const THREADS: usize = 4;
    const CLEAN: usize = 50;
    let watch = Watch::new(Predicate::NonFinite);
    for _ in 0..200 {
        let (start, done) = (Barrier::new(THREADS + 1), AtomicBool::new(false));
        let thread = |number: usize| {
            let mut x = [0.0f32; THREADS];
            start.wait();
            for _ in 0..CLEAN {
                watch.look("clean", &x);
            }
            x[number] = f32::NAN;
            watch.look(&number.to_string(), &x);
            let seen = watch.first().unwrap();
            watch.look("again", &x);
            seen
        };
        let seen: Vec<BadTensor> = thread::scope(|scope| {
            let threads: Vec<_> = (0..THREADS).map(|i| scope.spawn(move || thread(i))).collect();
            let reader = scope.spawn(|| {
                start.wait();
                let mut seen = None;
                while !done.load(Ordering::Relaxed) {
                    let now = watch.first();
                    assert!(seen.is_none() || seen == now);
                    seen = now;
                }
            });
            let seen = threads.into_iter().map(|thread| thread.join().unwrap()).collect();
            done.store(true, Ordering::Relaxed);
            reader.join().unwrap();
            seen
        });
        let bad = watch.first().unwrap();
        assert!(seen.iter().all(|seen| *seen == bad));
        let winner: usize = bad.name().parse().unwrap();
        assert_eq!((bad.index, bad.coordinate()), (winner, &[winner][..]));
        assert_eq!((bad.stats.census.nan.first, bad.elements), (Some(winner), THREADS));
        assert!(bad.call >= CLEAN as u64);
        let totals = watch.totals();
        assert_eq!(totals.tensors, (THREADS * (CLEAN + 2)) as u64);
        assert_eq!(totals.bad_tensors, 2 * THREADS as u64);
        assert_eq!(totals.nan, 2 * THREADS as u64);
        assert_eq!(totals.elements, THREADS as u64 * totals.tensors);
        watch.clear();
    }
}
