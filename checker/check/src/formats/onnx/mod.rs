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
use crate::containers::protobuf::{Fields, File, Malformed, Value};
use crate::formats::beginning;
use crate::model::reader::{Read, Reader, Refused, truncated};
use crate::model::{Content, FileFormat, Input, ReadAt, Tensor};

impl FileFormat {
    /// ONNX; see [`onnx`](crate::formats::onnx).
    pub const ONNX: Self = Self::named("onnx");
}

pub(super) static READER: Reader = Reader {
    format: FileFormat::ONNX,
    endings: &[".onnx"],
    begins,
    read: Read::Anywhere(|input| Ok(tensors(input)?.into())),
    shards: None,
};

/// Whether a file begins as a model does: with the IR version, a small number, and then the
/// producer, the graph or the opsets.
fn begins(bytes: &[u8], _: &dyn ReadAt) -> bool {
    matches!(bytes, [0x08, 1..=0x7F, 0x12 | 0x3A | 0x42, ..])
}

/// The deepest nesting of graphs.
const MAX_DEPTH: usize = 64;
/// The most tensors of a model. Only a hostile file has more.
const MAX_TENSORS: usize = 1 << 20;

/// The most bytes of names for each byte of the model. Names grow with nesting: a name begins with
/// the names of all graphs around it.
const MAX_NAMES: u64 = 16;

/// The most bytes of all tensors together, for each byte of the files. More means that many tensors
/// share the same external data, and the check would take hours.
const MAX_SHARING: u64 = 64;

fn bad(why: impl fmt::Display) -> Refused {
    format!("bad ONNX model: {why}").into()
}

/// The tensors of a model.
fn tensors(input: Input<'_>) -> Result<Vec<Tensor>, Refused> {
    let (file, length) = (File::new(input.source), input.source.length());
    let mut walk =
        Walk { input, file: &file, sources: HashMap::new(), tensors: Vec::new(), names: 0 };
    let mut has_graph = false;
    let mut largest = 0;
    let mut fields = Fields::new(&file, 0..length);
    while let Some(field) = fields.next() {
        let (number, value) = field.map_err(|malformed| match fields.end {
            Some(end) => truncated(length, end, malformed).into(),
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
            2 if beginning(input.source)?.starts_with(b"\x08\x01") => "a SavedModel of TensorFlow",
            // Each type of model is a field from 200 on.
            200.. => "a Core ML model",
            _ => return Err("not an ONNX model: it has no graph".into()),
        };
        return Err(format!("{what}, no ONNX model: this format is not read").into());
    }
    let files = walk.sources.values().map(|source| source.length());
    let limit = files.fold(length, u64::saturating_add).saturating_mul(MAX_SHARING);
    let lengths = walk.tensors.iter().map(|tensor| tensor.data.length());
    if lengths.fold(0, u64::saturating_add) > limit {
        return Err(bad(format_args!("tensors refer to more than {MAX_SHARING} times its files")));
    }
    Ok(walk.tensors)
}

struct Walk<'w, 'a> {
    input: Input<'a>,
    file: &'w File<'a>,
    /// Files of external data, each opened once.
    sources: HashMap<String, Arc<dyn ReadAt>>,
    tensors: Vec<Tensor>,
    /// Bytes of the names of the tensors.
    names: u64,
}

/// The fields of a message that are messages, text or bytes: their numbers and their places. They
/// are not collected: a hostile model can have millions of empty ones.
fn parts<'w, 'a>(
    file: &'w File<'a>,
    message: Range<u64>,
) -> impl Iterator<Item = Result<(u64, Range<u64>), Malformed>> + use<'w, 'a> {
    Fields::new(file, message).filter_map(|field| match field {
        Ok((number, Value::Bytes(range))) => Some(Ok((number, range))),
        Ok((_, Value::Varint(_) | Value::Fixed(_))) => None,
        Err(malformed) => Some(Err(malformed)),
    })
}

impl Walk<'_, '_> {
    /// The first text of each of these fields that is not empty.
    fn firsts<const N: usize>(
        &self,
        message: Range<u64>,
        wanted: [u64; N],
    ) -> Result<[Option<Range<u64>>; N], Malformed> {
        let mut found = [const { None }; N];
        for part in parts(self.file, message) {
            let (number, range) = part?;
            let place = wanted.iter().position(|&wanted| wanted == number);
            if let Some(place) = place.filter(|_| !range.is_empty()) {
                found[place].get_or_insert(range);
            }
        }
        Ok(found)
    }

    /// GraphProto. `prefix` is the path of the graph around this one.
    fn graph(&mut self, graph: Range<u64>, prefix: &str, depth: usize) -> Result<(), Refused> {
        if depth > MAX_DEPTH {
            return Err(bad(format_args!("more than {MAX_DEPTH} graphs within graphs")));
        }
        for part in parts(self.file, graph) {
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
        for part in parts(self.file, training) {
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
        let [name] = self.firsts(function.clone(), [1])?;
        let name = name.map(|name| self.file.text(name)).transpose()?;
        let prefix = name.map_or_else(String::new, |name| format!("{name}/"));
        for part in parts(self.file, function) {
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
        let [operator, output, name] = self.firsts(node.clone(), [4, 2, 3])?;
        let text = |range: Option<_>| range.map(|range| self.file.text(range)).transpose();
        let operator = text(operator)?.unwrap_or_default();
        let name = text(output.or(name))?.unwrap_or_else(|| operator.clone());
        for part in parts(self.file, node) {
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
        for field in Fields::new(self.file, attribute.clone()) {
            match field? {
                (1, Value::Bytes(range)) => name = self.file.text(range)?,
                (2, Value::Fixed(range)) => float.push(self.file, Value::Fixed(range))?,
                (7, value) => floats.push(self.file, value)?,
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
        for part in parts(self.file, attribute) {
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
        for part in parts(self.file, sparse) {
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
        let mut proto = tensor::Proto::read(self.file, range)?;
        proto.name = match label {
            Some(label) => label.to_owned(),
            None => format!("{prefix}{}", proto.name),
        };
        let file = self.file;
        let tensor = proto.tensor(file, &mut |name: &str| self.open(name))?;
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
        self.names += tensor.label().len() as u64;
        if self.names > self.input.source.length().saturating_mul(MAX_NAMES) {
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
