//! Buffers of PEP 3118.
#![expect(unsafe_code, reason = "structures of C")]

use std::ffi::CString;

use arbitrary::{Arbitrary, Result, Unstructured};
use nonfinite::Format;
use nonfinite_border::Kind;
use nonfinite_border::buffer::Buffer;

use super::{Elements, Layout, List, Memory, Place, ask};
use nonfinite_fuzz::number;

/// Letters of the module `struct`, bytes of an element (0: any), and what they are.
const TYPES: [(&str, i64, Kind); 14] = [
    ("e", 2, Kind::Float(Format::F16)),
    ("f", 4, Kind::Float(Format::F32)),
    ("d", 8, Kind::Float(Format::F64)),
    ("?", 1, Kind::Bool),
    ("h", 0, Kind::Integer),
    ("H", 0, Kind::Integer),
    ("i", 0, Kind::Integer),
    ("I", 0, Kind::Integer),
    ("l", 0, Kind::Integer),
    ("L", 0, Kind::Integer),
    ("q", 0, Kind::Integer),
    ("Q", 0, Kind::Integer),
    ("n", 0, Kind::Integer),
    ("N", 0, Kind::Integer),
];

/// The fields of a buffer.
#[derive(Debug)]
pub struct Input {
    memory: Memory,
    buf: Place,
    format: Option<CString>,
    itemsize: i64,
    layout: Layout,
    suboffsets: List,
    /// If it is not that of the sizes.
    len: Option<isize>,
    readonly: bool,
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let known = if u.ratio(3, 4)? { 4 } else { TYPES.len() };
        let (letter, size, _) = *u.choose(&TYPES[..known])?;
        let order = *u.choose(&["", "", "@", "=", "<", ">", "!"])?;
        let format = match u.int_in_range(0..=15)? {
            0 => None,
            1 => Some(CString::new(u.arbitrary::<[u8; 2]>()?.map(|byte| byte.max(1))).unwrap()),
            _ => Some(CString::new(format!("{order}{letter}")).expect("no NUL")),
        };
        let itemsize = match u.int_in_range(0..=15)? {
            0 => number(u, -1..17)? as i64,
            _ if size == 0 => 4,
            _ => size,
        };
        let layout = Layout::new(u, itemsize)?;
        let suboffsets = match u.int_in_range(0..=7)? {
            0 => Some((0..70).map(|_| Ok(number(u, -2..1)? as i64)).collect::<Result<_>>()?),
            1 => Some(vec![-1; 70]),
            _ => None,
        };
        Ok(Self {
            buf: u.arbitrary()?,
            format,
            itemsize,
            layout,
            suboffsets: List::new(u, suboffsets)?,
            len: if u.ratio(1, 16)? { Some(number(u, 0..64)?) } else { None },
            readonly: u.arbitrary()?,
            memory: Memory::new(u, 512)?,
        })
    }
}

/// What the buffer is, if its description makes sense.
fn expected(input: &Input, buffer: &Buffer) -> Option<(Kind, bool, Elements)> {
    let text = input.format.as_ref()?.to_str().ok()?;
    let letter = text.strip_prefix(['@', '=', '<', '>', '!']).unwrap_or(text);
    let known = TYPES.iter().find(|known| known.0 == letter)?;
    if input.itemsize <= 0 || known.1 != 0 && known.1 != input.itemsize {
        return None;
    }
    let foreign: &[char] = if cfg!(target_endian = "little") { &['>', '!'] } else { &['<'] };
    let item = i128::from(input.itemsize);
    let (sizes, strides) = input.layout.numbers(item)?;
    let rank = sizes.len();
    if input.suboffsets.numbers.as_ref().is_some_and(|all| all[..rank].iter().any(|&n| n >= 0)) {
        return None;
    }
    let elements = Elements { sizes, strides, data: buffer.buf.addr() as i128, item };
    let bytes = elements.count().saturating_mul(item as u128);
    let fits = u128::try_from(buffer.len).is_ok_and(|len| len == bytes);
    (fits && elements.span().is_some()).then_some((known.2, text.starts_with(foreign), elements))
}

/// Has the buffer read.
pub(super) fn check(input: &mut Input) {
    let sizes = input.layout.numbers(1).map(|(sizes, _)| sizes).unwrap_or_default();
    let len = sizes.iter().fold(i128::from(input.itemsize), |all, &n| all.saturating_mul(n));
    let buffer = Buffer {
        buf: input.buf.pointer(&mut input.memory),
        len: input.len.unwrap_or(isize::try_from(len).unwrap_or(isize::MAX)),
        itemsize: input.itemsize as isize,
        readonly: input.readonly,
        ndim: input.layout.ndim,
        format: input.format.as_ref().map_or(std::ptr::null(), |format| format.as_ptr()),
        shape: input.layout.sizes.pointer(),
        strides: input.layout.strides.pointer(),
        suboffsets: input.suboffsets.pointer(),
    };
    let expected = expected(input, &buffer);
    // SAFETY: the lists are as long as the buffer says. Elements are only read in the memory.
    match (unsafe { buffer.array(()) }, expected) {
        (Ok(array), Some((kind, swapped, elements))) => {
            assert_eq!(array.is_writable(), !input.readonly);
            ask(array, kind, swapped, &elements, &input.memory, |_| true);
        }
        (Err(_), None) => {}
        (array, expected) => panic!("{:?}, expected {expected:?}", array.err()),
    }
}
