//! The kinds of elements, by independent sources: the standard library, `half`, and literal lists
//! of codes.

use nonfinite::{Format, Predicate};

/// The kind of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A finite number: zero, subnormal or normal.
    Finite,
    /// `+Inf`.
    PosInf,
    /// `-Inf`.
    NegInf,
    /// Not a number.
    Nan,
}

/// The bits of one element of 1, 2, 4 or 8 bytes in the byte order of the machine.
///
/// # Panics
/// If there are more bytes, or 3, 5, 6 or 7.
#[must_use]
pub fn read(raw: &[u8]) -> u64 {
    match *raw {
        [a] => u64::from(a),
        [a, b] => u64::from(u16::from_ne_bytes([a, b])),
        [a, b, c, d] => u64::from(u32::from_ne_bytes([a, b, c, d])),
        _ => u64::from_ne_bytes(raw.try_into().unwrap()),
    }
}

/// Appends the memory of one element: the low bits, in the byte order of the machine.
pub fn write(format: Format, bits: u64, out: &mut Vec<u8>) {
    match format.size_in_bytes() {
        1 => out.extend((bits as u8).to_ne_bytes()),
        2 => out.extend((bits as u16).to_ne_bytes()),
        4 => out.extend((bits as u32).to_ne_bytes()),
        _ => out.extend(bits.to_ne_bytes()),
    }
}

/// The kind of the element with these bits.
#[must_use]
pub fn kind(format: Format, bits: u64) -> Kind {
    let of = |nan: bool, infinite: bool, negative: bool| match (nan, infinite, negative) {
        (true, _, _) => Kind::Nan,
        (false, true, false) => Kind::PosInf,
        (false, true, true) => Kind::NegInf,
        (false, false, _) => Kind::Finite,
    };
    match format {
        Format::F64 => {
            let x = f64::from_bits(bits);
            of(x.is_nan(), x.is_infinite(), x.is_sign_negative())
        }
        Format::F32 => {
            let x = f32::from_bits(bits as u32);
            of(x.is_nan(), x.is_infinite(), x.is_sign_negative())
        }
        Format::F16 => {
            let x = half::f16::from_bits(bits as u16);
            of(x.is_nan(), x.is_infinite(), x.is_sign_negative())
        }
        Format::Bf16 => {
            let x = half::bf16::from_bits(bits as u16);
            of(x.is_nan(), x.is_infinite(), x.is_sign_negative())
        }
        _ => small(format, bits as u8),
    }
}

/// The special codes of the formats in one byte, from ml_dtypes.
fn small(format: Format, code: u8) -> Kind {
    let (nan, pos_inf, neg_inf): (&[u8], _, _) = match format {
        Format::F8E4M3Fn => (&[0x7F, 0xFF], None, None),
        Format::F8E4M3FnUz | Format::F8E5M2FnUz | Format::F8E4M3B11FnUz => (&[0x80], None, None),
        Format::F8E5M2 => (&[0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF], Some(0x7C), Some(0xFC)),
        Format::F8E4M3 => (
            &[0x79, 0x7A, 0x7B, 0x7C, 0x7D, 0x7E, 0x7F, 0xF9, 0xFA, 0xFB, 0xFC, 0xFD, 0xFE, 0xFF],
            Some(0x78),
            Some(0xF8),
        ),
        Format::F8E3M4 => (
            &[
                0x71, 0x72, 0x73, 0x74, 0x75, 0x76, 0x77, 0x78, 0x79, 0x7A, 0x7B, 0x7C, 0x7D, 0x7E,
                0x7F, //
                0xF1, 0xF2, 0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xF8, 0xF9, 0xFA, 0xFB, 0xFC, 0xFD, 0xFE,
                0xFF,
            ],
            Some(0x70),
            Some(0xF0),
        ),
        Format::F8E8M0Fnu => (&[0xFF], None, None),
        _ => (&[], None, None),
    };
    if nan.contains(&code) {
        Kind::Nan
    } else if pos_inf == Some(code) {
        Kind::PosInf
    } else if neg_inf == Some(code) {
        Kind::NegInf
    } else {
        Kind::Finite
    }
}

/// Whether a predicate holds for an element of this kind.
///
/// # Panics
/// For an unknown predicate.
#[must_use]
pub fn holds(predicate: Predicate, kind: Kind) -> bool {
    match predicate {
        Predicate::Nan => kind == Kind::Nan,
        Predicate::Inf => matches!(kind, Kind::PosInf | Kind::NegInf),
        Predicate::PositiveInf => kind == Kind::PosInf,
        Predicate::NegativeInf => kind == Kind::NegInf,
        Predicate::Finite => kind == Kind::Finite,
        Predicate::NonFinite => kind != Kind::Finite,
        Predicate::Never => false,
        Predicate::NanOrPositiveInf => matches!(kind, Kind::Nan | Kind::PosInf),
        _ => unreachable!("a predicate without an oracle"),
    }
}

/// Bits of elements at the edges of a format: zero, subnormals, the largest numbers, +Inf, -Inf and
/// NaNs with single bits, low or high words of the mantissa set; of formats of a byte, all codes.
#[must_use]
pub fn edges(format: Format) -> Vec<u64> {
    let (exponent, mantissa) = match format {
        Format::F64 => (11, 52),
        Format::F32 => (8, 23),
        Format::F16 => (5, 10),
        Format::Bf16 => (8, 7),
        _ => return (0..=255).collect(),
    };
    let ones = (1u64 << exponent) - 1;
    let all = (1u64 << mantissa) - 1;
    let mut mantissas =
        vec![0, 3, all, all - 1, all / 2, all / 2 + 2, 0xFFFF_FFFF, 0x7FFF_FFFF, all ^ 0xFFFF_FFFF];
    mantissas.extend((0..mantissa).map(|bit| 1 << bit));
    let mut edges = Vec::new();
    for sign in [0, 1u64 << (exponent + mantissa)] {
        for e in [0, 1, 2, ones / 2, ones - 2, ones - 1, ones] {
            edges.extend(mantissas.iter().map(|m| sign | e << mantissa | m & all));
        }
    }
    edges
}

/// `elements` of a format, one in `rare` at an edge, the others zero.
#[must_use]
pub fn mixed(format: Format, elements: usize, rare: usize) -> Vec<u8> {
    let edges = edges(format);
    let mut bytes = Vec::new();
    for i in 0..elements {
        // 7919 is prime, so no stride below it sees a pattern.
        let bits = if i * 7919 % rare == 0 { edges[i * 31 % edges.len()] } else { 0 };
        write(format, bits, &mut bytes);
    }
    bytes
}

/// A validity bitmap with the bit of the first element at `offset`. Other bits are those of
/// [`crate::CANARY`]. No byte follows the last bit.
#[must_use]
pub fn bitmap(valid: &[bool], offset: usize) -> Vec<u8> {
    let mut bitmap = vec![crate::CANARY; (offset + valid.len()).div_ceil(8)];
    for (i, &valid) in valid.iter().enumerate() {
        let (byte, bit) = ((offset + i) / 8, (offset + i) % 8);
        bitmap[byte] = bitmap[byte] & !(1 << bit) | u8::from(valid) << bit;
    }
    bitmap
}
