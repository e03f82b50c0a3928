//! The list of leaves, and the macro that compiles them for a backend.
//!
//! | leaf | answers |
//! |---|---|
//! | `find` | the first line with a hit, or where the search stopped |
//! | `screen` | the bytes before the first group with an element that passes a screen |
//! | `count` | the number of elements for which the rule holds |
//! | `classify` | NaN, infinities and -Inf, in 21 bits each |
//! | `mask` | a byte for each element; returns how many bytes have answers: all |
//! | `skip` | a byte for each element of groups without a hit; returns how many bytes these are |
//! | `bits` | the bits of all whole lines; returns the bits of the elements after them |
//! | `replace` | other codes in the place of NaN and infinities; returns how many these are |
//! | `within` | the bytes before a group with an element outside of a range |
//! | `find_code` | the index of the first element of a code |
//! | `order` | the lowest and the highest number, and three counts |
//! | `multiply` | products of the elements; returns whether one was NaN or infinite before |

/// The list of leaves: `leaves!(macro (arguments))` calls a macro with the arguments and this list.
///
/// Every backend has a loop for the leaf of a `question`. SSE2 takes the others from the scalar
/// backend.
macro_rules! leaves {
    ($use:ident $arguments:tt) => {
        $use! { $arguments
            question find Find FIND (
                x: $crate::lines::Long<'_>, rule: &$crate::Rule
            ) -> $crate::lines::Hit;
            question screen Screen SCREEN (
                x: $crate::lines::Long<'_>, rule: &$crate::Rule
            ) -> usize;
            question count Count COUNT (
                x: $crate::lines::Long<'_>, rule: &$crate::Rule
            ) -> u64;
            question classify Classify CLASSIFY (
                x: $crate::lines::Long<'_>, nan: &$crate::Rule
            ) -> u64;
            question mask Mask MASK (
                x: $crate::lines::Long<'_>, rule: &$crate::Rule, out: &mut $crate::lines::Places
            ) -> usize;
            question skip Skip SKIP (
                x: $crate::lines::Long<'_>, rule: &$crate::Rule, out: &mut $crate::lines::Places
            ) -> usize;
            question bits Bits PACKED (
                x: $crate::lines::Long<'_>, rule: &$crate::Rule, out: &mut [u8]
            ) -> u64;
            other replace Replace REPLACE (
                x: &mut [$crate::lines::Four], codes: &$crate::values::Codes
            ) -> usize;
            #[cfg(feature = "stats")]
            other within Within WITHIN (
                x: &[u8], range: $crate::order::Range, valid: Option<&$crate::Bitmap<'_>>
            ) -> usize;
            #[cfg(feature = "stats")]
            other order Order ORDER (
                given: &$crate::loops::Given<'_>, keys: &mut [i64; 2]
            ) -> [usize; 3];
            #[cfg(feature = "stats")]
            other find_code FindCode FIND_CODE (
                x: $crate::lines::Long<'_>, mask: u64, code: u64
            ) -> usize;
            other multiply Multiply MULTIPLY (
                x: &mut [$crate::lines::Four], rule: &$crate::Rule, bf16: bool, factor: f64
            ) -> bool;
        }
    };
}
pub(crate) use leaves;

/// `leaves!(compile (TOKEN, FEATURES))`: the loops of all leaves, compiled with target features.
/// With `questions`: only the leaves of questions.
macro_rules! compile {
    ($arguments:tt $(
        $(#[$cfg:meta])*
        $kind:ident $leaf:ident $Leaf:ident $TABLE:ident($($name:ident: $Type:ty),*) -> $Out:ty;
    )*) => { $(
        $crate::leaves::compile_leaf! {
            $kind $arguments $(#[$cfg])* $leaf($($name: $Type),*) -> $Out
        }
    )* };
}
macro_rules! compile_leaf {
    (question ($token:expr, $features:literal $(, questions)?)
        $leaf:ident($($name:ident: $Type:ty),*) -> $Out:ty
    ) => {
        #[target_feature(enable = $features)]
        pub(crate) fn $leaf<const W: usize>($($name: $Type),*) -> $Out {
            $crate::loops::$leaf::<_, W>($token, $($name),*)
        }
    };
    ($kind:ident ($token:expr, $features:literal, questions) $($rest:tt)*) => {};
    ($kind:ident ($token:expr, $features:literal) $(#[$cfg:meta])*
        $leaf:ident($($name:ident: $Type:ty),*) -> $Out:ty
    ) => {
        $(#[$cfg])*
        #[target_feature(enable = $features)]
        pub(crate) fn $leaf<const W: usize>($($name: $Type),*) -> $Out {
            $crate::loops::$leaf::<_, W>($token, $($name),*)
        }
    };
}
pub(crate) use {compile, compile_leaf};
