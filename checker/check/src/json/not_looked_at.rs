//! What was not looked at.

use std::borrow::Cow;

use serde::Serialize;

use crate::model::Error;
use crate::report::Report;

/// A part of a file that could hold a NaN and was not looked at.
#[derive(Serialize)]
pub(crate) struct NotLookedAt<'a> {
    /// The tensor or member. None for the whole file.
    name: Option<&'a str>,
    reason: Cow<'a, str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    asks: Option<&'static str>,
}

impl<'a> NotLookedAt<'a> {
    pub(crate) fn all(result: &'a Result<Report, Error>) -> Vec<Self> {
        match result {
            Ok(report) => report
                .not_looked_at()
                .map(|(tensor, why)| Self {
                    name: tensor.name.as_deref(),
                    reason: why.text().into(),
                    asks: None,
                })
                .collect(),
            Err(error) => {
                vec![Self { name: None, reason: error.to_string().into(), asks: asks(error) }]
            }
        }
    }
}

/// The option that lets the check of a file go on, by its name in the schema.
pub(super) fn asks(error: &Error) -> Option<&'static str> {
    error.exceeds_max_bytes().then_some("max_bytes")
}
