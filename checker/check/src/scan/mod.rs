//! The scan: looks at tensors and adds up the findings.

mod byte_facts;
mod covered;
mod finite_stats;
mod look;
mod pieces;
mod places;
mod scanner;
mod split;
mod tally;
mod tasks;

pub(crate) use byte_facts::{ByteKind, Facts, PAGE, bits, end_of_zeros, start_of_zeros};
pub(crate) use covered::Covered;
pub(crate) use finite_stats::{Finite, Peak};
pub(crate) use pieces::{Scanned, scan};
pub(crate) use places::places;
pub(crate) use split::{Cut, Target, split};
pub(crate) use tally::{KindTally, Tally};
pub(crate) use tasks::{Task, Whole, run};
