//! Stops mistral.rs before it samples a token from logits with NaN.
//!
//! By itself, mistral.rs notices a NaN in the probabilities. Softmax has spread the NaN to all of
//! them by then, so its error cannot name the token.
//!
//! ```
//! use mistralrs_core::CustomLogitsProcessor;
//! use nonfinite_mistralrs::{Predicate, checked};
//! use candle_core::{Device, Tensor};
//!
//! // `RequestBuilder::add_logits_processor(check)` adds the check to a request.
//! let check = checked(Predicate::NanOrPositiveInf);
//! let logits = Tensor::new(&[0.5f32, f32::NAN, -1.0], &Device::Cpu)?;
//! let error = check.apply(&logits, &[7, 8, 9]).unwrap_err().to_string();
//! assert!(error.contains("logit of token 1, after 3 tokens: nan or +inf"), "{error}");
//! # Ok::<(), candle_core::Error>(())
//! ```

use std::fmt;
use std::sync::Arc;

use candle_core::{Error, Result, Tensor};
use mistralrs_core::CustomLogitsProcessor;
pub use nonfinite::Predicate;

/// The first logit for which the predicate holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLogit {
    /// The token whose logit it is.
    pub token: usize,
    /// How many tokens the sequence has: prompt and generated ones.
    pub after: usize,
    /// The predicate that holds.
    pub predicate: Predicate,
}

impl fmt::Display for BadLogit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { token, after, predicate } = self;
        write!(f, "logit of token {token}, after {after} tokens: {predicate}")
    }
}

impl std::error::Error for BadLogit {}

/// A processor that leaves logits as they are, and ends the request if `predicate` holds for one.
/// The error is a [`BadLogit`]. [`Predicate::NanOrPositiveInf`] allows masked logits, which are
/// -Inf.
///
/// mistral.rs applies the processors of a request in their order, before each token that it
/// samples. The logits must be on the CPU, where mistral.rs samples.
#[must_use]
pub fn checked(predicate: Predicate) -> Arc<dyn CustomLogitsProcessor> {
    Arc::new(move |logits: &Tensor, context: &[u32]| -> Result<Tensor> {
        let Some(coordinate) = nonfinite_candle::position(logits, predicate)? else {
            return Ok(logits.clone());
        };
        let token = coordinate.last().copied().unwrap_or_default();
        Err(Error::wrap(BadLogit { token, after: context.len(), predicate }))
    })
}
