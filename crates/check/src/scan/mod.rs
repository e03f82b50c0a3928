//! The scan: looks at tensors and adds up the findings.

mod finite;
mod marks;
mod pieces;
mod places;
mod scanner;
mod selection;
mod split;
mod tally;
mod tasks;
mod threads;

pub(crate) use finite::{Finite, Peak};
pub(crate) use pieces::scan;
pub(crate) use places::places;
pub(crate) use scanner::Witness;
pub use split::Of;
pub(crate) use split::{Piece, split};
pub(crate) use tally::{Found, Tally};
pub(crate) use tasks::{Answer, Task, Whole, run};
#[cfg(feature = "remote")]
pub(crate) use threads::for_each;
pub(crate) use threads::lock;
