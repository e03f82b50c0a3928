//! Looking at tensors and adding up what is found.

mod marks;
mod pieces;
mod places;
mod range;
mod scanner;
mod selection;
mod stream;
mod tally;

pub(crate) use pieces::scan;
pub(crate) use places::places;
pub(crate) use stream::scan_stream;
pub(crate) use tally::{Found, Tally};
