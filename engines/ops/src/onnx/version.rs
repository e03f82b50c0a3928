//! A version of an operator, and its types.

use super::{DataType, Error};
use crate::operator::sealed::Sealed;
use crate::{Error as AnyError, Signature, StandardType, Storage};

/// One version of an operator: its first opset, and its type list T1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Version {
    pub(super) op: &'static str,
    pub(super) since: u32,
    pub(super) types: &'static [DataType],
}

pub(super) const FLOATS_9: &[DataType] = &[DataType::Float16, DataType::Float, DataType::Double];
pub(super) const FLOATS_10: &[DataType] = &[DataType::Float, DataType::Double];
pub(super) const FLOATS_13: &[DataType] =
    &[DataType::Float16, DataType::Float, DataType::Double, DataType::Bfloat16];
pub(super) const FLOATS_20: &[DataType] = &[
    DataType::Float16,
    DataType::Float,
    DataType::Double,
    DataType::Bfloat16,
    DataType::Float8E4M3Fn,
    DataType::Float8E4M3FnUz,
    DataType::Float8E5M2,
    DataType::Float8E5M2FnUz,
];

impl Version {
    /// The newest of `versions` in `opset`.
    pub(super) fn select(versions: &[Self], opset: u32) -> Result<Self, Error> {
        let oldest = &versions[0];
        let missing = Error::Opset { op: oldest.op, opset, first: oldest.since };
        versions.iter().rev().find(|version| version.since <= opset).copied().ok_or(missing)
    }

    /// The first opset with this version.
    #[must_use]
    pub fn since_version(&self) -> u32 {
        self.since
    }

    /// The types of T1, the input.
    #[must_use]
    pub fn types(&self) -> &'static [DataType] {
        self.types
    }
}

impl Sealed for Version {}

impl Signature for Version {
    fn name(&self) -> &'static str {
        self.op
    }

    fn version(&self) -> Option<u32> {
        Some(self.since)
    }

    fn output_type(&self) -> StandardType {
        DataType::Bool.into()
    }

    fn storage(&self, element_type: StandardType) -> Result<Storage, AnyError> {
        let Self { op, since: since_version, types: allowed } = *self;
        let StandardType::Onnx(data_type) = element_type else {
            return Err(AnyError::Standard { op, standard: "ONNX", element_type });
        };
        match data_type.format() {
            Some(format) if allowed.contains(&data_type) => Ok(Storage::Whole(format)),
            _ => Err(Error::Type { op, since_version, data_type, allowed }.into()),
        }
    }
}
