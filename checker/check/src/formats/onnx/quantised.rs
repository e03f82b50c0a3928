//! Quantised tensors in a model: what operators read as codes and as scales.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use crate::containers::protobuf::{Fields, Malformed, Value};
use crate::model::source;

/// The operators that take quantised tensors, with the numbers of the inputs that are codes and of
/// those that are scales. Sources: the standard, and the contributed operators of onnxruntime.
const OPERATORS: [(&str, &[usize], &[usize]); 8] = [
    ("QuantizeLinear", &[], &[1]),
    ("DequantizeLinear", &[0], &[1]),
    ("QLinearConv", &[0, 3], &[1, 4, 6]),
    ("QLinearMatMul", &[0, 3], &[1, 4, 6]),
    ("MatMulInteger", &[0, 1], &[]),
    ("ConvInteger", &[0, 1], &[]),
    ("MatMulNBits", &[1], &[2]),
    ("GatherBlockQuantized", &[0], &[2]),
];

/// The names of tensors that the nodes of a graph read as codes, and as scales. Those of subgraphs
/// and functions are not among them.
#[derive(Debug, Default)]
pub(crate) struct Quantised {
    pub(crate) codes: BTreeSet<String>,
    pub(crate) scales: BTreeSet<String>,
    /// The scales of operators that only have scales of blocks.
    pub(crate) of_blocks: BTreeSet<String>,
    /// The first name that a node reads and nothing makes, and how many there are.
    pub(crate) missing: Option<(String, usize)>,
}

impl Quantised {
    /// # Errors
    /// [`Malformed`], which the reader of the model finds first.
    pub(crate) fn of(model: &[u8]) -> Result<Self, Malformed> {
        let mut found = Self::default();
        for graph in bytes(model, 0..model.len() as u64, 7) {
            let graph = graph?;
            found.missing = missing(model, &graph)?;
            for node in bytes(model, graph, 1) {
                let node = node?;
                let operator = bytes(model, node.clone(), 4).last().transpose()?;
                let operator = operator.map(|range| source::text(bytes_of(model, range)));
                let known = OPERATORS.iter().find(|known| Some(known.0) == operator.as_deref());
                let Some((operator, codes, scales)) = known else { continue };
                for (index, input) in bytes(model, node, 1).enumerate() {
                    let name = source::text(bytes_of(model, input?));
                    if codes.contains(&index) {
                        found.codes.insert(name);
                    } else if scales.contains(&index) {
                        if ["MatMulNBits", "GatherBlockQuantized"].contains(operator) {
                            found.of_blocks.insert(name.clone());
                        }
                        found.scales.insert(name);
                    }
                }
            }
        }
        Ok(found)
    }
}

/// What nodes read and neither an initialiser, nor an input of the graph, nor a node makes.
fn missing(model: &[u8], graph: &Range<u64>) -> Result<Option<(String, usize)>, Malformed> {
    // Initialisers, inputs and nodes, and their names. An empty name is an input that is left out.
    const MADE: [(u64, u64); 3] = [(5, 8), (11, 1), (1, 2)];
    let mut made = HashSet::from([&[][..]]);
    let mut messages = Vec::new();
    for sparse in bytes(model, graph.clone(), 15) {
        messages.extend(bytes(model, sparse?, 1).map(|values| (values, 8)));
    }
    for (field, name) in MADE {
        messages.extend(bytes(model, graph.clone(), field).map(|message| (message, name)));
    }
    for (message, name) in messages {
        for name in bytes(model, message?, name) {
            made.insert(bytes_of(model, name?));
        }
    }
    let mut missing: Option<(String, usize)> = None;
    for node in bytes(model, graph.clone(), 1) {
        for input in bytes(model, node?, 1) {
            let name = bytes_of(model, input?);
            if made.insert(name) {
                missing.get_or_insert_with(|| (source::text(name), 0)).1 += 1;
            }
        }
    }
    Ok(missing)
}

/// The bytes of a field.
fn bytes_of(model: &[u8], range: Range<u64>) -> &[u8] {
    source::part(model, range).unwrap_or_default()
}

/// The fields of this number in a message.
fn bytes(
    file: &[u8],
    message: Range<u64>,
    wanted: u64,
) -> impl Iterator<Item = Result<Range<u64>, Malformed>> + '_ {
    Fields::new(file, message).filter_map(move |field| match field {
        Ok((number, Value::Bytes(range))) if number == wanted => Some(Ok(range)),
        Ok(_) => None,
        Err(malformed) => Some(Err(malformed)),
    })
}
