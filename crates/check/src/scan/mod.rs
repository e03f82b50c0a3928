//! The scan: looks at tensors and adds up the findings.

mod finite;
mod marks;
mod pieces;
mod places;
mod scanner;
mod selection;
mod split;
mod tally;

pub(crate) use finite::{Finite, Peak};
pub(crate) use pieces::{look, scan};
pub(crate) use places::places;
pub(crate) use scanner::{Scanner, Witness};
pub use split::Of;
pub(crate) use split::{Piece, split};
pub(crate) use tally::{Found, Tally};
