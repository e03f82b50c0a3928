//! Lint in pieces, as by the workers of a page.

use std::num::NonZeroUsize;

use nonfinite_check::Report;
use nonfinite_check::lint::Linter;
use nonfinite_check::work::Plan;

use crate::pieces::{Random, sent, tallies};

/// The report of a linter on a file that is checked in pieces.
pub(crate) fn lint_in_pieces(linter: &mut Linter, path: &str) -> Report {
    let most = NonZeroUsize::new(1 << 12).expect("not 0");
    let mut plan: Plan = sent(&linter.plan(path, most).expect("a good file"));
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let found = tallies(plan.take_pieces(), &mut random).expect("good pieces");
    linter.merge(&plan, found).expect("every piece is there")
}
