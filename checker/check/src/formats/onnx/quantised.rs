//! Quantised tensors in a model: what operators read as codes and as scales.

use std::collections::{BTreeSet, HashSet};
use std::ops::Range;

use super::parts;
use crate::containers::protobuf::{File, Malformed};
use crate::model::{ReadAt, source};

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
    pub(crate) fn of(model: &dyn ReadAt) -> Result<Self, Malformed> {
        let (mut found, file) = (Self::default(), File::new(model));
        for graph in bytes(&file, 0..model.length(), 7) {
            // What initialisers, inputs of the graph and nodes make. An empty name is an input that
            // is left out.
            let (mut made, mut nodes) = (HashSet::from([Vec::new()]), Vec::new());
            let mut make = |message, name| {
                bytes(&file, message, name).try_for_each(|name| {
                    made.insert(file.see(name?, <[u8]>::to_vec)?);
                    Ok(())
                })
            };
            for part in parts(&file, graph?) {
                match part? {
                    (1, node) => {
                        nodes.push(node.clone());
                        make(node, 2)?;
                    }
                    (5, tensor) => make(tensor, 8)?,
                    (11, input) => make(input, 1)?,
                    (15, sparse) => {
                        for values in bytes(&file, sparse, 1) {
                            make(values?, 8)?;
                        }
                    }
                    _ => {}
                }
            }
            found.missing = None;
            for node in nodes {
                let operator = bytes(&file, node.clone(), 4).last().transpose()?;
                let operator = operator.map(|range| file.text(range)).transpose()?;
                let known = OPERATORS.iter().find(|known| Some(known.0) == operator.as_deref());
                for (index, input) in bytes(&file, node, 1).enumerate() {
                    let input = input?;
                    if !file.see(input.clone(), |name| made.contains(name))? {
                        let name = file.see(input.clone(), <[u8]>::to_vec)?;
                        found.missing.get_or_insert_with(|| (source::text(&name), 0)).1 += 1;
                        made.insert(name);
                    }
                    let Some((operator, codes, scales)) = known else { continue };
                    let name = file.text(input)?;
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

/// The fields of this number in a message.
fn bytes<'w, 'a>(
    file: &'w File<'a>,
    message: Range<u64>,
    wanted: u64,
) -> impl Iterator<Item = Result<Range<u64>, Malformed>> + use<'w, 'a> {
    let fields = parts(file, message)
        .map(move |field| field.map(|(number, range)| (number == wanted).then_some(range)));
    fields.filter_map(Result::transpose)
}
