//! Views of bytes. Wrong lengths give an error and write nothing; all others give the right answer.
#![no_main]

use arbitrary::{Arbitrary, Unstructured};
use libfuzzer_sys::fuzz_target;
use nonfinite::{Error, Format, Predicate, TensorView};
use nonfinite_fuzz::check;
use nonfinite_oracle::{Expected, holds};

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

fuzz_target!(|call: Call| {
    let Call { format, predicate, excess, offset, bytes: x } = call;
    let size = format.size_in_bytes();
    let whole = x.len().is_multiple_of(size);
    let expected = Expected::new(format, &x[..x.len() / size * size]).asking_about(predicate);
    let hits: Vec<bool> = expected.kinds().iter().map(|&kind| holds(predicate, kind)).collect();
    let view = match TensorView::from_bytes(&x, format) {
        Ok(view) => view,
        Err(error) => {
            assert_eq!(error, Error::PartialElement { bytes: x.len(), format });
            return assert!(!whole);
        }
    };
    assert!(whole);

    let mut out = vec![CANARY; hits.len().saturating_add_signed(excess)];
    let output = out.len();
    let result = view.mask(predicate, &mut out);
    let fits = output == hits.len();
    let short = Error::OutputLength { elements: hits.len(), output };
    let want = if fits { Ok(()) } else { Err(short) };
    assert_eq!(result, want);
    match want {
        Ok(()) => assert!(
            out.iter().zip(&hits).all(|(&out, &hit)| out == u8::from(hit)),
            "{out:?} {hits:?}"
        ),
        Err(_) => assert!(out.iter().all(|&byte| byte == CANARY), "wrote in spite of {want:?}"),
    }

    let needed = offset.checked_add(hits.len()).map(|end| end.div_ceil(8));
    let len = needed.filter(|&len| len < FAR).unwrap_or(0).saturating_add_signed(excess);
    let mut out = vec![CANARY; len];
    let result = view.bits(predicate, &mut out, offset);
    let fits = needed.is_some_and(|needed| needed <= len);
    let short = Error::OutputBits { elements: hits.len(), offset, bytes: len };
    let want = if fits { Ok(()) } else { Err(short) };
    assert_eq!(result, want);
    for bit in 0..8 * len {
        let hit = bit.checked_sub(offset).and_then(|i| hits.get(i)).filter(|_| want.is_ok());
        let right = hit.copied().unwrap_or(CANARY >> (bit % 8) & 1 == 1);
        assert_eq!(
            out[bit / 8] >> (bit % 8) & 1 == 1,
            right,
            "bit {bit} of results from {offset} on"
        );
    }

    check(view, &expected);
});
