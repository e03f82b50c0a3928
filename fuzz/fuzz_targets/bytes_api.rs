//! Views of bytes. Wrong lengths give an error and write nothing; all others give the right answer.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use nonfinite::{Elements, Error, Format, Predicate, TensorView};
use nonfinite_fuzz::expect;
use nonfinite_oracle::{self as oracle, Expected, Framed};

/// Bytes that may end inside an element, and an output that may have a wrong length.
#[derive(Debug)]
struct Call {
    format: Format,
    predicate: Predicate,
    /// The excess length of the output, for bytes and for packed bits.
    excess: isize,
    offset: usize,
    bytes: Vec<u8>,
}

impl<'a> Arbitrary<'a> for Call {
    fn arbitrary(u: &mut Unstructured<'a>) -> arbitrary::Result<Self> {
        let (format, predicate) = (*u.choose(Format::ALL)?, *u.choose(Predicate::ALL)?);
        let excess = isize::from(u.int_in_range(-3i8..=3)?);
        let offset = match u.int_in_range(0..=3)? {
            0 => u.int_in_range(0..=127)?,
            1 => u.arbitrary::<u16>()?.into(),
            2 => usize::MAX - usize::from(u.arbitrary::<u16>()?),
            _ => u.arbitrary()?,
        };
        let bytes = u.bytes(u.len())?.to_vec();
        Ok(Self { format, predicate, excess, offset, bytes })
    }
}

/// Neither 0 nor 1.
const CANARY: u8 = 0xA5;
/// A longer output cannot be allocated. Such an offset gets a short output, and an error.
const FAR: usize = 1 << 17;

fuzz_target!(init: oracle::require(), |call: Call| {
    let Call { format, predicate, excess, offset, bytes } = call;
    let whole = bytes.len().is_multiple_of(format.size_in_bytes());
    let x = match Elements::from_bytes(&bytes, format) {
        Ok(x) => x,
        Err(error) => {
            assert_eq!(error, Error::PartialElement { bytes: bytes.len(), format });
            return assert!(!whole);
        }
    };
    assert!(whole);
    let (view, elements) = (TensorView::from(x), x.len());

    let output = elements.saturating_add_signed(excess);
    let mut out = vec![CANARY; output];
    let result = view.mask(predicate, &mut out);
    refused(output != elements, Error::OutputLength { elements, output }, result, &out);

    let needed = offset.checked_add(elements).map(|end| end.div_ceil(8));
    let len = needed.filter(|&len| len < FAR).unwrap_or(0).saturating_add_signed(excess);
    let mut out = vec![CANARY; len];
    let result = view.bits(predicate, &mut out, offset);
    let short = needed.is_none_or(|needed| needed > len);
    refused(short, Error::OutputBits { elements, offset, bytes: len }, result, &out);

    let expected = Expected::new(format, &bytes).asking_about(predicate);
    let expected = expected.with_bits_from(if short { 0 } else { offset });
    expect(oracle::check_elements(x, &expected, &mut Framed::default()));
});

/// Checks that the output was refused and not written to, if it had to be.
fn refused(wrong: bool, error: Error, result: Result<(), Error>, out: &[u8]) {
    assert_eq!(result, if wrong { Err(error) } else { Ok(()) });
    let untouched = out.iter().all(|&byte| byte == CANARY);
    assert!(!wrong || untouched, "wrote in spite of {error:?}");
}
