//! Runs that show a watch what each node computes: `--assert-sane-floats` of tract's command line,
//! for programs, and for all its types.

use nonfinite::{BadTensor, Predicate, Stats, TensorView, Watch};
use tract_onnx::prelude::*;
use tract_onnx::tract_core::plan::eval;

/// Runs a model, and stops at the first node with an output where `predicate` holds. Inputs and
/// constants of the model are nodes, too. Elements that are not floating-point numbers are passed
/// over. So are nodes inside the bodies of loops, whose results are checked when the loop ends.
///
/// # Errors
/// A [`BadTensor`], to which the error can be downcast, and all errors of tract. It is an error too
/// if `predicate` has a threshold and an output has another type.
pub fn run_without(
    plan: &Arc<TypedSimplePlan>,
    inputs: TVec<TValue>,
    predicate: Predicate,
) -> TractResult<TVec<TValue>> {
    let watch = Watch::new(predicate);
    watched(plan, inputs, &watch, || watch.first())
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
    watched(plan, inputs, watch, || None)
}

/// Runs a model. Ends it with an error if `bad` returns one behind a node.
fn watched(
    plan: &Arc<TypedSimplePlan>,
    inputs: TVec<TValue>,
    watch: &Watch,
    bad: impl Fn() -> Option<BadTensor>,
) -> TractResult<TVec<TValue>> {
    plan.spawn()?.run_plan_with_eval(inputs, |context, state, node, inputs| {
        let outputs = eval(context, state, node, inputs)?;
        for (output, x) in outputs.iter().enumerate() {
            let label = plan.model().outlet_label(OutletId::new(node.id, output));
            look(watch, label.unwrap_or(&node.name), x)?;
        }
        match bad() {
            Some(bad) => Err(TractError::from(bad).context(format!("{node}"))),
            None => Ok(outputs),
        }
    })
}

/// [`Watch::look`] at a tensor of tract: its statistics. `None` if it does not hold floating-point
/// numbers, or holds packed weights, which the watch does not count.
///
/// # Errors
/// If the memory of the tensor cannot be read, or if the watch has a threshold for another type.
pub fn look(watch: &Watch, name: &str, x: &Tensor) -> TractResult<Option<Stats>> {
    if !x.is_plain() {
        return Ok(None); // quantized weights, packed
    }
    let Some(elements) = crate::elements(x)? else { return Ok(None) };
    Ok(Some(watch.try_look(name, TensorView::shaped(elements, x.shape())?)?))
}
