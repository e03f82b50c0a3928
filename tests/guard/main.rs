//! Input and output between guard pages: a read or write outside of input and output ends the
//! process.
//!
//! Every length from 0 to 1100 elements, for every format, predicate, sink and backend, at both
//! ends of the memory and as many bytes away from them as an element has. `NONFINITE_REDUCED=1`
//! cuts lengths for emulators, `NONFINITE_ONLY` names the backends to test, and `NONFINITE_REQUIRE`
//! fails the test if a backend cannot run.
#![cfg(unix)]

#[path = "../common/child.rs"]
mod child;
mod nulls;
mod pages;

use nonfinite::{Backend, Elements, Format, Predicate, TensorView};
use nonfinite_oracle::{self as oracle, Kind};
use pages::Guarded;

const MOST: usize = 1100;

fn lengths() -> Vec<usize> {
    if std::env::var_os("NONFINITE_REDUCED").is_none() {
        return (0..=MOST).collect();
    }
    // Around whole blocks, and the longest.
    (0..=MOST)
        .filter(|n| matches!(n % 64, 0 | 1 | 63) && (*n <= 260 || n % 256 < 2) || *n == MOST)
        .collect()
}

fn predicates() -> &'static [Predicate] {
    match std::env::var_os("NONFINITE_REDUCED") {
        None => Predicate::ALL,
        Some(_) => &[Predicate::Nan, Predicate::PositiveInf, Predicate::Finite],
    }
}

/// A tensor, and the right answers for its first `n` elements.
struct Tensor {
    format: Format,
    bytes: Vec<u8>,
    kinds: Vec<Kind>,
}

impl Tensor {
    fn new(format: Format, elements: impl Iterator<Item = u64>) -> Self {
        let mut bytes = Vec::new();
        elements.for_each(|bits| oracle::write(format, bits, &mut bytes));
        let kinds = oracle::kinds(format, &bytes);
        Self { format, bytes, kinds }
    }

    /// Hits everywhere, and nowhere, so that searches go to the end.
    fn both(format: Format) -> [Self; 2] {
        let edges = oracle::edges(format);
        let mixed = (0..MOST).map(|i| edges[(7 * i) % edges.len()]);
        [Self::new(format, mixed), Self::new(format, std::iter::repeat_n(0, MOST))]
    }
}

/// The backends to test; a tensor in memory and outputs, each at one end of pages of its own.
struct Place {
    backends: Vec<Backend>,
    input: Guarded,
    mask: Guarded,
    bits: Guarded,
}

/// Which end, and how many bytes away from it.
#[derive(Clone, Copy, Debug)]
enum End {
    Front(usize),
    Back(usize),
}

impl Place {
    fn new() -> Self {
        Self {
            backends: oracle::backends(),
            input: Guarded::new(8 * MOST + 16),
            mask: Guarded::new(MOST),
            bits: Guarded::new(MOST / 8 + 2),
        }
    }

    /// All sinks of all backends for the first `n` elements.
    fn check(&mut self, tensor: &Tensor, n: usize, end: End) {
        let size = tensor.format.size_in_bytes();
        let input = end.of(self.input.bytes(), n * size);
        input.copy_from_slice(&tensor.bytes[..n * size]);
        let x = Elements::from_bytes(input, tensor.format).unwrap();
        let kinds = &tensor.kinds[..n];
        for &predicate in predicates() {
            let hits: Vec<u8> =
                kinds.iter().map(|&kind| oracle::holds(predicate, kind).into()).collect();
            let first = hits.iter().position(|&hit| hit == 1);
            let count = hits.iter().filter(|&&hit| hit == 1).count();
            for &backend in &self.backends {
                let at = || {
                    format!(
                        "{} {} {predicate:?} {n} elements at {end:?}",
                        backend.name(),
                        tensor.format
                    )
                };
                let mask = end.of(self.mask.bytes(), n);
                TensorView::from(x).on(backend).mask(predicate, &mut *mask).unwrap();
                assert!(mask == hits, "mask {}", at());
                assert_eq!(TensorView::from(x).on(backend).position(predicate), first, "{}", at());
                assert_eq!(TensorView::from(x).on(backend).count(predicate), count, "{}", at());
                assert_eq!(
                    TensorView::from(x).on(backend).any(predicate),
                    first.is_some(),
                    "{}",
                    at()
                );
                assert_eq!(TensorView::from(x).on(backend).all(predicate), count == n, "{}", at());
                let offset = (n + count) % 8;
                let bits = end.of(self.bits.bytes(), (offset + n).div_ceil(8));
                TensorView::from(x).on(backend).bits(predicate, bits, offset).unwrap();
                let is_right =
                    |i: usize| bits[(offset + i) / 8] >> ((offset + i) % 8) & 1 == hits[i];
                assert!((0..n).all(is_right), "bits from {offset} {}", at());
            }
        }
        for backend in &self.backends {
            let nan = TensorView::from(x).on(*backend).census().nan.count;
            assert_eq!(
                nan,
                kinds.iter().filter(|&&kind| kind == Kind::Nan).count(),
                "census {}",
                backend.name()
            );
            oracle::check_stats(backend, x).unwrap();
        }
    }
}

impl End {
    /// `len` bytes of the memory at this end; an output cannot be further away from it than its
    /// memory is long.
    fn of(self, memory: &mut [u8], len: usize) -> &mut [u8] {
        let slack = memory.len() - len;
        match self {
            Self::Front(away) => &mut memory[away.min(slack)..][..len],
            Self::Back(away) => &mut memory[slack - away.min(slack)..][..len],
        }
    }
}

#[test]
fn nothing_outside_is_touched() {
    let mut place = Place::new();
    oracle::require(&place.backends);
    let lengths = lengths();
    for format in Format::ALL.iter().copied() {
        let size = format.size_in_bytes();
        for tensor in Tensor::both(format) {
            for &n in &lengths {
                // Each byte address that elements of the format can have, seen from either end.
                for away in if n % 8 == 0 { 0..size } else { 0..1 } {
                    place.check(&tensor, n, End::Front(away));
                    place.check(&tensor, n, End::Back(away));
                }
            }
        }
    }
    let names: Vec<_> = place.backends.iter().map(|backend| backend.name()).collect();
    println!(
        "{} lengths, {} formats; backends {}",
        lengths.len(),
        Format::ALL.len(),
        names.join(" ")
    );
}

/// One byte too far, in either direction, ends the process; the last byte does not.
#[test]
fn one_byte_outside_is_seen() {
    type Touch = fn(*mut u8);
    let mut memory = Guarded::new(100);
    let bytes = memory.bytes();
    let (first, behind) = (bytes.as_mut_ptr(), bytes.as_mut_ptr_range().end);
    let (before, last) = (first.wrapping_sub(1), behind.wrapping_sub(1));
    let touches: [(&str, Touch, *mut u8, bool); 6] = [
        ("read of the first", read, first, false),
        ("read of the last", read, last, false),
        ("read before", read, before, true),
        ("read behind", read, behind, true),
        ("write before", write, before, true),
        ("write behind", write, behind, true),
    ];
    for (what, touch, at, is_seen) in touches {
        let signal = child::signal_of(|| touch(at));
        let ends = matches!(signal, Some(libc::SIGSEGV | libc::SIGBUS));
        assert_eq!((ends, signal.is_some()), (is_seen, is_seen), "{what}: {signal:?}");
    }
}

#[expect(unsafe_code, reason = "the byte may lie outside")]
fn read(at: *mut u8) {
    // SAFETY: of the mapping of a `Guarded`, if not of its part that may be read: then this ends
    // the process, a child that is there for it.
    let _ = unsafe { std::ptr::read_volatile(at) };
}

#[expect(unsafe_code, reason = "the byte may lie outside")]
fn write(at: *mut u8) {
    // SAFETY: as `read`; a child writes to a copy.
    unsafe { std::ptr::write_volatile(at, 1) };
}
