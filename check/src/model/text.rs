//! Text, which the checker leaves out: it holds no NaN and no infinity of bf16, f32 or f64.

/// The longest file that is tested. A longer file does not count as text, which bounds the time of
/// the test.
const LONGEST: usize = 64 << 20;

/// Whether bytes are text: UTF-8 without control characters, except tab, line feed, form feed and
/// carriage return. An empty file is text.
///
/// Text holds no NaN and no infinity of bf16, f32 or f64 in either byte order: the byte of their
/// sign and their upper exponent bits is 0x7F or 0xFF. The first is a control character, and the
/// second never occurs in UTF-8.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    let control = |&byte: &u8| byte.is_ascii_control() && !b"\t\n\x0C\r".contains(&byte);
    // The copy is validated, because another process may write to a mapped file.
    bytes.len() <= LONGEST
        && !bytes.iter().any(control)
        && String::from_utf8(bytes.to_vec()).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_binary() {
        for text in ["", "hello\r\n\tworld\x0C", "ünïcödé 数", "{\"nan\": NaN}"] {
            assert!(is_text(text.as_bytes()), "{text:?}");
        }
        for binary in [&b"\0"[..], b"a\x7F", b"\xFF", b"\x93NUMPY", b"\xC3", b"a\x1B[0m"] {
            assert!(!is_text(binary), "{binary:?}");
        }
        assert!(is_text(&vec![b' '; LONGEST]));
        assert!(!is_text(&vec![b' '; LONGEST + 1]));
    }

    /// Tests the claim of the documentation of [`is_text`], for each sign and many mantissas.
    #[test]
    fn special_numbers_are_no_text() {
        for high in (0x7F80..=0x7FFF_u16).chain(0xFF80..=0xFFFF) {
            for low in [0, 0x2020, 0x4141] {
                let single = u32::from(high) << 16 | low;
                assert!(!is_text(&single.to_le_bytes()) && !is_text(&single.to_be_bytes()));
            }
            assert!(!is_text(&high.to_le_bytes()) && !is_text(&high.to_be_bytes()));
        }
        for bits in [f64::INFINITY, f64::NEG_INFINITY, f64::NAN].map(f64::to_bits) {
            let double = bits | 0x4141_4141_4141;
            assert!(!is_text(&double.to_le_bytes()) && !is_text(&double.to_be_bytes()));
        }
    }
}
