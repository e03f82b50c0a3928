//! Errors, in the words of DirectML's debug layer.

use core::fmt;

use super::{FeatureLevel, TensorDataType};

/// Why an operator was not created, or not dispatched. Nothing was written. DirectML itself returns
/// `E_INVALIDARG` ([`Error::HRESULT`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Error {
    /// The operator, as in `DML_OPERATOR_TYPE`.
    pub operator: &'static str,
    /// The tensor at fault. `None` if the operator is at fault.
    pub tensor: Option<Tensor>,
    /// The property at fault.
    pub property: Property,
    /// The index, for sizes and strides.
    pub index: Option<usize>,
    /// The value of the property.
    pub value: u64,
    /// The rule that the value breaks.
    pub rule: Rule,
}

impl Error {
    /// `E_INVALIDARG`.
    pub const HRESULT: u32 = 0x8007_0057;
}

/// A tensor of an operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Tensor {
    /// `InputTensor`.
    Input,
    /// `OutputTensor`.
    Output,
}

/// A property of an operator, of a `DML_BUFFER_TENSOR_DESC`, or of a `DML_BUFFER_BINDING`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs, reason = "the names of the standard")]
#[non_exhaustive]
pub enum Property {
    FeatureLevel,
    DataType,
    Flags,
    DimensionCount,
    Sizes,
    Strides,
    TotalTensorSizeInBytes,
    GuaranteedBaseOffsetAlignment,
    /// The offset of a binding.
    Offset,
    /// The size of a binding.
    SizeInBytes,
}

/// A rule of DirectML.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// The operator came with this feature level.
    Introduced(FeatureLevel),
    /// The data type is one of these, which the operator accepts at this feature level.
    DataTypes(&'static [TensorDataType]),
    /// No flag except `DML_TENSOR_FLAG_OWNED_BY_DML` (1).
    Flags,
    /// Only an input has the flag `DML_TENSOR_FLAG_OWNED_BY_DML`.
    InputsOnly,
    /// An input with the flag `DML_TENSOR_FLAG_OWNED_BY_DML` is bound when the operator is
    /// initialized, not when it is dispatched.
    BoundByInitializer,
    /// An input without the flag `DML_TENSOR_FLAG_OWNED_BY_DML` is bound when the operator is
    /// dispatched, not when it is initialized.
    BoundByDispatch,
    /// The number of dimensions is in this range, which the operator accepts at this feature level.
    DimensionCounts(usize, usize),
    /// The number of strides equals the number of sizes, which is this.
    StrideCount(usize),
    /// No size is zero.
    ZeroSize,
    /// `DimensionCount` and `Sizes` of the output equal the input's. The input has this value.
    AsInput(u64),
    /// No tensor has more than 2^32 - 1 elements.
    TooManyElements,
    /// No two results share a place: a stride of the output is at least this.
    Overlap {
        /// The least stride that steps over all places of the dimensions with shorter strides.
        needed: u64,
    },
    /// `TotalTensorSizeInBytes` is at least this, by sizes and strides.
    ImpliedSize(u64),
    /// `TotalTensorSizeInBytes` is a multiple of 4.
    WholeDwords,
    /// `GuaranteedBaseOffsetAlignment` is 0 or a power of two, and at least the size of an element.
    Alignment {
        /// Bytes of an element.
        element: u32,
    },
    /// The offset of a binding is a multiple of this: the larger of `GuaranteedBaseOffsetAlignment`
    /// and 16.
    OffsetAlignment(u64),
    /// The bound range lies within the buffer, which has this many bytes.
    WithinBuffer(u64),
    /// The bound range has at least `TotalTensorSizeInBytes` bytes, which is this.
    RangeSize(u64),
}

impl fmt::Display for Tensor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Input => "InputTensor",
            Self::Output => "OutputTensor",
        })
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DML_OPERATOR_{}: ", self.operator)?;
        if let Some(tensor) = self.tensor {
            write!(f, "{tensor}.")?;
        }
        write!(f, "{:?}", self.property)?;
        if let Some(index) = self.index {
            write!(f, "[{index}]")?;
        }
        let name = |value: u64| {
            TensorDataType::ALL.get(value as usize).map_or("UNKNOWN", |known| known.name())
        };
        match self.property {
            Property::DataType => write!(f, " is {}", name(self.value))?,
            Property::FeatureLevel => write!(f, " is {:#x}", self.value)?,
            _ => write!(f, " is {}", self.value)?,
        }
        write!(f, ": {}", self.rule)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Introduced(level) => write!(f, "the operator came with {level}"),
            Self::DataTypes(allowed) => {
                f.write_str("must be")?;
                for (i, data_type) in allowed.iter().enumerate() {
                    write!(f, "{} {data_type}", if i == 0 { "" } else { " or" })?;
                }
                Ok(())
            }
            Self::Flags => f.write_str("only the flag OWNED_BY_DML (1) is known"),
            Self::InputsOnly => f.write_str("only an input may have the flag OWNED_BY_DML (1)"),
            Self::BoundByInitializer => {
                f.write_str("an input with OWNED_BY_DML (1) is bound by the initializer only")
            }
            Self::BoundByDispatch => {
                f.write_str("an input without OWNED_BY_DML (1) is bound by the dispatch only")
            }
            Self::DimensionCounts(least, most) if least == most => write!(f, "must be {least}"),
            Self::DimensionCounts(least, most) => write!(f, "must be from {least} to {most}"),
            Self::StrideCount(sizes) => {
                write!(f, "the number of strides must be that of sizes, {sizes}")
            }
            Self::ZeroSize => f.write_str("no size may be zero"),
            Self::AsInput(value) => write!(f, "must be that of InputTensor, {value}"),
            Self::TooManyElements => {
                f.write_str("no tensor may have more than 4294967295 elements")
            }
            Self::Overlap { needed } => {
                write!(f, "results would overlap: this stride must be at least {needed}")
            }
            Self::ImpliedSize(bytes) => {
                write!(f, "must be at least what sizes and strides imply, {bytes}")
            }
            Self::WholeDwords => f.write_str("must be a multiple of 4"),
            Self::Alignment { element } => {
                write!(f, "must be 0 or a power of two, at least the {element} bytes of an element")
            }
            Self::OffsetAlignment(alignment) => write!(f, "must be a multiple of {alignment}"),
            Self::WithinBuffer(bytes) => {
                write!(f, "the range must lie within the buffer of {bytes} bytes")
            }
            Self::RangeSize(bytes) => write!(f, "must be at least TotalTensorSizeInBytes, {bytes}"),
        }
    }
}

impl core::error::Error for Error {}

#[cfg(test)]
mod tests {
    extern crate std;

    use std::format;
    use std::string::ToString;

    use super::*;

    /// Each rule of DirectML, in the sentence of an error.
    #[test]
    fn of_directml() {
        use Rule::*;
        const TYPES: &[TensorDataType] = &[TensorDataType::Float32, TensorDataType::Float16];
        let rules = [
            (Flags, "only the flag OWNED_BY_DML (1) is known"),
            (InputsOnly, "only an input may have the flag OWNED_BY_DML (1)"),
            (BoundByInitializer, "an input with OWNED_BY_DML (1) is bound by the initializer only"),
            (BoundByDispatch, "an input without OWNED_BY_DML (1) is bound by the dispatch only"),
            (DataTypes(TYPES), "must be FLOAT32 or FLOAT16"),
            (DimensionCounts(4, 4), "must be 4"),
            (DimensionCounts(1, 8), "must be from 1 to 8"),
            (StrideCount(3), "the number of strides must be that of sizes, 3"),
            (ZeroSize, "no size may be zero"),
            (AsInput(5), "must be that of InputTensor, 5"),
            (TooManyElements, "no tensor may have more than 4294967295 elements"),
            (Overlap { needed: 6 }, "results would overlap: this stride must be at least 6"),
            (ImpliedSize(12), "must be at least what sizes and strides imply, 12"),
            (WholeDwords, "must be a multiple of 4"),
            (
                Alignment { element: 2 },
                "must be 0 or a power of two, at least the 2 bytes of an element",
            ),
            (OffsetAlignment(16), "must be a multiple of 16"),
            (WithinBuffer(64), "the range must lie within the buffer of 64 bytes"),
            (RangeSize(32), "must be at least TotalTensorSizeInBytes, 32"),
        ];
        let error = Error {
            operator: "ELEMENT_WISE_IS_NAN",
            tensor: Some(Tensor::Output),
            property: Property::Strides,
            index: Some(1),
            value: 3,
            rule: Flags,
        };
        for (rule, text) in rules {
            let text =
                format!("DML_OPERATOR_ELEMENT_WISE_IS_NAN: OutputTensor.Strides[1] is 3: {text}");
            assert_eq!(Error { rule, ..error }.to_string(), text);
        }
        let input = Error {
            tensor: Some(Tensor::Input),
            property: Property::DataType,
            index: None,
            value: 1,
            rule: Flags,
            ..error
        };
        assert!(
            input
                .to_string()
                .starts_with("DML_OPERATOR_ELEMENT_WISE_IS_NAN: InputTensor.DataType is FLOAT32: ")
        );
        let unknown = Error { value: 1 << 40, ..input }.to_string();
        assert!(unknown.contains("DataType is UNKNOWN"), "{unknown}");
        let level =
            Error { tensor: None, property: Property::FeatureLevel, value: 0x2000, ..input };
        let level = Error { rule: Introduced(FeatureLevel::ALL[0]), ..level }.to_string();
        assert!(level.contains(": FeatureLevel is 0x2000: the operator came with "), "{level}");
    }
}
