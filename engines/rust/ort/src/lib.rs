//! IsNaN, IsInf and IsFinite as operators of ONNX Runtime, for programs that use the crate `ort`.
//!
//! ```no_run
//! use ort::session::Session;
//!
//! # fn main() -> ort::Result<()> {
//! let operators = nonfinite_ort::domain("nonfinite")?;
//! let environment = ort::init().build()?;
//! let mut builder = Session::builder(&environment)?.with_operators(operators)?;
//! let session = builder.commit_from_file("model.onnx")?;
//! # Ok(()) }
//! ```
//!
//! Nothing has to be built or shipped beside the program. Where a library is wanted instead, or the
//! fp8 types, [`SessionBuilder::with_operator_library`] loads the one of `engines/onnxruntime`.
//!
//! [`SessionBuilder::with_operator_library`]:
//!     ort::session::builder::SessionBuilder::with_operator_library

use std::marker::PhantomData;

use half::{bf16, f16};
use nonfinite::{Element, Predicate};
use ort::operator::{
    BoxedKernel, ComputeContext, KernelContext, Operator, OperatorDomain, OperatorInput,
    OperatorOutput,
};
use ort::value::{PrimitiveTensorElementType, TensorElementType};

/// The operators IsNaN, IsInf and IsFinite in the domain `name`, for f64, f32, f16 and bf16.
///
/// IsInf has the attributes of ONNX: `detect_negative` and `detect_positive`, both 1 by default. An
/// attribute of another type than integer counts as missing, as ort does not report it. In the
/// domain `""`, which is ONNX's own, the operators take the place of the runtime's IsNaN and
/// IsInf, so that models need not be edited.
///
/// # Errors
/// If the runtime cannot make the domain.
pub fn domain(name: &str) -> ort::Result<OperatorDomain> {
    let mut domain = OperatorDomain::new(name)?;
    for question in [Question::Nan, Question::Inf, Question::Finite] {
        domain = domain
            .add(Mask::<f64>(question, PhantomData))?
            .add(Mask::<f32>(question, PhantomData))?
            .add(Mask::<f16>(question, PhantomData))?
            .add(Mask::<bf16>(question, PhantomData))?;
    }
    Ok(domain)
}

#[derive(Clone, Copy)]
enum Question {
    Nan,
    Inf,
    Finite,
}

/// An operator for one type of elements.
struct Mask<T>(Question, PhantomData<T>);

impl<T> Operator for Mask<T>
where
    T: Element + PrimitiveTensorElementType + Send + Sync + 'static,
{
    type Kernel<'attr> = BoxedKernel<'attr>;

    fn name(&self) -> &str {
        match self.0 {
            Question::Nan => "IsNaN",
            Question::Inf => "IsInf",
            Question::Finite => "IsFinite",
        }
    }

    fn inputs(&self) -> impl IntoIterator<Item = OperatorInput> {
        [OperatorInput::required(T::into_tensor_element_type())]
    }

    fn outputs(&self) -> impl IntoIterator<Item = OperatorOutput> {
        [OperatorOutput::required(TensorElementType::Bool)]
    }

    fn create_kernel<'attr>(
        &self,
        node: &KernelContext<'attr>,
    ) -> ort::Result<Self::Kernel<'attr>> {
        let detects = |name| node.get::<i64>(name).unwrap_or(1) != 0;
        let predicate = match self.0 {
            Question::Nan => Predicate::Nan,
            Question::Inf => Predicate::inf(detects("detect_negative"), detects("detect_positive")),
            Question::Finite => Predicate::Finite,
        };
        Ok(Box::new(move |context: &ComputeContext| {
            let missing = || ort::Error::new("nonfinite: a missing input or output");
            let x = context.input(0)?.ok_or_else(missing)?;
            let (shape, x) = x.try_extract_tensor::<T>()?;
            let mut out = context.output(0, shape.to_vec())?.ok_or_else(missing)?;
            let (_, out) = out.try_extract_tensor_mut::<bool>()?;
            nonfinite::mask(x, predicate, out);
            Ok(())
        }))
    }
}
