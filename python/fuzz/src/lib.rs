//! Structures that describe memory: tensors of DLPack, buffers of PEP 3118, arrays of Arrow, with
//! any fields. What contradicts itself is refused, by rules in arithmetic that cannot overflow. All
//! else has the answers of a nested loop.
//!
//! Nobody can find out where memory ends. So elements are only asked about if they lie in the
//! memory of the input; all others have to be described without being read.

mod arrow;
mod buffer;
mod dlpack;

use std::ops::Range;
use std::ptr::without_provenance_mut;

use arbitrary::{Arbitrary, Result, Unstructured};
use nonfinite::{Census, Format};
use nonfinite_border::{Array, Kind};
use nonfinite_oracle::Kind as Element;

use nonfinite_fuzz::{kind_of, number};

/// A structure of one of the three standards.
#[derive(Arbitrary, Debug)]
pub enum Input {
    /// A tensor, alone and with its ownership.
    DlPack(dlpack::Input),
    /// A buffer.
    Buffer(buffer::Input),
    /// An array and its schema.
    Arrow(arrow::Input),
}

/// Has the structure read.
///
/// # Panics
/// If an answer is wrong.
pub fn check(input: &mut Input) {
    match input {
        Input::DlPack(input) => dlpack::check(input),
        Input::Buffer(input) => buffer::check(input),
        Input::Arrow(input) => arrow::check(input),
    }
}

/// The most elements for a nested loop.
const MOST: u128 = 4096;

/// Memory that ends with its allocation, so that AddressSanitizer sees a read behind the end.
#[derive(Debug)]
struct Memory(Box<[u8]>);

impl Memory {
    fn new(u: &mut Unstructured<'_>, likely: usize) -> Result<Self> {
        let len = if u.ratio(7, 8)? { likely } else { u.int_in_range(0..=64)? };
        let seed = u.bytes(u.len().min(64))?;
        let mut bytes: Vec<u8> = seed.iter().copied().cycle().take(len).collect();
        bytes.resize(len, 0xFF);
        Ok(Self(bytes.into()))
    }

    /// Whether all of these addresses are in it.
    fn holds(&self, span: &Range<i128>) -> bool {
        let start = self.0.as_ptr().addr() as i128;
        span.is_empty() || start <= span.start && span.end <= start + self.0.len() as i128
    }
}

/// A pointer of a structure.
#[derive(Clone, Copy, Debug)]
enum Place {
    Null,
    /// So many bytes behind the beginning of the memory.
    At(isize),
    Address(usize),
}

impl<'a> Arbitrary<'a> for Place {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(match u.int_in_range(0..=31)? {
            0 => Self::Null,
            1 => Self::Address(u.int_in_range(1..=600)?),
            2 => Self::Address(usize::MAX - u.int_in_range(0..=600)?),
            3 => Self::At(u.int_in_range(-64..=300)?),
            4..=15 => Self::At(u.int_in_range(0..=64)?),
            _ => Self::At(0),
        })
    }
}

impl Place {
    fn pointer(self, memory: &mut Memory) -> *mut u8 {
        match self {
            Self::Null => std::ptr::null_mut(),
            Self::At(i) => memory.0.as_mut_ptr().wrapping_offset(i),
            Self::Address(address) => without_provenance_mut(address),
        }
    }
}

/// Numbers at any address, or none. They end with their allocation.
#[derive(Debug)]
struct List {
    numbers: Option<Vec<i64>>,
    bytes: Box<[u8]>,
    pad: usize,
}

impl List {
    fn new(u: &mut Unstructured<'_>, numbers: Option<Vec<i64>>) -> Result<Self> {
        let pad = if u.ratio(3, 4)? { 0 } else { u.int_in_range(0..=15)? };
        let mut bytes = vec![0; pad];
        bytes.extend(numbers.iter().flatten().flat_map(|number| number.to_ne_bytes()));
        Ok(Self { numbers, bytes: bytes.into(), pad })
    }

    fn pointer<T>(&self) -> *const T {
        match &self.numbers {
            Some(_) => self.bytes[self.pad..].as_ptr().cast(),
            None => std::ptr::null(),
        }
    }
}

/// Sizes and strides as a structure has them.
#[derive(Debug)]
struct Layout {
    ndim: i32,
    sizes: List,
    strides: List,
}

impl Layout {
    /// Strides in units of `unit` bytes.
    fn new(u: &mut Unstructured<'_>, unit: i64) -> Result<Self> {
        let rank = match u.int_in_range(0..=15)? {
            0 => u.int_in_range(5..=70)?,
            _ => u.int_in_range(0..=4)?,
        };
        let sizes = (0..rank).map(|_| Ok(number(u, 0..6)? as i64)).collect::<Result<Vec<_>>>()?;
        let strides = match u.int_in_range(0..=3)? {
            0 => None,
            // Row-major, which has a way of its own.
            1 => Some(row_major(&sizes).iter().map(|&n| (n as i64).wrapping_mul(unit)).collect()),
            _ => {
                let mut stride = || Ok((number(u, -3..12)? as i64).wrapping_mul(unit));
                let mut strides = (0..rank).map(|_| stride()).collect::<Result<Vec<_>>>()?;
                if unit > 1 && u.ratio(1, 4)? {
                    strides.iter_mut().for_each(|stride| *stride = stride.wrapping_add(1));
                }
                Some(strides)
            }
        };
        let ndim = match u.int_in_range(0..=31)? {
            0 => -u.int_in_range(1..=i32::MAX)?,
            // More than any array may have: no number is read.
            1 => u.int_in_range(65..=i32::MAX)?,
            2 => u.int_in_range(0..=rank)?,
            _ => rank,
        };
        let sizes = if u.ratio(31, 32)? { Some(sizes) } else { None };
        Ok(Self { ndim, sizes: List::new(u, sizes)?, strides: List::new(u, strides)? })
    }

    /// The sizes and strides, if these are at most 64, none of the sizes is negative, and none is
    /// missing. Strides in units, those of row-major order if there are none.
    fn numbers(&self, unit: i128) -> Option<(Vec<i128>, Vec<i128>)> {
        let rank = usize::try_from(self.ndim).ok().filter(|&rank| rank <= 64)?;
        if rank == 0 {
            return Some((vec![], vec![]));
        }
        let sizes = &self.sizes.numbers.as_ref()?[..rank];
        let strides = match &self.strides.numbers {
            Some(strides) => strides[..rank].iter().map(|&stride| stride.into()).collect(),
            None => row_major(sizes).iter().map(|stride| stride.saturating_mul(unit)).collect(),
        };
        let sizes: Vec<i128> = sizes.iter().map(|&size| size.into()).collect();
        sizes.iter().all(|&size| size >= 0).then_some((sizes, strides))
    }
}

/// The strides of row-major order, in elements.
fn row_major(sizes: &[i64]) -> Vec<i128> {
    let mut strides = vec![1i128; sizes.len()];
    for i in (1..sizes.len()).rev() {
        strides[i - 1] = strides[i].saturating_mul(sizes[i].into());
    }
    strides
}

/// Elements in memory, in numbers that do not overflow.
#[derive(Debug)]
struct Elements {
    sizes: Vec<i128>,
    /// In bytes.
    strides: Vec<i128>,
    /// The address of the element at coordinate 0.
    data: i128,
    item: i128,
}

impl Elements {
    /// Their addresses, if there can be such memory.
    fn span(&self) -> Option<Range<i128>> {
        if self.sizes.contains(&0) {
            return Some(self.data..self.data);
        }
        let (mut low, mut high) = (self.data, self.data + self.item);
        for (size, stride) in self.sizes.iter().zip(&self.strides) {
            let reach = (size - 1).saturating_mul(*stride);
            let side = if reach < 0 { &mut low } else { &mut high };
            *side = side.saturating_add(reach);
        }
        let fits = self.data > 0 && low >= 0 && high <= usize::MAX as i128;
        (fits && high - low <= isize::MAX as i128).then_some(low..high)
    }

    fn count(&self) -> u128 {
        if self.sizes.contains(&0) {
            return 0;
        }
        self.sizes.iter().fold(1, |all: u128, &size| all.saturating_mul(size as u128))
    }

    /// The census of elements in this memory, by a nested loop.
    fn census(
        &self,
        memory: &Memory,
        format: Format,
        swapped: bool,
        is_valid: impl Fn(usize) -> bool,
    ) -> Census {
        let (mut census, mut at) = (Census::default(), vec![0; self.sizes.len()]);
        for index in 0..self.count() as usize {
            let places = at.iter().zip(&self.strides).map(|(i, stride)| i * stride).sum::<i128>();
            let start = (self.data + places - memory.0.as_ptr().addr() as i128) as usize;
            let mut bytes = memory.0[start..][..self.item as usize].to_vec();
            if swapped {
                bytes.reverse();
            }
            let found = match kind_of(format, &bytes) {
                _ if !is_valid(index) => None,
                Element::Finite => None,
                Element::Nan => Some(&mut census.nan),
                Element::PosInf => Some(&mut census.pos_inf),
                Element::NegInf => Some(&mut census.neg_inf),
            };
            if let Some(found) = found {
                found.count += 1;
                found.first.get_or_insert(index);
            }
            for (i, size) in at.iter_mut().zip(&self.sizes).rev() {
                *i += 1;
                if *i < *size {
                    break;
                }
                *i = 0;
            }
        }
        census
    }
}

/// Asks an array about its elements, if these lie in the memory, and writes to them.
fn ask<O>(
    mut array: Array<O>,
    kind: Kind,
    swapped: bool,
    elements: &Elements,
    memory: &Memory,
    is_valid: impl Fn(usize) -> bool,
) {
    assert_eq!((array.kind, array.swapped), (kind, swapped));
    assert!(array.shape().sizes().iter().map(|&n| n as i128).eq(elements.sizes.iter().copied()));
    if !elements.span().is_some_and(|span| memory.holds(&span)) || elements.count() > MOST {
        return;
    }
    if let Kind::Float(format) = kind {
        let expected = elements.census(memory, format, swapped, is_valid);
        if array.is_writable() {
            // The bytes may be written to. They get the values that they have.
            let bytes = array.bytes().to_vec();
            array.bytes_mut().expect("writable").copy_from_slice(&bytes);
            let part = array.block_mut().map(|bytes| bytes.len());
            assert!(
                part.is_none_or(|part| part as u128 == elements.count() * elements.item as u128)
            );
            let part = array.row_major_bytes_mut().map(|bytes| bytes.len());
            assert!(part.is_none_or(|part| part == bytes.len()));
        }
        let array = array.readable().expect("few elements");
        let view = array.view().expect("elements in memory");
        assert_eq!(view.census(), expected);
        return;
    }
    assert!(array.view().is_ok_and(|view| view.census().is_finite()));
    if kind == Kind::Bool && array.is_writable() && !array.needs_copy() {
        drop(array.mask_view());
    }
}
