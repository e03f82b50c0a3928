//! The scan: cuts tensors into pieces, looks at their numbers, and adds up the tallies. On the way,
//! it counts bytes for lint: a [`ByteKind`] says which, and a [`ByteTally`] has the counts.

mod action;
mod byte_tally;
mod finite_tally;
mod mask_tally;
mod open_piece;
mod pieces;
mod places;
mod scanner;
mod split;
mod tally;
mod target_tally;

pub(crate) use byte_tally::{
    ByteKind, ByteTally, PAGE, bits, end_of_zeros, is_zero, start_of_zeros,
};
pub(crate) use finite_tally::{FiniteTally, Peak};
pub(crate) use open_piece::{OpenPiece, Whole, run};
pub(crate) use pieces::{TensorTallies, scan};
pub(crate) use places::places;
pub(crate) use split::{Piece, Target, split};
pub(crate) use tally::{KindTally, Tally};
pub(crate) use target_tally::TargetTally;
