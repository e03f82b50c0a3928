//! Inputs of fewer than 64 bytes are answered where they are asked: no backend is looked up, and a
//! rule that the caller knows is a constant here.
//!
//! ```text
//! registers.rs     of 16 bytes, which every CPU of x86 and AArch64 has
//! elements.rs      other targets: element by element
//! ```

mod elements;
mod registers;

use crate::lines::Places;
use crate::rule::Rule;

pub(crate) use elements::Elements;

/// The answers for fewer than 64 bytes. `any` and `bits` take 64 bytes too.
pub(crate) trait Short {
    /// Whether the answer is yes for any element. Inlined into the program, where the rule is
    /// known.
    fn any<const W: usize>(x: &[u8], rule: &Rule) -> bool;
    /// Bit `i` for element `i`: its answer. The other bits are 0.
    fn bits<const W: usize>(x: &[u8], rule: &Rule) -> u64;
    /// The number of hits.
    fn hits<const W: usize>(x: &[u8], rule: &Rule) -> usize;
    /// A byte for each element.
    fn mask<const W: usize>(x: &[u8], rule: &Rule, out: &mut Places);
}
