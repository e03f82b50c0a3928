//! Checks the logits of a batch before sampling, with one answer for each sequence: a bad sequence
//! is dropped, and the others go on.
//!
//!     cargo run --example logits

use nonfinite::{Predicate, TensorView};

const SEQUENCES: usize = 4;
const VOCABULARY: usize = 32_000;

/// The token of the largest logit.
fn greedy(logits: &[f32]) -> usize {
    let (mut token, mut largest) = (0, f32::NEG_INFINITY);
    for (i, &logit) in logits.iter().enumerate() {
        if logit > largest {
            (token, largest) = (i, logit);
        }
    }
    token
}

fn main() -> Result<(), nonfinite::Error> {
    // `[SEQUENCES, VOCABULARY]`, row after row.
    let mut logits: Vec<f32> = (0..SEQUENCES * VOCABULARY).map(|i| (i % 977) as f32).collect();
    logits[VOCABULARY + 5] = f32::NEG_INFINITY; // a token that must not be sampled
    logits[2 * VOCABULARY + 17] = f32::NAN;

    // -Inf marks tokens that must not be sampled, so only NaN is an error here.
    let mut bad = [false; SEQUENCES];
    let rows = TensorView::shaped(&logits, &[SEQUENCES, VOCABULARY])?.rows(1)?;
    rows.any(Predicate::Nan, &mut bad)?;

    for (sequence, (row, bad)) in logits.chunks(VOCABULARY).zip(bad).enumerate() {
        if bad {
            println!("sequence {sequence}: the logits hold NaN, dropped");
        } else {
            println!("sequence {sequence}: token {}", greedy(row));
        }
    }
    assert_eq!(bad, [false, false, true, false]);
    Ok(())
}
