//! Formats and predicates as fixed numbers, independent of the enums of Rust.

use core::ffi::CStr;

use nonfinite::{Format, Predicate};

use crate::status::{NF_ERR_FORMAT, NF_ERR_PREDICATE, NF_ERR_THRESHOLD, Status};

/// A floating-point format, one of the `NF_FORMAT_...`. The type is an integer, so any value may be
/// passed: 0 and unknown values are refused with `NF_ERR_FORMAT`.
pub type FormatCode = u32;

/// IEEE 754 binary16.
pub const NF_FORMAT_F16: FormatCode = 1;
/// bfloat16: the upper half of a binary32.
pub const NF_FORMAT_BF16: FormatCode = 2;
/// IEEE 754 binary32, `float`.
pub const NF_FORMAT_F32: FormatCode = 3;
/// IEEE 754 binary64, `double`.
pub const NF_FORMAT_F64: FormatCode = 4;
/// OCP OFP8 E4M3: no infinity; NaN is 0x7F and 0xFF.
pub const NF_FORMAT_F8E4M3FN: FormatCode = 5;
/// E4M3 without infinity and negative zero, bias 8; NaN is 0x80.
pub const NF_FORMAT_F8E4M3FNUZ: FormatCode = 6;
/// OCP OFP8 E5M2: as IEEE formats.
pub const NF_FORMAT_F8E5M2: FormatCode = 7;
/// E5M2 without infinity and negative zero, bias 16; NaN is 0x80.
pub const NF_FORMAT_F8E5M2FNUZ: FormatCode = 8;
/// E4M3 as IEEE formats: infinity is 0x78 and 0xF8.
pub const NF_FORMAT_F8E4M3: FormatCode = 9;
/// E3M4 as IEEE formats: infinity is 0x70 and 0xF0.
pub const NF_FORMAT_F8E3M4: FormatCode = 10;
/// E4M3 without infinity and negative zero, bias 11; NaN is 0x80.
pub const NF_FORMAT_F8E4M3B11FNUZ: FormatCode = 11;
/// OCP MX scale: 8 exponent bits, no sign; NaN is 0xFF.
pub const NF_FORMAT_F8E8M0FNU: FormatCode = 12;
/// OCP MX FP4, one element in the low 4 bits of a byte: all codes are finite.
pub const NF_FORMAT_F4E2M1FN: FormatCode = 13;
/// OCP MX FP6, one element in the low 6 bits of a byte: all codes are finite.
pub const NF_FORMAT_F6E2M3FN: FormatCode = 14;
/// OCP MX FP6, one element in the low 6 bits of a byte: all codes are finite.
pub const NF_FORMAT_F6E3M2FN: FormatCode = 15;

/// The formats by number, from 1 on.
const FORMATS: [(FormatCode, Format); 15] = [
    (NF_FORMAT_F16, Format::F16),
    (NF_FORMAT_BF16, Format::Bf16),
    (NF_FORMAT_F32, Format::F32),
    (NF_FORMAT_F64, Format::F64),
    (NF_FORMAT_F8E4M3FN, Format::F8E4M3Fn),
    (NF_FORMAT_F8E4M3FNUZ, Format::F8E4M3FnUz),
    (NF_FORMAT_F8E5M2, Format::F8E5M2),
    (NF_FORMAT_F8E5M2FNUZ, Format::F8E5M2FnUz),
    (NF_FORMAT_F8E4M3, Format::F8E4M3),
    (NF_FORMAT_F8E3M4, Format::F8E3M4),
    (NF_FORMAT_F8E4M3B11FNUZ, Format::F8E4M3B11FnUz),
    (NF_FORMAT_F8E8M0FNU, Format::F8E8M0Fnu),
    (NF_FORMAT_F4E2M1FN, Format::F4E2M1Fn),
    (NF_FORMAT_F6E2M3FN, Format::F6E2M3Fn),
    (NF_FORMAT_F6E3M2FN, Format::F6E3M2Fn),
];

/// The names of the formats as strings of C, in the order of [`FORMATS`].
static FORMAT_NAMES: [&CStr; FORMATS.len()] = [
    c"f16",
    c"bf16",
    c"f32",
    c"f64",
    c"f8e4m3fn",
    c"f8e4m3fnuz",
    c"f8e5m2",
    c"f8e5m2fnuz",
    c"f8e4m3",
    c"f8e3m4",
    c"f8e4m3b11fnuz",
    c"f8e8m0fnu",
    c"f4e2m1fn",
    c"f6e2m3fn",
    c"f6e3m2fn",
];

/// A predicate for an element: one of the `NF_IS_...`, or what `nf_exceeds` returns. The type is an
/// integer, so any value may be passed: 0 and unknown values are refused with `NF_ERR_PREDICATE`.
pub type PredicateCode = u64;

/// Not a number, quiet or signalling, of any sign.
pub const NF_IS_NAN: PredicateCode = 1;
/// Infinite, of either sign.
pub const NF_IS_INF: PredicateCode = 2;
/// +Inf.
pub const NF_IS_POSITIVE_INF: PredicateCode = 3;
/// -Inf.
pub const NF_IS_NEGATIVE_INF: PredicateCode = 4;
/// Neither NaN nor infinite.
pub const NF_IS_FINITE: PredicateCode = 5;
/// NaN or infinite.
pub const NF_IS_NON_FINITE: PredicateCode = 6;
/// True of no element: infinity with both signs off, which ONNX IsInf and OpenVINO IsInf-10 allow.
pub const NF_IS_NEVER: PredicateCode = 7;
/// NaN or `+Inf`. Use this for logits in which `-Inf` masks tokens.
pub const NF_IS_NAN_OR_POSITIVE_INF: PredicateCode = 8;

/// The predicates by number, from 1 on.
const PREDICATES: [(PredicateCode, Predicate); 8] = [
    (NF_IS_NAN, Predicate::Nan),
    (NF_IS_INF, Predicate::Inf),
    (NF_IS_POSITIVE_INF, Predicate::PositiveInf),
    (NF_IS_NEGATIVE_INF, Predicate::NegativeInf),
    (NF_IS_FINITE, Predicate::Finite),
    (NF_IS_NON_FINITE, Predicate::NonFinite),
    (NF_IS_NEVER, Predicate::Never),
    (NF_IS_NAN_OR_POSITIVE_INF, Predicate::NanOrPositiveInf),
];

/// The bit that is set in the code of a threshold, whose other bits are those of the threshold.
const THRESHOLD: PredicateCode = 1 << 63;

/// The entry with this number in a table that counts from 1.
fn entry<C: Copy + PartialEq + TryInto<usize>, T: Copy>(table: &[(C, T)], code: C) -> Option<T> {
    let &(number, value) = table.get(code.try_into().ok()?.checked_sub(1)?)?;
    (number == code).then_some(value)
}

pub(crate) fn format(code: FormatCode) -> Result<Format, Status> {
    entry(&FORMATS, code).ok_or(NF_ERR_FORMAT)
}

/// The predicate with this number, for elements of `format`.
pub(crate) fn predicate(code: PredicateCode, format: Format) -> Result<Predicate, Status> {
    if code & THRESHOLD == 0 {
        return entry(&PREDICATES, code).ok_or(NF_ERR_PREDICATE);
    }
    Predicate::exceeds(format, f64::from_bits(code ^ THRESHOLD)).map_err(|_| NF_ERR_THRESHOLD)
}

/// The name of the format with this number.
pub(crate) fn name(code: FormatCode) -> Option<&'static CStr> {
    FORMAT_NAMES.get((code as usize).checked_sub(1)?).copied()
}

/// The number of a format. None for a format that is not in this table.
pub(crate) fn code(format: Format) -> Option<FormatCode> {
    FORMATS.iter().find(|(_, known)| *known == format).map(|&(code, _)| code)
}

/// The predicate for infinity with the given signs, like the attributes `detect_negative` and
/// `detect_positive` of ONNX IsInf and OpenVINO IsInf-10. Any value except 0 is on. Returns
/// `NF_IS_INF`, `NF_IS_POSITIVE_INF`, `NF_IS_NEGATIVE_INF`, or with both off `NF_IS_NEVER`.
#[expect(unsafe_code, reason = "the name that C links")]
#[unsafe(no_mangle)]
pub extern "C" fn nf_is_inf(detect_negative: i64, detect_positive: i64) -> PredicateCode {
    let wanted = Predicate::inf(detect_negative != 0, detect_positive != 0);
    PREDICATES.iter().find(|(_, known)| *known == wanted).map_or(NF_IS_NEVER, |&(code, _)| code)
}

/// The predicate that holds for elements whose magnitude (absolute value) is above the threshold.
/// Infinity exceeds every threshold, and so does NaN: if no element exceeds a threshold, all
/// elements are numbers from `-threshold` to `threshold`.
///
/// Questions are refused with `NF_ERR_THRESHOLD` if the threshold is negative, infinite or NaN, or
/// if the format is `NF_FORMAT_F8E8M0FNU`, which has no sign, or a format `FNUZ`, which has NaN in
/// the place of -0.
#[expect(unsafe_code, reason = "the name that C links")]
#[unsafe(no_mangle)]
pub extern "C" fn nf_exceeds(threshold: f64) -> PredicateCode {
    // Compares integers: a floating-point comparison may raise an exception. Of the numbers with a
    // sign, only -0 is no negative number.
    let bits = threshold.to_bits();
    THRESHOLD | if bits > THRESHOLD { f64::NAN.to_bits() } else { bits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_positions_and_nothing_is_missing() {
        assert!(FORMATS.iter().zip(1..).all(|(entry, number)| entry.0 == number));
        assert!(PREDICATES.iter().zip(1..).all(|(entry, number)| entry.0 == number));
        for known in Format::ALL.iter().copied() {
            assert_eq!(code(known).map(format), Some(Ok(known)));
            let name = code(known).and_then(name).map(CStr::to_bytes);
            assert_eq!(name, Some(known.name().as_bytes()));
        }
        for known in Predicate::ALL.iter().copied() {
            let code = PREDICATES.iter().find(|entry| entry.1 == known).expect("in the table").0;
            assert_eq!(predicate(code, Format::F32), Ok(known));
        }
        for bad in [0, FORMATS.len() as u32 + 1, u32::MAX] {
            assert_eq!(format(bad), Err(NF_ERR_FORMAT));
        }
        for bad in [0, PREDICATES.len() as u64 + 1, 1 << 32 | 1, THRESHOLD - 1] {
            assert_eq!(predicate(bad, Format::F32), Err(NF_ERR_PREDICATE));
        }
        for threshold in [0.0, -0.0, 5e-324, 1.5, f64::MAX] {
            let wanted = Predicate::exceeds(Format::F64, threshold).expect("a threshold");
            assert_eq!(predicate(nf_exceeds(threshold), Format::F64), Ok(wanted));
            for format in [Format::F8E8M0Fnu, Format::F8E4M3FnUz] {
                assert_eq!(predicate(nf_exceeds(threshold), format), Err(NF_ERR_THRESHOLD));
            }
        }
        for bad in [-5e-324, -1.5, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, -f64::NAN] {
            assert_eq!(predicate(nf_exceeds(bad), Format::F64), Err(NF_ERR_THRESHOLD), "{bad}");
        }
    }
}
