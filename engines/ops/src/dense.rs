//! Packed tensors.

use core::fmt;

use nonfinite::{Backend, Elements, Format, MaskOut, Predicate, TensorView};

use crate::StandardType;

/// A packed row-major tensor in memory, of an element type of some standard.
///
/// An empty shape is a scalar: one element. A dimension of size zero leaves no element. The bytes
/// may start at any address and are in the byte order of the machine.
#[derive(Clone, Copy, Debug)]
pub struct Dense<'a> {
    element_type: StandardType,
    shape: &'a [usize],
    bytes: &'a [u8],
    backend: Option<Backend>,
}

impl<'a> Dense<'a> {
    /// A tensor of typed elements, such as `Dense::new(DataType::Float, &[2, 2], &[0f32; 4][..])`.
    /// The operator reads them by `element_type`, and checks that they fill the shape.
    #[must_use]
    pub fn new(
        element_type: impl Into<StandardType>,
        shape: &'a [usize],
        elements: impl Into<Elements<'a>>,
    ) -> Self {
        Self::from_bytes(element_type, shape, elements.into().as_bytes())
    }

    /// A tensor of bytes. The operator checks that there are exactly the bytes of all elements.
    #[must_use]
    pub fn from_bytes(
        element_type: impl Into<StandardType>,
        shape: &'a [usize],
        bytes: &'a [u8],
    ) -> Self {
        Self { element_type: element_type.into(), shape, bytes, backend: None }
    }

    /// The same tensor, with this backend instead of the active one.
    #[must_use]
    pub fn with_backend(self, backend: Backend) -> Self {
        Self { backend: Some(backend), ..self }
    }

    /// The type of the elements.
    #[must_use]
    pub fn element_type(&self) -> StandardType {
        self.element_type
    }

    /// The size of each dimension.
    #[must_use]
    pub fn shape(&self) -> &'a [usize] {
        self.shape
    }

    /// The elements.
    #[must_use]
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }
}

/// How the elements of a type are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Storage {
    /// Adjacent elements of [`Format::size_in_bytes`] bytes each.
    Whole(Format),
    /// Adjacent elements of this many bits, with padding in the last byte. All codes are finite.
    PackedFinite {
        /// Bits of one element.
        bits: u32,
    },
    /// Elements that need no look, since all bytes mean finite numbers.
    Finite,
}

/// Writes the answer for each element of `x`, after type and shape were checked.
pub(crate) fn answer(
    x: &Dense<'_>,
    storage: Storage,
    predicate: Predicate,
    out: MaskOut<'_>,
) -> Result<(), DenseError> {
    let Dense { shape, bytes, backend, .. } = *x;
    let bits = match storage {
        Storage::Whole(format) => 8 * format.size_in_bytes() as u32,
        Storage::PackedFinite { bits } => bits,
        Storage::Finite => 0,
    };
    let (elements, needed) = volume(shape, bits)?;
    let wrong_input = DenseError::InputBytes { needed, found: bytes.len() };
    if storage != Storage::Finite && bytes.len() != needed {
        return Err(wrong_input);
    }
    if out.len() != elements {
        return Err(DenseError::OutputLength { elements, output: out.len() });
    }
    match storage {
        Storage::Whole(format) => {
            let x = TensorView::from_bytes(bytes, format).map_err(|_| wrong_input)?;
            let x = backend.map_or(x, |backend| x.with_backend(backend));
            // Input and output were checked to have the same number of elements.
            x.mask(predicate, out).map_err(|_| wrong_input)?;
        }
        Storage::PackedFinite { .. } | Storage::Finite => out.fill(predicate == Predicate::Finite),
    }
    Ok(())
}

/// The number of elements of a shape, and the bytes that they need.
fn volume(shape: &[usize], bits: u32) -> Result<(usize, usize), DenseError> {
    if shape.contains(&0) {
        return Ok((0, 0));
    }
    let (mut elements, mut bytes) = (1, bits.div_ceil(8) as usize);
    for (dimension, &size) in shape.iter().enumerate() {
        let overflow = DenseError::Overflow { dimension };
        elements = usize::checked_mul(elements, size).ok_or(overflow)?;
        // 128 bits hold the product of any 64-bit number and a number of bits.
        bytes =
            (elements as u128 * u128::from(bits)).div_ceil(8).try_into().map_err(|_| overflow)?;
    }
    Ok((elements, bytes))
}

/// Why the memory of a packed tensor does not fit its shape. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DenseError {
    /// With this dimension the tensor is larger than the address space.
    Overflow {
        /// Index into the shape.
        dimension: usize,
    },
    /// The length of the input does not fit the shape and the element type.
    InputBytes {
        /// The bytes that the elements need.
        needed: usize,
        /// The bytes that were given.
        found: usize,
    },
    /// The output does not have one byte for each element.
    OutputLength {
        /// Elements of the shape.
        elements: usize,
        /// Length of the output.
        output: usize,
    },
}

impl fmt::Display for DenseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Overflow { dimension } => {
                write!(f, "with dimension {dimension} the shape is larger than the address space")
            }
            Self::InputBytes { needed, found } => {
                write!(f, "the shape needs {needed} bytes of input, not {found}")
            }
            Self::OutputLength { elements, output } => {
                write!(f, "the shape has {elements} elements, but the output is for {output}")
            }
        }
    }
}

impl core::error::Error for DenseError {}
