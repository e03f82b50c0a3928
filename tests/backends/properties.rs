//! Random tensors.

use nonfinite::Format;
use quickcheck::{Arbitrary, Gen, quickcheck};

use crate::{backends, check, oracle, reduced};

/// A tensor of one format: any bits, edges, or zeros with few edges, in any mix.
#[derive(Clone, Debug)]
pub(crate) struct Tensor {
    pub(crate) format: Format,
    pub(crate) bytes: Vec<u8>,
}

impl Arbitrary for Tensor {
    fn arbitrary(g: &mut Gen) -> Self {
        let format = *g.choose(Format::ALL).unwrap();
        Self::of(format, g)
    }
}

impl Tensor {
    pub(crate) fn of(format: Format, g: &mut Gen) -> Self {
        let edges = oracle::edges(format);
        let elements = usize::arbitrary(g) % if reduced() { 300 } else { 3000 };
        let rare = 1 + u32::arbitrary(g) % 1000;
        let mut bytes = Vec::new();
        for _ in 0..elements {
            let bits = match u32::arbitrary(g) % rare {
                0 => *g.choose(&edges).unwrap(),
                1 => u64::arbitrary(g),
                _ => 0,
            };
            oracle::write(format, bits, &mut bytes);
        }
        Self { format, bytes }
    }
}

#[test]
fn random_tensors() {
    fn agrees(tensor: Tensor) {
        check(tensor.format, &tensor.bytes);
    }
    let tests = if reduced() { 30 } else { 1000 };
    quickcheck::QuickCheck::new().tests(tests).quickcheck(agrees as fn(Tensor));
}

quickcheck! {
    /// Backends agree on the census of a reversed tensor too: counts stay, only first indices move.
    fn reversal(tensor: Tensor) -> bool {
        let size = tensor.format.size_in_bytes();
        let reversed: Vec<u8> = tensor.bytes.rchunks_exact(size).flatten().copied().collect();
        backends().into_iter().all(|backend| {
            let [a, b] = [&tensor.bytes, &reversed].map(|bytes| {
                let view = nonfinite::TensorView::from_bytes(bytes, tensor.format).unwrap();
                let census = view.on(backend).census();
                [census.nan, census.pos_inf, census.neg_inf].map(|class| class.count)
            });
            a == b
        })
    }
}
