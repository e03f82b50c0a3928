//! The unit of work of a cluster: a file in pieces that any machine can check.
//!
//! [`plan`] reads the header of a file and cuts its data into pieces. [`check_piece`] looks at one
//! of them. [`merge`] makes the report, the same as that of [`check_file`](crate::check_file).
//! Plans, pieces and tallies can be serialised, so any engine can carry them: Ray, Spark, Dask, an
//! array of batch jobs. Each machine finds the file by the same path or URL.
//!
//! Tallies can be added up in any order and in any groups ([`Tallies::merge`]), and the report is
//! always the same. [`merge`] verifies the checksums. It refuses tallies that leave out a part of a
//! tensor or checksum, or have a part twice. A piece of a file that has changed since the plan is
//! refused, too. The report has no [`places`](crate::TensorReport::places).
//!
//! For the rules of lint, [`Linter::plan`](crate::lint::Linter::plan) and
//! [`Linter::merge`](crate::lint::Linter::merge) take the place of [`plan`] and [`merge`].
//!
//! ```
//! use nonfinite_check::{Options, json, work};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = std::env::temp_dir().join(format!("work-{}.npy", std::process::id()));
//! # let header = format!("{:<118}", "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }");
//! # let data = [1.0f32, f32::NAN, 2.0].map(f32::to_le_bytes).concat();
//! # std::fs::write(&path, [b"\x93NUMPY\x01\0\x76\0", header.as_bytes(), &data].concat())?;
//! # let file = path.to_str().ok_or("not UTF-8")?;
//! let options = Options::default();
//! let mut plan = work::plan(file, work::PIECE, &options)?;
//! // Each piece goes to some machine as JSON, and its tallies come back.
//! let mut found = Vec::new();
//! for piece in plan.take_pieces() {
//!     let sent = serde_json::to_string(&piece)?;
//!     let tallies = work::check_piece(&serde_json::from_str(&sent)?)?;
//!     found.push(serde_json::to_string(&tallies)?);
//! }
//! let found: Result<Vec<work::Tallies>, _> =
//!     found.iter().map(|text| serde_json::from_str(text)).collect();
//! let report = work::merge(&plan, found?, &options)?;
//! assert_eq!(report.tensors[0].found.nan.count, 1);
//! # std::fs::remove_file(&path)?;
//! # Ok(())
//! # }
//! ```

mod check;
mod error;
mod files;
mod plan;
mod tallies;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

pub use check::{check_piece, check_pieces};
pub use error::Error;
use error::FORM;
pub use plan::{Piece, Plan};
pub use tallies::Tallies;

use crate::input::opened;
use crate::model::{FileFormat, Outline, verified};
use crate::options::Options;
use crate::report::Report;
use crate::scan::Covered;
pub use crate::scan::Target;

/// A good length of a piece for a cluster, in bytes: much work for one task, and many tasks for a
/// large file.
pub const PIECE: NonZeroUsize = NonZeroUsize::new(256 << 20).unwrap();

/// Reads the header of a file and cuts its data into pieces of at most `most` bytes, without
/// reading the data. Elements and blocks stay whole. Data that has to be decoded
/// as a stream is one piece for each tensor.
///
/// The file is a path or, with the feature `remote`, a URL: see [`check_url`](crate::check_url).
/// For a format without a header at the beginning, a URL is downloaded as a whole, both here and in
/// the check of each piece that has to be decoded.
///
/// The stored members of an archive have checksums. Each member is cut into pieces for its
/// checksum, so bytes of numbers in it are in two pieces.
///
/// This uses the options `max_bytes`, `stats` and `max_abs`. The others are used when the pieces
/// are checked and merged, except `places` and `draw`, which are not used.
///
/// # Errors
/// [`Error::Check`] if the file is not a whole, valid file of a known format.
pub fn plan(file: &str, most: NonZeroUsize, options: &Options) -> Result<Plan, Error> {
    let (source, format, contents) = opened(file.as_ref(), options)?;
    Plan::new(&*source, format, &contents, &[], most, options)
}

/// Makes the report on a file from the tallies of all of its pieces. The plan need not hold the
/// pieces.
///
/// Of the options, only `fail_on` and `allow` are used. The report has no
/// [`places`](crate::TensorReport::places), whatever the options say: places take a second look at
/// the file.
///
/// # Errors
/// [`Error::Missing`] and [`Error::Repeated`] unless every part of every tensor and checksum is
/// there once, [`Error::Check`] if a checksum of the file is wrong, [`Error::OtherPlan`], and
/// [`Error::Invalid`] for input that this crate did not write.
pub fn merge(
    plan: &Plan,
    tallies: impl IntoIterator<Item = Tallies>,
    options: &Options,
) -> Result<Report, Error> {
    let format = FileFormat::by_name(&plan.format);
    let format = format.ok_or(Error::Invalid("a file format that is not known"))?;
    let (found, damaged) = covered(plan, tallies)?;
    let options =
        &Options { stats: plan.asked.stats, max_abs: plan.asked.max_abs(), ..options.clone() };
    let outlines = plan.tensors.iter().map(|(outline, _)| outline.clone());
    let tensors = outlines.zip(found.into_iter().map(|covered| covered.tally));
    Ok(Report::new(format, tensors, BTreeMap::new(), damaged, plan.other_files.clone(), options))
}

/// What was found in each tensor of the plan, and the parts of other files whose checksum is wrong.
///
/// # Errors
/// As [`merge`].
pub(crate) fn covered(
    plan: &Plan,
    tallies: impl IntoIterator<Item = Tallies>,
) -> Result<(Vec<Covered>, Vec<Outline>), Error> {
    if plan.form != FORM {
        return Err(Error::Form(plan.form));
    }
    let mut all = Tallies::default();
    tallies.into_iter().try_for_each(|more| all.add(more))?;
    let found = all.into_found(&plan.fingerprint())?;
    let mut found: BTreeMap<Target, Covered> = found.into_iter().collect();
    let mut tensors = Vec::new();
    for (index, (_, extent)) in plan.tensors.iter().enumerate() {
        let of = Target::Tensor(index);
        let found = found.remove(&of);
        if found.is_some() && *extent == 0 {
            return Err(Error::Invalid("tallies of a tensor with nothing to look at"));
        }
        let covered = found.unwrap_or_default();
        find_gap(of, &covered, *extent)?;
        if covered.facts.as_ref().is_some_and(|facts| !facts.may_be_of(*extent)) {
            return Err(Error::Invalid("facts that the bytes of a tensor cannot have"));
        }
        tensors.push(covered);
    }
    let mut damaged = Vec::new();
    for (index, planned) in plan.checksums.iter().enumerate() {
        let of = Target::Checksum(index);
        let covered = found.remove(&of).unwrap_or_default();
        find_gap(of, &covered, planned.length)?;
        let is_right = covered.crc() == Some(planned.crc);
        damaged.extend(verified(&planned.name, planned.other.clone(), is_right)?);
    }
    if !found.is_empty() {
        return Err(Error::Invalid("tallies of a tensor or checksum that the plan does not have"));
    }
    Ok((tensors, damaged))
}

/// Checks that the parts cover all of `length` bytes. They are sorted, and
/// adjacent parts are joined.
///
/// # Errors
/// [`Error::Missing`], and [`Error::Invalid`] if they cover more than that.
fn find_gap(of: Target, Covered { parts, .. }: &Covered, extent: u64) -> Result<(), Error> {
    // The end of the part without a gap.
    let covered = parts.first().filter(|part| part.start == 0).map_or(0, |part| part.end);
    if covered < extent {
        return Err(Error::Missing { of, at: covered });
    }
    if parts.last().is_some_and(|part| part.end > extent) {
        return Err(Error::Invalid("tallies of more than there is"));
    }
    Ok(())
}
