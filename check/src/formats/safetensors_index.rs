//! Sharded .safetensors: `model.safetensors.index.json` names the shards, and the shard of each
//! tensor.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use serde::Deserialize;

use crate::model::reader::Reader;
use crate::model::{self, Data, FileFormat, Input, ReadAt, Tensor};

impl FileFormat {
    /// The index of a set of .safetensors files; see
    /// [`safetensors_index`](crate::formats::safetensors_index).
    pub const SAFETENSORS_INDEX: Self = Self::named("safetensors.index.json");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::SAFETENSORS_INDEX,
    endings: &[".safetensors.index.json"],
    // The index is plain JSON, so only its name tells the format.
    begins: |_| false,
    tensors,
    stream: None,
    shards: Some(|bytes| Ok(shards(bytes)?.into_iter().collect())),
    is_fixable: false,
};

/// Why an index cannot be followed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The file is not JSON, or not the JSON of an index.
    Json(serde_json::Error),
    /// A tensor is not in the shard that the index names for it.
    Missing {
        /// The name of the tensor.
        tensor: String,
        /// The name of the shard.
        shard: String,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Json(error) => write!(f, "bad index of .safetensors shards: {error}"),
            Self::Missing { tensor, shard } => {
                write!(f, "tensor {tensor:?} is not in {shard:?}, where the index has it")
            }
        }
    }
}

impl From<Error> for model::Error {
    fn from(error: Error) -> Self {
        Self::refused(FileFormat::SAFETENSORS_INDEX, error)
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Json(error) => Some(error),
            Self::Missing { .. } => None,
        }
    }
}

#[derive(Deserialize)]
struct Index {
    weight_map: BTreeMap<String, String>,
}

/// The names of the shards, sorted, each once.
///
/// # Errors
/// [`Error::Json`].
pub fn shards(index: &[u8]) -> Result<BTreeSet<String>, Error> {
    Ok(parse(index)?.weight_map.into_values().collect())
}

fn parse(index: &[u8]) -> Result<Index, Error> {
    // A copy, since another process may write to the map after the check for UTF-8.
    let index = index.to_vec();
    serde_json::from_slice(&index).map_err(Error::Json)
}

/// The tensors of all shards, including those that the index does not name.
///
/// # Errors
/// [`model::Error`] if the index is not valid, or for the first shard that cannot be checked.
pub fn tensors(input: Input<'_>) -> Result<Vec<Tensor>, model::Error> {
    gather(input.bytes, |shard| {
        let source = input.open_beside(shard, FileFormat::SAFETENSORS_INDEX)?;
        Ok((source.path().to_owned(), source))
    })
}

/// As [`tensors`]. `open` opens a shard by its name, and returns the path to report.
pub(crate) fn gather(
    index: &[u8],
    mut open: impl FnMut(&str) -> Result<(PathBuf, Arc<dyn ReadAt>), model::Error>,
) -> Result<Vec<Tensor>, model::Error> {
    let index = parse(index)?;
    let mut expected: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (tensor, shard) in &index.weight_map {
        expected.entry(shard).or_default().insert(tensor);
    }
    let mut all = Vec::new();
    for (shard, mut names) in expected {
        let (path, source) = open(shard)?;
        let tensors = FileFormat::SAFETENSORS
            .read(&*source, None)
            .map_err(|error| model::Error::Other { path: path.clone(), error: Box::new(error) })?;
        for mut tensor in tensors {
            if let Some(name) = &tensor.name {
                names.remove(name.as_str());
            }
            tensor.file = Some(path.clone());
            if let Data::Input(range) = tensor.data {
                tensor.data = Data::Other { source: source.clone(), range };
            }
            all.push(tensor);
        }
        if let Some(tensor) = names.first() {
            let missing = Error::Missing { tensor: (*tensor).to_owned(), shard: shard.to_owned() };
            return Err(missing.into());
        }
    }
    Ok(all)
}
