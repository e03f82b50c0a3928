//! The way from a question to the loop of a backend.
//!
//! ```text
//! Find::TABLES[2]                the table of a question, for elements of four bytes
//!   [ first | Avx512::answer::<Find, 4> | Avx2::answer::<Find, 4> | Sse2:: .. | Scalar:: .. ]
//!                                indexed by the number of the backend
//! ```
#![expect(unsafe_code, reason = "a loop needs the CPU that its table proves")]

use crate::backend::{Backend, Backends, ENTRIES, End, List};
use crate::here::Here;
use crate::lines::Places;
use crate::plain::Scalar;
use crate::question::{Compiled, On, Question};
use crate::rule::Rule;
use crate::short::Short;

/// The loop of a question that a backend of this CPU has.
pub(crate) struct Loop<Q: Question>(unsafe fn(Q::Input<'_>, Q::Asked<'_>, Q::Out<'_>) -> Q::Answer);

impl<Q: Question> Clone for Loop<Q> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Q: Question> Copy for Loop<Q> {}

impl<Q: Question> Loop<Q> {
    #[inline(always)]
    pub(crate) fn run(self, x: Q::Input<'_>, asked: Q::Asked<'_>, out: Q::Out<'_>) -> Q::Answer {
        // SAFETY: only `Table::pick` hands loops out. It returns `first`, which is safe, or the
        // entry of a `Backend`, which exists only if `detect` of its row has returned true. `Loops`
        // writes this entry for the type of the same place in the list that the row comes from, or
        // it is the loop of the scalar backend, which every CPU runs.
        unsafe { (self.0)(x, asked, out) }
    }
}

/// The loops of one question and one width, by the number of the backend.
pub(crate) struct Table<Q: Question>([Loop<Q>; ENTRIES]);

impl<Q: Question> Table<Q> {
    /// The loop of this backend, or of the active one: a load without a branch. If no backend is
    /// active, the loop is `first`.
    #[inline(always)]
    pub(crate) fn pick(&self, backend: Option<Backend>) -> Loop<Q> {
        // No number is greater: the minimum only tells the compiler so.
        self.0[Backend::index(backend).min(ENTRIES - 1)]
    }

    pub(crate) const fn of<const W: usize>() -> Self
    where
        Q: Dispatched,
        Backends: Loops<Q, W>,
    {
        let mut entries = <Backends as Loops<Q, W>>::ENTRIES;
        entries[0] = Loop(first::<Q, W>);
        Self(entries)
    }
}

/// The loop before the first call: chooses the backend, then calls its loop.
#[cold]
fn first<Q: Dispatched, const W: usize>(
    x: Q::Input<'_>,
    asked: Q::Asked<'_>,
    out: Q::Out<'_>,
) -> Q::Answer {
    Bytes::<W>.table::<Q>().pick(Some(Backend::active())).run(x, asked, out)
}

/// The entries of a table, from a list of backends. Each backend has the entry of its number.
pub(crate) trait Loops<Q: Question, const W: usize> {
    const ENTRIES: [Loop<Q>; ENTRIES];
}

impl<Q: Question, const W: usize> Loops<Q, W> for End {
    const ENTRIES: [Loop<Q>; ENTRIES] = [Loop(Scalar::answer::<Q, W>); ENTRIES];
}

impl<Q: On<B>, B: Compiled, Rest, const W: usize> Loops<Q, W> for (B, Rest)
where
    Self: List,
    Rest: Loops<Q, W>,
{
    const ENTRIES: [Loop<Q>; ENTRIES] = {
        let mut entries = Rest::ENTRIES;
        if !<Q as On<B>>::PLAIN {
            entries[Self::NUMBER] = Loop(B::answer::<Q, W>);
        }
        entries
    };
}

/// A question with its tables: see `tables!`.
pub(crate) trait Dispatched: Question {
    /// By the logarithm to base 2 of the bytes of an element.
    const TABLES: [&'static Table<Self>; 4];
}

/// The tables of a question. They are statics of this crate: a caller links only those that it
/// uses, and no other crate compiles a loop again.
macro_rules! tables {
    ($Question:ident) => {
        impl $crate::dispatch::Dispatched for $Question {
            const TABLES: [&'static $crate::dispatch::Table<Self>; 4] = {
                use $crate::dispatch::Table;
                static BYTES: Table<$Question> = Table::of::<1>();
                static TWOS: Table<$Question> = Table::of::<2>();
                static FOURS: Table<$Question> = Table::of::<4>();
                static EIGHTS: Table<$Question> = Table::of::<8>();
                [&BYTES, &TWOS, &FOURS, &EIGHTS]
            };
        }
    };
}
pub(crate) use tables;

/// An unsigned integer as wide as an element: `u8`, `u16`, `u32` or `u64`.
#[expect(private_bounds, reason = "no other type has loops")]
pub trait Lane: Typed {
    /// Bytes of an element.
    const SIZE: usize;
}

impl<T: Typed> Lane for T {
    const SIZE: usize = size_of::<T>();
}

/// A lane and its width.
pub(crate) trait Typed: 'static {
    type Width: Width + Default;
}

impl Typed for u8 {
    type Width = Bytes<1>;
}
impl Typed for u16 {
    type Width = Bytes<2>;
}
impl Typed for u32 {
    type Width = Bytes<4>;
}
impl Typed for u64 {
    type Width = Bytes<8>;
}

/// The answers for at most 64 bytes, as bits.
pub(crate) type ShortBits = fn(&[u8], &Rule) -> u64;

/// [`Short::bits`] out of line.
#[inline(never)]
fn short_bits<const W: usize>(x: &[u8], rule: &Rule) -> u64 {
    Here::bits::<W>(x, rule)
}

/// The bytes of an element, as a type or as a number. With a type, a program links the loops of one
/// width only.
pub(crate) trait Width: Copy {
    fn size(self) -> usize;
    fn table<Q: Dispatched>(self) -> &'static Table<Q>;
    /// The answers for at most 64 bytes: see [`Short`].
    fn any(self, x: &[u8], rule: &Rule) -> bool;
    fn bits(self, x: &[u8], rule: &Rule) -> u64;
    fn hits(self, x: &[u8], rule: &Rule) -> usize;
    fn mask(self, x: &[u8], rule: &Rule, out: &mut Places);
    fn short_bits(self) -> ShortBits;
}

/// Elements of `W` bytes.
#[derive(Clone, Copy, Default)]
pub(crate) struct Bytes<const W: usize>;

impl<const W: usize> Width for Bytes<W> {
    #[inline(always)]
    fn size(self) -> usize {
        W
    }
    #[inline(always)]
    fn table<Q: Dispatched>(self) -> &'static Table<Q> {
        const { Q::TABLES[W.trailing_zeros() as usize] }
    }
    #[inline(always)]
    fn any(self, x: &[u8], rule: &Rule) -> bool {
        Here::any::<W>(x, rule)
    }
    #[inline(always)]
    fn bits(self, x: &[u8], rule: &Rule) -> u64 {
        Here::bits::<W>(x, rule)
    }
    #[inline(always)]
    fn hits(self, x: &[u8], rule: &Rule) -> usize {
        Here::hits::<W>(x, rule)
    }
    #[inline(always)]
    fn mask(self, x: &[u8], rule: &Rule, out: &mut Places) {
        Here::mask::<W>(x, rule, out);
    }
    #[inline(always)]
    fn short_bits(self) -> ShortBits {
        short_bits::<W>
    }
}

/// Elements of as many bytes as a rule says: 1, 2, 4 or 8.
#[derive(Clone, Copy)]
pub(crate) struct SizeOf(pub(crate) usize);

impl Width for SizeOf {
    #[inline(always)]
    fn size(self) -> usize {
        self.0
    }
    #[inline(always)]
    fn table<Q: Dispatched>(self) -> &'static Table<Q> {
        Q::TABLES[self.0.trailing_zeros() as usize % 4]
    }
    #[inline(always)]
    fn any(self, x: &[u8], rule: &Rule) -> bool {
        self.bits(x, rule) != 0
    }
    #[inline(always)]
    fn bits(self, x: &[u8], rule: &Rule) -> u64 {
        self.short_bits()(x, rule)
    }
    fn hits(self, x: &[u8], rule: &Rule) -> usize {
        let widths = [Here::hits::<1>, Here::hits::<2>, Here::hits::<4>, Here::hits::<8>];
        widths[self.0.trailing_zeros() as usize % 4](x, rule)
    }
    fn mask(self, x: &[u8], rule: &Rule, out: &mut Places) {
        let widths = [Here::mask::<1>, Here::mask::<2>, Here::mask::<4>, Here::mask::<8>];
        widths[self.0.trailing_zeros() as usize % 4](x, rule, out);
    }
    #[inline(always)]
    fn short_bits(self) -> ShortBits {
        let widths = [short_bits::<1>, short_bits::<2>, short_bits::<4>, short_bits::<8>];
        widths[self.0.trailing_zeros() as usize % 4]
    }
}
