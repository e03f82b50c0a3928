//! The tables of leaves: the way from a question to a loop.
//!
//! ```text
//! u32::FIND            the table of a question and a width
//!   [ first call | avx512::find::<4> | avx2::find::<4> | sse2::find::<4> | scalar::find::<4> ]
//!                      indexed by the number of the backend
//! ```

use super::{Bits, Count, Find, Mask, Multiply, Replace, Screen};
#[cfg(feature = "stats")]
use super::{Order, Place, Within};
use crate::backend::{Backend, ENTRIES};
use crate::pieces::Places;
use crate::rule::Rule;
use crate::scale::format;
use crate::short;

/// The leaves of one question and one width, by the number of the backend.
pub(crate) struct Table<L>([L; ENTRIES]);

impl<L: Copy> Table<L> {
    /// The leaf of this backend, or of the active one: a load without a branch. Before a backend is
    /// active, this is a leaf that chooses the backend and then calls its leaf.
    #[inline(always)]
    pub(crate) fn pick(&self, backend: Option<Backend>) -> L {
        // No number is greater: the minimum only tells the compiler so.
        self.0[Backend::entry(backend).min(ENTRIES - 1)]
    }
}

/// The table of the leaf `$name` for elements of `$width` bytes, in the order of the table of
/// backends. `$first` is called before a backend is active. A leaf that is always picked by a
/// `Backend` needs no `$first`: the scalar leaf fills the entry.
macro_rules! table {
    ($Leaf:ident $name:ident $lane:ident $width:literal) => {
        table!($Leaf $name $width, first::$name::<$lane>)
    };
    ($Leaf:ident $name:ident $width:literal) => {
        table!($Leaf $name $width, crate::scalar::$name::<$width>)
    };
    ($Leaf:ident $name:ident $width:literal, $first:expr) => {{
        static TABLE: Table<$Leaf> = {
            let mut leaves = [$Leaf($first); ENTRIES];
            let backends = [
                #[cfg(all(
                    any(target_arch = "x86", target_arch = "x86_64"),
                    target_feature = "sse2"
                ))]
                $Leaf(crate::avx512::$name::<$width>),
                #[cfg(all(
                    any(target_arch = "x86", target_arch = "x86_64"),
                    target_feature = "sse2"
                ))]
                $Leaf(crate::avx2::$name::<$width>),
                #[cfg(all(
                    any(target_arch = "x86", target_arch = "x86_64"),
                    target_feature = "sse2"
                ))]
                $Leaf(crate::sse2::$name::<$width>),
                #[cfg(all(
                    target_arch = "aarch64",
                    target_endian = "little",
                    target_feature = "neon"
                ))]
                $Leaf(crate::neon::$name::<$width>),
                #[cfg(any(
                    feature = "portable",
                    not(any(
                        all(
                            any(target_arch = "x86", target_arch = "x86_64"),
                            target_feature = "sse2"
                        ),
                        all(
                            target_arch = "aarch64",
                            target_endian = "little",
                            target_feature = "neon"
                        )
                    ))
                ))]
                $Leaf(crate::portable::$name::<$width>),
                $Leaf(crate::scalar::$name::<$width>),
            ];
            let mut i = 0;
            while i < backends.len() {
                leaves[i + 1] = backends[i];
                i += 1;
            }
            Table(leaves)
        };
        &TABLE
    }};
}

/// An unsigned integer as wide as an element: `u8`, `u16`, `u32` or `u64`.
#[expect(private_bounds, reason = "no other type has leaves")]
pub trait Lane: Tables {
    /// Bytes of an element.
    const SIZE: usize;
}

/// The tables of one width, and the answers for fewer than 64 bytes. Tables are statics of this
/// crate, to which constants point: a caller links only those that it uses, and no other crate
/// compiles a leaf again.
pub(crate) trait Tables: 'static {
    const FIND: &'static Table<Find>;
    const SCREEN: &'static Table<Screen>;
    const COUNT: &'static Table<Count>;
    const CLASSIFY: &'static Table<Count>;
    const MASK: &'static Table<Mask>;
    const SKIP: &'static Table<Mask>;
    const PACKED: &'static Table<Bits>;
    const REPLACE: &'static Table<Replace>;
    #[cfg(feature = "stats")]
    const WITHIN: &'static Table<Within>;
    #[cfg(feature = "stats")]
    const ORDER: &'static Table<Order>;
    #[cfg(feature = "stats")]
    const PLACE: &'static Table<Place>;

    /// Inlined, so that a rule that the caller knows is a constant.
    fn short_any(x: &[u8], rule: &Rule) -> bool;
    fn short_bits(x: &[u8], rule: &Rule) -> u64;
    fn short_count(x: &[u8], rule: &Rule) -> usize;
    fn short_mask(x: &[u8], rule: &Rule, out: &mut Places);
}

/// Writes the tables of each width.
macro_rules! lanes {
    ($($lane:ident $width:literal;)*) => { $(
        impl Lane for $lane {
            const SIZE: usize = $width;
        }

        impl Tables for $lane {
            const FIND: &'static Table<Find> = table!(Find find $lane $width);
            const SCREEN: &'static Table<Screen> = table!(Screen screen $lane $width);
            const COUNT: &'static Table<Count> = table!(Count count $lane $width);
            const CLASSIFY: &'static Table<Count> = table!(Count classify $lane $width);
            const MASK: &'static Table<Mask> = table!(Mask mask $lane $width);
            const SKIP: &'static Table<Mask> = table!(Mask skip $lane $width);
            const PACKED: &'static Table<Bits> = table!(Bits bits $lane $width);
            const REPLACE: &'static Table<Replace> = table!(Replace replace $width);
            #[cfg(feature = "stats")]
            const WITHIN: &'static Table<Within> = table!(Within within $width);
            #[cfg(feature = "stats")]
            const ORDER: &'static Table<Order> = table!(Order order $width);
            #[cfg(feature = "stats")]
            const PLACE: &'static Table<Place> = table!(Place place $width);

            #[inline(always)]
            fn short_any(x: &[u8], rule: &Rule) -> bool {
                short::any::<$width>(x, rule)
            }
            #[inline(never)]
            fn short_bits(x: &[u8], rule: &Rule) -> u64 {
                short::bits::<$width>(x, rule)
            }
            #[inline(never)]
            fn short_count(x: &[u8], rule: &Rule) -> usize {
                short::count::<$width>(x, rule)
            }
            #[inline(never)]
            fn short_mask(x: &[u8], rule: &Rule, out: &mut Places) {
                short::mask::<$width>(x, rule, out);
            }
        }
    )* };
}
lanes! {
    u8 1;
    u16 2;
    u32 4;
    u64 8;
}

/// The table of `multiply` for elements of a [`format`].
pub(crate) fn multiply(format: usize) -> &'static Table<Multiply> {
    match format {
        format::F16 => table!(Multiply multiply 0),
        format::BF16 => table!(Multiply multiply 1),
        format::F32 => table!(Multiply multiply 2),
        _ => table!(Multiply multiply 3),
    }
}

/// The leaves before the first call: each chooses the backend, then calls its leaf.
mod first {
    use super::{Backend, Places, Rule, Tables};
    use crate::pieces::{Hit, Long};

    #[cold]
    pub(super) fn find<T: Tables>(x: Long<'_>, rule: &Rule, screen: &Rule) -> Hit {
        T::FIND.pick(Some(Backend::active())).run(x, rule, screen)
    }

    #[cold]
    pub(super) fn screen<T: Tables>(x: Long<'_>, screen: &Rule) -> usize {
        T::SCREEN.pick(Some(Backend::active())).run(x, screen)
    }

    #[cold]
    pub(super) fn count<T: Tables>(x: Long<'_>, rule: &Rule) -> u64 {
        T::COUNT.pick(Some(Backend::active())).run(x, rule)
    }

    #[cold]
    pub(super) fn classify<T: Tables>(x: Long<'_>, nan: &Rule) -> u64 {
        T::CLASSIFY.pick(Some(Backend::active())).run(x, nan)
    }

    #[cold]
    pub(super) fn mask<T: Tables>(x: Long<'_>, rule: &Rule, out: &mut Places) -> usize {
        T::MASK.pick(Some(Backend::active())).run(x, rule, out)
    }

    #[cold]
    pub(super) fn skip<T: Tables>(x: Long<'_>, rule: &Rule, out: &mut Places) -> usize {
        T::SKIP.pick(Some(Backend::active())).run(x, rule, out)
    }

    #[cold]
    pub(super) fn bits<T: Tables>(x: Long<'_>, rule: &Rule, out: &mut [u8]) -> u64 {
        T::PACKED.pick(Some(Backend::active())).run(x, rule, out)
    }
}
