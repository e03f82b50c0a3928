//! DirectML: `ELEMENT_WISE_IS_NAN` (feature level 2.0) and `ELEMENT_WISE_IS_INFINITY` (2.1), as
//! directml.h and the pages of learn.microsoft.com on `DML_ELEMENT_WISE_IS_NAN_OPERATOR_DESC` and
//! `DML_ELEMENT_WISE_IS_INFINITY_OPERATOR_DESC` describe them. The operators run on a CPU, over
//! byte slices. DirectML has no operator for finiteness.
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
//! let (sizes, strides) = ([1, 1, 2, 3], [8, 8, 4, 1]);
//! let desc = ElementWiseIsInfinityDesc {
//!     input_tensor: TensorDesc::new(TensorDataType::Float32, &sizes, Some(&strides)),
//!     output_tensor: TensorDesc::new(TensorDataType::Uint8, &sizes, None),
//!     infinity_mode: IsInfinityMode::Negative,
//! };
//! let operator = desc.create(FeatureLevel::LEVEL_2_1)?;
//!
//! let x = [0.0, f32::NEG_INFINITY, f32::INFINITY, 7.0, f32::NAN, 1.0, f32::NEG_INFINITY, 7.0];
//! let input: Vec<u8> = x.iter().flat_map(|x| x.to_ne_bytes()).collect();
//! let mut output = [9; 8];
//! operator.dispatch(&input, &mut output)?;
//! assert_eq!(output, [0, 1, 0, 0, 0, 1, 9, 9]);
//! # Ok::<(), Error>(())
//! ```

mod error;
mod types;

pub use error::{Error, Rule, Tensor};
pub use types::{FeatureLevel, IsInfinityMode, TensorDataType};

use nonfinite::{Backend, Elements, Format, MaskView, Predicate, TensorView};

/// `DML_TENSOR_DIMENSION_COUNT_MAX1`.
const MOST_DIMENSIONS: usize = 8;

/// A tensor in a buffer: the fields of `DML_BUFFER_TENSOR_DESC` that say where its elements lie.
/// `DimensionCount` is the number of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TensorDesc<'a> {
    /// The type of the elements.
    pub data_type: TensorDataType,
    /// The size of each dimension, in elements; none may be zero.
    pub sizes: &'a [u32],
    /// The distance between adjacent coordinates of each dimension, in elements. `None` means
    /// packed in row-major order. 0 repeats the elements of an input.
    pub strides: Option<&'a [u32]>,
}

impl<'a> TensorDesc<'a> {
    /// A tensor of this type, these sizes and strides.
    #[must_use]
    pub fn new(data_type: TensorDataType, sizes: &'a [u32], strides: Option<&'a [u32]>) -> Self {
        Self { data_type, sizes, strides }
    }

    /// The rules that hold for a tensor by itself.
    fn check(&self, level: FeatureLevel, allowed: &'static [TensorDataType]) -> Result<(), Rule> {
        let Self { data_type, sizes, strides } = *self;
        if !allowed.contains(&data_type) {
            return Err(Rule::DataType { found: data_type, allowed });
        }
        let all = level >= FeatureLevel::LEVEL_3_0;
        let (least, most) = if all { (1, MOST_DIMENSIONS) } else { (4, 4) };
        if !(least..=most).contains(&sizes.len()) {
            return Err(Rule::DimensionCount { found: sizes.len(), least, most });
        }
        match strides {
            Some(strides) if strides.len() != sizes.len() => {
                return Err(Rule::StrideCount { found: strides.len(), sizes: sizes.len() });
            }
            _ => {}
        }
        match sizes.iter().position(|&size| size == 0) {
            Some(index) => Err(Rule::ZeroSize { index }),
            None => Ok(()),
        }
    }

    /// Sizes, and strides in units of `1 / scale` elements, of a checked tensor.
    fn places(&self, scale: isize) -> ([usize; MOST_DIMENSIONS], [isize; MOST_DIMENSIONS]) {
        let (mut sizes, mut strides) = ([1; MOST_DIMENSIONS], [0; MOST_DIMENSIONS]);
        let mut packed = 1isize;
        for (i, &size) in self.sizes.iter().enumerate().rev() {
            sizes[i] = size as usize;
            // A number that does not fit an isize leads out of every buffer, and so does the
            // largest isize.
            let stride = |strides: &[u32]| strides[i].try_into().unwrap_or(isize::MAX);
            strides[i] = self.strides.map_or(packed, stride).saturating_mul(scale);
            packed = packed.saturating_mul(size.try_into().unwrap_or(isize::MAX));
        }
        (sizes, strides)
    }
}

/// `DML_ELEMENT_WISE_IS_NAN_OPERATOR_DESC`: 1 for each element that is NaN, else 0.
///
/// Feature level 2.0 and 2.1: 4 dimensions; from 3.0 on: 1 to 8. Input FLOAT32 or FLOAT16, output
/// UINT32 or UINT8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementWiseIsNanDesc<'a> {
    /// `InputTensor`.
    pub input_tensor: TensorDesc<'a>,
    /// `OutputTensor`, with the sizes of the input.
    pub output_tensor: TensorDesc<'a>,
}

/// `DML_ELEMENT_WISE_IS_INFINITY_OPERATOR_DESC`: 1 for each infinity with a sign of the mode,
/// otherwise 0.
///
/// Feature level 2.1: 4 dimensions; from 3.0 on: 1 to 8. Input FLOAT32 or FLOAT16, output UINT8.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct ElementWiseIsInfinityDesc<'a> {
    /// `InputTensor`.
    pub input_tensor: TensorDesc<'a>,
    /// `OutputTensor`, with the sizes of the input.
    pub output_tensor: TensorDesc<'a>,
    /// `InfinityMode`.
    pub infinity_mode: IsInfinityMode,
}

/// The limits of one operator, by the documentation.
struct Support {
    operator: &'static str,
    first: FeatureLevel,
    output: &'static [TensorDataType],
}

const INPUT: &[TensorDataType] = &[TensorDataType::Float32, TensorDataType::Float16];
const IS_NAN: Support = Support {
    operator: "ELEMENT_WISE_IS_NAN",
    first: FeatureLevel::LEVEL_2_0,
    output: &[TensorDataType::Uint32, TensorDataType::Uint8],
};
const IS_INFINITY: Support = Support {
    operator: "ELEMENT_WISE_IS_INFINITY",
    first: FeatureLevel::LEVEL_2_1,
    output: &[TensorDataType::Uint8],
};

/// An operator whose description was checked.
#[derive(Clone, Copy, Debug)]
pub struct CompiledOperator<'a> {
    operator: &'static str,
    format: Format,
    predicate: Predicate,
    input: TensorDesc<'a>,
    output: TensorDesc<'a>,
    backend: Option<Backend>,
}

impl<'a> ElementWiseIsNanDesc<'a> {
    /// Checks the description, as `IDMLDevice::CreateOperator` does.
    ///
    /// # Errors
    /// [`Error`] names tensor and rule: the first that is broken, of the input first.
    pub fn create(&self, level: FeatureLevel) -> Result<CompiledOperator<'a>, Error> {
        IS_NAN.create(level, Predicate::Nan, self.input_tensor, self.output_tensor)
    }
}

impl<'a> ElementWiseIsInfinityDesc<'a> {
    /// Checks the description, as `IDMLDevice::CreateOperator` does.
    ///
    /// # Errors
    /// [`Error`] names tensor and rule: the first that is broken, of the input first.
    pub fn create(&self, level: FeatureLevel) -> Result<CompiledOperator<'a>, Error> {
        let negative = self.infinity_mode != IsInfinityMode::Positive;
        let positive = self.infinity_mode != IsInfinityMode::Negative;
        let predicate = Predicate::inf(negative, positive);
        IS_INFINITY.create(level, predicate, self.input_tensor, self.output_tensor)
    }
}

impl Support {
    fn create<'a>(
        &self,
        level: FeatureLevel,
        predicate: Predicate,
        input: TensorDesc<'a>,
        output: TensorDesc<'a>,
    ) -> Result<CompiledOperator<'a>, Error> {
        let Self { operator, first, .. } = *self;
        let refuse = |tensor| move |rule| Error { operator, tensor, rule };
        if level < first {
            return Err(refuse(None)(Rule::Introduced { level, first }));
        }
        let of_input = refuse(Some(Tensor::Input));
        let of_output = refuse(Some(Tensor::Output));
        input.check(level, INPUT).map_err(of_input)?;
        output.check(level, self.output).map_err(of_output)?;
        if input.sizes != output.sizes {
            return Err(of_output(Rule::Sizes));
        }
        let other = Rule::DataType { found: input.data_type, allowed: INPUT };
        let format = input.data_type.format().ok_or(of_input(other))?;
        Ok(CompiledOperator { operator, format, predicate, input, output, backend: None })
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

    /// The same operator, with this backend instead of the active one.
    #[must_use]
    pub fn with_backend(self, backend: Backend) -> Self {
        Self { backend: Some(backend), ..self }
    }

    /// Runs the operator on these buffers, which begin with element 0 of their tensor. Elements are
    /// in the byte order of the machine; the slices may start at any address.
    ///
    /// # Errors
    /// [`Rule::Layout`] if an element or a result would lie outside its buffer, if the length of
    /// the input is not whole elements, or if two results may share a place. Nothing is written
    /// then.
    pub fn dispatch(&self, input: &[u8], output: &mut [u8]) -> Result<(), Error> {
        let Self { operator, predicate, .. } = *self;
        let refuse = |tensor| {
            move |error| Error { operator, tensor: Some(tensor), rule: Rule::Layout(error) }
        };
        let rank = self.input.sizes.len();
        let (sizes, strides) = self.input.places(1);
        let x = Elements::from_bytes(input, self.format)
            .and_then(|x| TensorView::strided(x, 0, &sizes[..rank], &strides[..rank]))
            .map_err(refuse(Tensor::Input))?;
        let x = self.backend.map_or(x, |backend| x.with_backend(backend));

        // A UINT32 is the byte of the answer, and three bytes of zeros.
        let bytes = if self.output.data_type == TensorDataType::Uint32 { 4 } else { 1 };
        let answer = if cfg!(target_endian = "big") { bytes - 1 } else { 0 };
        let (sizes, strides) = self.output.places(bytes as isize);
        // The last byte first: if it lies in the buffer, so do the others.
        for byte in (0..bytes).rev() {
            let predicate = if byte == answer { predicate } else { Predicate::Never };
            MaskView::strided(&mut *output, byte, &sizes[..rank], &strides[..rank])
                .map_err(nonfinite::Error::from)
                .and_then(|out| x.mask_into(predicate, out))
                .map_err(refuse(Tensor::Output))?;
        }
        Ok(())
    }
}
