//! ONNX models: initializers, sparse ones too, floats and tensors in attributes of nodes (such as
//! the value of a Constant), subgraphs of If, Loop and Scan, functions, training graphs, and
//! external data.
//!
//! The field numbers are those of onnx.proto (IR version 13).

mod error;
mod extent;
mod fields;
mod tensor;
mod tensor_file;

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::Arc;

pub use self::error::{Error, Problem};
use self::error::{MAX_DEPTH, MAX_NAMES, MAX_SHARING, MAX_TENSORS};
use self::extent::Extent;
pub(super) use self::tensor_file::READER as TENSOR;
use crate::containers::protobuf::{Fields, Malformed, Value};
use crate::formats::unread;
use crate::formats::within::Place;
use crate::model::reader::Reader;
use crate::model::{self, Content, Data, FileFormat, Input, ReadAt, Source, Tensor, source};

impl FileFormat {
    /// ONNX; see [`onnx`](crate::formats::onnx).
    pub const ONNX: Self = Self::named("onnx");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::ONNX,
    endings: &[".onnx"],
    begins,
    contents: |input| Ok(tensors(input)?.into()),
    stream: None,
    shards: None,
    is_fixable: false,
};

/// Whether a file begins as a model does: with the IR version, a small number, and then the
/// producer, the graph or the opsets.
fn begins(bytes: &[u8]) -> bool {
    matches!(bytes, [0x08, 1..=0x7F, 0x12 | 0x3A | 0x42, ..])
}

/// The tensors of a model.
///
/// # Errors
/// [`Error`] if the model is not whole or not valid, and [`model::Error`] if its external data
/// cannot be read.
pub fn tensors(input: Input<'_>) -> Result<Vec<Tensor>, model::Error> {
    let mut walk = Walk {
        input,
        sources: HashMap::new(),
        used: BTreeMap::new(),
        tensors: Vec::new(),
        names: 0,
    };
    let mut has_graph = false;
    for field in Fields::new(input.bytes, 0..input.bytes.len()) {
        match field.map_err(Error::from)? {
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
        return Err(Error::NoGraph.into());
    }
    walk.gaps()?;
    for tensor in
        fields::unknown(input.bytes, 0..input.bytes.len(), &fields::MODEL).map_err(Error::from)?
    {
        walk.add(tensor)?;
    }
    let files = walk.sources.values().map(|source| source.length());
    let limit = files.fold(input.bytes.len(), usize::saturating_add).saturating_mul(MAX_SHARING);
    let lengths = walk.tensors.iter().map(|tensor| tensor.data.length());
    if lengths.fold(0, usize::saturating_add) > limit {
        return Err(Error::Sharing.into());
    }
    Ok(walk.tensors)
}

struct Walk<'a> {
    input: Input<'a>,
    /// Files of external data, each opened once.
    sources: HashMap<String, Arc<Source>>,
    /// The data of tensors in each of these files.
    used: BTreeMap<String, Vec<Extent>>,
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
    fn parts(&self, message: Range<usize>) -> Result<Vec<(u64, Range<usize>)>, Error> {
        let parts = self.fields(message).filter_map(|field| match field {
            Ok((number, Value::Bytes(range))) => Some(Ok((number, range))),
            Ok((_, Value::Varint(_) | Value::Fixed(_))) => None,
            Err(malformed) => Some(Err(malformed)),
        });
        Ok(parts.collect::<Result<_, Malformed>>()?)
    }

    /// GraphProto. `prefix` is the path of the graph around this one.
    fn graph(
        &mut self,
        graph: Range<usize>,
        prefix: &str,
        depth: usize,
    ) -> Result<(), model::Error> {
        if depth > MAX_DEPTH {
            return Err(Error::Depth.into());
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
    fn training(&mut self, training: Range<usize>) -> Result<(), model::Error> {
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
    fn function(&mut self, function: Range<usize>) -> Result<(), model::Error> {
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

    /// NodeProto. Its tensors get the name of its first output, or else the name of the node.
    fn node(&mut self, node: Range<usize>, prefix: &str, depth: usize) -> Result<(), model::Error> {
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

    /// AttributeProto of the node `node`. The tensor of a Constant gets the name of its output
    /// only.
    fn attribute(
        &mut self,
        attribute: Range<usize>,
        prefix: &str,
        node: &str,
        constant: bool,
        depth: usize,
    ) -> Result<(), model::Error> {
        let mut name = String::new();
        let (mut float, mut floats) = (tensor::Numbers::default(), tensor::Numbers::default());
        let mut parts = Vec::new();
        for field in self.fields(attribute) {
            match field.map_err(Error::from)? {
                (1, Value::Bytes(range)) => name = self.text(range),
                (2, Value::Fixed(range)) => float.push(self.input.bytes, Value::Fixed(range)),
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
        for (numbers, is_scalar) in [(float, true), (floats, false)] {
            if !numbers.is_empty() {
                let tensor = numbers.tensor(label.clone(), is_scalar)?;
                self.add(tensor)?;
            }
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
    ) -> Result<(), model::Error> {
        for (number, range) in self.parts(sparse)? {
            match number {
                1 => self.tensor(range, prefix, label)?,
                2 => self.indices(range, prefix)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The indices of a sparse tensor, which are integers: they count only if they are not.
    fn indices(&mut self, range: Range<usize>, prefix: &str) -> Result<(), model::Error> {
        let count = self.tensors.len();
        self.tensor(range, prefix, None)?;
        if self.tensors.get(count).is_some_and(|tensor| tensor.content == Content::NotFloat) {
            self.tensors.remove(count);
        }
        Ok(())
    }

    /// TensorProto, with its own name or else the name of the node around it.
    fn tensor(
        &mut self,
        range: Range<usize>,
        prefix: &str,
        label: Option<&str>,
    ) -> Result<(), model::Error> {
        let mut proto = tensor::Proto::read(self.input.bytes, range).map_err(Error::from)?;
        proto.name = match label {
            Some(label) => label.to_owned(),
            None => format!("{prefix}{}", proto.name),
        };
        let unused = proto.unused();
        if let Some((file, extent)) = proto.extent() {
            self.used.entry(file).or_default().push(extent);
        }
        let tensor = proto.tensor(&mut |name: &str| self.open(name))?;
        let name = tensor.label();
        self.add(tensor)?;
        for (field, size) in unused {
            let why = "a field that is not read, since its data is elsewhere".to_owned();
            let name = format!("{name} ({field})");
            self.add(unread::tensor(name, size, why, Data::Owned(Vec::new())))?;
        }
        Ok(())
    }

    /// Opens a file of external data.
    fn open(&mut self, name: &str) -> Result<Arc<Source>, model::Error> {
        if let Some(source) = self.sources.get(name) {
            return Ok(Arc::clone(source));
        }
        let source = self.input.open_beside(name, FileFormat::ONNX)?;
        self.sources.insert(name.to_owned(), Arc::clone(&source));
        Ok(source)
    }

    /// Adds the bytes of external files that no tensor refers to.
    fn gaps(&mut self) -> Result<(), model::Error> {
        for (name, extents) in std::mem::take(&mut self.used) {
            // A file of integers alone may be missing.
            let Ok(source) = self.open(&name) else { continue };
            let bytes = source.bytes()?;
            let used = extents.iter().map(|extent| extent.within(bytes.len())).collect();
            let place = Place::Other(source.clone(), 0..bytes.len());
            for gap in model::gaps(bytes, used) {
                let file = Some(source.path().to_owned());
                let gap = Tensor { file, ..Tensor::unreferenced(gap, Tensor::NO_TENSOR) };
                self.add(place.moved(gap))?;
            }
        }
        Ok(())
    }

    fn add(&mut self, tensor: Tensor) -> Result<(), model::Error> {
        if self.tensors.len() == MAX_TENSORS {
            return Err(Error::TooManyTensors.into());
        }
        self.names += tensor.name.as_ref().map_or(0, String::len);
        if self.names > self.input.bytes.len().saturating_mul(MAX_NAMES) {
            return Err(Error::Names.into());
        }
        self.tensors.push(tensor);
        Ok(())
    }
}
