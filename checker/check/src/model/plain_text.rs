//! Text, which the checker leaves out: it holds no NaN and no infinity of bf16, f32 or f64.

use std::io;

use super::ranges::{ReadAhead, read};
use super::source::ReadAt;

/// The longest file that is tested. A longer file does not count as text, which bounds the time and
/// the memory of the test.
pub(crate) const LONGEST_TEXT: u64 = 64 << 20;

/// Whether bytes are text: UTF-8 without control characters, except tab, line feed, form feed and
/// carriage return. An empty file is text.
///
/// Text holds no NaN and no infinity of bf16, f32 or f64 in either byte order: the byte of their
/// sign and their upper exponent bits is 0x7F or 0xFF. The first is a control character, and the
/// second never occurs in UTF-8.
pub(crate) fn is_text(bytes: &[u8]) -> bool {
    bytes.len() as u64 <= LONGEST_TEXT && !has_control(bytes) && str::from_utf8(bytes).is_ok()
}

fn has_control(bytes: &[u8]) -> bool {
    bytes.iter().any(|byte| byte.is_ascii_control() && !b"\t\n\x0C\r".contains(byte))
}

/// Whether bytes are text that holds no NaN and no infinity of f16, bf16, f32, f64 and f8e5m2. The
/// upper byte of such an f16, and such an f8e5m2, is `|`, `}` or `~` if it is text.
pub(crate) fn is_plain_text(bytes: &[u8]) -> bool {
    is_text(bytes) && !bytes.iter().any(|byte| b"|}~".contains(byte))
}

/// What a file is that begins with these bytes, and how the file begins, if this is text. Control
/// characters are escaped. Pages of servers may have some, and bytes that are not UTF-8.
pub(crate) fn text_of(beginning: &[u8]) -> Option<String> {
    /// Characters that are shown.
    const SHOWN: usize = 60;
    let text = String::from_utf8_lossy(beginning);
    // The last character may be cut.
    let text = text.trim_end_matches('\u{FFFD}').trim_start_matches('\u{FEFF}').trim_start();
    let is_odd = |char: &char| *char == '\u{FFFD}' || char.is_control() && !char.is_whitespace();
    let odd = text.chars().filter(is_odd).count();
    if text.is_empty() || text.contains('\0') || odd * 10 > text.chars().count() {
        return None;
    }
    let is_page = ["<!doctype html", "<html"]
        .iter()
        .any(|tag| text.get(..tag.len()).is_some_and(|start| start.eq_ignore_ascii_case(tag)));
    let what = match text.as_bytes()[0] {
        b'<' if is_page => "an HTML page, as a server sends for a login or an error,",
        b'<' => "XML, as a server sends for an error,",
        b'{' | b'[' => "JSON, as a server sends for an error,",
        _ => "text,",
    };
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if shown.len() < text.len() { "..." } else { "" };
    Some(format!("{what} which begins {shown:?}{more}"))
}

/// Whether a file is text, by [`is_text`] or [`is_plain_text`].
pub(crate) fn holds_text(source: &dyn ReadAt, is_text: fn(&[u8]) -> bool) -> io::Result<bool> {
    /// Numbers show in a few bytes, so that nearly no file is read to its end.
    const FEW: u64 = 512;
    let length = source.length();
    Ok(length <= LONGEST_TEXT
        && !has_control(&read(source, 0..length.min(FEW))?)
        && is_text(&read(source, 0..length)?))
}

/// Whether bytes that no reader knows could be numbers: neither zeros, which are padding, nor text.
pub(crate) fn may_hold_numbers(source: &dyn ReadAt) -> io::Result<bool> {
    let (mut bytes, length) = (ReadAhead::new(source), source.length());
    for start in (0..length).step_by(PAGE) {
        let page = bytes.get(start..(start + PAGE as u64).min(length))?;
        if page.iter().any(|&byte| byte != 0) {
            return Ok(!holds_text(source, is_text)?);
        }
    }
    Ok(false)
}

/// Bytes that are looked at together.
const PAGE: usize = 4 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn padding_and_text_hold_no_numbers() {
        let may = |bytes: &[u8]| may_hold_numbers(&bytes).expect("bytes in memory");
        assert!(!may(&[0; 10_000]) && !may(b"text\n") && may(&[0xFF; 3]));
        assert!(may(&[&[0; 9000][..], &[1]].concat()));
    }

    #[test]
    fn text_and_binary() {
        for text in ["", "hello\r\n\tworld\x0C", "ünïcödé 数", "{\"nan\": NaN}"] {
            assert!(is_text(text.as_bytes()), "{text:?}");
        }
        for binary in [&b"\0"[..], b"a\x7F", b"\xFF", b"\x93NUMPY", b"\xC3", b"a\x1B[0m"] {
            assert!(!is_text(binary), "{binary:?}");
        }
        assert!(is_text(&vec![b' '; LONGEST_TEXT as usize]));
        assert!(!is_text(&vec![b' '; LONGEST_TEXT as usize + 1]));
    }

    /// Tests the claim of the documentation of [`is_plain_text`], for all numbers of 16 bits.
    #[test]
    fn special_halves_are_no_plain_text() {
        for high in (0x7C..=0x7F_u16).chain(0xFC..=0xFF) {
            for bits in (0..=0xFF).map(|low| high << 8 | low) {
                assert!(!is_plain_text(&bits.to_le_bytes()) && !is_plain_text(&bits.to_be_bytes()));
            }
        }
        assert!(is_plain_text(b"plain {text") && is_text(b"A|A|") && !is_plain_text(b"A|A|"));
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
