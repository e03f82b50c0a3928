//! DML_BUFFER_TENSOR_DESC and its rules.

use super::{Error, FeatureLevel, Property, Rule, Tensor, TensorDataType};

/// `DML_BUFFER_TENSOR_DESC`: a tensor in a buffer. `DimensionCount` is the number of sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BufferTensorDesc<'a> {
    /// The type of the elements.
    pub data_type: TensorDataType,
    /// `DML_TENSOR_FLAGS`: 0, or for an input [`BufferTensorDesc::OWNED_BY_DML`].
    pub flags: u32,
    /// The size of each dimension, in elements; none may be zero.
    pub sizes: &'a [u32],
    /// The distance between adjacent coordinates of each dimension, in elements. `None` means
    /// packed in row-major order. 0 repeats the elements of an input.
    pub strides: Option<&'a [u32]>,
    /// The least size of a bound range, in bytes; see [`calc_buffer_tensor_size`].
    pub total_tensor_size_in_bytes: u64,
    /// The alignment of the offset of a bound range, or 0.
    pub guaranteed_base_offset_alignment: u32,
}

/// The bytes that a tensor of these sizes and strides needs, rounded up to whole DWORDs:
/// `DMLCalcBufferTensorSize` (learn.microsoft.com, "DirectML helper functions"), computed in 128
/// bits instead of 32, so that it does not wrap around.
///
/// `None` if the type is [`TensorDataType::Unknown`], if a size is zero, if there is not one stride
/// for each size, or if the bytes do not fit 64 bits.
///
/// ```
/// use nonfinite_ops::directml::{TensorDataType, calc_buffer_tensor_size};
/// assert_eq!(calc_buffer_tensor_size(TensorDataType::Float16, &[1, 1, 3, 5], None), Some(32));
/// assert_eq!(calc_buffer_tensor_size(TensorDataType::Float32, &[2, 3], Some(&[5, 1])), Some(32));
/// ```
#[must_use]
pub fn calc_buffer_tensor_size(
    data_type: TensorDataType,
    sizes: &[u32],
    strides: Option<&[u32]>,
) -> Option<u64> {
    let bits = u128::from(data_type.bits());
    if bits == 0 || sizes.contains(&0) {
        return None;
    }
    let bytes = extent(sizes, strides)?.checked_mul(bits)?.div_ceil(8);
    bytes.checked_next_multiple_of(4)?.try_into().ok()
}

/// The number of elements from the first to the last, for a tensor without an empty dimension.
fn extent(sizes: &[u32], strides: Option<&[u32]>) -> Option<u128> {
    match strides {
        None => sizes.iter().try_fold(1u128, |all, &size| all.checked_mul(u128::from(size))),
        Some(strides) if strides.len() != sizes.len() => None,
        Some(strides) => {
            let reach = |(&size, &stride): (&u32, &u32)| u128::from(size - 1) * u128::from(stride);
            Some(1 + sizes.iter().zip(strides).map(reach).sum::<u128>())
        }
    }
}

/// The most elements of a tensor, and the longest distance from the first to the last.
const MOST_ELEMENTS: u128 = u32::MAX as u128;
/// `DML_TENSOR_DIMENSION_COUNT_MAX1`.
pub(super) const MOST_DIMENSIONS: usize = 8;

/// The place of a description, for its errors.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) operator: &'static str,
    pub(super) tensor: Tensor,
}

impl Place {
    pub(super) fn error(
        self,
        property: Property,
        index: Option<usize>,
        value: u64,
        rule: Rule,
    ) -> Error {
        let Self { operator, tensor } = self;
        Error { operator, tensor: Some(tensor), property, index, value, rule }
    }
}

impl<'a> BufferTensorDesc<'a> {
    /// `DML_TENSOR_FLAG_OWNED_BY_DML`: the input is bound when the operator is initialized
    /// ([`CompiledOperator::initialize`]) and not when it is dispatched. Only an input may have
    /// this flag (learn.microsoft.com, "DML_TENSOR_FLAGS enumeration").
    ///
    /// [`CompiledOperator::initialize`]: super::CompiledOperator::initialize
    pub const OWNED_BY_DML: u32 = 1;

    /// A tensor without flags or alignment. Its size follows from sizes and strides. If it cannot
    /// be computed, it is 0, which every operator refuses.
    #[must_use]
    pub fn new(data_type: TensorDataType, sizes: &'a [u32], strides: Option<&'a [u32]>) -> Self {
        let bytes = calc_buffer_tensor_size(data_type, sizes, strides).unwrap_or(0);
        Self {
            data_type,
            flags: 0,
            sizes,
            strides,
            total_tensor_size_in_bytes: bytes,
            guaranteed_base_offset_alignment: 0,
        }
    }

    /// Bytes of an element, for types of whole bytes.
    pub(super) fn element_size(&self) -> u32 {
        self.data_type.bits() / 8
    }

    /// Whether the tensor has the flag [`BufferTensorDesc::OWNED_BY_DML`].
    pub(super) fn owned(&self) -> bool {
        self.flags & Self::OWNED_BY_DML != 0
    }

    /// The rules that hold for a tensor by itself.
    pub(super) fn check(
        &self,
        place: Place,
        level: FeatureLevel,
        data_types: &'static [TensorDataType],
    ) -> Result<(), Error> {
        if !data_types.contains(&self.data_type) {
            let rule = Rule::DataTypes(data_types);
            return Err(place.error(Property::DataType, None, self.data_type as u64, rule));
        }
        if self.flags & !Self::OWNED_BY_DML != 0 {
            return Err(place.error(Property::Flags, None, self.flags.into(), Rule::Flags));
        }
        if self.owned() && place.tensor != Tensor::Input {
            return Err(place.error(Property::Flags, None, self.flags.into(), Rule::InputsOnly));
        }
        let (least, most) =
            if level < FeatureLevel::Level3_0 { (4, 4) } else { (1, MOST_DIMENSIONS) };
        let dimensions = self.sizes.len();
        if !(least..=most).contains(&dimensions) {
            let rule = Rule::DimensionCounts(least, most);
            return Err(place.error(Property::DimensionCount, None, dimensions as u64, rule));
        }
        if let Some(strides) = self.strides
            && strides.len() != dimensions
        {
            let rule = Rule::StrideCount(dimensions);
            return Err(place.error(Property::Strides, None, strides.len() as u64, rule));
        }
        if let Some(index) = self.sizes.iter().position(|&size| size == 0) {
            return Err(place.error(Property::Sizes, Some(index), 0, Rule::ZeroSize));
        }
        self.check_elements(place)?;
        self.check_total_size(place)?;
        let (alignment, element) = (self.guaranteed_base_offset_alignment, self.element_size());
        if alignment != 0 && !(alignment.is_power_of_two() && alignment >= element) {
            let rule = Rule::Alignment { element };
            return Err(place.error(
                Property::GuaranteedBaseOffsetAlignment,
                None,
                alignment.into(),
                rule,
            ));
        }
        Ok(())
    }

    /// The limit applies to the number of elements and to the distance that strides reach.
    fn check_elements(&self, place: Place) -> Result<(), Error> {
        let mut elements = 1;
        for (index, &size) in self.sizes.iter().enumerate() {
            // No overflow, since the product before was within the limit.
            elements *= u128::from(size);
            if elements > MOST_ELEMENTS {
                return Err(place.error(
                    Property::Sizes,
                    Some(index),
                    size.into(),
                    Rule::TooManyElements,
                ));
            }
        }
        let mut extent = 1;
        for (index, (&size, &stride)) in
            self.sizes.iter().zip(self.strides.unwrap_or(&[])).enumerate()
        {
            extent += u128::from(size - 1) * u128::from(stride);
            if extent > MOST_ELEMENTS {
                return Err(place.error(
                    Property::Strides,
                    Some(index),
                    stride.into(),
                    Rule::TooManyElements,
                ));
            }
        }
        Ok(())
    }

    fn check_total_size(&self, place: Place) -> Result<(), Error> {
        let total = self.total_tensor_size_in_bytes;
        let refuse = |rule| Err(place.error(Property::TotalTensorSizeInBytes, None, total, rule));
        // The size is known, since type and sizes are valid.
        let implied =
            calc_buffer_tensor_size(self.data_type, self.sizes, self.strides).unwrap_or(u64::MAX);
        if total < implied {
            return refuse(Rule::ImpliedSize(implied));
        }
        if !total.is_multiple_of(4) {
            return refuse(Rule::WholeDwords);
        }
        let most = u64::from(u32::MAX) * u64::from(self.element_size());
        if total > most.next_multiple_of(4) {
            return refuse(Rule::TooManyElements);
        }
        Ok(())
    }

    /// The rules for an output together with its input. Both must be valid by themselves.
    pub(super) fn check_output(&self, place: Place, input: &Self) -> Result<(), Error> {
        let (ours, theirs) = (self.sizes, input.sizes);
        if ours.len() != theirs.len() {
            let rule = Rule::AsInput(theirs.len() as u64);
            return Err(place.error(Property::DimensionCount, None, ours.len() as u64, rule));
        }
        if let Some(index) = (0..ours.len()).find(|&i| ours[i] != theirs[i]) {
            let rule = Rule::AsInput(theirs[index].into());
            return Err(place.error(Property::Sizes, Some(index), ours[index].into(), rule));
        }
        let Some(strides) = self.strides else { return Ok(()) };
        let mut dimensions = [(0, 0, 0); MOST_DIMENSIONS];
        let mut rank = 0;
        for (index, (&size, &stride)) in ours.iter().zip(strides).enumerate() {
            if size > 1 {
                dimensions[rank] = (stride, index, size);
                rank += 1;
            }
        }
        dimensions[..rank].sort_unstable();
        let mut reach = 0;
        for &(stride, index, size) in &dimensions[..rank] {
            if u64::from(stride) <= reach {
                let rule = Rule::Overlap { needed: reach + 1 };
                return Err(place.error(Property::Strides, Some(index), stride.into(), rule));
            }
            reach += u64::from(size - 1) * u64::from(stride);
        }
        Ok(())
    }
}
