//! The traits of all operators over packed tensors.

use nonfinite::{MaskOut, Predicate};

use crate::dense::answer;
use crate::{Dense, Dimension, Error, PartialShape, StandardType, Storage};

pub(crate) mod sealed {
    /// Only this crate can implement the traits, so that methods can be added.
    pub trait Sealed {}
}

/// The rules of one version of a standard for the name, the types and the shapes of an operator.
///
/// This trait is sealed: only the types of this crate implement it.
pub trait Signature: sealed::Sealed {
    /// The name of the operator in the standard.
    fn name(&self) -> &'static str;

    /// The version of the operator, if the standard gives it one.
    fn version(&self) -> Option<u32> {
        None
    }

    /// The element type of the output.
    fn output_type(&self) -> StandardType;

    /// How elements of this type are stored.
    ///
    /// # Errors
    /// As [`Signature::check_type`], and if the type is known only when the model runs.
    fn storage(&self, element_type: StandardType) -> Result<Storage, Error>;

    /// The check of the element type by the standard when a graph is built.
    ///
    /// # Errors
    /// The element type is of another standard, or is not in the type list of this version of the
    /// operator.
    fn check_type(&self, element_type: StandardType) -> Result<(), Error> {
        self.storage(element_type).map(|_| ())
    }

    /// The check of dimension `index` of a shape by the standard.
    ///
    /// # Errors
    /// If the standard allows none of its sizes.
    fn check_dimension(&self, _index: usize, _dimension: Dimension) -> Result<(), Error> {
        Ok(())
    }
}

/// An operator over one packed tensor. Its output has the shape of the input, known or not, and one
/// byte for each element.
///
/// An engine keeps the operators of a model as `Box<dyn Operator>`: types, shapes and the kind of
/// output are values that are known when the model runs.
///
/// ```
/// use nonfinite_ops::{Dense, Operator, onnx, openvino};
///
/// let steps: [(Box<dyn Operator>, Dense<'_>); 2] = [
///     (
///         Box::new(onnx::IsNan::for_opset(20)?),
///         Dense::from_bytes(onnx::DataType::Float8E5M2, &[2], &[0x7D, 0x3C]),
///     ),
///     (
///         Box::new(openvino::IsFinite),
///         Dense::new(openvino::ElementType::F64, &[2], &[f64::INFINITY, 1.0][..]),
///     ),
/// ];
/// let mut answers = Vec::new();
/// for (op, x) in &steps {
///     let mut out = [false; 2];
///     op.run(*x, (&mut out[..]).into())?;
///     answers.push((op.name(), out));
/// }
/// assert_eq!(answers, [("IsNaN", [true, false]), ("IsFinite", [false, true])]);
/// # Ok::<(), nonfinite_ops::Error>(())
/// ```
///
/// This trait is sealed: only the types of this crate implement it.
pub trait Operator: sealed::Sealed {
    /// The rules of the standard for types and shapes.
    fn signature(&self) -> &dyn Signature;

    /// The predicate for each element.
    fn predicate(&self) -> Predicate;

    /// The name in the standard.
    fn name(&self) -> &'static str {
        self.signature().name()
    }

    /// Type inference: the element type of the output for an element type of the input.
    ///
    /// # Errors
    /// As [`Signature::check_type`].
    fn infer(&self, element_type: StandardType) -> Result<StandardType, Error> {
        let signature = self.signature();
        signature.check_type(element_type)?;
        Ok(signature.output_type())
    }

    /// Shape inference: the shape of the output for a shape of the input. Both are the same.
    ///
    /// # Errors
    /// As [`Signature::check_dimension`].
    fn infer_shape<'a>(&self, shape: &'a [usize]) -> Result<&'a [usize], Error> {
        for (i, &size) in shape.iter().enumerate() {
            self.signature().check_dimension(i, Dimension::fixed(size as u64))?;
        }
        Ok(shape)
    }

    /// As [`Operator::infer_shape`], for a shape of which parts are unknown: what is known of the
    /// input is known of the output.
    ///
    /// # Errors
    /// As [`Signature::check_dimension`].
    fn infer_partial_shape<'a>(&self, shape: PartialShape<'a>) -> Result<PartialShape<'a>, Error> {
        if let PartialShape::Ranked(dimensions) = shape {
            for (i, &dimension) in dimensions.iter().enumerate() {
                self.signature().check_dimension(i, dimension)?;
            }
        }
        Ok(shape)
    }

    /// Writes 1 for each element of `x` for which [`Operator::predicate`] holds, otherwise 0. `out`
    /// is made from `&mut [bool]`, `&mut [u8]` or `&mut [MaybeUninit<bool>]`.
    ///
    /// # Errors
    /// If the standard does not allow the type or the shape, if the type is known only when the
    /// model runs, or if the bytes of `x` or the length of `out` do not fit the shape. Nothing is
    /// written then.
    fn run(&self, x: Dense<'_>, out: MaskOut<'_>) -> Result<(), Error> {
        let signature = self.signature();
        let element_type = x.element_type();
        let storage = signature.storage(element_type)?;
        self.infer_shape(x.shape())?;
        answer(&x, storage, self.predicate(), out).map_err(|error| Error::Memory {
            op: signature.name(),
            version: signature.version(),
            element_type,
            error,
        })
    }
}
