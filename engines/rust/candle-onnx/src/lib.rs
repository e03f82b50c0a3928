//! Runs models with candle-onnx, checks what each node computes, and computes the nodes IsNaN,
//! IsInf and IsFinite, which candle-onnx refuses.
//!
//! ```no_run
//! use std::collections::HashMap;
//!
//! use candle_core::{Device, Tensor};
//! use nonfinite::Predicate;
//!
//! # fn main() -> candle_core::Result<()> {
//! let model = candle_onnx::read_file("model.onnx")?;
//! let x = Tensor::new(&[1f32, 2.0], &Device::Cpu)?;
//! let inputs = HashMap::from([("x".to_owned(), x)]);
//! let run = nonfinite_candle_onnx::eval(&model, inputs, Some(Predicate::NonFinite))?;
//! if let Some(bad) = run.bad {
//!     println!("{bad}");
//! }
//! # Ok(()) }
//! ```

use std::collections::HashMap;
use std::fmt;

use candle_core::{Error, Result, Tensor};
use candle_onnx::eval::get_tensor;
use candle_onnx::onnx::attribute_proto::AttributeType;
use candle_onnx::onnx::{GraphProto, ModelProto, NodeProto, ValueInfoProto};
use candle_onnx::simple_eval;
use nonfinite::Predicate;

/// What [`eval`] found.
#[derive(Debug)]
pub struct Run {
    /// The outputs of the model, by name. Empty if there is a bad value.
    pub outputs: HashMap<String, Tensor>,
    /// The first value with an element for which the predicate holds.
    pub bad: Option<BadValue>,
}

/// A value with an element for which the predicate holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadValue {
    /// The name of the value: an input, a weight, or an output of a node.
    pub name: String,
    /// The operator that computed it. Empty for inputs and weights.
    pub operator: String,
    /// The coordinate of the first such element.
    pub coordinate: Vec<usize>,
}

impl fmt::Display for BadValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, operator, coordinate } = self;
        if operator.is_empty() {
            return write!(f, "{name} at {coordinate:?}");
        }
        write!(f, "{name} ({operator}) at {coordinate:?}")
    }
}

/// Runs a model as [`simple_eval`] does, and stops at the first value where `check` holds.
///
/// candle-onnx chooses the code of a node by a `match` on its name, so there is no place to
/// register an operator. Therefore each node is run as a model of its own. Nodes inside the
/// branches of If are run by candle-onnx as part of it.
///
/// # Errors
/// If candle-onnx cannot run the model, or a tensor is not on the CPU.
pub fn eval(
    model: &ModelProto,
    inputs: HashMap<String, Tensor>,
    check: Option<Predicate>,
) -> Result<Run> {
    let graph = model.graph.as_ref().ok_or_else(|| Error::Msg("a model without a graph".into()))?;
    let mut values = inputs;
    for weight in &graph.initializer {
        values.insert(weight.name.clone(), get_tensor(weight, &weight.name)?);
    }
    // The types and shapes of inputs are checked by a graph without nodes.
    let checked = ModelProto {
        graph: Some(GraphProto { input: graph.input.clone(), ..GraphProto::default() }),
        ..ModelProto::default()
    };
    simple_eval(&checked, values.clone())?;

    let mut names: Vec<&String> = values.keys().collect();
    names.sort_unstable();
    for name in names {
        if let Some(bad) = bad(name, "", &values[name], check)? {
            return Ok(Run { outputs: HashMap::new(), bad: Some(bad) });
        }
    }
    for node in &graph.node {
        let mut outputs = computed(node, &values)?;
        for name in &node.output {
            let Some(value) = outputs.remove(name) else { continue };
            if let Some(bad) = bad(name, &node.op_type, &value, check)? {
                return Ok(Run { outputs: HashMap::new(), bad: Some(bad) });
            }
            values.insert(name.clone(), value);
        }
    }
    let output = |output: &ValueInfoProto| {
        let value = values.get(&output.name).cloned();
        let missing = || Error::Msg(format!("no node computes the output {}", output.name));
        Ok((output.name.clone(), value.ok_or_else(missing)?))
    };
    Ok(Run { outputs: graph.output.iter().map(output).collect::<Result<_>>()?, bad: None })
}

/// The outputs of a node.
fn computed(node: &NodeProto, values: &HashMap<String, Tensor>) -> Result<HashMap<String, Tensor>> {
    let Some(predicate) = predicate(node)? else {
        let named = node.output.iter().filter(|name| !name.is_empty());
        let output = named.map(|name| ValueInfoProto { name: name.clone(), ..Default::default() });
        let graph = GraphProto {
            node: vec![node.clone()],
            output: output.collect(),
            ..GraphProto::default()
        };
        // Only the map is copied: tensors are counted references.
        return simple_eval(
            &ModelProto { graph: Some(graph), ..ModelProto::default() },
            values.clone(),
        );
    };
    let ([x], [y]) = (node.input.as_slice(), node.output.as_slice()) else {
        return Err(Error::Msg(format!("{} takes and gives one tensor", node.op_type)));
    };
    let missing = || Error::Msg(format!("cannot find {x} for {}", node.name));
    let mask = nonfinite_candle::mask(values.get(x).ok_or_else(missing)?, predicate)?;
    Ok(HashMap::from([(y.clone(), mask)]))
}

/// What a node asks of each element. None if it is no node of ours.
fn predicate(node: &NodeProto) -> Result<Option<Predicate>> {
    let detects = |name| match node.attribute.iter().find(|attribute| attribute.name == name) {
        None => Ok(true),
        // Old files do not say the type.
        Some(attribute)
            if matches!(attribute.r#type(), AttributeType::Int | AttributeType::Undefined) =>
        {
            Ok(attribute.i != 0)
        }
        Some(_) => Err(Error::Msg(format!("the attribute {name} is not an integer"))),
    };
    Ok(match node.op_type.as_str() {
        "IsNaN" => Some(Predicate::Nan),
        "IsInf" => Some(Predicate::inf(detects("detect_negative")?, detects("detect_positive")?)),
        "IsFinite" => Some(Predicate::Finite),
        _ => None,
    })
}

fn bad(
    name: &str,
    operator: &str,
    value: &Tensor,
    check: Option<Predicate>,
) -> Result<Option<BadValue>> {
    let Some(predicate) = check else { return Ok(None) };
    let coordinate = nonfinite_candle::position(value, predicate)?;
    let bad =
        |coordinate| BadValue { name: name.to_owned(), operator: operator.to_owned(), coordinate };
    Ok(coordinate.map(bad))
}
