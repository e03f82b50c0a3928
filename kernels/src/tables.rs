//! The tables of leaves: the way from a question to a loop.
//!
//! ```text
//! u32::FIND                        the table of a leaf and a width
//!   [ first call | avx512::find::<4> | avx2::find::<4> | sse2::find::<4> | scalar::find::<4> ]
//!                                  indexed by the number of the backend
//! ```
//!
//! Two lists make all of this: `leaves!` (`leaves.rs`) and `backends!` (`backend.rs`).
#![expect(unsafe_code, reason = "a leaf needs the CPU that its table proves")]

use crate::backend::{Backend, ENTRIES, backends};
use crate::leaves::leaves;
use crate::lines::Places;
use crate::rule::Rule;
use crate::short;

/// The type of each leaf.
macro_rules! types {
    (() $(
        $(#[$cfg:meta])*
        $kind:ident $leaf:ident $Leaf:ident $TABLE:ident($($name:ident: $Type:ty),*) -> $Out:ty;
    )*) => { $(
        $(#[$cfg])*
        #[doc = concat!("The type of `", stringify!($leaf), "`.")]
        #[derive(Clone, Copy)]
        pub(crate) struct $Leaf(unsafe fn($($Type),*) -> $Out);

        $(#[$cfg])*
        impl $Leaf {
            #[inline(always)]
            pub(crate) fn run(self, $($name: $Type),*) -> $Out {
                // SAFETY: leaves stand in tables only. `Table::pick` returns the leaf in the entry
                // of a `Backend`, which the CPU has. `backends!` numbers the entries of tables and
                // the backends, so that the leaf of an entry is compiled for its backend.
                unsafe { (self.0)($($name),*) }
            }
        }
    )* };
}
leaves!(types());

/// The leaves of one question and one width, by the number of the backend.
pub(crate) struct Table<L>([L; ENTRIES]);

impl<L: Copy> Table<L> {
    /// The leaf of this backend, or of the active one: a load without a branch. Before a backend is
    /// active, this is a leaf that chooses the backend and then calls its leaf.
    #[inline(always)]
    pub(crate) fn pick(&self, backend: Option<Backend>) -> L {
        // No number is greater: the minimum only tells the compiler so.
        self.0[Backend::index(backend).min(ENTRIES - 1)]
    }
}

/// `backends!(entries (Leaf, leaf, W, first))`: the entries of a table.
macro_rules! entries {
    (($Leaf:ident, $leaf:ident, $W:literal, $first:expr)
        $($(#[$cfg:meta])* [$($backend:tt)*] $name:literal $skips_from:tt $popcnt:literal;)*
    ) => {
        [$Leaf($first), $($(#[$cfg])* $Leaf($($backend)*::$leaf::<$W>),)*]
    };
}

/// An unsigned integer as wide as an element: `u8`, `u16`, `u32` or `u64`.
#[expect(private_bounds, reason = "no other type has leaves")]
pub trait Lane: Tables {
    /// Bytes of an element.
    const SIZE: usize;
}

/// The leaves before the first call: each chooses the backend, then calls its leaf.
macro_rules! first_calls {
    (() $(
        $(#[$cfg:meta])*
        $kind:ident $leaf:ident $Leaf:ident $TABLE:ident($($name:ident: $Type:ty),*) -> $Out:ty;
    )*) => { $(
        $(#[$cfg])*
        #[cold]
        pub(super) fn $leaf<T: super::Tables>($($name: $Type),*) -> $Out {
            T::$TABLE.pick(Some(super::Backend::active())).run($($name),*)
        }
    )* };
}
mod first {
    super::leaves!(first_calls());
}

macro_rules! tables {
    (() $(
        $(#[$cfg:meta])*
        $kind:ident $leaf:ident $Leaf:ident $TABLE:ident($($name:ident: $Type:ty),*) -> $Out:ty;
    )*) => {
        /// The tables of one width, and the answers for fewer than 64 bytes. Tables are statics of
        /// this crate, to which constants point: a caller links only those that it uses, and no
        /// other crate compiles a leaf again.
        pub(crate) trait Tables: 'static {
            $($(#[$cfg])* const $TABLE: &'static Table<$Leaf>;)*

            /// Inlined, so that a rule that the caller knows is a constant.
            fn short_any(x: &[u8], rule: &Rule) -> bool;
            fn short_bits(x: &[u8], rule: &Rule) -> u64;
            fn short_count(x: &[u8], rule: &Rule) -> usize;
            fn short_mask(x: &[u8], rule: &Rule, out: &mut Places);
        }
    };
}
leaves!(tables());

macro_rules! lane {
    (($lane:ident $W:literal) $(
        $(#[$cfg:meta])*
        $kind:ident $leaf:ident $Leaf:ident $TABLE:ident($($name:ident: $Type:ty),*) -> $Out:ty;
    )*) => {
        impl Lane for $lane {
            const SIZE: usize = $W;
        }

        impl Tables for $lane {
            $(
                $(#[$cfg])*
                const $TABLE: &'static Table<$Leaf> = {
                    static TABLE: Table<$Leaf> =
                        Table(backends!(entries($Leaf, $leaf, $W, first::$leaf::<$lane>)));
                    &TABLE
                };
            )*

            #[inline(always)]
            fn short_any(x: &[u8], rule: &Rule) -> bool {
                short::any::<$W>(x, rule)
            }
            #[inline(never)]
            fn short_bits(x: &[u8], rule: &Rule) -> u64 {
                short::bits::<$W>(x, rule)
            }
            #[inline(never)]
            fn short_count(x: &[u8], rule: &Rule) -> usize {
                short::count::<$W>(x, rule)
            }
            #[inline(never)]
            fn short_mask(x: &[u8], rule: &Rule, out: &mut Places) {
                short::mask::<$W>(x, rule, out);
            }
        }
    };
}
leaves!(lane(u8 1));
leaves!(lane(u16 2));
leaves!(lane(u32 4));
leaves!(lane(u64 8));
