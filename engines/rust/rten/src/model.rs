//! Models: what their nodes compute, and other operators in the place of rten's.

use std::fmt;

use nonfinite::Predicate;
use rten::{Model, NodeId, RunError, Value, ValueOrView, ValueView};

/// A node of the model whose output [`run`] computes by `predicate`, in place of rten's operator.
///
/// The two values are those of an ONNX node IsNaN or IsInf: `input` is the value that the node
/// takes, of type f32, and `output` the value that the node gives.
#[derive(Clone, Copy)]
pub struct Replaced {
    /// The value that the node takes.
    pub input: NodeId,
    /// The value that the node gives.
    pub output: NodeId,
    /// What the node asks of each element.
    pub predicate: Predicate,
}

/// Runs a model as [`Model::run`], with the nodes of `replaced` computed by `nonfinite`.
///
/// rten's registry of operators takes none of others: `OpRegistry` is filled only with the keys in
/// `rten::op_types`, and the trait of operators is private. So the model is run up to the values
/// that the nodes of `replaced` take, and then again from the values that these nodes give. What
/// both runs need is computed twice, unless the caller gives it as an input. If a node of
/// `replaced` depends on another one, the first run takes rten's own operator there.
///
/// # Errors
/// If rten cannot run the model.
///
/// # Panics
/// If a value that a node of `replaced` takes is not a tensor of f32.
pub fn run(
    model: &Model,
    inputs: &[(NodeId, ValueView<'_>)],
    outputs: &[NodeId],
    replaced: &[Replaced],
) -> Result<Vec<Value>, RunError> {
    let given = |id| inputs.iter().find(|(input, _)| *input == id).map(|(_, value)| value.clone());
    let borrowed = || inputs.iter().map(|(id, value)| (*id, ValueOrView::View(value.clone())));

    let mut wanted: Vec<NodeId> =
        replaced.iter().map(|node| node.input).filter(|id| given(*id).is_none()).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let computed = model.run(borrowed().collect(), &wanted, None)?;
    let value = |id| {
        given(id).unwrap_or_else(|| {
            let index = wanted.iter().position(|wanted| *wanted == id).expect("it was wanted");
            computed[index].as_view()
        })
    };

    let masks = replaced.iter().map(|node| {
        let ValueView::FloatTensor(x) = value(node.input) else {
            panic!("a node to replace takes {}, not f32", value(node.input).dtype());
        };
        (node.output, ValueOrView::from(crate::mask(x, node.predicate)))
    });
    model.run(borrowed().chain(masks).collect(), outputs, None)
}

/// A value of a model that holds an element for which a predicate holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadValue {
    /// Its name in the model.
    pub name: String,
    /// The coordinate of the first such element.
    pub coordinate: Vec<usize>,
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at {:?}", self.name, self.coordinate)
    }
}

/// Runs a model and returns the first of the values in `names` with an element for which
/// `predicate` holds. Values that are not of f32 are passed over.
///
/// rten fuses nodes when it loads a model, so the values between them are gone: load a model that
/// is to be looked into with `ModelOptions::enable_optimization(false)`.
///
/// # Errors
/// If the model has no value of such a name, or rten cannot run the model.
pub fn first(
    model: &Model,
    inputs: &[(NodeId, ValueView<'_>)],
    names: &[&str],
    predicate: Predicate,
) -> Result<Option<BadValue>, RunError> {
    let ids = names.iter().map(|name| model.node_id(name)).collect::<Result<Vec<_>, _>>()?;
    let inputs = inputs.iter().map(|(id, value)| (*id, ValueOrView::View(value.clone())));
    let values = model.run(inputs.collect(), &ids, None)?;
    Ok(names.iter().zip(&values).find_map(|(name, value)| {
        let ValueView::FloatTensor(x) = value.as_view() else { return None };
        let coordinate = crate::position(x, predicate)?;
        Some(BadValue { name: (*name).to_owned(), coordinate })
    }))
}
