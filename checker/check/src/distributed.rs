//! A check by several processes: some make tallies of files, and one makes the reports.
//!
//! [`files`] lists what there is to check: the file itself, or the shards of a set. [`tally`] makes
//! the tally of such a file, in any process that finds the file by the same path or URL. [`report`]
//! makes the report of [`check_file`](crate::check_file) or [`check_url`](crate::check_url).
//!
//! ```
//! use std::collections::HashMap;
//! use std::path::Path;
//!
//! use nonfinite_check::{Options, distributed};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let path = std::env::temp_dir().join(format!("distributed-{}.npy", std::process::id()));
//! # let header = format!("{:<118}", "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }");
//! # let data = [1.0f32, f32::NAN, 2.0].map(f32::to_le_bytes).concat();
//! # std::fs::write(&path, [b"\x93NUMPY\x01\0\x76\0", header.as_bytes(), &data].concat())?;
//! let options = Options::default();
//! let mut found = HashMap::new();
//! for file in distributed::files(&path, &options) {
//!     // In another process, which sends the tally as JSON.
//!     if let Ok(tally) = distributed::tally(&file, &options) {
//!         found.insert(file, serde_json::to_string(&tally)?);
//!     }
//! }
//! let found = |file: &Path| serde_json::from_str(found.get(file)?).ok();
//! let report = distributed::report(&path, found, &options)?;
//! assert_eq!(report.tensors[0].found.nan.count, 1);
//! # std::fs::remove_file(&path)?;
//! # Ok(())
//! # }
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::check::{self, check_contents, other_files};
use crate::formats::{self, index};
use crate::input::{open, opened, url};
use crate::model::reader::Contents;
use crate::model::source::inside;
use crate::model::{Error, FileFormat, FullDescription, ReadAt, Tensor};
use crate::options::Options;
use crate::places::Places;
use crate::remote;
use crate::report::Report;
use crate::scan::{Tally, TensorTallies, places, scan};

/// The tally of a file: all that its report says, before the options decide what is bad.
///
/// Serialise it with serde, in any form that keeps integers of 64 bits, such as JSON. It is not
/// checked again, so the processes have to trust each other.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileTally {
    format: String,
    tensors: Vec<(FullDescription, Tally)>,
    /// By the index of the tensor.
    places: BTreeMap<usize, Places>,
    /// Parts of other files whose checksum is wrong.
    damaged: Vec<FullDescription>,
    other_files: Vec<PathBuf>,
}

/// The files to [`tally`] for a [`report`] on this path or URL: the shards of a set of
/// safetensors or PyTorch files if this is its index, and otherwise the file itself.
#[must_use]
pub fn files(path: &Path, options: &Options) -> Vec<PathBuf> {
    let url = url(path);
    let name = url.map(remote::name).or_else(|| path.file_name()?.to_str());
    let open = || open(path, options).ok();
    let shards = name.map(|name| formats::shards_of_set(name, open)).unwrap_or_default();
    // An index may name anything.
    let shards = shards.iter().filter(|shard| inside(shard).is_ok());
    let shards: Vec<PathBuf> = match url {
        Some(url) => shards.map(|shard| remote::beside(url, shard).into()).collect(),
        None => shards.map(|shard| path.with_file_name(shard)).collect(),
    };
    if shards.is_empty() { vec![path.to_owned()] } else { shards }
}

/// Makes the tally of a file, by its path or URL. Scans bad tensors again if the options ask for
/// places.
///
/// # Errors
/// As [`check_file`](crate::check_file). [`report`] then checks the file by itself.
pub fn tally(path: &Path, options: &Options) -> Result<FileTally, Error> {
    let (source, format, contents) = opened(path, options)?;
    let tallies = check::tally(&*source, &contents, &[], options)?;
    file_tally(&*source, format, &contents.tensors, tallies, options)
}

/// Makes the report on a path or URL from the tallies of its [`files`]. Checks by itself the files
/// for which `found` returns nothing. Of a set, this reads the index and the headers of all
/// shards, so the report names shards and tensors that are missing.
///
/// The options have to be those of [`tally`]. `max_bytes` bounds the decoded numbers of each shard,
/// and also those of the whole set.
///
/// # Errors
/// As [`check_file`](crate::check_file).
pub fn report(
    path: &Path,
    found: impl Fn(&Path) -> Option<FileTally>,
    options: &Options,
) -> Result<Report, Error> {
    let known = found(path).and_then(|tally| Some((FileFormat::by_name(&tally.format)?, tally)));
    if let Some((format, tally)) = known {
        return Ok(tally.report(format, options));
    }
    let (source, format, contents) = opened(path, options)?;
    if index::of_shards(format).is_none() {
        return check_contents(&*source, format, &contents, options);
    }
    let Contents { tensors, mut checksums, .. } = contents;
    let mut all = FileTally {
        format: format.name().to_owned(),
        tensors: Vec::new(),
        places: BTreeMap::new(),
        damaged: Vec::new(),
        other_files: other_files(&tensors),
    };
    let mut lit = 0;
    for tensors in tensors.chunk_by(|a, b| a.file == b.file) {
        let file = &tensors[0].file;
        let known = file.as_ref().and_then(|file| found(file)?.of_shard(file, tensors));
        let shard = match known {
            Some(tally) => {
                checksums.retain(|checksum| checksum.file() != *file);
                tally
            }
            None => {
                let tallies = scan(&*source, tensors, &[], &[], options)?;
                file_tally(&*source, format, tensors, tallies, options)?
            }
        };
        for (index, mut places) in shard.places {
            places.bound_map(&mut lit);
            all.places.insert(all.tensors.len() + index, places);
        }
        all.tensors.extend(shard.tensors);
    }
    // Those of shards that nobody else has checked.
    all.damaged = scan(&*source, &[], &checksums, &[], options)?.damaged;
    Ok(all.report(format, options))
}

/// The tally of a file with these tensors.
fn file_tally(
    source: &dyn ReadAt,
    format: FileFormat,
    tensors: &[Tensor],
    mut tallies: TensorTallies,
    options: &Options,
) -> Result<FileTally, Error> {
    let places = places(source, tensors, &tallies, options)?;
    let described = tensors.iter().map(FullDescription::of).enumerate();
    Ok(FileTally {
        format: format.name().to_owned(),
        tensors: described.map(|(index, it)| (it, tallies.take(index))).collect(),
        places,
        damaged: tallies.damaged,
        other_files: other_files(tensors),
    })
}

impl FileTally {
    fn report(self, format: FileFormat, options: &Options) -> Report {
        let Self { tensors, places, damaged, other_files, .. } = self;
        Report::new(format, tensors.into_iter(), places, damaged, other_files, options)
    }

    /// The tally as that of a shard with these tensors. None if the shard had others.
    fn of_shard(mut self, file: &Path, tensors: &[Tensor]) -> Option<Self> {
        let file: Arc<Path> = file.into();
        for (it, _) in &mut self.tensors {
            Arc::make_mut(&mut it.description).file = Some(Arc::clone(&file));
        }
        FullDescription::are_of(self.tensors.iter().map(|(it, _)| it), tensors).then_some(self)
    }
}
