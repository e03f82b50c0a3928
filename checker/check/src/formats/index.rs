//! Sharded models: `model.safetensors.index.json` and `pytorch_model.bin.index.json` name the
//! shards, and the shard of each tensor.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Deserialize;

use crate::formats::opaque;
use crate::model::ranges::{Part, read};
use crate::model::reader::{Contents, Read, Reader};
use crate::model::{self, FileFormat, Input, ReadAt};

impl FileFormat {
    /// The index of a set of .safetensors files; see [`index`](crate::formats::index).
    pub const SAFETENSORS_INDEX: Self = Self::named("safetensors.index.json");
    /// The index of a set of PyTorch files; see [`index`](crate::formats::index).
    pub const PYTORCH_INDEX: Self = Self::named("bin.index.json");
}

pub(super) static SAFETENSORS: Reader = Reader {
    format: FileFormat::SAFETENSORS_INDEX,
    endings: &[".safetensors.index.json"],
    read: Read::Anywhere(|input| {
        Ok(contents(input, FileFormat::SAFETENSORS_INDEX, FileFormat::SAFETENSORS)?)
    }),
    // The index is plain JSON, so only the name of the file tells the format.
    begins: |_, _| false,
    shards: Some(|index| names(index, FileFormat::SAFETENSORS_INDEX)),
};

pub(super) static PYTORCH: Reader = Reader {
    format: FileFormat::PYTORCH_INDEX,
    endings: &[".bin.index.json"],
    read: Read::Anywhere(|input| {
        Ok(contents(input, FileFormat::PYTORCH_INDEX, FileFormat::PYTORCH)?)
    }),
    begins: |_, _| false,
    shards: Some(|index| names(index, FileFormat::PYTORCH_INDEX)),
};

/// Why a sharded model cannot be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The file is not JSON, or not the JSON of an index.
    #[error("bad index of shards: {0}")]
    Json(#[source] serde_json::Error),
    /// A tensor is not in the shard that the index names for it.
    #[error("tensor {tensor:?} is not in {shard:?}, where the index has it")]
    Missing {
        /// The name of the tensor.
        tensor: String,
        /// The name of the shard.
        shard: String,
    },
}

/// The most missing tensors of a shard that are named. The others are counted.
const MOST_MISSING: usize = 100;

#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

/// The names of the shards, sorted, each once.
fn names(index: &dyn ReadAt, format: FileFormat) -> Result<Vec<String>, model::Error> {
    let shards: BTreeSet<_> = parse(index, format)?.weight_map.into_values().collect();
    Ok(shards.into_iter().collect())
}

fn parse(index: &dyn ReadAt, format: FileFormat) -> Result<Index, model::Error> {
    let text = read(index, 0..index.length()).map_err(model::Error::Io)?;
    let index = serde_json::from_slice(&text);
    index.map_err(|error| model::Error::refused(format, Error::Json(error)))
}

/// What all shards hold, including those that the index does not name. The index is of the
/// format `format`, and the shards are of the format `of`.
///
/// # Errors
/// [`model::Error`] if the index is not valid, or if no shard can be read. If
/// others can, a shard that cannot be read is a damaged tensor. So is a tensor that is not in its
/// shard.
fn contents(
    input: Input<'_>,
    format: FileFormat,
    of: FileFormat,
) -> Result<Contents, model::Error> {
    gather(input.source, format, of, |shard| input.open_beside(shard, format))
}

/// The format of the shards of an index. None for a format that is not an index.
pub(crate) fn of_shards(index: FileFormat) -> Option<FileFormat> {
    let indexes = [
        (FileFormat::SAFETENSORS_INDEX, FileFormat::SAFETENSORS),
        (FileFormat::PYTORCH_INDEX, FileFormat::PYTORCH),
    ];
    indexes.into_iter().find(|(format, _)| *format == index).map(|(_, of)| of)
}

/// As [`contents`]. `open` opens a shard by its name, and returns the path to report.
pub(crate) fn gather(
    index: &dyn ReadAt,
    format: FileFormat,
    of: FileFormat,
    mut open: impl FnMut(&str) -> Result<(PathBuf, Arc<dyn ReadAt>), model::Error>,
) -> Result<Contents, model::Error> {
    let index = parse(index, format)?;
    let mut expected: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (tensor, shard) in &index.weight_map {
        expected.entry(shard).or_default().insert(tensor);
    }
    let mut all = Contents::default();
    // The first error, as long as no shard was read.
    let (mut failed, mut is_any_read) = (None, false);
    for (shard, mut names) in expected {
        let read = open(shard).and_then(|(path, source)| match of.read(&*source, None) {
            Ok(contents) => Ok((path, source, contents)),
            Err(error) => Err(model::Error::Other { path, error: Box::new(error) }),
        });
        let (path, source, Contents { tensors, checksums, .. }) = match read {
            Ok(read) => read,
            // Bytes alone have no shards at all.
            Err(error @ model::Error::NoFolder(_)) => return Err(error),
            Err(error) => {
                all.tensors.push(opaque::damaged(shard.to_owned(), error.to_string()));
                failed.get_or_insert(error);
                continue;
            }
        };
        is_any_read = true;
        let place = Part(source.clone(), 0..source.length());
        let path: Arc<Path> = path.into();
        for mut tensor in tensors {
            names.remove(tensor.label());
            tensor.described().file = Some(Arc::clone(&path));
            all.tensors.push(place.moved(tensor));
        }
        all.checksums.extend(checksums.into_iter().map(|sum| place.moved_checksum(sum)));
        // A hostile index can name a million tensors, and each takes far more memory than its name.
        let more = names.len().saturating_sub(MOST_MISSING);
        all.tensors.extend(names.into_iter().take(MOST_MISSING).map(|tensor| {
            let missing = Error::Missing { tensor: tensor.to_owned(), shard: shard.to_owned() };
            opaque::damaged(tensor.to_owned(), missing.to_string())
        }));
        if more > 0 {
            let why = format!("not in {shard:?}, where the index has them");
            all.tensors.push(opaque::damaged(format!("{more} more tensors"), why));
        }
    }
    match failed {
        Some(error) if !is_any_read => Err(error),
        Some(_) | None => Ok(all),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The error names the format of the index that was read.
    #[test]
    fn bad_indexes_name_their_format() {
        for reader in [&SAFETENSORS, &PYTORCH] {
            let shards = reader.shards.expect("an index names its shards");
            match shards(&&b"{}"[..]) {
                Err(model::Error::Refused { format, .. }) => assert_eq!(format, reader.format),
                other => panic!("{other:?}"),
            }
        }
    }
}
