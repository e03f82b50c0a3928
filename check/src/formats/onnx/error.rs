//! Why an ONNX model cannot be checked, and the bounds of the reader.

use std::fmt;

use crate::containers::protobuf::Malformed;
use crate::model::{self, FileFormat};

/// The deepest nesting of graphs.
pub(super) const MAX_DEPTH: usize = 64;
/// The most tensors of a model. Only a hostile file has more.
pub(super) const MAX_TENSORS: usize = 1 << 20;

/// The most bytes of names for each byte of the model. Names grow with nesting: a name begins with
/// the names of all graphs around it.
pub(super) const MAX_NAMES: usize = 16;

/// The most bytes of all tensors together, for each byte of the files. More means that many tensors
/// share the same external data, and the check would take hours.
pub(super) const MAX_SHARING: usize = 64;

/// Why an ONNX model cannot be checked.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The file is not a message of protocol buffers.
    Malformed(Malformed),
    /// There is no graph, so the file is not a model.
    NoGraph,
    /// The file is not a TensorProto.
    NoTensor,
    /// Graphs are nested too deeply.
    Depth,
    /// There are more tensors than a model has.
    TooManyTensors,
    /// The names of graphs, repeated in the names of their tensors, take too much memory.
    Names,
    /// Tensors refer to the same external data more often than in any real model.
    Sharing,
    /// A tensor contradicts itself.
    Tensor {
        /// Its name.
        name: String,
        /// What is wrong with it.
        problem: Problem,
    },
}

/// What is wrong with a tensor of an ONNX model.
#[derive(Debug)]
#[non_exhaustive]
pub enum Problem {
    /// A negative extent, or a shape that is too large.
    Shape,
    /// The length of the data does not fit shape and type. Counts bytes, or numbers in a field of
    /// numbers.
    Length {
        /// The length of the data.
        has: usize,
        /// The length by shape and type.
        wants: usize,
    },
    /// External data without a location, or with an offset or a length that is no number.
    External(&'static str),
    /// External data that ends behind its file.
    ExternalEnd {
        /// Where it ends.
        end: u64,
        /// The length of the file.
        file: usize,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Malformed(Malformed { at, why }) => {
                write!(f, "not an ONNX model: at byte {at} {why}")
            }
            Self::NoGraph => f.write_str("not an ONNX model: it has no graph"),
            Self::NoTensor => f.write_str("not a tensor of ONNX"),
            Self::Depth => write!(f, "bad ONNX model: more than {MAX_DEPTH} graphs within graphs"),
            Self::TooManyTensors => write!(f, "bad ONNX model: more than {MAX_TENSORS} tensors"),
            Self::Names => {
                write!(f, "bad ONNX model: names of more than {MAX_NAMES} times the model")
            }
            Self::Sharing => {
                write!(
                    f,
                    "bad ONNX model: tensors refer to more than {MAX_SHARING} times its files"
                )
            }
            Self::Tensor { name, problem } => {
                write!(f, "bad ONNX model: tensor {name:?}: {problem}")
            }
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Shape => f.write_str("a shape that cannot be"),
            Self::Length { has, wants } => {
                write!(f, "{has} bytes or numbers of data, where shape and type ask for {wants}")
            }
            Self::External(key) => write!(f, "external data with a bad {key}"),
            Self::ExternalEnd { end, file } => {
                write!(f, "external data ends at byte {end}, its file has {file}")
            }
        }
    }
}

impl std::error::Error for Error {}

impl From<Malformed> for Error {
    fn from(malformed: Malformed) -> Self {
        Self::Malformed(malformed)
    }
}

impl From<Error> for model::Error {
    fn from(error: Error) -> Self {
        Self::refused(FileFormat::ONNX, error)
    }
}
