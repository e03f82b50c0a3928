//! What was not looked at, and the option that would change this.

use std::borrow::Cow;

use serde::Serialize;

use crate::model::{Asks, Error, Reason};
use crate::report::Report;

/// A part of a file that could hold a NaN and was not looked at.
#[derive(Serialize)]
pub(crate) struct NotLookedAt<'a> {
    /// The tensor or member. None for the whole file.
    name: Option<&'a str>,
    #[serde(flatten)]
    why: Why<'a>,
}

impl<'a> NotLookedAt<'a> {
    pub(crate) fn all(result: &'a Result<Report, Error>) -> Vec<Self> {
        match result {
            Ok(report) => report
                .not_looked_at()
                .map(|(tensor, why)| Self { name: tensor.name.as_deref(), why: Why::new(why) })
                .collect(),
            Err(error) => {
                let asks = error.asks().map(Asked::new);
                vec![Self { name: None, why: Why { reason: error.to_string().into(), asks } }]
            }
        }
    }
}

/// A reason without the name of an option, and the option.
#[derive(Serialize)]
pub(super) struct Why<'a> {
    reason: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    asks: Option<Asked>,
}

impl<'a> Why<'a> {
    pub(super) fn new(reason: &'a Reason) -> Self {
        Self { reason: reason.cause(), asks: reason.asks().map(Asked::new) }
    }
}

/// An option, by its name in the schema.
#[derive(Serialize)]
pub(super) struct Asked {
    option: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<String>,
}

impl Asked {
    pub(super) fn new(asks: Asks) -> Self {
        let option = match asks {
            Asks::TakenAs { .. } => "as",
            Asks::MaxBytes => "max_bytes",
        };
        Self { option, example: asks.example() }
    }
}
