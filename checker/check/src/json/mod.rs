//! Reports as JSON, version 1 of the schema in `SCHEMA.md`.

mod not_looked_at;
mod stats;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

pub(crate) use not_looked_at::NotLookedAt;
use not_looked_at::asks;
use stats::{Above, Measured};

use crate::model::{ByKind, Error, First, KindReport, Kinds, Storage};
use crate::places::{AxisPlaces, Map};
use crate::report::{LookedAt, Report, TensorReport};
use crate::totals::Totals;

/// The version of the schema. It rises when a field is removed or changes its meaning, not when a
/// field is added.
pub const VERSION: u32 = 1;

/// The version of the program. All crates of it have the same.
pub(crate) const PROGRAM: &str = env!("CARGO_PKG_VERSION");

/// Which tensors are listed. Totals count all tensors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Listed {
    /// All tensors.
    #[default]
    All,
    /// Bad tensors, and tensors that may hold a NaN and could not be looked at.
    Bad,
}

impl Listed {
    fn lists(self, tensor: &TensorReport) -> bool {
        match self {
            Self::All => true,
            Self::Bad => tensor.is_bad() || tensor.looked_at.is_missing(),
        }
    }
}

/// A whole run as one document: each file with its report or its error, and the files of no known
/// format that the search of a folder found.
#[must_use]
pub fn document(
    files: &[(PathBuf, Result<Report, Error>)],
    no_format: &[PathBuf],
    listed: Listed,
) -> String {
    let reports = || files.iter().filter_map(|(_, result)| result.as_ref().ok());
    let totals = All { sums: Totals::of(reports()), by_dtype: Totals::by_dtype(reports()) };
    let files: Vec<_> =
        files.iter().map(|(path, result)| File::new(path, result, listed)).collect();
    let bad = files.iter().any(|file| file.bad);
    let complete = files.iter().all(|file| file.complete);
    let no_format = no_format.iter().map(|path| path.to_string_lossy()).collect();
    let (schema_version, version) = (VERSION, PROGRAM);
    text(&Document { schema_version, version, bad, complete, totals, files, no_format })
}

/// The lines of a file: an object for each tensor, or one object for a file that could not be
/// checked. Each line ends with a line feed.
#[must_use]
pub fn lines(path: &Path, result: &Result<Report, Error>, listed: Listed) -> String {
    let mut lines = String::new();
    let mut push = |entry: &Line<'_>| {
        lines.push_str(&text(entry));
        lines.push('\n');
    };
    let path = path.to_string_lossy();
    let entry = |tensor, error: Option<&Error>| Line {
        schema_version: VERSION,
        path: &path,
        tensor,
        error: error.map(Error::to_string),
        asks: error.and_then(asks),
    };
    match result {
        Ok(report) => {
            let tensors = report.tensors.iter().filter(|tensor| listed.lists(tensor));
            tensors.for_each(|tensor| push(&entry(Some(Tensor::new(tensor)), None)))
        }
        Err(error) => push(&entry(None, Some(error))),
    }
    lines
}

pub(crate) fn text(value: &impl Serialize) -> String {
    // Writing to a string fails only for maps with keys that are not strings. There are no such
    // maps.
    serde_json::to_string(value).unwrap_or_default()
}

#[derive(Serialize)]
struct Document<'a> {
    schema_version: u32,
    version: &'static str,
    bad: bool,
    complete: bool,
    totals: All<'a>,
    files: Vec<File<'a>>,
    no_format: Vec<Cow<'a, str>>,
}

#[derive(Serialize)]
struct All<'a> {
    #[serde(flatten)]
    sums: Totals,
    by_dtype: BTreeMap<&'a str, Totals>,
}

#[derive(Serialize)]
struct File<'a> {
    path: String,
    format: Option<&'static str>,
    bad: bool,
    complete: bool,
    error: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    damaged: bool,
    not_looked_at: Vec<NotLookedAt<'a>>,
    #[serde(serialize_with = "one_by_one")]
    tensors: Vec<&'a TensorReport>,
}

impl<'a> File<'a> {
    fn new(path: &Path, result: &'a Result<Report, Error>, listed: Listed) -> Self {
        let report = result.as_ref().ok();
        Self {
            path: path.to_string_lossy().into_owned(),
            format: report.map(|report| report.format.name()),
            bad: report.is_some_and(Report::is_bad),
            complete: report.is_some_and(Report::is_complete),
            error: result.as_ref().err().map(Error::to_string),
            damaged: report.is_some_and(Report::is_damaged),
            not_looked_at: NotLookedAt::all(result),
            tensors: report
                .into_iter()
                .flat_map(|report| report.tensors.iter().map(|tensor| &**tensor))
                .filter(|tensor| listed.lists(tensor))
                .collect(),
        }
    }
}

/// Each tensor is described when it is written, so that one description is in memory at a time.
fn one_by_one<S: Serializer>(tensors: &[&TensorReport], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(tensors.iter().copied().map(Tensor::new))
}

#[derive(Serialize)]
struct Line<'a> {
    schema_version: u32,
    path: &'a str,
    #[serde(flatten)]
    tensor: Option<Tensor<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    asks: Option<&'static str>,
}

#[derive(Serialize)]
struct Tensor<'a> {
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    shard: Option<String>,
    dtype: &'a str,
    shape: &'a [u64],
    #[serde(skip_serializing_if = "Option::is_none")]
    storage: Option<&'a Storage>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    left_out: bool,
    elements: u64,
    bytes: u64,
    looked_at: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scales: Option<Scales<'a>>,
    #[serde(flatten)]
    found: ByKind<Count<'a>>,
    #[serde(flatten)]
    stats: Option<Measured<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    large: Option<Above<'a>>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    mask: bool,
    bad: Vec<&'static str>,
    #[serde(rename = "where", skip_serializing_if = "Option::is_none")]
    places: Option<Where<'a>>,
}

#[derive(Serialize)]
struct Where<'a> {
    statement: String,
    elements: u64,
    axes: &'a [AxisPlaces],
    #[serde(skip_serializing_if = "Option::is_none")]
    map: Option<&'a Map>,
}

#[derive(Serialize)]
struct Scales<'a> {
    block: u64,
    format: &'static str,
    fields: &'a [&'static str],
}

#[derive(Serialize)]
struct Count<'a> {
    count: u64,
    first: Option<Element<'a>>,
}

#[derive(Serialize)]
struct Element<'a> {
    coordinate: &'a [u64],
    bits: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    quiet: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    part: Option<&'static str>,
}

impl<'a> Tensor<'a> {
    fn new(tensor: &'a TensorReport) -> Self {
        let (looked_at, reason, scales) = match &tensor.looked_at {
            LookedAt::Values => ("values", None, None),
            LookedAt::Scales { block, format, fields } => {
                ("scales", None, Some(Scales { block: *block, format: format.name(), fields }))
            }
            LookedAt::AlwaysFinite => ("always_finite", None, None),
            LookedAt::NotFloat => ("not_float", None, None),
            LookedAt::Unreadable(why) | LookedAt::Damaged(why) => {
                ("unreadable", Some(why.text()), None)
            }
        };
        let count = |of_kind: &'a KindReport| Count {
            count: of_kind.count,
            first: of_kind.first.as_deref().map(Element::new),
        };
        Self {
            name: tensor.name.as_deref(),
            shard: tensor.file.as_ref().map(|file| file.to_string_lossy().into_owned()),
            dtype: &tensor.dtype,
            shape: &tensor.shape,
            storage: tensor.storage.as_deref(),
            left_out: tensor.is_left_out,
            elements: tensor.elements,
            bytes: tensor.bytes,
            looked_at,
            reason,
            scales,
            found: tensor.found.as_ref().map(count),
            stats: tensor.stats.as_deref().map(Measured::new),
            large: tensor.large.as_deref().map(Above::new),
            mask: tensor.mask.is_some(),
            bad: bad(tensor),
            places: tensor.places.as_ref().map(|places| Where {
                statement: places.statement(tensor.name.as_deref().unwrap_or_default()),
                elements: places.elements,
                axes: &places.axes,
                map: places.map.as_ref(),
            }),
        }
    }
}

impl<'a> Element<'a> {
    fn new(first: &'a First) -> Self {
        Self {
            coordinate: &first.coordinate,
            bits: first.hex(),
            quiet: first.quiet(),
            part: first.part,
        }
    }
}

/// What makes a tensor bad.
fn bad(tensor: &TensorReport) -> Vec<&'static str> {
    let mut bad = names(tensor.bad);
    if tensor.large.as_ref().is_some_and(|large| !large.is_allowed) {
        bad.push("large");
    }
    bad
}

fn names(kinds: Kinds) -> Vec<&'static str> {
    let names = ByKind { nan: "nan", pos_inf: "pos_inf", neg_inf: "neg_inf" };
    let names = kinds.zip(names).into_array().into_iter();
    names.filter(|(is, _)| *is).map(|(_, name)| name).collect()
}
