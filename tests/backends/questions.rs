//! Every question of dense tensors.

use nonfinite::{Format, Predicate, TensorView};
use quickcheck::QuickCheck;

use crate::oracle::{holds, mixed};
use crate::tensors::{self, Tensor, either};
use crate::{Expected, backends, check};

#[test]
fn codes() {
    tensors::codes(&mut check);
}

#[test]
fn one_of_another_kind() {
    tensors::one_of_another_kind(&mut check);
}

#[test]
fn lengths() {
    tensors::lengths(&mut check);
}

#[test]
fn long() {
    tensors::long(&mut check);
}

#[test]
fn patterns() {
    tensors::patterns(&mut check);
    tensors::low_words(&mut check);
}

#[test]
fn addresses() {
    tensors::addresses(&mut check);
}

#[test]
fn ends() {
    tensors::ends(&mut check);
}

#[test]
fn groups() {
    tensors::groups(&mut check);
}

#[test]
fn runs() {
    tensors::runs(&mut check);
}

#[test]
fn random_tensors() {
    fn agrees(Tensor { format, bytes }: Tensor) {
        check(format, &bytes);
        // From every address of a line on.
        let size = format.size_in_bytes();
        check(format, &bytes[bytes.len() % 64 / size * size..]);
    }
    QuickCheck::new().tests(either(40, 1500)).quickcheck(agrees as fn(Tensor));
}

/// Bits from every bit offset, of every length, over zeros and over ones.
#[test]
fn every_bit_offset() {
    let format = Format::F16;
    let bytes = mixed(format, 200, 3);
    let expected = Expected::new(format, &bytes);
    for n in (0..=200).step_by(either(9, 1)) {
        let (x, kinds) = (&bytes[..2 * n], &expected.kinds()[..n]);
        for predicate in [Predicate::NonFinite, Predicate::Finite, Predicate::Never] {
            for (offset, fill) in (0..20).flat_map(|offset| [(offset, 0), (offset, 0xFF)]) {
                let mut want = vec![fill; (offset + n).div_ceil(8)];
                for (bit, &kind) in (offset..).zip(kinds) {
                    let hit = u8::from(holds(predicate, kind));
                    want[bit / 8] = want[bit / 8] & !(1 << (bit % 8)) | hit << (bit % 8);
                }
                for &backend in backends() {
                    let mut out = vec![fill; want.len()];
                    let view = TensorView::from_bytes(x, format).unwrap().with_backend(backend);
                    view.bits(predicate, &mut out, offset).unwrap();
                    assert_eq!(out, want, "{view:?} {predicate:?} from bit {offset}");
                }
            }
        }
    }
}
