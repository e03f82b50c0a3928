//! ONNX models: initializers, sparse ones too, tensors in attributes of nodes (such as the value of
//! a Constant), numbers of Constant nodes, subgraphs of If, Loop and Scan, functions, training
//! graphs, and external data.
//!
//! The field numbers are those of onnx.proto (IR version 13).

mod tensor;

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use crate::protobuf::{Fields, Malformed, Value};
use crate::source::{self, Input, Source};
use crate::tensor::Tensor;

/// Graphs within graphs that are followed.
const MAX_DEPTH: usize = 64;
/// Tensors of a model. More would only be there to fill memory.
const MAX_TENSORS: usize = 1 << 20;

/// Bytes of their names for a byte of model: each is led by those of the graphs around it.
const MAX_NAMES: usize = 16;

/// All tensors together may take this many times the bytes of all files. More means that many
/// tensors share one piece of external data, and a check would not end.
const MAX_SHARING: usize = 64;

/// Why bytes are no ONNX model that can be checked.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// Not a message of protocol buffers.
    Malformed(Malformed),
    /// No graph, so it is no model.
    NoGraph,
    /// Graphs within graphs, too deep.
    Depth,
    /// More tensors than a model has.
    TooManyTensors,
    /// Names of graphs that are so long, and around so many tensors, that they would fill memory.
    Names,
    /// Tensors that refer to the same external data more often than those of a model.
    Sharing,
    /// A tensor that contradicts itself.
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
    /// So many bytes of data, or numbers in a field of numbers, where shape and type ask for
    /// others.
    Length {
        /// Those that are there.
        has: usize,
        /// Those that shape and type ask for.
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

impl From<Malformed> for crate::Error {
    fn from(malformed: Malformed) -> Self {
        Self::Onnx(malformed.into())
    }
}

/// Whether a file begins as a model does: with the IR version, a small number, and then the
/// producer, the graph or the opsets.
pub(super) fn begins(bytes: &[u8]) -> bool {
    matches!(bytes, [0x08, 1..=0x7F, 0x12 | 0x3A | 0x42, ..])
}

/// The tensors of a model.
///
/// # Errors
/// [`Error`] for anything but a whole, good model, and what keeps external data from being read.
pub fn tensors(input: Input<'_>) -> Result<Vec<Tensor>, crate::Error> {
    let mut walk = Walk { input, sources: HashMap::new(), tensors: Vec::new(), names: 0 };
    let mut has_graph = false;
    for field in Fields::new(input.bytes, 0..input.bytes.len()) {
        match field? {
            (7, Value::Bytes(graph)) => {
                has_graph = true;
                walk.graph(graph, "", 0)?;
            }
            (20, Value::Bytes(training)) => walk.training(training)?,
            (25, Value::Bytes(function)) => walk.function(function)?,
            _ => {}
        }
    }
    if !has_graph {
        return Err(crate::Error::Onnx(Error::NoGraph));
    }
    let files = walk.sources.values().map(|source| source.bytes().len());
    let limit = files.fold(input.bytes.len(), usize::saturating_add).saturating_mul(MAX_SHARING);
    let lengths = walk.tensors.iter().map(|tensor| tensor.data.length());
    match lengths.fold(0, usize::saturating_add) > limit {
        true => Err(crate::Error::Onnx(Error::Sharing)),
        false => Ok(walk.tensors),
    }
}

struct Walk<'a> {
    input: Input<'a>,
    /// Files of external data, each mapped once.
    sources: HashMap<String, Arc<Source>>,
    tensors: Vec<Tensor>,
    /// Bytes of the names of the tensors.
    names: usize,
}

impl Walk<'_> {
    fn fields(&self, message: Range<usize>) -> Fields<'_> {
        Fields::new(self.input.bytes, message)
    }

    fn text(&self, range: Range<usize>) -> String {
        source::text(&self.input.bytes[range])
    }

    /// The fields of a message that are messages, text or bytes, with their numbers.
    fn parts(&self, message: Range<usize>) -> Result<Vec<(u64, Range<usize>)>, Malformed> {
        let parts = self.fields(message).filter_map(|field| match field {
            Ok((number, Value::Bytes(range))) => Some(Ok((number, range))),
            Ok(_) => None,
            Err(malformed) => Some(Err(malformed)),
        });
        parts.collect()
    }

    /// GraphProto. `prefix` names the graph that holds this one.
    fn graph(
        &mut self,
        graph: Range<usize>,
        prefix: &str,
        depth: usize,
    ) -> Result<(), crate::Error> {
        if depth > MAX_DEPTH {
            return Err(crate::Error::Onnx(Error::Depth));
        }
        for (number, range) in self.parts(graph)? {
            match number {
                1 => self.node(range, prefix, depth)?,
                5 => self.tensor(range, prefix, None)?,
                15 => self.sparse(range, prefix, None)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// TrainingInfoProto: two graphs.
    fn training(&mut self, training: Range<usize>) -> Result<(), crate::Error> {
        for (number, range) in self.parts(training)? {
            match number {
                1 => self.graph(range, "training.initialization/", 1)?,
                2 => self.graph(range, "training.algorithm/", 1)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// FunctionProto: nodes, and defaults of attributes.
    fn function(&mut self, function: Range<usize>) -> Result<(), crate::Error> {
        let parts = self.parts(function)?;
        let name = parts.iter().find(|(number, _)| *number == 1);
        let prefix =
            name.map_or_else(String::new, |(_, range)| format!("{}/", self.text(range.clone())));
        for (number, range) in parts {
            match number {
                7 => self.node(range, &prefix, 1)?,
                11 => self.attribute(range, &prefix, "", false, 1)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// NodeProto. What it holds goes by the name of its first output, or its own.
    fn node(&mut self, node: Range<usize>, prefix: &str, depth: usize) -> Result<(), crate::Error> {
        let parts = self.parts(node)?;
        let text_of =
            |wanted| parts.iter().find(|(number, range)| *number == wanted && !range.is_empty());
        let operator = text_of(4).map_or_else(String::new, |(_, range)| self.text(range.clone()));
        let name = text_of(2)
            .or(text_of(3))
            .map_or_else(|| operator.clone(), |(_, range)| self.text(range.clone()));
        for (_, range) in parts.iter().filter(|(number, _)| *number == 5) {
            self.attribute(range.clone(), prefix, &name, operator == "Constant", depth)?;
        }
        Ok(())
    }

    /// AttributeProto of the node `node`. The tensor of a Constant goes by the name of its output
    /// alone.
    fn attribute(
        &mut self,
        attribute: Range<usize>,
        prefix: &str,
        node: &str,
        constant: bool,
        depth: usize,
    ) -> Result<(), crate::Error> {
        let mut name = String::new();
        let mut floats = tensor::Numbers::default();
        let mut parts = Vec::new();
        for field in self.fields(attribute) {
            match field? {
                (1, Value::Bytes(range)) => name = self.text(range),
                (2, Value::Fixed(range)) => floats.push(self.input.bytes, Value::Fixed(range)),
                (7, value) => floats.push(self.input.bytes, value),
                (number, Value::Bytes(range)) => parts.push((number, range)),
                _ => {}
            }
        }
        let label = match (node, constant) {
            ("", _) => format!("{prefix}{name}"),
            (_, true) => format!("{prefix}{node}"),
            (_, false) => format!("{prefix}{node}.{name}"),
        };
        if constant && !floats.is_empty() {
            let tensor =
                floats.tensor(label.clone(), name == "value_float").map_err(crate::Error::Onnx)?;
            self.add(tensor)?;
        }
        for (number, range) in parts {
            match number {
                5 | 10 => self.tensor(range, "", Some(&label))?,
                22 | 23 => self.sparse(range, "", Some(&label))?,
                6 | 11 => self.graph(range, &format!("{label}/"), depth + 1)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// SparseTensorProto: its values.
    fn sparse(
        &mut self,
        sparse: Range<usize>,
        prefix: &str,
        label: Option<&str>,
    ) -> Result<(), crate::Error> {
        for (_, values) in self.parts(sparse)?.into_iter().filter(|(number, _)| *number == 1) {
            self.tensor(values, prefix, label)?;
        }
        Ok(())
    }

    /// TensorProto, under a name of its own or that of the node that holds it.
    fn tensor(
        &mut self,
        range: Range<usize>,
        prefix: &str,
        label: Option<&str>,
    ) -> Result<(), crate::Error> {
        let mut proto = tensor::Proto::read(self.input.bytes, range)?;
        proto.name = match label {
            Some(label) => label.to_owned(),
            None => format!("{prefix}{}", proto.name),
        };
        let tensor = proto.tensor(&mut |name: &str| {
            if let Some(source) = self.sources.get(name) {
                return Ok(Arc::clone(source));
            }
            let source = self.input.open_beside(name, super::FileFormat::Onnx)?;
            self.sources.insert(name.to_owned(), Arc::clone(&source));
            Ok(source)
        })?;
        self.add(tensor)
    }

    fn add(&mut self, tensor: Tensor) -> Result<(), crate::Error> {
        if self.tensors.len() == MAX_TENSORS {
            return Err(crate::Error::Onnx(Error::TooManyTensors));
        }
        self.names += tensor.name.as_ref().map_or(0, String::len);
        if self.names > self.input.bytes.len().saturating_mul(MAX_NAMES) {
            return Err(crate::Error::Onnx(Error::Names));
        }
        self.tensors.push(tensor);
        Ok(())
    }
}
