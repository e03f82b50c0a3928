//! The leaves: the loops that are compiled for each width and instruction set. No leaf calls
//! another one. The entries (`entry.rs`) and the drivers (`drivers.rs`) call the leaves of
//! questions; `replace.rs`, `scale.rs` and `stats.rs` call their own.

mod bits;
mod count;
mod find;
mod mask;
mod replace;
mod scale;
#[cfg(feature = "stats")]
mod stats;

pub(crate) use bits::bits;
pub(crate) use count::{CLASS_BITS, classify, count};
pub(crate) use find::{find, screen};
pub(crate) use mask::{TURN, mask, skip};
pub(crate) use replace::{Blend, replace};
pub(crate) use scale::{Multiply, multiply};
#[cfg(feature = "stats")]
pub(crate) use stats::{Given, Order, order, place, powers, within};
