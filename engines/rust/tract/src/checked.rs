//! A run that checks what each node computes: `--assert-sane-floats` of tract's command line, for
//! programs, and for all its types.

use std::fmt;

use nonfinite::{Predicate, TensorView};
use tract_onnx::prelude::*;
use tract_onnx::tract_core::plan::eval;

/// The first output with an element for which the predicate holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadOutput {
    /// The name of the node.
    pub node: String,
    /// The name of its operator.
    pub operator: String,
    /// Which output of the node it is, from 0.
    pub output: usize,
    /// The coordinate of the first such element.
    pub coordinate: Vec<usize>,
    /// The predicate that holds.
    pub predicate: Predicate,
}

impl fmt::Display for BadOutput {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { node, operator, output, coordinate, predicate } = self;
        write!(f, "{predicate}: output {output} of {node} ({operator}) at {coordinate:?}")
    }
}

impl std::error::Error for BadOutput {}

/// Runs a model, and stops at the first node with an output that is not all finite.
///
/// # Errors
/// [`BadOutput`], to which the error can be downcast, and all errors of tract.
pub fn run_finite(plan: &Arc<TypedSimplePlan>, inputs: TVec<TValue>) -> TractResult<TVec<TValue>> {
    run_without(plan, inputs, Predicate::NonFinite)
}

/// Runs a model, and stops at the first node with an output where `predicate` holds. Inputs and
/// constants of the model are nodes, too. Elements that are not floating-point numbers are passed
/// over. So are nodes inside the bodies of loops, whose results are checked when the loop ends.
///
/// # Errors
/// [`BadOutput`], to which the error can be downcast, and all errors of tract.
pub fn run_without(
    plan: &Arc<TypedSimplePlan>,
    inputs: TVec<TValue>,
    predicate: Predicate,
) -> TractResult<TVec<TValue>> {
    plan.spawn()?.run_plan_with_eval(inputs, |context, state, node, inputs| {
        let outputs = eval(context, state, node, inputs)?;
        for (output, x) in outputs.iter().enumerate() {
            if let Some(coordinate) = first(x, predicate)? {
                let (node, operator) = (node.name.clone(), node.op().name().into_owned());
                let bad = BadOutput { node, operator, output, coordinate, predicate };
                return Err(TractError::from(bad));
            }
        }
        Ok(outputs)
    })
}

/// The coordinate of the first element for which `predicate` holds.
fn first(x: &Tensor, predicate: Predicate) -> TractResult<Option<Vec<usize>>> {
    if !x.is_plain() {
        return Ok(None); // quantized weights, packed
    }
    let Some(elements) = crate::elements(x)? else { return Ok(None) };
    let view = TensorView::shaped(elements, x.shape())?;
    let Some(index) = view.position(predicate) else { return Ok(None) };
    let mut coordinate = vec![0; x.rank()];
    view.coordinate(index, &mut coordinate)?;
    Ok(Some(coordinate))
}
