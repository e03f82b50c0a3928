//! The table of tensors that the kernels read.

use nonfinite::Format;

use crate::{Error, Kinds};

/// Some elements in device memory, one after another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tensor {
    /// The address in device memory, as the driver has it (`CUdeviceptr`): a multiple of the size
    /// of an element.
    pub address: u64,
    /// How many elements, at most 2^40.
    pub elements: u64,
    /// The format of the elements. Formats of 4 and 6 bits take a byte each and have neither NaN
    /// nor infinity: such tensors are not read.
    pub format: Format,
    /// The kinds that are bad in this tensor. Kinds that the format does not have make no
    /// difference.
    pub refused: Kinds,
}

impl Tensor {
    /// A tensor in which NaN and both infinities are bad.
    #[must_use]
    pub const fn new(address: u64, elements: u64, format: Format) -> Self {
        Self { address, elements, format, refused: Kinds::ALL }
    }
}

/// Bytes of a chunk: `NF_CHUNK` of the kernels.
const CHUNK: u64 = 1 << 16;
/// Bits of an index in a place: `NF_PLACE_BITS` of the kernels.
const PLACE_BITS: u32 = 40;
pub(crate) const MOST_ELEMENTS: u64 = 1 << PLACE_BITS;
pub(crate) const MOST_TENSORS: usize = 1 << (64 - PLACE_BITS);

/// `nf_tensor` of the kernels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub(crate) struct Descriptor {
    address: u64,
    elements: u64,
    chunk: u64,
    format: u32,
    refused: u32,
}

/// The number of a format in `NF_FORMATS` of the kernels, which have the order of the enum.
pub(crate) fn number(format: Format) -> u32 {
    const { assert!(Format::ALL.len() == 15, "NF_FORMATS of the kernels has a row for each") }
    format as u32
}

/// Checks how many tensors there are.
pub(crate) fn check_number(tensors: usize, most: usize) -> Result<(), Error> {
    if tensors > most { Err(Error::TooMany { tensors, most }) } else { Ok(()) }
}

/// Checks one tensor, and returns its bytes.
pub(crate) fn check(tensor: usize, own: &Tensor) -> Result<u64, Error> {
    let &Tensor { address, elements, format, .. } = own;
    let size = format.size_in_bytes() as u64;
    if address % size != 0 {
        return Err(Error::Misaligned { tensor, address, format });
    }
    if elements > MOST_ELEMENTS || address.checked_add(elements * size).is_none() {
        return Err(Error::TooLong { tensor, elements });
    }
    Ok(elements * size)
}

/// The descriptors of some tensors, and their chunks together.
///
/// # Errors
/// [`Error::TooMany`], and those of [`check`].
pub(crate) fn table(tensors: &[Tensor]) -> Result<(Vec<Descriptor>, u64), Error> {
    check_number(tensors.len(), MOST_TENSORS)?;
    let mut chunks = 0;
    let mut table = Vec::with_capacity(tensors.len());
    for (i, tensor) in tensors.iter().enumerate() {
        let bytes = check(i, tensor)?;
        let &Tensor { address, elements, format, refused } = tensor;
        let (format, refused) = (number(format), refused.bits());
        table.push(Descriptor { address, elements, chunk: chunks, format, refused });
        chunks += bytes.div_ceil(CHUNK);
    }
    Ok((table, chunks))
}

/// The number of a tensor and the index in it, from a place as the kernels write it.
pub(crate) const fn tensor_and_index(place: u64) -> (usize, u64) {
    ((place >> PLACE_BITS) as usize, place & (MOST_ELEMENTS - 1))
}

#[cfg(test)]
mod tests {
    use core::mem::{offset_of, size_of};

    use super::*;

    const KERNEL: &str = include_str!("../kernel/nonfinite.cu");

    /// The rows of `NF_FORMATS`, by size and name, are those of the enum.
    #[test]
    fn formats_of_the_kernels() {
        let from = KERNEL.find("NF_FORMATS[15] = {").unwrap();
        let rows = KERNEL[from..].lines().skip(1).take_while(|line| !line.starts_with("};"));
        let rows: Vec<_> = rows.collect();
        assert_eq!(rows.len(), Format::ALL.len());
        for (row, format) in rows.iter().zip(Format::ALL) {
            let (code, name) = row.split_once("//").unwrap();
            assert_eq!(name.trim().split(',').next(), Some(format.name()), "{row}");
            let size = code.trim().strip_prefix('{').unwrap().split(',').next().unwrap();
            assert_eq!(size.parse(), Ok(format.size_in_bytes()), "{row}");
            assert_eq!(rows[number(*format) as usize], *row);
        }
    }

    /// The structure, and constants that both sides have.
    #[test]
    fn layout() {
        assert_eq!(size_of::<Descriptor>(), 32);
        assert_eq!(offset_of!(Descriptor, elements), 8);
        assert_eq!(offset_of!(Descriptor, chunk), 16);
        assert_eq!(offset_of!(Descriptor, format), 24);
        assert_eq!(offset_of!(Descriptor, refused), 28);
        assert!(KERNEL.contains(&format!("#define NF_CHUNK {CHUNK}u\n")));
        assert!(KERNEL.contains(&format!("#define NF_PLACE_BITS {PLACE_BITS}\n")));
    }

    #[test]
    fn chunks() {
        let tensors = [
            Tensor::new(0x1000, 16384, Format::F32),
            Tensor::new(0x2002, 0, Format::F16),
            Tensor { refused: Kinds::NAN, ..Tensor::new(0x3008, 8193, Format::F64) },
            Tensor::new(0x4001, 1, Format::F8E5M2),
        ];
        let (table, chunks) = table(&tensors).unwrap();
        assert_eq!(chunks, 4);
        let first: Vec<_> = table.iter().map(|own| own.chunk).collect();
        assert_eq!(first, [0, 1, 1, 3]);
        let (address, elements, chunk, format, refused) = (0x3008, 8193, 1, 3, 1);
        assert_eq!(table[2], Descriptor { address, elements, chunk, format, refused });
    }

    #[test]
    fn refusals() {
        let fine = Tensor::new(0x1000, 4, Format::F32);
        let misaligned = Tensor::new(0x1002, 4, Format::F32);
        let error = table(&[fine, misaligned]).unwrap_err();
        let (tensor, address, format) = (1, 0x1002, Format::F32);
        assert_eq!(error, Error::Misaligned { tensor, address, format });
        let text = "tensor 1 is at 0x1002, which is not a multiple of 4, the size of its elements";
        assert_eq!(error.to_string(), text);

        let elements = MOST_ELEMENTS + 1;
        let long = Tensor::new(0x1000, elements, Format::F8E4M3Fn);
        assert_eq!(table(&[long]).unwrap_err(), Error::TooLong { tensor: 0, elements });
        let wraps = Tensor::new(u64::MAX - 7, 2, Format::F64);
        assert_eq!(table(&[wraps]).unwrap_err(), Error::TooLong { tensor: 0, elements: 2 });
        assert!(table(&[Tensor::new(0, MOST_ELEMENTS, Format::F64)]).is_ok());

        assert_eq!(check_number(3, 3), Ok(()));
        assert_eq!(check_number(4, 3), Err(Error::TooMany { tensors: 4, most: 3 }));
    }

    #[test]
    fn places() {
        assert_eq!(tensor_and_index(3 << 40 | 5), (3, 5));
        let last = (MOST_TENSORS - 1, MOST_ELEMENTS - 1);
        assert_eq!(tensor_and_index(u64::MAX), last);
    }
}
