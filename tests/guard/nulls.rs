//! A validity bitmap between pages that must not be touched.

use nonfinite::{Elements, Format, Predicate, TensorView};

use crate::oracle::{self, Kind};
use crate::pages::Guarded;
use crate::{End, MOST, Tensor, lengths};

#[test]
fn nothing_outside_a_bitmap_is_touched() {
    let mut input = Guarded::new(8 * MOST);
    let mut bitmap = Guarded::new((64 + MOST).div_ceil(8));
    let mut out = Guarded::new(MOST / 8 + 2);
    let backends = oracle::backends();
    let (nan, ends) = (Predicate::Nan, [End::Front(0), End::Back(0)]);
    for format in [Format::F32, Format::F64, Format::F16, Format::F8E4M3Fn] {
        let [tensor, _] = Tensor::both(format);
        for n in lengths() {
            let size = format.size_in_bytes();
            for end in ends {
                let elements = end.of(input.bytes(), n * size);
                elements.copy_from_slice(&tensor.bytes[..n * size]);
                let elements = Elements::from_bytes(elements, format).unwrap();
                // All valid up to the end, so that runs reach it, or every third null.
                for (valid, shift) in [(1usize, n % 8), (3, n % 8), (1, 8 + n % 56)] {
                    let valid: Vec<bool> = (0..n).map(|i| valid == 1 || i % valid != 1).collect();
                    let bits = oracle::bitmap(&valid, shift);
                    let guarded = end.of(bitmap.bytes(), bits.len());
                    guarded.copy_from_slice(&bits);
                    let hits: Vec<bool> =
                        (0..n).map(|i| valid[i] && tensor.kinds[i] == Kind::Nan).collect();
                    for &backend in &backends {
                        let view = TensorView::from(elements).on(backend);
                        let view = view.with_validity(guarded, shift).unwrap();
                        let count = hits.iter().filter(|&&hit| hit).count();
                        assert_eq!(view.count(nan), count);
                        let finite = |i: &usize| valid[*i] && tensor.kinds[*i] == Kind::Finite;
                        assert_eq!(view.count(Predicate::Finite), (0..n).filter(finite).count());
                        assert_eq!(view.census().nan.count, count);
                        assert_eq!(view.stats().census, view.census());
                        assert_eq!(view.position(nan), hits.iter().position(|&hit| hit));
                        assert_eq!(view.valid_count(), valid.iter().filter(|&&v| v).count());
                        assert_eq!(view.all(Predicate::Never), valid.iter().all(|&v| !v));
                        let offset = (n + count) % 8;
                        let out = end.of(out.bytes(), (offset + n).div_ceil(8));
                        view.bits(nan, out, offset).unwrap();
                        let bit = |i: usize| out[(offset + i) / 8] >> ((offset + i) % 8) & 1 == 1;
                        assert!((0..n).all(|i| bit(i) == hits[i]), "{n} elements at {end:?}");
                    }
                }
            }
        }
    }
}
