//! Tensors of DLPack, alone and with their ownership.
#![expect(unsafe_code, reason = "structures of C")]

use std::cell::Cell;
use std::ffi::c_void;
use std::hint::black_box;
use std::mem::offset_of;
use std::ptr::NonNull;

use arbitrary::{Arbitrary, Result, Unstructured};
use nonfinite::Format;
use nonfinite_border::Kind;
use nonfinite_border::dlpack::Tensor;
use nonfinite_border::managed::{Managed, Unversioned, Version, Versioned};

use super::{Elements, Layout, Memory, Place, ask};

/// `DLDataTypeCode`, bits, and what they are.
const TYPES: [(u8, u8, Kind); 18] = [
    (2, 32, Kind::Float(Format::F32)),
    (2, 16, Kind::Float(Format::F16)),
    (2, 64, Kind::Float(Format::F64)),
    (4, 16, Kind::Float(Format::Bf16)),
    (7, 8, Kind::Float(Format::F8E3M4)),
    (8, 8, Kind::Float(Format::F8E4M3)),
    (9, 8, Kind::Float(Format::F8E4M3B11FnUz)),
    (10, 8, Kind::Float(Format::F8E4M3Fn)),
    (11, 8, Kind::Float(Format::F8E4M3FnUz)),
    (12, 8, Kind::Float(Format::F8E5M2)),
    (13, 8, Kind::Float(Format::F8E5M2FnUz)),
    (14, 8, Kind::Float(Format::F8E8M0Fnu)),
    (15, 8, Kind::Float(Format::F6E2M3Fn)),
    (16, 8, Kind::Float(Format::F6E3M2Fn)),
    (17, 8, Kind::Float(Format::F4E2M1Fn)),
    (6, 8, Kind::Bool),
    (0, 64, Kind::Integer),
    (1, 16, Kind::Integer),
];

/// The fields of a tensor and of its owner.
#[derive(Debug)]
pub struct Input {
    memory: Memory,
    data: Place,
    byte_offset: u64,
    device: i32,
    code: u8,
    bits: u8,
    lanes: u16,
    layout: Layout,
    /// Without: the structure of DLPack before 1.0.
    version: Option<u32>,
    flags: u64,
    deleter: bool,
    /// Bytes before the structure, which may be at any address.
    pad: usize,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let device = if u.ratio(15, 16)? { 1 } else { u.int_in_range(-1..=20)? };
        let (mut code, mut bits, _) = *u.choose(&TYPES)?;
        if u.ratio(1, 16)? {
            (code, bits) = u.arbitrary()?;
        }
        let lanes = if u.ratio(31, 32)? { 1 } else { u.arbitrary()? };
        let byte_offset = match u.int_in_range(0..=15)? {
            0 => u.arbitrary()?,
            1..=3 => u.int_in_range(0..=40)?,
            _ => 0,
        };
        let version = match u.int_in_range(0..=7)? {
            0 => Some(u.arbitrary()?),
            1 => None,
            _ => Some(1),
        };
        Ok(Self {
            data: u.arbitrary()?,
            byte_offset,
            device,
            code,
            bits,
            lanes,
            layout: Layout::new(u, 1)?,
            version,
            flags: u.int_in_range(0..=7)?,
            deleter: u.ratio(7, 8)?,
            pad: u.int_in_range(0..=7)?,
            memory: Memory::new(u, 512)?,
        })
    }
}

/// What the tensor is, if its description makes sense.
fn expected(input: &Input, tensor: &Tensor) -> Option<(Kind, Elements)> {
    let kind = match (input.code, input.bits) {
        (0 | 1, 8 | 16 | 32 | 64) => Some(Kind::Integer),
        (code, bits) => TYPES.iter().find(|known| (known.0, known.1) == (code, bits)).map(|t| t.2),
    };
    let kind = kind.filter(|_| input.lanes == 1 && matches!(input.device, 1 | 3 | 11))?;
    let item = i128::from(input.bits / 8);
    let (sizes, strides) = input.layout.numbers(1)?;
    let strides = strides.iter().map(|stride| stride.saturating_mul(item)).collect();
    let mut data = tensor.data.addr() as i128;
    if data > 0 {
        data += i128::from(tensor.byte_offset);
    }
    let elements = Elements { sizes, strides, data, item };
    (data <= usize::MAX as i128 && elements.span().is_some()).then_some((kind, elements))
}

/// Has the tensor read, by each way.
pub(super) fn check(input: &mut Input) {
    let tensor = Tensor {
        data: input.data.pointer(&mut input.memory),
        device_type: input.device,
        device_id: 0,
        ndim: input.layout.ndim,
        code: input.code,
        bits: input.bits,
        lanes: input.lanes,
        shape: input.layout.sizes.pointer(),
        strides: input.layout.strides.pointer(),
        byte_offset: input.byte_offset,
    };
    let expected = expected(input, &tensor);
    let deleted = Cell::new(0);
    let mut place = structure(input, tensor, &deleted);
    let place = NonNull::new(place[input.pad..].as_mut_ptr()).expect("memory");
    // SAFETY: the structure lies there, and its lists are as long as it says. Elements are only
    // read in the memory.
    let array = unsafe {
        let managed = match input.version {
            Some(_) => Managed::versioned(place.cast()),
            None => Managed::unversioned(place.cast()),
        };
        managed.array(|managed| managed)
    };
    let is_known = input.version.is_none_or(|version| version == 1);
    match (array, &expected) {
        (Ok(array), Some((kind, elements))) => {
            assert!(is_known && array.tensor && deleted.get() == 0);
            let writable = input.version.is_some() && input.flags & 3 == 0;
            assert_eq!(array.is_writable(), writable);
            ask(array, *kind, false, elements, &input.memory, |_| true);
        }
        (Err(_), expected) if !is_known || expected.is_none() => {}
        (array, _) => panic!("{:?}, expected {expected:?}", array.err()),
    }
    assert_eq!(deleted.get(), usize::from(input.deleter));
    let span = expected.as_ref().and_then(|(_, elements)| elements.span());
    if span.is_some_and(|span| !input.memory.holds(&span)) {
        return;
    }
    // SAFETY: as above.
    if let Some((bytes, format)) = unsafe { tensor.flat() } {
        let (kind, elements) = expected.expect("a tensor that makes sense");
        assert_eq!(kind, Kind::Float(format));
        assert_eq!(bytes.len() as u128, elements.count() * elements.item as u128);
        assert_eq!(bytes.as_ptr().addr() as i128, elements.data);
        // AddressSanitizer sees each byte read.
        black_box(bytes.to_vec());
    }
}

/// The structure that owns the tensor, behind the bytes before it. Of an unknown version there is
/// only the beginning.
fn structure(input: &Input, tensor: Tensor, deleted: &Cell<usize>) -> Box<[u8]> {
    unsafe extern "C" fn delete_versioned(tensor: *mut Versioned) {
        // SAFETY: `structure` has made it.
        count(unsafe { (&raw const (*tensor).manager).read_unaligned() });
    }
    unsafe extern "C" fn delete_unversioned(tensor: *mut Unversioned) {
        // SAFETY: `structure` has made it.
        count(unsafe { (&raw const (*tensor).manager).read_unaligned() });
    }
    fn count(manager: *mut c_void) {
        // SAFETY: a pointer to the counter, which lives longer than the tensor.
        let deleted = unsafe { &*manager.cast::<Cell<usize>>() };
        deleted.set(deleted.get() + 1);
    }
    fn placed<T>(pad: usize, structure: &T, len: usize) -> Box<[u8]> {
        let mut bytes: Box<[u8]> = vec![0; pad + len].into();
        let from = (&raw const *structure).cast::<u8>();
        // SAFETY: `len` is at most the size of the structure.
        unsafe { bytes[pad..].as_mut_ptr().copy_from_nonoverlapping(from, len) };
        bytes
    }
    let (pad, manager) = (input.pad, (&raw const *deleted).cast_mut().cast::<c_void>());
    match input.version {
        Some(major) => {
            let deleter = input.deleter.then_some(delete_versioned as _);
            let (version, flags) = (Version { major, minor: 3 }, input.flags);
            let len = match major {
                1 => size_of::<Versioned>(),
                _ => offset_of!(Versioned, flags),
            };
            placed(pad, &Versioned { version, manager, deleter, flags, tensor }, len)
        }
        None => {
            let deleter = input.deleter.then_some(delete_unversioned as _);
            placed(pad, &Unversioned { tensor, manager, deleter }, size_of::<Unversioned>())
        }
    }
}
