//! The leaves and their types. `tables.rs` has the tables of leaves.
//!
//! | leaf | answers |
//! |---|---|
//! | `find` | the first line with a hit, or where the search stopped |
//! | `screen` | the bytes before the first group with an element that passes a screen |
//! | `count` | the number of hits, by a rule of hits |
//! | `classify` | NaN, infinities and -Inf, in 21 bits each |
//! | `mask` | a byte for each element |
//! | `skip` | a byte for each element of groups without a hit; returns how many bytes these are |
//! | `bits` | the bits of all whole lines; returns the bits of the elements after them |
//! | `replace` | other codes in the place of NaN and infinities; returns how many these are |
//! | `multiply` | products of the elements; returns whether one was NaN or infinite before |
//! | `within` | the bytes before a group with an element outside of a range |
//! | `place` | the first element of a code |
//! | `order` | the lowest and the highest number, and three counts |
#![expect(unsafe_code, reason = "a leaf needs the CPU that its table proves")]

mod tables;

pub use tables::Lane;
pub(crate) use tables::{Table, Tables, multiply};

#[cfg(feature = "stats")]
use crate::bitmap::Bitmap;
use crate::isa::Isa;
use crate::loops;
use crate::pieces::{Four, Hit, Long, Places};
use crate::replace::Codes;
use crate::rule::Rule;
#[cfg(feature = "stats")]
use crate::{loops::Given, numbers::Range};

/// The leaves of an instruction set. A backend may have its own version of a leaf.
pub(crate) trait Leaves: Isa {
    #[inline(always)]
    fn find<const W: usize>(self, x: Long<'_>, rule: &Rule, screen: &Rule) -> Hit {
        loops::find::<Self, W>(self, x, rule, screen)
    }

    #[inline(always)]
    fn screened<const W: usize>(self, x: Long<'_>, screen: &Rule) -> usize {
        loops::screen::<Self, W>(self, x, screen)
    }

    #[inline(always)]
    fn count<const W: usize>(self, x: Long<'_>, rule: &Rule) -> u64 {
        loops::count::<Self, W>(self, x, rule)
    }

    #[inline(always)]
    fn classify<const W: usize>(self, x: Long<'_>, nan: &Rule) -> u64 {
        loops::classify::<Self, W>(self, x, nan)
    }

    #[inline(always)]
    fn mask<const W: usize>(self, x: Long<'_>, rule: &Rule, out: &mut Places) -> usize {
        loops::mask::<Self, W>(self, x, rule, out);
        x.len()
    }

    #[inline(always)]
    fn skip<const W: usize>(self, x: Long<'_>, rule: &Rule, out: &mut Places) -> usize {
        loops::skip::<Self, W>(self, x, rule, out)
    }

    #[inline(always)]
    fn bits<const W: usize>(self, x: Long<'_>, rule: &Rule, out: &mut [u8]) -> u64 {
        loops::bits::<Self, W>(self, x, rule, out)
    }

    #[inline(always)]
    fn replace<const W: usize>(self, x: &mut [Four], codes: &Codes) -> usize
    where
        Self: loops::Blend,
    {
        loops::replace::<Self, W>(self, x, codes)
    }

    #[inline(always)]
    fn multiply<const F: usize>(self, x: &mut [Four], rule: &Rule, factor: f64) -> bool
    where
        Self: loops::Multiply,
    {
        loops::multiply::<Self, F>(self, x, rule, factor)
    }

    #[cfg(feature = "stats")]
    #[inline(always)]
    fn within<const W: usize>(self, x: &[u8], range: Range, valid: Option<&Bitmap<'_>>) -> usize
    where
        Self: loops::Order,
    {
        loops::within::<Self, W>(self, x, range, valid)
    }

    #[cfg(feature = "stats")]
    #[inline(always)]
    fn place<const W: usize>(self, x: Long<'_>, mask: u64, code: u64) -> usize
    where
        Self: loops::Order,
    {
        loops::place::<Self, W>(self, x, mask, code)
    }

    #[cfg(feature = "stats")]
    #[inline(always)]
    fn order<const W: usize>(self, given: &Given<'_>, keys: &mut [i64; 2]) -> [usize; 3]
    where
        Self: loops::Order,
    {
        loops::order::<Self, W>(self, given, keys)
    }
}

/// Compiles the leaves of questions of a token with its target features.
macro_rules! questions {
    ($token:expr, $features:literal) => {
        #[target_feature(enable = $features)]
        pub(crate) fn find<const W: usize>(x: Long<'_>, rule: &Rule, screen: &Rule) -> Hit {
            Leaves::find::<W>($token, x, rule, screen)
        }

        #[target_feature(enable = $features)]
        pub(crate) fn screen<const W: usize>(x: Long<'_>, screen: &Rule) -> usize {
            Leaves::screened::<W>($token, x, screen)
        }

        #[target_feature(enable = $features)]
        pub(crate) fn count<const W: usize>(x: Long<'_>, rule: &Rule) -> u64 {
            Leaves::count::<W>($token, x, rule)
        }

        #[target_feature(enable = $features)]
        pub(crate) fn classify<const W: usize>(x: Long<'_>, nan: &Rule) -> u64 {
            Leaves::classify::<W>($token, x, nan)
        }

        #[target_feature(enable = $features)]
        pub(crate) fn mask<const W: usize>(x: Long<'_>, rule: &Rule, out: &mut Places) -> usize {
            Leaves::mask::<W>($token, x, rule, out)
        }

        #[target_feature(enable = $features)]
        pub(crate) fn skip<const W: usize>(x: Long<'_>, rule: &Rule, out: &mut Places) -> usize {
            Leaves::skip::<W>($token, x, rule, out)
        }

        #[target_feature(enable = $features)]
        pub(crate) fn bits<const W: usize>(x: Long<'_>, rule: &Rule, out: &mut [u8]) -> u64 {
            Leaves::bits::<W>($token, x, rule, out)
        }
    };
}

/// Compiles all leaves of a token with its target features.
macro_rules! leaves {
    ($token:expr, $features:literal) => {
        crate::leaves::questions!($token, $features);

        #[target_feature(enable = $features)]
        pub(crate) fn replace<const W: usize>(
            x: &mut [crate::pieces::Four],
            codes: &Codes,
        ) -> usize {
            Leaves::replace::<W>($token, x, codes)
        }

        #[target_feature(enable = $features)]
        pub(crate) fn multiply<const F: usize>(
            x: &mut [crate::pieces::Four],
            rule: &Rule,
            factor: f64,
        ) -> bool {
            Leaves::multiply::<F>($token, x, rule, factor)
        }

        #[cfg(feature = "stats")]
        #[target_feature(enable = $features)]
        pub(crate) fn within<const W: usize>(
            x: &[u8],
            range: crate::numbers::Range,
            valid: Option<&crate::Bitmap<'_>>,
        ) -> usize {
            Leaves::within::<W>($token, x, range, valid)
        }

        #[cfg(feature = "stats")]
        #[target_feature(enable = $features)]
        pub(crate) fn place<const W: usize>(x: Long<'_>, mask: u64, code: u64) -> usize {
            Leaves::place::<W>($token, x, mask, code)
        }

        #[cfg(feature = "stats")]
        #[target_feature(enable = $features)]
        pub(crate) fn order<const W: usize>(
            given: &crate::loops::Given<'_>,
            keys: &mut [i64; 2],
        ) -> [usize; 3] {
            Leaves::order::<W>($token, given, keys)
        }
    };
}
#[cfg(any(
    all(any(target_arch = "x86", target_arch = "x86_64"), target_feature = "sse2"),
    all(target_arch = "aarch64", target_endian = "little", target_feature = "neon")
))]
pub(crate) use {leaves, questions};

// The types of leaves. A leaf may be called only on a CPU that has its backend. Leaves stand in
// tables only (`tables.rs`), and `Table::pick` returns the leaf of a `Backend`, which was detected.
// SAFETY of all blocks of `run` below: so the CPU has the instructions of the leaf.

/// The type of `find`.
#[derive(Clone, Copy)]
pub(crate) struct Find(unsafe fn(Long<'_>, &Rule, &Rule) -> Hit);

impl Find {
    #[inline(always)]
    pub(crate) fn run(self, x: Long<'_>, rule: &Rule, screen: &Rule) -> Hit {
        // SAFETY: see above.
        unsafe { (self.0)(x, rule, screen) }
    }
}

/// The type of `screen`.
#[derive(Clone, Copy)]
pub(crate) struct Screen(unsafe fn(Long<'_>, &Rule) -> usize);

impl Screen {
    #[inline(always)]
    pub(crate) fn run(self, x: Long<'_>, screen: &Rule) -> usize {
        // SAFETY: see above.
        unsafe { (self.0)(x, screen) }
    }
}

/// The type of `count` and `classify`.
#[derive(Clone, Copy)]
pub(crate) struct Count(unsafe fn(Long<'_>, &Rule) -> u64);

impl Count {
    #[inline(always)]
    pub(crate) fn run(self, x: Long<'_>, rule: &Rule) -> u64 {
        // SAFETY: see above.
        unsafe { (self.0)(x, rule) }
    }
}

/// The type of `mask` and `skip`. Returns how many bytes have their answers.
#[derive(Clone, Copy)]
pub(crate) struct Mask(unsafe fn(Long<'_>, &Rule, &mut Places) -> usize);

impl Mask {
    #[inline(always)]
    pub(crate) fn run(self, x: Long<'_>, rule: &Rule, out: &mut Places) -> usize {
        // SAFETY: see above.
        unsafe { (self.0)(x, rule, out) }
    }
}

/// The type of `bits`.
#[derive(Clone, Copy)]
pub(crate) struct Bits(unsafe fn(Long<'_>, &Rule, &mut [u8]) -> u64);

impl Bits {
    #[inline(always)]
    pub(crate) fn run(self, x: Long<'_>, rule: &Rule, out: &mut [u8]) -> u64 {
        // SAFETY: see above.
        unsafe { (self.0)(x, rule, out) }
    }
}

/// The type of `replace`.
#[derive(Clone, Copy)]
pub(crate) struct Replace(unsafe fn(&mut [Four], &Codes) -> usize);

impl Replace {
    #[inline(always)]
    pub(crate) fn run(self, x: &mut [Four], codes: &Codes) -> usize {
        // SAFETY: see above.
        unsafe { (self.0)(x, codes) }
    }
}

/// The type of `multiply`.
#[derive(Clone, Copy)]
pub(crate) struct Multiply(unsafe fn(&mut [Four], &Rule, f64) -> bool);

impl Multiply {
    #[inline(always)]
    pub(crate) fn run(self, x: &mut [Four], rule: &Rule, factor: f64) -> bool {
        // SAFETY: see above.
        unsafe { (self.0)(x, rule, factor) }
    }
}

/// The type of `within`.
#[cfg(feature = "stats")]
#[derive(Clone, Copy)]
pub(crate) struct Within(unsafe fn(&[u8], Range, Option<&Bitmap<'_>>) -> usize);

#[cfg(feature = "stats")]
impl Within {
    #[inline(always)]
    pub(crate) fn run(self, x: &[u8], range: Range, valid: Option<&Bitmap<'_>>) -> usize {
        // SAFETY: see above.
        unsafe { (self.0)(x, range, valid) }
    }
}

/// The type of `place`.
#[cfg(feature = "stats")]
#[derive(Clone, Copy)]
pub(crate) struct Place(unsafe fn(Long<'_>, u64, u64) -> usize);

#[cfg(feature = "stats")]
impl Place {
    #[inline(always)]
    pub(crate) fn run(self, x: Long<'_>, mask: u64, code: u64) -> usize {
        // SAFETY: see above.
        unsafe { (self.0)(x, mask, code) }
    }
}

/// The type of `order`.
#[cfg(feature = "stats")]
#[derive(Clone, Copy)]
pub(crate) struct Order(unsafe fn(&Given<'_>, &mut [i64; 2]) -> [usize; 3]);

#[cfg(feature = "stats")]
impl Order {
    #[inline(always)]
    pub(crate) fn run(self, given: &Given<'_>, keys: &mut [i64; 2]) -> [usize; 3] {
        // SAFETY: see above.
        unsafe { (self.0)(given, keys) }
    }
}
