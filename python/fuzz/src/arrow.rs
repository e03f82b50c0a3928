//! Arrays of Arrow's C data interface.
#![expect(unsafe_code, reason = "structures of C")]

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut, without_provenance_mut};

use arbitrary::{Arbitrary, Result, Unstructured};
use nonfinite::Format;
use nonfinite_border::Kind;
use nonfinite_border::arrow::{self, ArrowArray, Schema};

use super::{Elements, Memory, Place, ask};
use nonfinite_fuzz::number;

/// Format strings, bytes of an element, and what they are.
const TYPES: [(&str, i128, Kind); 12] = [
    ("e", 2, Kind::Float(Format::F16)),
    ("f", 4, Kind::Float(Format::F32)),
    ("g", 8, Kind::Float(Format::F64)),
    ("b", 0, Kind::Integer),
    ("c", 1, Kind::Integer),
    ("C", 1, Kind::Integer),
    ("s", 2, Kind::Integer),
    ("S", 2, Kind::Integer),
    ("i", 4, Kind::Integer),
    ("I", 4, Kind::Integer),
    ("l", 8, Kind::Integer),
    ("L", 8, Kind::Integer),
];

/// The fields of an array and of its schema.
#[derive(Debug)]
pub struct Input {
    memory: Memory,
    bits: Memory,
    format: Option<CString>,
    length: i64,
    offset: i64,
    null_count: i64,
    /// The pointers at `buffers`, or null.
    buffers: Option<Vec<Place>>,
    n_buffers: i64,
    children: i64,
    dictionaries: [bool; 2],
    released: [bool; 2],
}

impl<'a> Arbitrary<'a> for Input {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let format = match u.int_in_range(0..=31)? {
            0 => None,
            1 => Some(u.arbitrary::<[u8; 2]>()?.map(|byte| byte.max(1)).to_vec()),
            2..=5 => Some(u.choose(&TYPES)?.0.into()),
            _ => Some(u.choose(&TYPES[..3])?.0.into()),
        };
        let buffers = match u.int_in_range(0..=31)? {
            0 => None,
            1 => Some((0..u.int_in_range(0..=4)?).map(|_| u.arbitrary()).collect::<Result<_>>()?),
            _ => Some(vec![u.arbitrary()?, u.arbitrary()?]),
        };
        let count = buffers.as_ref().map_or(2, Vec::len) as i64;
        let length = number(u, 0..65)? as i64;
        Ok(Self {
            format: format.map(|bytes| CString::new(bytes).expect("no NUL")),
            length,
            offset: number(u, 0..20)? as i64,
            null_count: if u.ratio(1, 4)? { number(u, -2..70)? as i64 } else { -1 },
            buffers,
            n_buffers: if u.ratio(31, 32)? { count } else { -count },
            children: number(u, 0..2)? as i64,
            dictionaries: [u.ratio(1, 32)?, u.ratio(1, 32)?],
            released: [u.ratio(1, 32)?, u.ratio(1, 32)?],
            bits: Memory::new(u, 12)?,
            memory: Memory::new(u, 672)?,
        })
    }
}

/// What the array is, if its description makes sense.
fn expected(input: &Input, bitmap: *const u8, data: *const u8) -> Option<(Kind, Elements)> {
    let text = input.format.as_ref()?.to_str().ok()?;
    let (_, item, kind) = *TYPES.iter().find(|known| known.0 == text)?;
    let counts = [input.length, input.offset, input.null_count.saturating_add(1)];
    let nulls = 0..=if bitmap.is_null() { 0 } else { input.length };
    let wrong = input.released != [false; 2]
        || input.dictionaries != [false; 2]
        || input.buffers.is_none()
        || input.n_buffers != 2
        || counts.iter().any(|&count| count < 0)
        || !nulls.contains(&input.null_count.max(0));
    let (data, first) = (data.addr() as i128, i128::from(input.offset) * item);
    let start = data + first;
    if wrong || start > usize::MAX as i128 {
        return None;
    }
    let data = if data == 0 { 0 } else { start };
    let (sizes, strides) = (vec![input.length.into()], vec![item]);
    let elements = Elements { sizes, strides, data, item };
    let bits = i128::from(input.length) + i128::from(input.offset);
    let bytes = if has_nulls(input, bitmap) { (bits + 7) / 8 } else { 0 };
    let fits = bitmap.addr() as i128 + bytes <= usize::MAX as i128;
    (fits && elements.span().is_some()).then_some((kind, elements))
}

/// Whether the bitmap has to be read.
fn has_nulls(input: &Input, bitmap: *const u8) -> bool {
    !bitmap.is_null() && input.null_count != 0 && input.length != 0
}

unsafe extern "C" fn release_schema(_: *mut Schema) {}
unsafe extern "C" fn release_array(_: *mut ArrowArray) {}

/// Has the array read.
pub(super) fn check(input: &mut Input) {
    let places = input.buffers.clone().unwrap_or_default();
    let of = |i: usize| places.get(i).copied().unwrap_or(Place::Null);
    let (bitmap, data) = (of(0).pointer(&mut input.bits), of(1).pointer(&mut input.memory));
    let mut buffers: Vec<*const c_void> = vec![bitmap.cast(), data.cast()];
    buffers.resize(places.len(), null());
    let buffers = buffers.into_boxed_slice();
    let dictionary = |there: bool| if there { 8 } else { 0 };
    let schema = Schema {
        format: input.format.as_ref().map_or(null(), |format| format.as_ptr()),
        name: null(),
        metadata: null(),
        flags: 0,
        n_children: input.children,
        // Nobody may follow these pointers.
        children: without_provenance_mut(8),
        dictionary: without_provenance_mut(dictionary(input.dictionaries[0])),
        release: (!input.released[0]).then_some(release_schema as _),
        private_data: null_mut(),
    };
    let array = ArrowArray {
        length: input.length,
        null_count: input.null_count,
        offset: input.offset,
        n_buffers: input.n_buffers,
        n_children: input.children,
        buffers: if input.buffers.is_some() { buffers.as_ptr() } else { null() },
        children: without_provenance_mut(8),
        dictionary: without_provenance_mut(dictionary(input.dictionaries[1])),
        release: (!input.released[1]).then_some(release_array as _),
        private_data: null_mut(),
    };
    let expected = expected(input, bitmap, data);
    // SAFETY: there are as many buffers as the array says. Elements and bits are only read in their
    // memory.
    match (unsafe { arrow::array(&raw const schema, &raw const array, ()) }, expected) {
        (Ok(array), Some((kind, elements))) => {
            assert!(!array.is_writable());
            let (first, start) = (input.offset as u128, input.bits.0.as_ptr());
            let valid = |i: usize| {
                let bit = input.offset as usize + i;
                input.bits.0[bitmap.addr() - start.addr() + bit / 8] >> (bit % 8) & 1 == 1
            };
            if !has_nulls(input, bitmap) {
                return ask(array, kind, false, &elements, &input.memory, |_| true);
            }
            let bytes = (first + input.length as u128).div_ceil(8) as i128;
            let low = bitmap.addr() as i128;
            if input.bits.holds(&(low..low + bytes)) {
                ask(array, kind, false, &elements, &input.memory, valid);
            }
        }
        (Err(_), None) => {}
        (array, expected) => panic!("{:?}, expected {expected:?}", array.err()),
    }
}
