//! Questions under a validity bitmap with several threads, against the oracle.

use nonfinite::{Backend, Census, Occurrences, Predicate, TensorView};

use rayon::ThreadPool;

use crate::oracle::{self, Kind, holds};
use crate::{FORMATS, Tensor, long, nan_and_one, pools, random};

#[test]
fn nulls_with_threads() {
    let pools = &pools()[1..3];
    for format in FORMATS {
        let (n, edges, mut random) = (long(format), oracle::edges(format), random());
        let (_, one) = nan_and_one(format);
        let bits = (0..n).map(|_| match random() {
            rare if rare.is_multiple_of(100) => edges[rare as usize / 100 % edges.len()],
            _ => one,
        });
        let tensor = Tensor::new(format, bits);
        let mut random = crate::random();
        let half: Vec<bool> = (0..n).map(|_| random().is_multiple_of(2)).collect();
        let runs: Vec<bool> = (0..n).map(|i| i / 30_000 % 3 != 1).collect();
        // All hits at the front are under nulls.
        let end: Vec<bool> = (0..n).map(|i| i > n - n / 8).collect();
        for (turn, valid) in [half, runs, end, vec![true; n]].into_iter().enumerate() {
            check(&tensor, &valid, 13 * turn + 3, pools);
            check_stats(&tensor, &valid, 13 * turn + 3, &pools[0]);
        }
    }
}

fn check_stats(tensor: &Tensor, valid: &[bool], offset: usize, pool: &ThreadPool) {
    let (bitmap, size) = (oracle::bitmap(valid, offset), tensor.format.size_in_bytes());
    let elements: Vec<u64> = tensor.bytes.chunks_exact(size).map(oracle::read).collect();
    let want = oracle::summary_of_valid(tensor.format, &elements, valid);
    let columns = elements.len() / 2;
    let (sizes, strides) = ([2, columns], [columns as isize, -1]);
    for backend in Backend::available() {
        let at = format!("{} {}", backend.name(), tensor.format);
        pool.install(|| {
            let view = TensorView::from(tensor.elements()).on(backend).par();
            let stats = view.with_validity(&bitmap, offset).unwrap().stats();
            assert_eq!(oracle::Summary::from(stats), want, "{at}");
            let view = TensorView::strided(tensor.elements(), columns - 1, &sizes, &strides);
            let view = view.unwrap().on(backend);
            let one = view.with_validity(&bitmap, offset).unwrap();
            let many = view.par().with_validity(&bitmap, offset).unwrap();
            assert_eq!(many.stats(), one.stats(), "{at}");
        });
    }
}

fn check(tensor: &Tensor, valid: &[bool], offset: usize, pools: &[ThreadPool]) {
    let (bitmap, kinds) = (oracle::bitmap(valid, offset), &tensor.kinds);
    let class = |wanted| {
        let at = || (0..kinds.len()).filter(|&i| valid[i] && kinds[i] == wanted);
        Occurrences::new(at().count(), at().next())
    };
    let census = Census::new(class(Kind::Nan), class(Kind::PosInf), class(Kind::NegInf));
    // The same elements as a dense view, and as two rows whose columns are backwards.
    let columns = kinds.len() / 2;
    let (sizes, strides) = ([2, columns], [columns as isize, -1]);
    for predicate in [Predicate::Nan, Predicate::Finite] {
        let is_hit = |i: usize| valid[i] && holds(predicate, kinds[i]);
        let hits: Vec<usize> = (0..kinds.len()).filter(|&i| is_hit(i)).collect();
        let all = (0..kinds.len()).all(|i| !valid[i] || is_hit(i));
        let mut want = vec![0xA5; (5 + kinds.len()).div_ceil(8) + 1];
        for bit in 5..5 + kinds.len() {
            want[bit / 8] &= !(1 << (bit % 8));
        }
        hits.iter().for_each(|i| want[(5 + i) / 8] |= 1 << ((5 + i) % 8));
        for backend in Backend::available() {
            let at = format!("{} {} {predicate:?}", backend.name(), tensor.format);
            let strided = TensorView::strided(tensor.elements(), columns - 1, &sizes, &strides);
            let strided = strided.unwrap().on(backend);
            let ask = |view: TensorView<'_>| {
                let view = view.with_validity(&bitmap, offset).unwrap();
                let mut bits = vec![0; want.len()];
                view.bits(predicate, &mut bits, 3).unwrap();
                let (count, position) = (view.count(predicate), view.position(predicate));
                (count, position, view.all(predicate), view.census(), bits)
            };
            let one = ask(strided);
            for pool in pools {
                pool.install(|| {
                    let view = TensorView::from(tensor.elements()).on(backend).par();
                    let view = view.with_validity(&bitmap, offset).unwrap();
                    assert_eq!(view.count(predicate), hits.len(), "{at}");
                    assert_eq!(view.position(predicate), hits.first().copied(), "{at}");
                    assert_eq!(view.any(predicate), !hits.is_empty(), "{at}");
                    assert_eq!(view.all(predicate), all, "{at}");
                    assert_eq!(view.census(), census, "{at}");
                    let mut out = vec![0xA5; want.len()];
                    let end = out.len() - 1;
                    view.bits(predicate, &mut out[..end], 5).unwrap();
                    assert!(out == want, "bits {at}");
                    assert!(ask(strided.par()) == one, "strided {at}");
                });
            }
        }
    }
}
