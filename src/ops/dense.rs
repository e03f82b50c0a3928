//! Packed tensors, and what all operators over them have in common.

use core::fmt;

use crate::{Backend, Elements, Format, MaskOut, Predicate, TensorView};

/// A packed row-major tensor in memory, of an element type `T` of some standard.
///
/// An empty shape is a scalar: one element. A dimension of size zero leaves no element. The bytes
/// may start at any address and are in the byte order of the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dense<'a, T> {
    /// What the elements are.
    pub element_type: T,
    /// The size of each dimension.
    pub shape: &'a [usize],
    /// The elements; as many bytes as they need, no more and no less.
    pub bytes: &'a [u8],
}

impl<'a, T> Dense<'a, T> {
    /// A tensor of typed elements, such as `Dense::new(DataType::Float, &[2, 2], &[0f32; 4][..])`.
    /// For bytes fill in the fields. The operator reads them as `element_type` says, and checks
    /// that they fill the shape.
    #[must_use]
    pub fn new(element_type: T, shape: &'a [usize], elements: impl Into<Elements<'a>>) -> Self {
        Self { element_type, shape, bytes: elements.into().as_bytes() }
    }
}

/// How the elements of a type lie in memory, and so what reads them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Storage {
    /// One after the other, [`Format::size_in_bytes`] each.
    Whole(Format),
    /// This many bits each, without gaps, the last byte padded; all codes are finite.
    PackedFinite {
        /// Bits of one element.
        bits: u32,
    },
    /// Not looked at: whatever the bytes are, all elements are finite.
    Finite,
}

/// What one version of a standard says about the name, the types and the shapes of an operator.
pub trait Signature {
    /// The element types that the standard can name, the refused ones too.
    type Type: Copy;
    /// Why the operator refuses.
    type Error: core::error::Error;
    /// The element type of the output.
    const RESULT: Self::Type;

    /// The name of the operator in the standard.
    fn name(&self) -> &'static str;

    /// How elements of this type lie in memory.
    ///
    /// # Errors
    /// As [`Signature::check_type`], and if the type stands for one not known yet.
    fn storage(&self, element_type: Self::Type) -> Result<Storage, Self::Error>;

    /// What the standard checks of the element type when a graph is built.
    ///
    /// # Errors
    /// The element type is not in the type list of this version of the operator.
    fn check_type(&self, element_type: Self::Type) -> Result<(), Self::Error> {
        self.storage(element_type).map(|_| ())
    }

    /// What the standard checks of a shape that is known.
    ///
    /// # Errors
    /// The standard does not allow the shape.
    fn check_shape(&self, _element_type: Self::Type, _shape: &[usize]) -> Result<(), Self::Error> {
        Ok(())
    }

    /// The error for memory that does not fit the shape.
    fn memory_error(&self, element_type: Self::Type, error: DenseError) -> Self::Error;
}

/// The element type of an operator.
pub type TypeOf<O> = <<O as Operator>::Signature as Signature>::Type;
/// Why an operator refuses.
pub type ErrorOf<O> = <<O as Operator>::Signature as Signature>::Error;

/// An operator over one packed tensor whose output has the shape of the input, one byte an element.
pub trait Operator {
    /// What the standard says about types and shapes.
    type Signature: Signature;

    /// What the standard says about types and shapes.
    fn signature(&self) -> Self::Signature;

    /// What is asked of each element.
    fn predicate(&self) -> Predicate;

    /// The name in the standard.
    fn name(&self) -> &'static str {
        self.signature().name()
    }

    /// Type and shape inference: element type and shape of the output, given those of the input.
    /// The shape is passed on, whatever stands for it: sizes, symbols, intervals, or a rank that is
    /// not known.
    ///
    /// # Errors
    /// The element type is not in the type list of this version of the operator.
    fn infer<S>(
        &self,
        element_type: TypeOf<Self>,
        shape: S,
    ) -> Result<(TypeOf<Self>, S), ErrorOf<Self>> {
        self.signature().check_type(element_type)?;
        Ok((Self::Signature::RESULT, shape))
    }

    /// Writes 1 for each element of `x` for which [`Operator::predicate`] holds, else 0. `out` is
    /// `&mut [bool]`, `&mut [u8]` or `&mut [MaybeUninit<bool>]`.
    ///
    /// # Errors
    /// The standard does not allow type or shape, the type is not known, or the bytes of `x` or the
    /// length of `out` do not fit the shape. Nothing is written then.
    fn run<'o>(
        &self,
        x: Dense<'_, TypeOf<Self>>,
        out: impl Into<MaskOut<'o>>,
    ) -> Result<(), ErrorOf<Self>> {
        run(self, None, x, out.into())
    }

    /// As [`Operator::run`], on a backend of one's choice.
    ///
    /// # Errors
    /// As [`Operator::run`].
    fn run_on<'o>(
        &self,
        backend: Backend,
        x: Dense<'_, TypeOf<Self>>,
        out: impl Into<MaskOut<'o>>,
    ) -> Result<(), ErrorOf<Self>> {
        run(self, Some(backend), x, out.into())
    }
}

fn run<O: Operator + ?Sized>(
    op: &O,
    backend: Option<Backend>,
    x: Dense<'_, TypeOf<O>>,
    out: MaskOut<'_>,
) -> Result<(), ErrorOf<O>> {
    let signature = op.signature();
    let storage = signature.storage(x.element_type)?;
    signature.check_shape(x.element_type, x.shape)?;
    answer(backend, storage, op.predicate(), x.shape, x.bytes, out)
        .map_err(|error| signature.memory_error(x.element_type, error))
}

fn answer(
    backend: Option<Backend>,
    storage: Storage,
    predicate: Predicate,
    shape: &[usize],
    bytes: &[u8],
    out: MaskOut<'_>,
) -> Result<(), DenseError> {
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
            let x = backend.map_or(x, |backend| x.on(backend));
            x.mask(predicate, out).expect("as many results as elements");
        }
        Storage::PackedFinite { .. } | Storage::Finite => out.fill(predicate == Predicate::Finite),
    }
    Ok(())
}

/// Elements of a shape, and bytes that they need.
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

/// How the memory of a packed tensor does not fit its shape. Nothing was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DenseError {
    /// With this dimension the tensor is larger than the address space.
    Overflow {
        /// Index into the shape.
        dimension: usize,
    },
    /// The input has another length than the shape and the element type ask for.
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
