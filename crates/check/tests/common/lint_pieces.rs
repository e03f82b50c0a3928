//! Lint in pieces, as on a cluster.

use std::num::NonZeroUsize;

use nonfinite_check::lint::Linter;
use nonfinite_check::work::{self, Piece, Plan};
use nonfinite_check::{Options, Report};

use crate::pieces::{Random, cut, merge_at_random, sent};

/// The report of a linter on a file that is checked in pieces, in two groups.
pub(crate) fn lint_in_pieces(linter: &mut Linter, path: &str) -> Report {
    let most = NonZeroUsize::new(1 << 12).expect("not 0");
    let mut plan: Plan = sent(&linter.plan(path, most).expect("a good file"));
    let mut random = Random(0x9E37_79B9_7F4A_7C15);
    let mut pieces: Vec<Piece> = cut(plan.take_pieces(), &mut random);
    let others = pieces.split_off(random.below(pieces.len()));
    let found = [others, pieces].map(|pieces| {
        let pieces: Vec<_> = pieces.iter().map(sent).collect();
        sent(&work::check_pieces(&pieces, &Options::default()).expect("good pieces"))
    });
    linter.merge(&plan, merge_at_random(found.into(), &mut random)).expect("every piece is there")
}
