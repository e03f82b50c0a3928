//! The unit of work of the page in a browser: a file in pieces, which its workers check.
//!
//! [`Linter::plan`](crate::lint::Linter::plan) reads the header of a file and cuts its data into
//! pieces. [`check_pieces`] makes the tallies of some of them, and [`so_far`] says what they found.
//! [`Linter::merge`](crate::lint::Linter::merge) verifies the checksums and makes the report, the
//! same as that of [`Linter::check`](crate::lint::Linter::check) without
//! [`places`](crate::TensorReport::places). [`Linter::places`](crate::lint::Linter::places) finds
//! the places.
//!
//! Instances of WebAssembly share no memory, so plans, pieces and tallies can be serialised with
//! serde, in any form that keeps integers of 64 bits, such as postcard or JSON. They are not
//! checked again: the instances of a page trust each other.
//!
//! ```
//! use std::num::NonZeroUsize;
//!
//! use nonfinite_check::lint::Linter;
//! use nonfinite_check::{Options, work};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = std::env::temp_dir().join(format!("work-{}.npy", std::process::id()));
//! # let header = format!("{:<118}", "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }");
//! # let data = [1.0f32, f32::NAN, 2.0].map(f32::to_le_bytes).concat();
//! # std::fs::write(&path, [b"\x93NUMPY\x01\0\x76\0", header.as_bytes(), &data].concat())?;
//! # let file = path.to_str().ok_or("not UTF-8")?;
//! let options = Options::default();
//! let most = NonZeroUsize::new(8 << 20).ok_or("at least a byte")?;
//! let mut plan = Linter::new(options.clone()).plan(file, most)?;
//! // Some pieces go to a worker as JSON, and their tallies come back.
//! let sent = serde_json::to_string(&plan.take_pieces())?;
//! let pieces: Vec<work::PlannedPiece> = serde_json::from_str(&sent)?;
//! let found = serde_json::to_string(&work::check_pieces(&pieces, &options)?)?;
//! let report = Linter::new(options).merge(&plan, [serde_json::from_str(&found)?])?;
//! assert_eq!(report.tensors[0].found.nan.count, 1);
//! # std::fs::remove_file(&path)?;
//! # Ok(())
//! # }
//! ```

mod check;
mod plan;

use std::collections::BTreeMap;

pub use check::check_pieces;
pub use plan::{Plan, PlannedPiece};
use serde::{Deserialize, Serialize};

use crate::formats::unknown;
use crate::model::{self, FileFormat, FullDescription, verified};
use crate::options::Options;
use crate::report::Report;
use crate::scan::{Target, TargetTally};

/// Why a file cannot be planned, a piece not checked, or tallies not merged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file cannot be checked.
    #[error("{0}")]
    Check(#[source] model::Error),
    /// Another instance cannot read the bytes: they have no path, or the path is not UTF-8.
    #[error("the path is not UTF-8, or leads to no file")]
    NoPath,
    /// A part of the file is in none of the tallies, or in two of them.
    #[error("the tallies do not have each part of the file once")]
    NotOnce,
}

impl<E: Into<model::Error>> From<E> for Error {
    fn from(error: E) -> Self {
        Self::Check(error.into())
    }
}

/// The tallies of some pieces.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Tallies(Vec<(Target, TargetTally)>);

impl Tallies {
    /// Whether there is a NaN or an infinity in the pieces.
    #[must_use]
    pub fn is_bad(&self) -> bool {
        self.0.iter().any(|(_, tally)| tally.numbers.is_bad())
    }
}

/// The tensors of a file in which NaN or infinities were found, as far as these tallies go. The
/// plan need not hold the pieces. Of the options, only `fail_on` and `allow` are used.
///
/// # Errors
/// [`Error::NotOnce`] if a part of a tensor is in two tallies.
pub fn so_far(
    plan: &Plan,
    tallies: impl IntoIterator<Item = Tallies>,
    options: &Options,
) -> Result<Report, Error> {
    let format = FileFormat::by_name(&plan.format).ok_or_else(unknown)?;
    let bad = merged(tallies)?.into_iter().filter_map(|(of, tally)| match of {
        Target::Tensor(index) if tally.numbers.is_bad() => {
            Some((plan.tensors.get(index)?.0.clone(), tally.numbers))
        }
        Target::Tensor(_) | Target::Checksum(_) => None,
    });
    Ok(Report::new(format, bad, BTreeMap::new(), Vec::new(), plan.other_files.clone(), options))
}

/// The tally of each target that is in these.
fn merged(
    tallies: impl IntoIterator<Item = Tallies>,
) -> Result<BTreeMap<Target, TargetTally>, Error> {
    let mut all = BTreeMap::<Target, TargetTally>::new();
    for (of, more) in tallies.into_iter().flat_map(|tallies| tallies.0) {
        if !all.entry(of).or_default().merge(more) {
            return Err(Error::NotOnce);
        }
    }
    Ok(all)
}

/// The tally of each tensor of the plan, and the parts of other files whose checksum is wrong.
///
/// # Errors
/// Those of [`Linter::merge`](crate::lint::Linter::merge).
pub(crate) fn tensor_tallies(
    plan: &Plan,
    tallies: impl IntoIterator<Item = Tallies>,
) -> Result<(Vec<TargetTally>, Vec<FullDescription>), Error> {
    let mut all = merged(tallies)?;
    let mut whole = |of, extent| {
        let tally = all.remove(&of).unwrap_or_default();
        if tally.is_of(extent) { Ok(tally) } else { Err(Error::NotOnce) }
    };
    let tensors = plan.tensors.iter().enumerate();
    let tensors = tensors.map(|(index, (_, extent))| whole(Target::Tensor(index), *extent));
    let tensors = tensors.collect::<Result<_, _>>()?;
    let mut damaged = Vec::new();
    for (index, planned) in plan.checksums.iter().enumerate() {
        let is_right = whole(Target::Checksum(index), planned.length)?.crc() == Some(planned.crc);
        damaged.extend(verified(&planned.name, planned.other.clone(), is_right)?);
    }
    Ok((tensors, damaged))
}
