//! Every question of dense tensors, asked of views and of the functions for typed slices.

use nonfinite::{Elements, Format, Predicate};
use quickcheck::QuickCheck;

use crate::oracle::{Asked, Question, mixed, subjects};
use crate::tensors::{self, Tensor, WIDTHS, either, one_of_each};
use crate::{Expected, check, check_expected};

/// One question about every length. Other tests ask all questions.
fn lengths(question: Question) {
    tensors::lengths(&mut |format, bytes| {
        check_expected(format, bytes, &Expected::new(format, bytes).only(&[question]));
    });
}

#[test]
fn any() {
    lengths(Question::Any);
}

#[test]
fn all() {
    lengths(Question::All);
}

#[test]
fn count() {
    lengths(Question::Count);
}

#[test]
fn position() {
    lengths(Question::Position);
    lengths(Question::Positions);
    lengths(Question::Watch);
}

#[test]
fn mask() {
    lengths(Question::Mask);
    lengths(Question::MaskInto);
}

#[test]
fn bits() {
    lengths(Question::Bits);
}

#[test]
fn census() {
    lengths(Question::Census);
}

#[test]
fn stats() {
    lengths(Question::Stats);
}

#[test]
fn codes() {
    tensors::codes(&mut check);
}

#[test]
fn one_of_another_kind() {
    tensors::one_of_another_kind(&mut check);
}

#[test]
fn long() {
    tensors::long(&mut check);
}

/// A search of more than 256 KiB finds a hit that is alone, in every 512 bytes of it.
#[test]
fn long_searches() {
    for format in WIDTHS {
        let (size, hit) = (format.size_in_bytes(), one_of_each(format)[0]);
        let hit = tensors::tensor(format, 1, |_| hit);
        let mut bytes = vec![0; (256 << 10) + 72];
        for at in (0..bytes.len()).step_by(either(512, 64)) {
            bytes[at..at + size].copy_from_slice(&hit);
            for subject in subjects(Elements::from_bytes(&bytes, format).unwrap()) {
                let position = subject.position(Asked::Is(Predicate::Nan));
                let any = subject.any(Asked::Is(Predicate::Nan));
                let all = subject.all(Asked::Is(Predicate::Finite));
                assert_eq!((position, any, all), (Some(at / size), true, false), "{subject:?}");
            }
            bytes[at..at + size].fill(0);
        }
    }
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

/// Bits from every bit offset, of every length.
#[test]
fn every_bit_offset() {
    let format = Format::F16;
    let bytes = mixed(format, 200, 3);
    for n in (0..=200).step_by(either(9, 1)) {
        for offset in 0..20 {
            let expected = Expected::new(format, &bytes[..2 * n]).only(&[Question::Bits]);
            check_expected(format, &bytes[..2 * n], &expected.with_bits_from(offset));
        }
    }
}
