//! ONNX models: initializers, sparse ones too, floats and tensors in attributes of nodes (such as
//! the value of a Constant), subgraphs of If, Loop and Scan, functions, training graphs, and
//! external data.
//!
//! The field numbers are those of onnx.proto (IR version 13). Fields of other numbers are skipped,
//! as other readers do. A tensor that occurs twice where one can be is refused: protocol buffers
//! merge the two, so that neither is the tensor that a program gets.

mod quantised;
mod tensor;

use std::collections::HashMap;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

pub(crate) use self::quantised::Quantised;
use crate::containers::protobuf::{Fields, Malformed, Value};
use crate::model::reader::{Read, Reader, Refused, truncated};
use crate::model::{Content, FileFormat, Input, ReadAt, Tensor, source};

impl FileFormat {
    /// ONNX; see [`onnx`](crate::formats::onnx).
    pub const ONNX: Self = Self::named("onnx");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::ONNX,
    endings: &[".onnx"],
    begins,
    read: Read::Whole(|input| Ok(tensors(input)?.into())),
    shards: None,
};

/// Whether a file begins as a model does: with the IR version, a small number, and then the
/// producer, the graph or the opsets.
fn begins(bytes: &[u8]) -> bool {
    matches!(bytes, [0x08, 1..=0x7F, 0x12 | 0x3A | 0x42, ..])
}

/// The deepest nesting of graphs.
const MAX_DEPTH: usize = 64;
/// The most tensors of a model. Only a hostile file has more.
const MAX_TENSORS: usize = 1 << 20;

/// The most bytes of names for each byte of the model. Names grow with nesting: a name begins with
/// the names of all graphs around it.
const MAX_NAMES: usize = 16;

/// The most bytes of all tensors together, for each byte of the files. More means that many tensors
/// share the same external data, and the check would take hours.
const MAX_SHARING: u64 = 64;

fn bad(why: impl fmt::Display) -> Refused {
    format!("bad ONNX model: {why}").into()
}

/// The tensors of a model.
fn tensors(input: Input<'_>) -> Result<Vec<Tensor>, Refused> {
    let mut walk = Walk { input, sources: HashMap::new(), tensors: Vec::new(), names: 0 };
    let mut has_graph = false;
    let mut largest = 0;
    let mut fields = Fields::new(input.bytes, 0..input.bytes.len() as u64);
    while let Some(field) = fields.next() {
        let (number, value) = field.map_err(|malformed| match fields.end {
            Some(end) => truncated(input.bytes.len() as u64, end, malformed).into(),
            None => Refused::from(malformed),
        })?;
        largest = largest.max(number);
        match (number, value) {
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
        // Messages of other tools that begin as ONNX's does: a version, and then field 2.
        let what = match largest {
            2 if input.bytes.starts_with(b"\x08\x01") => "a SavedModel of TensorFlow",
            // Each type of model is a field from 200 on.
            200.. => "a Core ML model",
            _ => return Err("not an ONNX model: it has no graph".into()),
        };
        return Err(format!("{what}, no ONNX model: this format is not read").into());
    }
    let files = walk.sources.values().map(|source| source.length());
    let limit =
        files.fold(input.bytes.len() as u64, u64::saturating_add).saturating_mul(MAX_SHARING);
    let lengths = walk.tensors.iter().map(|tensor| tensor.data.length());
    if lengths.fold(0, u64::saturating_add) > limit {
        return Err(bad(format_args!("tensors refer to more than {MAX_SHARING} times its files")));
    }
    Ok(walk.tensors)
}

struct Walk<'a> {
    input: Input<'a>,
    /// Files of external data, each opened once.
    sources: HashMap<String, Arc<dyn ReadAt>>,
    tensors: Vec<Tensor>,
    /// Bytes of the names of the tensors.
    names: usize,
}

/// A field of a message that is a message, text or bytes: its number and its bytes.
type BytesField = Result<(u64, Range<u64>), Malformed>;

impl<'a> Walk<'a> {
    fn text(&self, range: Range<u64>) -> String {
        source::text(source::part(self.input.bytes, range).unwrap_or_default())
    }

    /// The fields of a message that are messages, text or bytes. They are not collected: a hostile
    /// model can have millions of empty ones.
    fn parts(&self, message: Range<u64>) -> impl Iterator<Item = BytesField> + use<'a> {
        Fields::new(self.input.bytes, message).filter_map(|field| match field {
            Ok((number, Value::Bytes(range))) => Some(Ok((number, range))),
            Ok((_, Value::Varint(_) | Value::Fixed(_))) => None,
            Err(malformed) => Some(Err(malformed)),
        })
    }

    /// The first text of this field that is not empty.
    fn text_of(&self, message: Range<u64>, wanted: u64) -> Result<Option<String>, Malformed> {
        let mut found = None;
        for part in self.parts(message) {
            let (number, range) = part?;
            if number == wanted && !range.is_empty() {
                found.get_or_insert(range);
            }
        }
        Ok(found.map(|range| self.text(range)))
    }

    /// GraphProto. `prefix` is the path of the graph around this one.
    fn graph(&mut self, graph: Range<u64>, prefix: &str, depth: usize) -> Result<(), Refused> {
        if depth > MAX_DEPTH {
            return Err(bad(format_args!("more than {MAX_DEPTH} graphs within graphs")));
        }
        for part in self.parts(graph) {
            match part? {
                (1, range) => self.node(range, prefix, depth)?,
                (5, range) => self.tensor(range, prefix, None)?,
                (15, range) => self.sparse(range, prefix, None)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// TrainingInfoProto: two graphs.
    fn training(&mut self, training: Range<u64>) -> Result<(), Refused> {
        for part in self.parts(training) {
            match part? {
                (1, range) => self.graph(range, "training.initialization/", 1)?,
                (2, range) => self.graph(range, "training.algorithm/", 1)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// FunctionProto: nodes, and defaults of attributes.
    fn function(&mut self, function: Range<u64>) -> Result<(), Refused> {
        let name = self.text_of(function.clone(), 1)?;
        let prefix = name.map_or_else(String::new, |name| format!("{name}/"));
        for part in self.parts(function) {
            match part? {
                (7, range) => self.node(range, &prefix, 1)?,
                (11, range) => self.attribute(range, &prefix, "", false, 1)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// NodeProto. Its tensors get the name of its first output, or else the name of the node.
    fn node(&mut self, node: Range<u64>, prefix: &str, depth: usize) -> Result<(), Refused> {
        let operator = self.text_of(node.clone(), 4)?.unwrap_or_default();
        let name = match self.text_of(node.clone(), 2)? {
            Some(output) => Some(output),
            None => self.text_of(node.clone(), 3)?,
        };
        let name = name.unwrap_or_else(|| operator.clone());
        for part in self.parts(node) {
            if let (5, range) = part? {
                self.attribute(range, prefix, &name, operator == "Constant", depth)?;
            }
        }
        Ok(())
    }

    /// AttributeProto of the node `node`. The tensor of a Constant gets the name of its output
    /// only.
    fn attribute(
        &mut self,
        attribute: Range<u64>,
        prefix: &str,
        node: &str,
        constant: bool,
        depth: usize,
    ) -> Result<(), Refused> {
        let mut name = String::new();
        let (mut float, mut floats) = (tensor::Numbers::default(), tensor::Numbers::default());
        let (mut value, mut sparse_value) = (None, None);
        for field in Fields::new(self.input.bytes, attribute.clone()) {
            match field? {
                (1, Value::Bytes(range)) => name = self.text(range),
                (2, Value::Fixed(range)) => float.push(self.input.bytes, Value::Fixed(range)),
                (7, value) => floats.push(self.input.bytes, value),
                (5, Value::Bytes(range)) => once(&mut value, range)?,
                (22, Value::Bytes(range)) => once(&mut sparse_value, range)?,
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
        for part in self.parts(attribute) {
            match part? {
                (5 | 10, range) => self.tensor(range, "", Some(&label))?,
                (22 | 23, range) => self.sparse(range, "", Some(&label))?,
                (6 | 11, range) => self.graph(range, &format!("{label}/"), depth + 1)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// SparseTensorProto: its values. Its indices are listed only if they are not integers.
    fn sparse(
        &mut self,
        sparse: Range<u64>,
        prefix: &str,
        label: Option<&str>,
    ) -> Result<(), Refused> {
        let (mut values, mut indices) = (None, None);
        for part in self.parts(sparse) {
            match part? {
                (1, range) => once(&mut values, range)?,
                (2, range) => once(&mut indices, range)?,
                _ => {}
            }
        }
        if let Some(values) = values {
            self.tensor(values, prefix, label)?;
        }
        if let Some(indices) = indices {
            self.tensor(indices, prefix, None)?;
            self.tensors.pop_if(|tensor| tensor.content == Content::NotFloat);
        }
        Ok(())
    }

    /// TensorProto, with its own name or else the name of the node around it.
    fn tensor(
        &mut self,
        range: Range<u64>,
        prefix: &str,
        label: Option<&str>,
    ) -> Result<(), Refused> {
        let mut proto = tensor::Proto::read(self.input.bytes, range)?;
        proto.name = match label {
            Some(label) => label.to_owned(),
            None => format!("{prefix}{}", proto.name),
        };
        let tensor = proto.tensor(&mut |name: &str| self.open(name))?;
        self.add(tensor)
    }

    /// Opens a file of external data.
    fn open(&mut self, name: &str) -> Result<Arc<dyn ReadAt>, Refused> {
        if let Some(source) = self.sources.get(name) {
            return Ok(Arc::clone(source));
        }
        let (_, source) = self.input.open_beside(name, FileFormat::ONNX)?;
        self.sources.insert(name.to_owned(), Arc::clone(&source));
        Ok(source)
    }

    fn add(&mut self, tensor: Tensor) -> Result<(), Refused> {
        if self.tensors.len() == MAX_TENSORS {
            return Err(bad(format_args!("more than {MAX_TENSORS} tensors")));
        }
        self.names += tensor.label().len();
        if self.names > self.input.bytes.len().saturating_mul(MAX_NAMES) {
            return Err(bad(format_args!("names of more than {MAX_NAMES} times the model")));
        }
        self.tensors.push(tensor);
        Ok(())
    }
}

/// Keeps the place of what may occur once.
fn once(place: &mut Option<Range<u64>>, range: Range<u64>) -> Result<(), Malformed> {
    let at = range.start;
    match place.replace(range) {
        Some(_) => Err(Malformed { at, why: "a field occurs twice that can occur once" }),
        None => Ok(()),
    }
}
