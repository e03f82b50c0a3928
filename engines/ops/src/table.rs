//! The macro and the functions for tables of element types.

use nonfinite::Format;

use crate::Unknown;

/// One element type of a standard: the value of the enum, its name, the format of its elements if
/// they are floating-point numbers, and further properties.
#[derive(Clone, Copy)]
pub(crate) struct Row<T, More = ()>(
    pub(crate) T,
    pub(crate) &'static str,
    pub(crate) Option<Format>,
    pub(crate) More,
);

/// The enumeration of a standard's element types, in the order of the standard: a variant, its
/// name, its format if it is a floating-point type, and further properties. A macro, since a
/// function cannot define an enum.
macro_rules! types {
    (
        $(#[$meta:meta])*
        $type:ident: $more:ty;
        $(
            $(#[$doc:meta])*
            $variant:ident $(= $code:literal)?, $name:literal, $format:expr $(, $other:expr)?;
        )*
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        #[non_exhaustive]
        #[allow(missing_docs, reason = "the names of the standard")]
        pub enum $type {
            $($(#[$doc])* $variant $(= $code)?,)*
        }

        impl $type {
            /// Every type, in the order of the standard.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            const TABLE: &'static [$crate::table::Row<Self, $more>] =
                &[$($crate::table::Row(Self::$variant, $name, $format, ($($other)?))),*];

            const fn row(self) -> &'static $crate::table::Row<Self, $more> {
                &Self::TABLE[self as usize]
            }

            /// The name of the type in the standard.
            #[must_use]
            pub const fn name(self) -> &'static str {
                self.row().1
            }

            /// How the bits of an element are read, for floating-point types. A [`Format`] of 4 or
            /// 6 bits has one element in each byte, even if the standard packs them. A type with a
            /// format may still be refused by an operator.
            #[must_use]
            pub const fn format(self) -> Option<Format> {
                self.row().2
            }
        }

        // Values are the indices of rows.
        const _: () = {
            let mut i = 0;
            while i < $type::ALL.len() {
                assert!($type::ALL[i] as usize == i);
                i += 1;
            }
        };
    };
}
pub(crate) use types;

/// The type of the first row with this format.
pub(crate) fn with_format<T: Copy, More>(table: &[Row<T, More>], format: Format) -> Option<T> {
    table.iter().find(|row| row.2 == Some(format)).map(|row| row.0)
}

/// The type of the first row for which `matches` returns true: it compares the names of a row with
/// `name`. The error says that `owner` has no `kind` of this name.
pub(crate) fn named<T: Copy, More>(
    table: &[Row<T, More>],
    matches: impl Fn(&Row<T, More>) -> bool,
    (owner, kind): (&'static str, &'static str),
    name: &str,
) -> Result<T, Unknown> {
    let found = table.iter().find(|row| matches(row)).map(|row| row.0);
    found.ok_or(Unknown::name(owner, kind, name))
}
