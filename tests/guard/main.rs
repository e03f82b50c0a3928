//! Inputs, bitmaps and outputs between guard pages: a read or write outside of them ends the
//! process.
//!
//! Every length up to 1100 elements, for every format, question and backend, at both ends of the
//! memory and as many bytes away from them as an element has; columns with nulls; and strided
//! tensors. By default fewer lengths: `NONFINITE_EXHAUSTIVE=1` asks for all. `NONFINITE_ONLY` names
//! the backends to test, and `NONFINITE_REQUIRE` fails the test if a backend cannot run.
#![cfg(unix)]

#[path = "../common/child.rs"]
mod child;
mod pages;

use nonfinite::{Elements, Format, TensorView};
use nonfinite_oracle::{
    self as oracle, CANARY, Expected, Layout, Outputs, bitmap, exhaustive, mixed,
};
use pages::Guarded;

const MOST: usize = 1100;

fn lengths() -> Vec<usize> {
    // By default around whole blocks, and the longest.
    let few = |n: &usize| matches!(n % 64, 0 | 1 | 63) && (*n <= 260 || n % 256 < 2) || *n == MOST;
    (0..=MOST).filter(|n| exhaustive() || few(n)).collect()
}

/// Which end of the pages, and how many bytes away from it.
#[derive(Clone, Copy, Debug)]
enum End {
    Front(usize),
    Back(usize),
}

const ENDS: [End; 2] = [End::Front(0), End::Back(0)];

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

/// Bytes that a question reads, at one end of pages of their own.
fn placed<'a>(memory: &'a mut Guarded, end: End, bytes: &[u8]) -> &'a [u8] {
    let place = end.of(memory.bytes(), bytes.len());
    place.copy_from_slice(bytes);
    place
}

/// Answers at one end of pages of their own.
struct Room {
    memory: Guarded,
    end: End,
    len: usize,
}

impl Outputs for Room {
    fn room(&mut self, len: usize) -> &mut [u8] {
        self.len = len;
        let bytes = self.memory.bytes();
        bytes.fill(CANARY);
        self.end.of(bytes, len)
    }
    fn written(&mut self) -> &[u8] {
        self.end.of(self.memory.bytes(), self.len)
    }
    fn is_intact(&self) -> bool {
        true // else the process has ended
    }
}

fn check(view: TensorView<'_>, expected: &Expected, out: &mut Room, end: End) {
    out.end = end;
    oracle::check_view(view, expected, out).unwrap_or_else(|wrong| panic!("at {end:?}: {wrong}"));
}

fn room(len: usize) -> Room {
    Room { memory: Guarded::new(len), end: ENDS[0], len: 0 }
}

#[test]
fn nothing_outside_is_touched() {
    oracle::require();
    let (mut memory, mut out) = (Guarded::new(8 * MOST + 16), room(MOST));
    for format in Format::ALL.iter().copied() {
        let size = format.size_in_bytes();
        // Hits everywhere, and nowhere, so that searches go to the end.
        for bytes in [mixed(format, MOST, 1), vec![0; MOST * size]] {
            for n in lengths() {
                let expected = Expected::new(format, &bytes[..n * size]);
                // Each byte address that elements of the format can have, seen from either end.
                for away in if n % 8 == 0 { 0..size } else { 0..1 } {
                    for end in [End::Front(away), End::Back(away)] {
                        let x = placed(&mut memory, end, &bytes[..n * size]);
                        let x = Elements::from_bytes(x, format).unwrap();
                        out.end = end;
                        oracle::check_elements(x, &expected, &mut out)
                            .unwrap_or_else(|wrong| panic!("at {end:?}: {wrong}"));
                    }
                }
            }
        }
    }
}

#[test]
fn nothing_outside_a_bitmap_is_touched() {
    let (mut memory, mut bits) = (Guarded::new(8 * MOST), Guarded::new((64 + MOST).div_ceil(8)));
    let mut out = room(MOST);
    for format in [Format::F32, Format::F64, Format::F16, Format::F8E4M3Fn] {
        for n in lengths() {
            let bytes = mixed(format, n, 1);
            // All valid up to the end, so that runs reach it, or every third null.
            for (every, offset) in [(MOST + 2, n % 8), (3, n % 8), (MOST + 2, 8 + n % 56)] {
                let valid: Vec<bool> = (0..n).map(|i| i % every != 1 || every > n).collect();
                let bitmap = bitmap(&valid, offset);
                let expected = Expected::new(format, &bytes).with_nulls(valid);
                for end in ENDS {
                    let x = placed(&mut memory, end, &bytes);
                    let bitmap = placed(&mut bits, end, &bitmap);
                    let view = TensorView::from_bytes(x, format).unwrap();
                    let view = view.with_validity(bitmap, offset).unwrap();
                    check(view, &expected, &mut out, end);
                }
            }
        }
    }
}

/// The layouts of a few engines, for these numbers of channels and pixels.
fn layouts(c: usize, p: usize) -> [Layout; 8] {
    let (channels, pixels) = (c as isize, p as isize);
    [
        [pixels, 1],
        [1, channels],
        [1, channels + 1],
        [pixels + 3, 1],
        [2 * pixels, 2],
        [-pixels, -1],
        [-1, channels],
        [3 * pixels, -3],
    ]
    .map(|strides| Layout::new(&[c, p], &strides))
}

#[test]
fn views_touch_nothing_outside() {
    let shapes = [
        (2, 3),
        (3, 130),
        (17, 80),
        (1, 1),
        (3, 500),
        (4, 70),
        (5, 65),
        (16, 64),
        (64, 64),
        (70, 9),
        (2, 1100),
    ];
    const MOST: usize = 1 << 15;
    let (mut memory, mut out) = (Guarded::new(8 * MOST), room(MOST));
    let mut bits = Guarded::new(MOST / 8);
    for (c, p) in shapes.into_iter().take(if exhaustive() { shapes.len() } else { 3 }) {
        for from in layouts(c, p) {
            for format in [Format::F32, Format::F64] {
                let bytes = mixed(format, from.memory(), 7);
                let right = || Expected::strided(format, &bytes, &from);
                let expected = right().into_outputs(layouts(c, p).to_vec());
                // The first hit and every third element are null.
                let valid: Vec<bool> = (0..c * p).map(|i| i % 3 != 0).collect();
                let (bitmap, with_nulls) = (bitmap(&valid, 5), right().with_nulls(valid));
                for end in ENDS {
                    let x = placed(&mut memory, end, &bytes);
                    let view = from.view(Elements::from_bytes(x, format).unwrap()).unwrap();
                    let bitmap = placed(&mut bits, end, &bitmap);
                    check(view, &expected, &mut out, end);
                    let view = view.with_validity(bitmap, 5).unwrap();
                    check(view, &with_nulls, &mut out, end);
                }
            }
        }
    }
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
