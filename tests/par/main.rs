//! Several threads give the answers of the oracles, on every backend, whatever the pool: random
//! data, hits at the borders between the parts that threads take, nulls, and strided tensors.

mod views;

use nonfinite::{Elements, Format, Predicate, TensorView};
use nonfinite_oracle::{
    self as oracle, Asked, Expected, Framed, Subject, backends, bitmap, exhaustive, mixed,
};
use rayon::{ThreadPool, ThreadPoolBuilder};

/// Inputs of no more bytes are answered on the calling thread: see [`TensorView::par`].
const ALONE: usize = 2 << 20;
/// The largest part of a longer input, in bytes.
const GRAIN: usize = 256 << 10;

const FORMATS: [Format; 4] = [Format::F32, Format::F64, Format::Bf16, Format::F8E5M2];

/// Odd, so that the last part ends in the middle of a block.
fn long(format: Format) -> usize {
    (ALONE + 3 * GRAIN) / format.size_in_bytes() + 13
}

fn pools() -> Vec<ThreadPool> {
    let pool = |threads| ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
    [1, 2, 3, 8].map(pool).into()
}

fn random() -> impl FnMut() -> u64 {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

/// Whether each of `n` elements has a random number with this property.
fn valid(n: usize, property: impl Fn(u64) -> bool) -> Vec<bool> {
    let mut random = random();
    (0..n).map(|_| property(random())).collect()
}

/// Compares the answers of a view, or of a view with nulls, in each pool.
fn check(pools: &[ThreadPool], view: &(dyn Subject + Sync), expected: &Expected) {
    for pool in pools {
        let answers = || oracle::check(view, expected, &mut Framed::default());
        let threads = pool.current_num_threads();
        pool.install(answers).unwrap_or_else(|wrong| panic!("{threads} threads: {wrong}"));
    }
}

fn check_dense(pools: &[ThreadPool], format: Format, bytes: &[u8], predicates: &[Predicate]) {
    let asked: Vec<Asked> = predicates.iter().map(|&predicate| Asked::Is(predicate)).collect();
    let expected = Expected::new(format, bytes).asking(&asked);
    let view = TensorView::from_bytes(bytes, format).unwrap();
    for &backend in backends() {
        check(pools, &view.with_backend(backend).par(), &expected);
    }
}

/// Where parts begin: halves, as long as they are larger than a part may be.
fn borders(format: Format, start: usize, elements: usize, into: &mut Vec<usize>) {
    into.push(start);
    if elements * format.size_in_bytes() > GRAIN {
        let middle = (elements / 2).next_multiple_of(64);
        borders(format, start, middle, into);
        borders(format, start + middle, elements - middle, into);
    }
}

#[test]
fn random_bits() {
    let pools = pools();
    for format in FORMATS {
        let (mut random, mut bytes) = (random(), Vec::new());
        (0..long(format)).for_each(|_| oracle::write(format, random(), &mut bytes));
        check_dense(&pools, format, &bytes, &[Predicate::Nan, Predicate::Finite]);
    }
}

#[test]
fn rare_hits() {
    let pools = pools();
    for format in FORMATS {
        let bytes = mixed(format, long(format), 50_000);
        let predicates = [Predicate::Nan, Predicate::Finite, Predicate::NegativeInf];
        check_dense(&pools, format, &bytes, &predicates);
    }
}

/// One hit beside each border, then all of them from there on: the smallest index is the answer.
#[test]
fn hits_at_borders() {
    let pools = pools();
    for format in [Format::F32, Format::F8E5M2] {
        let (n, size) = (long(format), format.size_in_bytes());
        let mut starts = vec![n];
        borders(format, 0, n, &mut starts);
        let mut hits: Vec<usize> =
            starts.iter().flat_map(|&s| [s.wrapping_sub(1), s]).filter(|&i| i < n).collect();
        hits.sort_unstable();
        hits.dedup();
        assert!(hits.len() > 8, "too few parts for a test: {hits:?}");
        let mut many = vec![0; n * size];
        let (mut turn, step) = (0, if exhaustive() { 1 } else { 5 });
        for &hit in hits.iter().rev() {
            let mut one = vec![0; n * size];
            for bytes in [&mut one, &mut many] {
                bytes[hit * size..][..size].fill(0xFF);
                let x = TensorView::from_bytes(bytes, format).unwrap();
                for (pool, &backend) in
                    pools.iter().flat_map(|pool| backends().iter().map(move |b| (pool, b)))
                {
                    turn += 1;
                    if turn % step != 0 {
                        continue;
                    }
                    let ask = |x: TensorView<'_>| {
                        (
                            x.position(Predicate::Nan),
                            x.any(Predicate::Nan),
                            x.all(Predicate::Finite),
                        )
                    };
                    let answers = pool.install(|| ask(x.with_backend(backend).par()));
                    let threads = pool.current_num_threads();
                    let at = format!("{backend:?} {format} {hit}, {threads} threads");
                    assert_eq!(answers, (Some(hit), true, false), "{at}");
                }
            }
        }
    }
}

/// Views of slices, around the lengths where threads begin to share.
#[test]
fn lengths_where_threads_begin() {
    for elements in [0, 1, 63, ALONE / 4 - 1, ALONE / 4, ALONE / 4 + 1, ALONE / 4 + 70] {
        for rare in [1000, usize::MAX / 7919] {
            let bytes = mixed(Format::F32, elements, rare);
            let predicates = [Predicate::Nan, Predicate::Finite];
            check_dense(&pools()[2..], Format::F32, &bytes, &predicates);
        }
    }
}

/// Columns, and the same elements as two rows whose columns are backwards.
#[test]
fn nulls() {
    let pools = &pools()[1..3];
    for format in FORMATS {
        let n = long(format) & !1;
        let bytes = mixed(format, n, 100);
        let x = Elements::from_bytes(&bytes, format).unwrap();
        let rows = oracle::Layout::new(&[2, n / 2], &[n as isize / 2, -1]);
        let end: Vec<bool> = (0..n).map(|i| i > n - n / 8).collect();
        let runs: Vec<bool> = (0..n).map(|i| i / 30_000 % 3 != 1).collect();
        let patterns = [valid(n, |x| x % 2 == 0), runs, end, vec![true; n]];
        for (turn, valid) in patterns.into_iter().enumerate() {
            let offset = 13 * turn + 3;
            let bitmap = bitmap(&valid, offset);
            let asked = [Asked::Is(Predicate::Nan), Asked::Is(Predicate::Finite)];
            let dense = Expected::new(format, &bytes).with_nulls(valid.clone()).asking(&asked);
            let strided = Expected::strided(format, &bytes, &rows).with_nulls(valid);
            // Not the half million rows of two.
            let strided = strided.asking(&asked).along(1);
            // Parts do not depend on the backend.
            let (pool, backend) = (&pools[turn % 2..][..1], backends()[turn % backends().len()]);
            for (view, expected) in
                [(TensorView::from(x), &dense), (rows.view(x).unwrap(), &strided)]
            {
                let view = view.with_backend(backend).par().with_validity(&bitmap, offset).unwrap();
                check(pool, &view, expected);
            }
        }
    }
}
