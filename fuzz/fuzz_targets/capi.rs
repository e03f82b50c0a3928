//! The functions of the C interface over runs of elements with any arguments: the status that the
//! header promises, the right results, and nothing else written.
#![no_main]
#![allow(unsafe_code, reason = "C functions")]

use arbitrary::{Arbitrary, Result, Unstructured};
use libfuzzer_sys::fuzz_target;
use nonfinite_capi::*;
use nonfinite_fuzz::c::{
    self, Effect, Memory, Place, class, number, write, write_bits, write_mask,
};
use nonfinite_fuzz::{Kind, holds, kind_of};

#[derive(Debug)]
struct Call {
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

impl<'a> Arbitrary<'a> for Call {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self {
            function: u.int_in_range(0..=6)?,
            format: number(u, 1..16)? as FormatCode,
            predicate: number(u, 1..8)? as PredicateCode,
            data: u.arbitrary()?,
            count: number(u, 0..500)? as usize,
            out: u.arbitrary()?,
            bitmap_bytes: number(u, 60..90)? as usize,
            bit_offset: number(u, 0..40)? as usize,
            memory: u.arbitrary()?,
        })
    }
}

impl Call {
    /// The status by the header.
    fn promise(&mut self) -> std::result::Result<Effect, Status> {
        // A census has no predicate.
        let asked = if self.function == 6 { NF_IS_NEVER } else { self.predicate };
        let (format, predicate) = (c::format(self.format)?, c::predicate(asked)?);
        let size = format.size_in_bytes();
        let x = self.memory.span(self.data, self.count as u128, size)?;
        let out = match self.function {
            0 => self.memory.span(self.out, self.count as u128, 1)?,
            1 => self.memory.bitmap(
                self.out,
                self.bitmap_bytes,
                self.bit_offset,
                self.count as u128,
            )?,
            2 | 3 => self.memory.slot::<bool>(self.out)?,
            4 | 5 => self.memory.slot::<u64>(self.out)?,
            _ => self.memory.slot::<Census>(self.out)?,
        };
        if self.function < 2 {
            x.apart_from(&out)?;
        }
        let (Some(x), Some(at)) = (x.range(), out.range()) else { return Ok(None) };
        let memory = self.memory.bytes();
        let kinds: Vec<Kind> =
            memory[x].chunks_exact(size).map(|raw| kind_of(format, raw)).collect();
        let answers: Vec<bool> = kinds.iter().map(|&kind| holds(predicate, kind)).collect();
        let asked = class(answers.iter().copied());
        Ok(Some(match self.function {
            0 => write_mask(at, &answers),
            1 => write_bits(&memory, at.start, self.bit_offset % 8, &answers),
            2 => write(&at, &[(asked.count > 0).into()]),
            3 => write(&at, &[(asked.count == answers.len() as u64).into()]),
            4 => write(&at, &asked.count.to_ne_bytes()),
            5 => write(&at, &asked.first.to_ne_bytes()),
            _ => {
                let of = |kind| class(kinds.iter().map(|&other| other == kind));
                let classes = [of(Kind::Nan), of(Kind::PosInf), of(Kind::NegInf)];
                let words = classes.iter().flat_map(|class| [class.count, class.first]);
                write(&at, &words.flat_map(u64::to_ne_bytes).collect::<Vec<_>>())
            }
        }))
    }

    /// # Safety
    /// The call must be refused, or all of its pointers must lead into the memory.
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

fuzz_target!(|call: Call| {
    let mut call = call;
    let promise = call.promise();
    let mut memory = call.memory.bytes();
    let status = match promise {
        Ok(None) => return,
        Ok(Some(effect)) => {
            effect.into_iter().for_each(|(at, byte)| memory[at] = byte);
            NF_OK
        }
        Err(status) => status,
    };
    // SAFETY: refused, or all inside the memory.
    assert_eq!(unsafe { call.make() }, status, "{call:?}");
    assert!(call.memory.bytes() == memory, "{call:?}");
});
