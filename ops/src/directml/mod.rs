//! DirectML: `ELEMENT_WISE_IS_NAN` (feature level 2.0) and `ELEMENT_WISE_IS_INFINITY` (2.1), as
//! directml.h and the pages of learn.microsoft.com on `DML_ELEMENT_WISE_IS_NAN_OPERATOR_DESC`,
//! `DML_ELEMENT_WISE_IS_INFINITY_OPERATOR_DESC` and `DML_BUFFER_TENSOR_DESC` describe them. The
//! operators run on a CPU, over byte slices. DirectML has no operator for finiteness.
//!
//! An operator is described, created (with all checks for a feature level), and dispatched with a
//! buffer for each tensor. This module decides what DirectML leaves open: an output whose results
//! may share a place is refused (by the sufficient test of [`nonfinite::MaskView::strided`]), and
//! the bytes of an output between and behind the results keep their values. A tensor without
//! elements cannot be described: an engine with such a tensor must skip the operator.
//!
//! ```
//! use nonfinite_ops::directml::*;
//!
//! // Two rows of three FLOAT32, each padded to four; results packed.
//! let sizes = [1, 1, 2, 3];
//! let strides = [8, 8, 4, 1];
//! let desc = ElementWiseIsInfinityDesc {
//!     input_tensor: BufferTensorDesc::new(TensorDataType::Float32, &sizes, Some(&strides)),
//!     output_tensor: BufferTensorDesc::new(TensorDataType::Uint8, &sizes, None),
//!     infinity_mode: IsInfinityMode::Negative,
//! };
//! let operator = desc.create(FeatureLevel::Level2_1)?;
//!
//! let x = [0.0, f32::NEG_INFINITY, f32::INFINITY, 7.0, f32::NAN, 1.0, f32::NEG_INFINITY, 7.0];
//! let input: Vec<u8> = x.iter().flat_map(|x| x.to_ne_bytes()).collect();
//! let mut output = [9; 8];
//! operator.dispatch(&input[..], &mut output[..])?;
//! assert_eq!(output, [0, 1, 0, 0, 0, 1, 9, 9]);
//! # Ok::<(), Error>(())
//! ```

mod binding;
mod desc;
mod dispatch;
mod error;
mod types;

pub use binding::{BufferBinding, BufferBindingMut};
pub use desc::{BufferTensorDesc, calc_buffer_tensor_size};
pub use error::{Error, Property, Rule, Tensor};
pub use types::{FeatureLevel, IsInfinityMode, TensorDataType};

use nonfinite::{Backend, Format, Predicate};

use desc::Place;

/// `DML_ELEMENT_WISE_IS_NAN_OPERATOR_DESC`: 1 for each element that is NaN, else 0.
///
/// Feature level 2.0 and 2.1: 4 dimensions; from 3.0 on: 1 to 8. Input FLOAT32 or FLOAT16, output
/// UINT32 or UINT8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementWiseIsNanDesc<'a> {
    /// `InputTensor`.
    pub input_tensor: BufferTensorDesc<'a>,
    /// `OutputTensor`, with the sizes of the input.
    pub output_tensor: BufferTensorDesc<'a>,
}

/// `DML_ELEMENT_WISE_IS_INFINITY_OPERATOR_DESC`: 1 for each infinity with a sign of the mode,
/// otherwise 0.
///
/// Feature level 2.1: 4 dimensions; from 3.0 on: 1 to 8. Input FLOAT32 or FLOAT16, output UINT8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementWiseIsInfinityDesc<'a> {
    /// `InputTensor`.
    pub input_tensor: BufferTensorDesc<'a>,
    /// `OutputTensor`, with the sizes of the input.
    pub output_tensor: BufferTensorDesc<'a>,
    /// `InfinityMode`.
    pub infinity_mode: IsInfinityMode,
}

/// The limits of one operator, by the documentation.
struct Support {
    operator: &'static str,
    introduced: FeatureLevel,
    input: &'static [TensorDataType],
    output: &'static [TensorDataType],
}

const IS_NAN: Support = Support {
    operator: "ELEMENT_WISE_IS_NAN",
    introduced: FeatureLevel::Level2_0,
    input: &[TensorDataType::Float32, TensorDataType::Float16],
    output: &[TensorDataType::Uint32, TensorDataType::Uint8],
};
const IS_INFINITY: Support = Support {
    operator: "ELEMENT_WISE_IS_INFINITY",
    introduced: FeatureLevel::Level2_1,
    input: &[TensorDataType::Float32, TensorDataType::Float16],
    output: &[TensorDataType::Uint8],
};

/// An operator whose description was checked.
#[derive(Clone, Copy, Debug)]
pub struct CompiledOperator<'a> {
    operator: &'static str,
    format: Format,
    predicate: Predicate,
    input: BufferTensorDesc<'a>,
    output: BufferTensorDesc<'a>,
}

impl<'a> ElementWiseIsNanDesc<'a> {
    /// Checks the description, as `IDMLDevice::CreateOperator` does.
    ///
    /// # Errors
    /// [`Error`] names tensor, property, value and rule: the first that is broken, of the input
    /// first.
    pub fn create(&self, level: FeatureLevel) -> Result<CompiledOperator<'a>, Error> {
        IS_NAN.create(level, Predicate::Nan, self.input_tensor, self.output_tensor)
    }
}

impl<'a> ElementWiseIsInfinityDesc<'a> {
    /// Checks the description, as `IDMLDevice::CreateOperator` does.
    ///
    /// # Errors
    /// [`Error`] names tensor, property, value and rule: the first that is broken, of the input
    /// first.
    pub fn create(&self, level: FeatureLevel) -> Result<CompiledOperator<'a>, Error> {
        let predicate = match self.infinity_mode {
            IsInfinityMode::Either => Predicate::Inf,
            IsInfinityMode::Positive => Predicate::PositiveInf,
            IsInfinityMode::Negative => Predicate::NegativeInf,
        };
        IS_INFINITY.create(level, predicate, self.input_tensor, self.output_tensor)
    }
}

impl Support {
    fn create<'a>(
        &self,
        level: FeatureLevel,
        predicate: Predicate,
        input: BufferTensorDesc<'a>,
        output: BufferTensorDesc<'a>,
    ) -> Result<CompiledOperator<'a>, Error> {
        let operator = self.operator;
        if level < self.introduced {
            return Err(Error {
                operator,
                tensor: None,
                property: Property::FeatureLevel,
                index: None,
                value: level as u64,
                rule: Rule::Introduced(self.introduced),
            });
        }
        let (of_input, of_output) =
            (Place { operator, tensor: Tensor::Input }, Place { operator, tensor: Tensor::Output });
        input.check(of_input, level, self.input)?;
        output.check(of_output, level, self.output)?;
        output.check_output(of_output, &input)?;
        let Some(format) = input.data_type.format() else {
            let rule = Rule::DataTypes(self.input);
            return Err(of_input.error(Property::DataType, None, input.data_type as u64, rule));
        };
        Ok(CompiledOperator { operator, format, predicate, input, output })
    }
}

impl CompiledOperator<'_> {
    /// The name of the operator in `DML_OPERATOR_TYPE`.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.operator
    }

    /// The predicate for each element.
    #[must_use]
    pub fn predicate(&self) -> Predicate {
        self.predicate
    }

    /// Binds the input of an operator whose input has the flag [`BufferTensorDesc::OWNED_BY_DML`],
    /// as executing an operator initializer does. DirectML copies such an input. Here the result
    /// refers to it.
    ///
    /// # Errors
    /// [`Error`] of [`Property::Flags`] if the input does not have the flag: then
    /// [`CompiledOperator::dispatch`] binds the input. [`Error`] of [`Property::Offset`] or
    /// [`Property::SizeInBytes`] as [`CompiledOperator::dispatch`].
    pub fn initialize<'i>(
        &self,
        input: impl Into<BufferBinding<'i>>,
    ) -> Result<InitializedOperator<'_, 'i>, Error> {
        Ok(InitializedOperator { operator: self, input: self.bind(input.into(), true)? })
    }

    /// Runs the operator on these buffers: byte slices, bound as a whole, or ranges of them.
    /// Elements are in the byte order of the machine; the slices may start at any address.
    ///
    /// # Errors
    /// [`Error`] of [`Property::Flags`] if the input has the flag
    /// [`BufferTensorDesc::OWNED_BY_DML`]: then [`CompiledOperator::initialize`] binds the input.
    /// [`Error`] of [`Property::Offset`] or [`Property::SizeInBytes`] if a range is outside its
    /// buffer, smaller than `TotalTensorSizeInBytes`, or not aligned. Nothing is written then.
    pub fn dispatch<'i, 'o>(
        &self,
        input: impl Into<BufferBinding<'i>>,
        output: impl Into<BufferBindingMut<'o>>,
    ) -> Result<(), Error> {
        dispatch::dispatch(self, None, self.bind(input.into(), false)?, output.into())
    }

    /// Like [`CompiledOperator::dispatch`], on this backend.
    ///
    /// # Errors
    /// As [`CompiledOperator::dispatch`].
    pub fn dispatch_on<'i, 'o>(
        &self,
        backend: Backend,
        input: impl Into<BufferBinding<'i>>,
        output: impl Into<BufferBindingMut<'o>>,
    ) -> Result<(), Error> {
        dispatch::dispatch(self, Some(backend), self.bind(input.into(), false)?, output.into())
    }

    /// The bytes of the input, which is bound while the operator is initialized or dispatched.
    fn bind<'i>(&self, input: BufferBinding<'i>, initializing: bool) -> Result<&'i [u8], Error> {
        let place = Place { operator: self.operator, tensor: Tensor::Input };
        if self.input.owned() != initializing {
            let rule = if initializing { Rule::BoundByDispatch } else { Rule::BoundByInitializer };
            return Err(place.error(Property::Flags, None, self.input.flags.into(), rule));
        }
        input.tensor(place, &self.input)
    }
}

/// An operator whose input was bound by [`CompiledOperator::initialize`].
#[derive(Clone, Copy, Debug)]
pub struct InitializedOperator<'a, 'i> {
    operator: &'a CompiledOperator<'a>,
    input: &'i [u8],
}

impl InitializedOperator<'_, '_> {
    /// Runs the operator on the bound input and this output, as [`CompiledOperator::dispatch`].
    ///
    /// # Errors
    /// As [`CompiledOperator::dispatch`], of the output.
    pub fn dispatch<'o>(&self, output: impl Into<BufferBindingMut<'o>>) -> Result<(), Error> {
        dispatch::dispatch(self.operator, None, self.input, output.into())
    }

    /// Like [`InitializedOperator::dispatch`], on this backend.
    ///
    /// # Errors
    /// As [`InitializedOperator::dispatch`].
    pub fn dispatch_on<'o>(
        &self,
        backend: Backend,
        output: impl Into<BufferBindingMut<'o>>,
    ) -> Result<(), Error> {
        dispatch::dispatch(self.operator, Some(backend), self.input, output.into())
    }
}
