//! The functions of the C interface over strided tensors of any shape: the status that the header
//! promises, the results of a loop over coordinates, and nothing else written.
#![no_main]
#![allow(unsafe_code, reason = "C functions")]

use arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use nonfinite_capi::*;
use nonfinite_fuzz::c::{
    self, Effect, Memory, Place, Span, class, number, write, write_bits, write_mask,
};
use nonfinite_fuzz::{Kind, holds, kind_of};

/// Only broadcast dimensions can name more elements than the memory holds. Such layouts are slow to
/// list.
const MOST: u128 = 1 << 13;

#[derive(Debug)]
struct Call {
    function: u8,
    format: FormatCode,
    predicate: PredicateCode,
    data: Place,
    offset: isize,
    sizes: Vec<usize>,
    strides: Option<Vec<isize>>,
    out: Place,
    out_offset: isize,
    out_strides: Option<Vec<isize>>,
    bitmap_bytes: usize,
    bit_offset: usize,
    index: u64,
    memory: Memory,
}

/// Half of the time strides of a dense tensor with permuted, reversed and padded dimensions,
/// otherwise any strides.
fn strides(u: &mut Unstructured<'_>, sizes: &[usize]) -> Result<Vec<isize>> {
    if u.arbitrary()? {
        return sizes.iter().map(|_| number(u, -40..41)).collect();
    }
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    for i in 1..order.len() {
        order.swap(i, u.int_in_range(0..=i)?);
    }
    let (mut strides, mut step) = (vec![0; sizes.len()], u.int_in_range(1..=3isize)?);
    for i in order {
        strides[i] = if u.arbitrary()? { step } else { step.wrapping_neg() };
        step = step.wrapping_mul(sizes[i] as isize).wrapping_add(u.int_in_range(0..=2)?);
    }
    Ok(strides)
}

impl<'a> Arbitrary<'a> for Call {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let rank = u.int_in_range(0..=5)?;
        let longest = [2, 300, 40, 12, 7, 5][rank];
        let sizes =
            (0..rank).map(|_| Ok(number(u, 1..longest)? as usize)).collect::<Result<Vec<_>>>()?;
        let optional = |u: &mut Unstructured<'a>| {
            Ok(if u.ratio(1, 4)? { None } else { Some(strides(u, &sizes)?) })
        };
        Ok(Self {
            function: u.int_in_range(0..=7)?,
            format: number(u, 1..16)? as FormatCode,
            predicate: number(u, 1..8)? as PredicateCode,
            data: u.arbitrary()?,
            offset: number(u, -100..101)?,
            strides: optional(u)?,
            out: u.arbitrary()?,
            out_offset: number(u, -100..101)?,
            out_strides: optional(u)?,
            sizes,
            bitmap_bytes: number(u, 60..90)? as usize,
            bit_offset: number(u, 0..40)? as usize,
            index: number(u, 0..50)? as u64,
            memory: u.arbitrary()?,
        })
    }
}

/// Row-major coordinates by their place under these strides.
fn places(sizes: &[usize], strides: Option<&[isize]>, offset: isize) -> Vec<i128> {
    let packed: Vec<isize> =
        (0..sizes.len()).map(|i| sizes[i + 1..].iter().product::<usize>() as isize).collect();
    let strides = strides.unwrap_or(&packed);
    sizes.iter().zip(strides).fold(vec![offset as i128], |outer, (&size, &stride)| {
        outer
            .iter()
            .flat_map(|at| (0..size as i128).map(move |i| at + i * stride as i128))
            .collect()
    })
}

/// The number of elements, as far as it can be told.
fn len(sizes: &[usize]) -> u128 {
    if sizes.contains(&0) {
        0
    } else {
        sizes.iter().fold(1, |len, &size| len.saturating_mul(size as u128))
    }
}

impl Call {
    /// The bytes from the first element to the last, and the number of the first.
    fn extent(
        &mut self,
        place: Place,
        strides: Option<&[isize]>,
        offset: isize,
        item: usize,
    ) -> std::result::Result<(Span, i128), Status> {
        let sizes = &self.sizes;
        if sizes.contains(&0) {
            return Ok((self.memory.span(Place::Null, 0, 1)?, 0));
        }
        let (mut first, mut last) = (offset as i128, offset as i128);
        match strides {
            Some(strides) => {
                for (&size, &stride) in sizes.iter().zip(strides) {
                    let reach = (size as i128 - 1).saturating_mul(stride as i128);
                    (first, last) =
                        (first.saturating_add(reach.min(0)), last.saturating_add(reach.max(0)));
                }
            }
            None => last = last.saturating_add(i128::try_from(len(sizes) - 1).unwrap_or(i128::MAX)),
        }
        let fits = |value: i128| isize::try_from(value).map_err(|_| NF_ERR_LENGTH);
        fits(first)?;
        fits(last)?;
        fits(last - first + 1)?;
        let start = self.memory.pointer::<u8>(place);
        if start.is_null() {
            return Err(NF_ERR_NULL);
        }
        fits(first * item as i128)?;
        let address = start.addr() as i128 + first * item as i128;
        let address = usize::try_from(address).map_err(|_| NF_ERR_LENGTH)?;
        Ok((self.memory.span(Place::Address(address), (last - first + 1) as u128, item)?, first))
    }

    /// The status by the header. Some output strides may be accepted or refused; then the status is
    /// left open.
    fn promise(&mut self) -> std::result::Result<(Effect, bool), Status> {
        let slot = match self.function {
            2 | 3 => Some(self.memory.slot::<bool>(self.out)?),
            4 | 5 => Some(self.memory.slot::<u64>(self.out)?),
            6 => Some(self.memory.slot::<Census>(self.out)?),
            _ => None,
        };
        let (format, size) = (c::format(self.format)?, c::format(self.format)?.size_in_bytes());
        let strides = self.strides.clone();
        let (x, first) = self.extent(self.data, strides.as_deref(), self.offset, size)?;
        let len = len(&self.sizes);
        if len > usize::MAX as u128 {
            return Err(NF_ERR_LENGTH);
        }
        // A census and a coordinate ask for no predicate.
        let predicate = c::predicate(if self.function < 6 { self.predicate } else { NF_IS_NEVER })?;
        let out_strides = self.out_strides.clone();
        let (out, first_out) = match self.function {
            0 => self.extent(self.out, out_strides.as_deref(), self.out_offset, 1)?,
            1 => (self.memory.bitmap(self.out, self.bitmap_bytes, self.bit_offset, len)?, 0),
            7 if u128::from(self.index) >= len => return Err(NF_ERR_INDEX),
            7 => (self.memory.span(self.out, self.sizes.len() as u128, 8)?, 0),
            _ => (slot.expect("a function of one result"), 0),
        };
        if self.function == 7 && !self.sizes.is_empty() {
            self.memory.slot::<usize>(self.out)?;
        }
        if matches!(self.function, 0 | 1 | 7) {
            x.apart_from(&out)?;
        }
        let (Some(x), Some(at)) = (x.range(), out.range()) else { return Ok((None, false)) };
        if len > MOST {
            return Ok((None, false));
        }
        let memory = self.memory.bytes();
        let kinds: Vec<Kind> = if len == 0 {
            Vec::new()
        } else {
            let element =
                |place: i128| &memory[x.start + (place - first) as usize * size..][..size];
            let named = places(&self.sizes, strides.as_deref(), self.offset);
            named.into_iter().map(|place| kind_of(format, element(place))).collect()
        };
        let answers: Vec<bool> = kinds.iter().map(|&kind| holds(predicate, kind)).collect();
        let asked = class(answers.iter().copied());
        let mut open = false;
        let effect = match self.function {
            0 if len == 0 => Vec::new(),
            0 => {
                let named = places(&self.sizes, out_strides.as_deref(), self.out_offset);
                let mut sorted = named.clone();
                sorted.sort_unstable();
                sorted.dedup();
                if sorted.len() < named.len() {
                    return Err(NF_ERR_OUTPUT_STRIDES);
                }
                open = true;
                write_mask(
                    named.iter().map(|place| at.start + (place - first_out) as usize),
                    &answers,
                )
            }
            1 => write_bits(&memory, at.start, self.bit_offset % 8, &answers),
            2 => write(&at, &[(asked.count > 0).into()]),
            3 => write(&at, &[(asked.count == answers.len() as u64).into()]),
            4 => write(&at, &asked.count.to_ne_bytes()),
            5 => write(&at, &asked.first.to_ne_bytes()),
            6 => {
                let of = |kind| class(kinds.iter().map(|&other| other == kind));
                let classes = [of(Kind::Nan), of(Kind::PosInf), of(Kind::NegInf)];
                let words = classes.iter().flat_map(|class| [class.count, class.first]);
                write(&at, &words.flat_map(u64::to_ne_bytes).collect::<Vec<_>>())
            }
            _ => {
                let mut rest = self.index as usize;
                let mut coordinate: Vec<usize> = Vec::new();
                for &size in self.sizes.iter().rev() {
                    coordinate.insert(0, rest % size);
                    rest /= size;
                }
                write(&at, &coordinate.into_iter().flat_map(usize::to_ne_bytes).collect::<Vec<_>>())
            }
        };
        Ok((Some(effect), open))
    }

    /// # Safety
    /// The call must be refused, or all of its pointers must lead into the memory.
    unsafe fn make(&mut self) -> Status {
        let pointer = |strides: &Option<Vec<isize>>| {
            strides.as_ref().map_or(std::ptr::null(), |s| s.as_ptr())
        };
        let x = View {
            data: self.memory.pointer::<std::ffi::c_void>(self.data).cast_const(),
            format: self.format,
            rank: self.sizes.len(),
            sizes: self.sizes.as_ptr(),
            strides: pointer(&self.strides),
            offset: self.offset,
        };
        let out = self.memory.pointer::<u8>(self.out);
        // SAFETY: refused or inside the memory (the caller), which nothing else uses; shapes have
        // one number a dimension.
        unsafe {
            match self.function {
                0 => nf_view_mask(
                    &x,
                    self.predicate,
                    out,
                    self.out_offset,
                    pointer(&self.out_strides),
                ),
                1 => nf_view_bits(&x, self.predicate, out, self.bitmap_bytes, self.bit_offset),
                2 => nf_view_any(&x, self.predicate, out.cast()),
                3 => nf_view_all(&x, self.predicate, out.cast()),
                4 => nf_view_count(&x, self.predicate, out.cast()),
                5 => nf_view_first(&x, self.predicate, out.cast()),
                6 => nf_view_census(&x, out.cast()),
                _ => nf_view_coordinate(&x, self.index, out.cast()),
            }
        }
    }
}

fuzz_target!(|call: Call| {
    let mut call = call;
    let promise = call.promise();
    let (old, mut new) = (call.memory.bytes(), call.memory.bytes());
    let (status, open) = match promise {
        Ok((None, _)) => return,
        Ok((Some(effect), open)) => {
            effect.into_iter().for_each(|(at, byte)| new[at] = byte);
            (NF_OK, open)
        }
        Err(status) => (status, false),
    };
    // SAFETY: refused, or all inside the memory.
    let got = unsafe { call.make() };
    if open && got == NF_ERR_OUTPUT_STRIDES {
        assert!(call.memory.bytes() == old, "{call:?}");
        return;
    }
    assert_eq!(got, status, "{call:?}");
    assert!(call.memory.bytes() == new, "{call:?}");
});
