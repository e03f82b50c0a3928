//! The functions of the C interface over runs of elements with any arguments.
#![allow(unsafe_code, reason = "C functions")]

use arbitrary::{Arbitrary, Result, Unstructured};
use nonfinite_capi::*;
use nonfinite_fuzz::{holds, kind_of, number};

use super::{Call, Effect, Memory, Place, format, predicate, results};

/// A call.
#[derive(Debug)]
pub struct Run {
    function: u8,
    format: FormatCode,
    predicate: PredicateCode,
    data: Place,
    count: usize,
    out: Place,
    bitmap_bytes: usize,
    bit_offset: usize,
    memory: Memory,
}

impl<'a> Arbitrary<'a> for Run {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self {
            function: u.int_in_range(0..=6)?,
            format: number(u, 1..16)? as FormatCode,
            // No threshold: `fuzz_targets/views.rs` asks about these.
            predicate: number(u, 1..8)? as PredicateCode & u64::MAX >> 1,
            data: u.arbitrary()?,
            count: number(u, 0..500)? as usize,
            out: u.arbitrary()?,
            bitmap_bytes: number(u, 60..90)? as usize,
            bit_offset: number(u, 0..40)? as usize,
            memory: u.arbitrary()?,
        })
    }
}

impl Call for Run {
    fn memory(&mut self) -> &mut Memory {
        &mut self.memory
    }

    fn promise(&mut self) -> std::result::Result<(Effect, bool), Status> {
        // A census has no predicate.
        let asked = if self.function == 6 { NF_IS_NEVER } else { self.predicate };
        let (format, predicate) = (format(self.format)?, predicate(asked)?);
        let (size, len) = (format.size_in_bytes(), self.count as u128);
        let x = self.memory.span(self.data, len, size)?;
        let out = match self.function {
            0 => self.memory.span(self.out, len, 1)?,
            1 => self.memory.bitmap(self.out, self.bitmap_bytes, self.bit_offset, len)?,
            2 | 3 => self.memory.slot::<bool>(self.out)?,
            4 | 5 => self.memory.slot::<u64>(self.out)?,
            _ => self.memory.slot::<Census>(self.out)?,
        };
        if self.function < 2 {
            x.apart_from(&out)?;
        }
        let (Some(x), Some(at)) = (x.range(), out.range()) else { return Ok((None, false)) };
        let memory = self.memory.bytes();
        let kind = |raw| Some(kind_of(format, raw));
        let kinds: Vec<_> = memory[x].chunks_exact(size).map(kind).collect();
        let effect = match self.function {
            0 => {
                let hits = kinds.iter().flatten().map(|&kind| holds(predicate, kind).into());
                at.zip(hits).collect()
            }
            _ => results(self.function, &memory, &at, self.bit_offset % 8, &kinds, predicate),
        };
        Ok((Some(effect), false))
    }

    unsafe fn make(&mut self) -> Status {
        let (format, n, predicate) = (self.format, self.count, self.predicate);
        let x = self.memory.pointer::<std::ffi::c_void>(self.data).cast_const();
        let out = self.memory.pointer::<u8>(self.out);
        // SAFETY: refused or inside the memory (the caller), which nothing else uses.
        unsafe {
            match self.function {
                0 => nf_mask(x, format, n, predicate, out),
                1 => nf_bits(x, format, n, predicate, out, self.bitmap_bytes, self.bit_offset),
                2 => nf_any(x, format, n, predicate, out.cast()),
                3 => nf_all(x, format, n, predicate, out.cast()),
                4 => nf_count(x, format, n, predicate, out.cast()),
                5 => nf_first(x, format, n, predicate, out.cast()),
                _ => nf_take_census(x, format, n, out.cast()),
            }
        }
    }
}
