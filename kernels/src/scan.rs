//! What a scan of statistics is given, and what it finds.
#![expect(unsafe_code, reason = "lines that a scan has written")]

use core::mem::MaybeUninit;
use core::slice;

use crate::bitmap::Bitmap;
use crate::line::{GROUP, Line};

/// The most bytes of one scan.
pub(crate) const SCANNED: usize = 16 * 1024;

/// What a scan is given: codes as integers. Of numbers on both sides of zero, `A` is the lowest and
/// `B` the highest. Of positive ones `B` is the lowest and `A` the highest, of negative ones the
/// other way round.
///
/// ```text
/// unsigned    0 .. least normal number .. B    -0 .. -least .. A        both signs
/// signed      -0 .. -least .. A                0 .. least .. B
/// unsigned    0 .. least .. B .. A             -0 .. -least .. B .. A   one sign
/// ```
///
/// `A` and `B` of each group are kept, so that only these are searched for the group of a new key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Given<'b> {
    /// `A` and `B` so far.
    pub(crate) known: [u64; 2],
    /// The outermost codes that are as expected.
    pub(crate) limits: [u64; 2],
    /// The code that stands in for nulls.
    pub(crate) filling: u64,
    /// Empty if there are no nulls.
    pub(crate) bitmap: Bitmap<'b>,
}

/// What a scan found.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    /// Bytes that were looked at.
    pub(crate) bytes: usize,
    /// Elements that are zero, and that are zero or subnormal.
    pub(crate) zeros: usize,
    pub(crate) small: usize,
    /// Elements that are no nulls.
    pub(crate) valid: usize,
    /// Which of the two outermost codes are new.
    pub(crate) new: [bool; 2],
}

/// A line for each group of a scan, and one for all groups. Each scan makes new ones, so they are
/// not filled with zeros first.
#[derive(Debug)]
pub(crate) struct Groups {
    /// The first `written` are initialised.
    lines: [MaybeUninit<Line>; SCANNED / GROUP + 1],
    written: usize,
}

impl Groups {
    #[inline(always)]
    pub(crate) fn new() -> Self {
        Self { lines: [const { MaybeUninit::uninit() }; SCANNED / GROUP + 1], written: 0 }
    }

    /// Adds a line. Does nothing if there are enough for a whole scan.
    #[inline(always)]
    pub(crate) fn push(&mut self, line: Line) {
        if let Some(slot) = self.lines.get_mut(self.written) {
            slot.write(line);
            self.written += 1;
        }
    }

    /// The lines.
    #[inline(always)]
    pub(crate) fn lines(&self) -> &[Line] {
        let lines = &self.lines[..self.written];
        // SAFETY: only `push` raises `written`, by one, after it has written that line. So all
        // lines before `written` are initialised.
        unsafe { slice::from_raw_parts(lines.as_ptr().cast(), lines.len()) }
    }
}
