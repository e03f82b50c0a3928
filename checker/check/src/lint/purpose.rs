//! What a tensor is to its model, by its numbers and its name. Rules ask this before they judge.

use super::model::ReportedTensor;
use super::tensor_names::{is_trained, last, module};
use crate::model::{last_part, words};

/// What a tensor is to its model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// A weight. It has numbers of a usual size, and zeros only here and there.
    Weight,
    /// What a model adds to scores to hide some of them: -Inf, or other large negative numbers.
    Mask,
    /// A table, a statistic, a counter or a bound. Any finite number may be meant.
    Buffer,
    /// A bound, which is infinite before the first number comes.
    Bound,
    /// A state of training, such as a moment. It is zero until a gradient comes.
    State,
}

impl Purpose {
    pub(super) fn of(tensor: &ReportedTensor) -> Self {
        let (name, shape) = (tensor.name(), tensor.shape());
        let has_word = |is: fn(&str) -> bool| words(last_part(name)).any(is);
        let hides = || {
            let ends = tensor.min().zip(tensor.max());
            let ends = ends.map(|(least, most)| (least.value, most.value));
            ends.is_some_and(|(least, most)| least <= -1e4 && (most == 0.0 || most <= -1e4))
                || tensor.report.mask.is_some()
        };
        if is_state(tensor) {
            Self::State
        } else if tensor.described.is_weight() {
            // Converters to GGUF call the tables of positions weights.
            let is_table = last(module(name)).starts_with("rope_f");
            if is_table { Self::Buffer } else { Self::Weight }
        } else if has_word(is_of_mask) || hides() && !is_trained(name) {
            Self::Mask
        } else if has_word(is_of_table) {
            Self::Buffer
        } else if shape.len() > 1 {
            Self::Weight
        } else if has_word(is_of_bound) {
            Self::Bound
        } else if has_word(is_of_count) {
            Self::Buffer
        } else {
            Self::Weight
        }
    }
}

/// Whether a tensor is the state of an optimizer: its name says so, or has `exp_avg`, or a `state`
/// with the number of a parameter behind.
fn is_state(tensor: &ReportedTensor) -> bool {
    let (name, is_weight) = (tensor.name(), tensor.described.is_weight());
    let mut before = "";
    let is_of_optimizer = words(name).any(|word| {
        let is_pair = match std::mem::replace(&mut before, word) {
            "exp" => word == "avg",
            "opt" => word == "state",
            "state" => !is_weight && word.starts_with(|char: char| char.is_ascii_digit()),
            _ => false,
        };
        is_pair || matches!(word, "optim" | "optimizer" | "optimizers" | "OPTIMIZER")
    });
    // A `momentum_encoder` is a part of a model.
    is_of_optimizer || name.split('.').any(|part| part == "momentum" || part == "momentum_buffer")
}

fn is_of_mask(word: &str) -> bool {
    matches!(word, "mask" | "masks" | "masked" | "causal" | "alibi")
}

fn is_of_bound(word: &str) -> bool {
    matches!(word, "min" | "max" | "best" | "loss")
}

fn is_of_table(word: &str) -> bool {
    matches!(
        word,
        "freq" | "freqs" | "cis" | "cos" | "sin" | "rope" | "rotary" | "cumprod" | "cluster"
    )
}

/// Words of statistics and counters. They have at most one axis.
#[rustfmt::skip]
fn is_of_count(word: &str) -> bool {
    matches!(
        word,
        "sigmas" | "betas" | "timesteps" | "variance" | "window" | "bins" | "running" | "tracked"
            | "count" | "counts" | "counter" | "num" | "size" | "step" | "steps" | "updates"
            | "usage" | "total" | "seen" | "bounds" | "boundaries" | "edges"
    )
}
