//! Sharded .safetensors: `model.safetensors.index.json` names the shards, and the shard of each
//! tensor.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::Deserialize;

use crate::Error as FileError;
use crate::formats::{FileFormat, safetensors};
use crate::source::Input;
use crate::tensor::{Data, Tensor};

/// Why bytes are no index that can be followed.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Not JSON, or not that of an index.
    Json(serde_json::Error),
    /// The index says that a tensor is in a shard, which does not have it.
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

/// The names of the shards, each once, in their order.
///
/// # Errors
/// [`Error::Json`].
pub fn shards(index: &[u8]) -> Result<BTreeSet<String>, Error> {
    Ok(parse(index)?.weight_map.into_values().collect())
}

fn parse(index: &[u8]) -> Result<Index, Error> {
    // A copy, since a map that another process writes to must not change behind the check for
    // UTF-8.
    let index = index.to_vec();
    serde_json::from_slice(&index).map_err(Error::Json)
}

/// The tensors of all shards, those that the index does not name included.
///
/// # Errors
/// [`FileError`] if the index is not a good one, or for the first shard that cannot be checked.
pub fn tensors(input: Input<'_>) -> Result<Vec<Tensor>, FileError> {
    let index = parse(input.bytes).map_err(FileError::SafetensorsIndex)?;
    let mut expected: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (tensor, shard) in &index.weight_map {
        expected.entry(shard).or_default().insert(tensor);
    }
    let mut all = Vec::new();
    for (shard, mut names) in expected {
        let source = input.open_beside(shard, FileFormat::SafetensorsIndex)?;
        let tensors = safetensors::tensors(source.bytes()).map_err(|error| FileError::Other {
            path: source.path().to_owned(),
            error: Box::new(FileError::Safetensors(error)),
        })?;
        for mut tensor in tensors {
            if let Some(name) = &tensor.name {
                names.remove(name.as_str());
            }
            tensor.file = Some(source.path().to_owned());
            if let Data::Input(range) = tensor.data {
                tensor.data = Data::Other { source: Arc::clone(&source), range };
            }
            all.push(tensor);
        }
        if let Some(tensor) = names.first() {
            let missing = Error::Missing { tensor: (*tensor).to_owned(), shard: shard.to_owned() };
            return Err(FileError::SafetensorsIndex(missing));
        }
    }
    Ok(all)
}
