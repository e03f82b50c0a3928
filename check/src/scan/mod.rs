//! Looking at tensors and adding up what is found.

mod pieces;
mod range;
mod scanner;
mod selection;
mod stream;
mod tally;

pub(crate) use pieces::scan;
pub(crate) use stream::scan_stream;
pub(crate) use tally::{Found, Tally};
