//! The scan: looks at tensors and adds up the findings.

mod finite;
mod marks;
mod pieces;
mod places;
mod scanner;
mod selection;
mod split;
mod stream;
mod tally;
mod threads;

pub(crate) use finite::{Finite, Peak};
pub(crate) use pieces::{look, scan};
pub(crate) use places::places;
pub(crate) use scanner::Scanner;
pub use split::Of;
pub(crate) use split::{Piece, split};
pub(crate) use stream::scan_stream;
pub(crate) use tally::{Found, Tally};
pub(crate) use threads::{for_each, lock};
