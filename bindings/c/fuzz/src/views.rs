//! The functions of the C interface over strided tensors of any shape, against a loop over
//! coordinates.
#![allow(unsafe_code, reason = "C functions")]

use arbitrary::{Arbitrary, Result, Unstructured};
use nonfinite_capi::*;
use nonfinite_fuzz::{Kind, holds, kind_of, number};
use nonfinite_oracle::Layout;

use super::{Call, Effect, Memory, Place, Span, format, predicate, results};

/// Only broadcast dimensions can name more elements than the memory holds. Such layouts are slow to
/// list.
const MOST: u128 = 1 << 13;

/// A call.
#[derive(Debug)]
pub struct View {
    function: u8,
    format: FormatCode,
    predicate: PredicateCode,
    data: Place,
    from: Layout,
    out: Place,
    to: Layout,
    /// Whether the strides of `from` and of `to` are given. Else both are row-major.
    strided: [bool; 2],
    bitmap_bytes: usize,
    bit_offset: usize,
    /// The validity bitmap, and the bit of the first element.
    validity: (Place, usize),
    coordinate: Place,
    memory: Memory,
}

/// Any layout of these sizes. If it is not to have strides of its own, row-major.
fn layout(u: &mut Unstructured<'_>, sizes: &[usize], strided: bool) -> Result<Layout> {
    let offset = number(u, -100..101)?;
    let mut layout = Layout::any(sizes, &mut |n| u.int_in_range(0..=n - 1).unwrap_or(0));
    if !strided {
        let inner = |i: usize| sizes[i + 1..].iter().fold(1, |n: usize, &s| n.wrapping_mul(s));
        layout.strides = (0..sizes.len()).map(|i| inner(i).cast_signed()).collect();
    } else if u.ratio(1, 8)? {
        layout.strides = sizes.iter().map(|_| number(u, -40..41)).collect::<Result<_>>()?;
    }
    Ok(Layout { offset: if u.arbitrary()? { offset } else { layout.offset }, ..layout })
}

impl<'a> Arbitrary<'a> for View {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let mut pick = |n: usize| u.int_in_range(0..=n - 1).unwrap_or(0);
        let mut sizes = Layout::any_sizes(5, 300, &mut pick);
        if let Some(size) = sizes.last_mut()
            && pick(8) == 7
        {
            *size = number(u, 1..12)?.cast_unsigned();
        }
        let strided = [!u.ratio(1, 4)?, !u.ratio(1, 4)?];
        Ok(Self {
            function: u.int_in_range(0..=6)?,
            format: number(u, 1..16)? as FormatCode,
            // No threshold: `fuzz_targets/views.rs` asks about these.
            predicate: number(u, 1..8)? as PredicateCode & u64::MAX >> 1,
            data: u.arbitrary()?,
            from: layout(u, &sizes, strided[0])?,
            out: u.arbitrary()?,
            to: layout(u, &sizes, strided[1])?,
            strided,
            bitmap_bytes: number(u, 60..90)?.cast_unsigned(),
            bit_offset: number(u, 0..40)?.cast_unsigned(),
            validity: match u.arbitrary()? {
                true => (u.arbitrary()?, number(u, 0..40)?.cast_unsigned()),
                false => (Place::Null, u.arbitrary()?),
            },
            coordinate: u.arbitrary()?,
            memory: u.arbitrary()?,
        })
    }
}

/// The bytes from the first element to the last, and the place of the first.
fn extent(
    memory: &mut Memory,
    place: Place,
    layout: &Layout,
    strided: bool,
    item: usize,
) -> std::result::Result<(Span, i128), Status> {
    if layout.is_empty() {
        return Ok((memory.span(Place::Null, 0, 1)?, 0));
    }
    let (first, last) = if strided {
        layout.reach()
    } else {
        let first = layout.offset as i128;
        (first, first.saturating_add(i128::try_from(layout.len() - 1).unwrap_or(i128::MAX)))
    };
    let fits = |value: i128| isize::try_from(value).map_err(|_| NF_ERR_LENGTH);
    fits(first)?;
    fits(last)?;
    fits(last - first + 1)?;
    let start = memory.pointer::<u8>(place);
    if start.is_null() {
        return Err(NF_ERR_NULL);
    }
    fits(first * item as i128)?;
    let address = start.addr() as i128 + first * item as i128;
    let address = usize::try_from(address).map_err(|_| NF_ERR_LENGTH)?;
    Ok((memory.span(Place::Address(address), (last - first + 1) as u128, item)?, first))
}

impl View {
    /// The bytes with the bits of elements. None without a bitmap.
    fn valid_bits(&mut self, len: u128) -> std::result::Result<Option<Span>, Status> {
        let (place, offset) = self.validity;
        if self.memory.pointer::<u8>(place).is_null() || len == 0 {
            return Ok(None);
        }
        let (first, bits) = (offset as u128 / 8, offset as u128 % 8 + len);
        if bits > usize::MAX as u128 {
            return Err(NF_ERR_LENGTH);
        }
        let all = self.memory.span(place, first + bits.div_ceil(8), 1)?;
        Ok(Some(Span { start: all.start + first, bytes: all.bytes - first, ..all }))
    }

    /// Where the coordinate goes: nowhere if the function has none.
    fn coordinate(&mut self) -> std::result::Result<Span, Status> {
        let len = self.from.sizes.len();
        let start = self.memory.pointer::<usize>(self.coordinate);
        if self.function != 5 || start.is_null() || len == 0 {
            return self.memory.span(Place::Null, 0, 1);
        }
        self.memory.slot::<usize>(self.coordinate)?;
        self.memory.span(self.coordinate, len as u128, size_of::<usize>())
    }
}

impl Call for View {
    fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    fn promise(&mut self) -> std::result::Result<(Effect, bool), Status> {
        let slot = match self.function {
            2 | 3 => Some(self.memory.slot::<bool>(self.out)?),
            4 | 5 => Some(self.memory.slot::<u64>(self.out)?),
            6 => Some(self.memory.slot::<Census>(self.out)?),
            _ => None,
        };
        let (format, size) = (format(self.format)?, format(self.format)?.size_in_bytes());
        let [strided, out_strided] = self.strided;
        let (x, first) = extent(&mut self.memory, self.data, &self.from, strided, size)?;
        let len = self.from.len();
        if len > usize::MAX as u128 {
            return Err(NF_ERR_LENGTH);
        }
        let validity = self.valid_bits(len)?;
        let coordinate = self.coordinate()?;
        // A census asks for no predicate.
        let predicate = predicate(if self.function < 6 { self.predicate } else { NF_IS_NEVER })?;
        let (out, first_out) = match self.function {
            0 => extent(&mut self.memory, self.out, &self.to, out_strided, 1)?,
            1 => (self.memory.bitmap(self.out, self.bitmap_bytes, self.bit_offset, len)?, 0),
            _ => (slot.expect("a function of one result"), 0),
        };
        if matches!(self.function, 0 | 1) {
            x.apart_from(&out)?;
            validity.iter().try_for_each(|bits| bits.apart_from(&out))?;
        }
        // An output outside of the memory may overlap the sizes and strides of the call.
        let Some(at) = out.range() else { return Ok((None, false)) };
        let Some(x) = x.range() else { return Ok((None, false)) };
        let Some(coordinate) = coordinate.range() else { return Ok((None, false)) };
        let bits = match validity.map(|bits| bits.range()) {
            Some(None) => return Ok((None, false)),
            Some(inside) => inside,
            None => None,
        };
        if len > MOST {
            return Ok((None, false));
        }
        let memory = self.memory.bytes();
        let element = |place: i128| &memory[x.start + (place - first) as usize * size..][..size];
        let is_valid = |i: usize| {
            let bit = self.validity.1 % 8 + i;
            bits.as_ref().is_none_or(|bits| memory[bits.start + bit / 8] >> (bit % 8) & 1 == 1)
        };
        let kind = |(i, place)| is_valid(i).then(|| kind_of(format, element(place)));
        let kinds: Vec<Option<Kind>> =
            self.from.places().into_iter().enumerate().map(kind).collect();
        let effect = match self.function {
            0 => {
                let places = self.to.places();
                let mut sorted = places.clone();
                sorted.sort_unstable();
                sorted.dedup();
                if sorted.len() < places.len() {
                    return Err(NF_ERR_OUTPUT_STRIDES);
                }
                let places = places.iter().map(|place| at.start + (place - first_out) as usize);
                let hits = kinds.iter().map(|kind| kind.is_some_and(|kind| holds(predicate, kind)));
                let hits = hits.map(u8::from);
                return Ok((Some(places.zip(hits).collect()), len > 0));
            }
            function => {
                let shift = self.bit_offset % 8;
                let mut effect = results(function, &memory, &at, shift, &kinds, predicate);
                let hit = |kind: &Option<Kind>| kind.is_some_and(|kind| holds(predicate, kind));
                if let Some(mut rest) = kinds.iter().position(hit)
                    && !coordinate.is_empty()
                {
                    let mut places = Vec::new();
                    for &size in self.from.sizes.iter().rev() {
                        places.insert(0, rest % size);
                        rest /= size;
                    }
                    effect.extend(coordinate.zip(places.into_iter().flat_map(usize::to_ne_bytes)));
                }
                effect
            }
        };
        Ok((Some(effect), false))
    }

    unsafe fn make(&mut self) -> Status {
        let pointer = |layout: &Layout, strided: bool| match strided {
            true => layout.strides.as_ptr(),
            false => std::ptr::null(),
        };
        let x = nonfinite_capi::View {
            data: self.memory.pointer::<std::ffi::c_void>(self.data).cast_const(),
            format: self.format,
            rank: self.from.sizes.len(),
            sizes: self.from.sizes.as_ptr(),
            strides: pointer(&self.from, self.strided[0]),
            offset: self.from.offset,
            validity: self.memory.pointer::<u8>(self.validity.0).cast_const(),
            validity_offset: self.validity.1,
        };
        let coordinate = self.memory.pointer::<usize>(self.coordinate);
        let strides = pointer(&self.to, self.strided[1]);
        let (out, predicate) = (self.memory.pointer::<u8>(self.out), self.predicate);
        // SAFETY: refused or inside the memory (the caller), which nothing else uses; shapes have
        // one number a dimension.
        unsafe {
            match self.function {
                0 => nf_view_mask(&x, predicate, out, self.to.offset, strides),
                1 => nf_view_bits(&x, predicate, out, self.bitmap_bytes, self.bit_offset),
                2 => nf_view_any(&x, predicate, out.cast()),
                3 => nf_view_all(&x, predicate, out.cast()),
                4 => nf_view_count(&x, predicate, out.cast()),
                5 => nf_view_first(&x, predicate, out.cast(), coordinate),
                _ => nf_view_census(&x, out.cast()),
            }
        }
    }
}
