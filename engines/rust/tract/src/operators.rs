//! IsNaN and IsInf in the place of tract's, and IsFinite, which ONNX does not have.

use nonfinite::{Predicate, TensorView};
use nonfinite_ops::Operator as _;
use nonfinite_ops::onnx::{Attribute, IsInf, IsNan};
use tract_onnx::Onnx;
use tract_onnx::model::ParsingContext;
use tract_onnx::pb::NodeProto;
use tract_onnx::tract_core::ops::element_wise::{ElementWiseMiniOp, ElementWiseOp};
use tract_onnx::tract_hir::internal::*;

/// Makes `onnx` load the nodes IsNaN, IsInf and IsFinite as operators of `nonfinite`, for f16, f32
/// and f64. tract's own take f16 and f32. tract knows operators by their names alone: the domain of
/// a node makes no difference. Attributes that ONNX does not know are refused.
pub fn register(onnx: &mut Onnx) {
    let operators = &mut onnx.op_register;
    operators.insert("IsNaN", is_nan);
    operators.insert("IsFinite", |_, _| operator(Predicate::Finite));
    operators.insert("IsInf", is_inf);
}

type Parsed = TractResult<(Box<dyn InferenceOp>, Vec<String>)>;

fn operator(predicate: Predicate) -> Parsed {
    Ok((ElementWiseOp(Box::new(Mask(predicate)), None).into_hir(), vec![]))
}

fn attributes(node: &NodeProto) -> impl Iterator<Item = Attribute<'_>> {
    node.attribute.iter().map(|x| Attribute::new(&x.name, x.r#type, x.i))
}

fn is_nan(_context: &ParsingContext, node: &NodeProto) -> Parsed {
    let node = IsNan::newest().with_attributes(attributes(node));
    operator(node.map_err(|error| format_err!("{error}"))?.predicate())
}

fn is_inf(_context: &ParsingContext, node: &NodeProto) -> Parsed {
    let node = IsInf::newest().with_attributes(attributes(node));
    operator(node.map_err(|error| format_err!("{error}"))?.predicate())
}

/// A tensor of booleans: whether a predicate holds for each element.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mask(Predicate);

impl ElementWiseMiniOp for Mask {
    fn name(&self) -> String {
        format!("Nonfinite({})", self.0)
    }

    fn output_type(&self, input: DatumType) -> Option<DatumType> {
        input.is_float().then(bool::datum_type)
    }

    fn eval_out_of_place(&self, x: &Tensor, _: Option<DatumType>) -> TractResult<Tensor> {
        let Some(elements) = crate::elements(x)? else {
            bail!("{} of {:?}, not of floating-point numbers", self.name(), x.datum_type());
        };
        let mut out = Tensor::zero_dt(bool::datum_type(), x.shape())?;
        let mut memory = out.try_as_plain_ram_mut()?;
        TensorView::from(elements).mask(self.0, memory.as_slice_mut::<bool>()?)?;
        Ok(out)
    }
}
