//! A run that checks what each node computes: `--assert-sane-floats` of tract's command line, for
//! programs, and for all its types.

use std::fmt;

use nonfinite::{Predicate, Stats, TensorView, Watch};
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

/// Runs a model to its end, and shows the watch what each node computes. An output has the name
/// that the model gives it, or else the name of its node. Inputs and constants of the model are
/// nodes, too. What [`run_without`] passes over is passed over here.
///
/// # Errors
/// All errors of tract.
pub fn run_watched(
    plan: &Arc<TypedSimplePlan>,
    inputs: TVec<TValue>,
    watch: &Watch,
) -> TractResult<TVec<TValue>> {
    plan.spawn()?.run_plan_with_eval(inputs, |context, state, node, inputs| {
        let outputs = eval(context, state, node, inputs)?;
        for (output, x) in outputs.iter().enumerate() {
            let label = plan.model().outlet_label(OutletId::new(node.id, output));
            look(watch, label.unwrap_or(&node.name), x)?;
        }
        TractResult::Ok(outputs)
    })
}

/// [`Watch::look`] at a tensor of tract: its statistics. `None` if it does not hold floating-point
/// numbers, or holds packed weights, which the watch does not count.
///
/// # Errors
/// If the memory of the tensor cannot be read.
pub fn look(watch: &Watch, name: &str, x: &Tensor) -> TractResult<Option<Stats>> {
    with_view(x, |view| watch.look(name, view))
}

/// The coordinate of the first element for which `predicate` holds.
fn first(x: &Tensor, predicate: Predicate) -> TractResult<Option<Vec<usize>>> {
    let first = with_view(x, |view| {
        let mut coordinate = vec![0; view.sizes().len()];
        let index = view.position(predicate)?;
        view.coordinate(index, &mut coordinate).expect("an index of this view");
        Some(coordinate)
    })?;
    Ok(first.flatten())
}

/// Calls `run` with a view of the tensor. None if it does not hold floating-point numbers, or holds
/// packed weights.
fn with_view<R>(x: &Tensor, run: impl FnOnce(TensorView<'_>) -> R) -> TractResult<Option<R>> {
    if !x.is_plain() {
        return Ok(None); // quantized weights, packed
    }
    let Some(elements) = crate::elements(x)? else { return Ok(None) };
    Ok(Some(run(TensorView::shaped(elements, x.shape())?)))
}
