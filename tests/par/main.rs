//! Several threads give the answers of the oracles, on every backend, whatever the pool: random
//! data, and hits at the borders between the parts that threads take.

mod nulls;
mod views;

use nonfinite::{Backend, Census, Elements, Format, Occurrences, Predicate, TensorView};
use nonfinite_oracle::{self as oracle, Kind, holds, kind};
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

/// The elements, and what the oracle says they are.
struct Tensor {
    format: Format,
    bytes: Vec<u8>,
    kinds: Vec<Kind>,
    census: Census,
}

impl Tensor {
    fn new(format: Format, bits: impl Iterator<Item = u64>) -> Self {
        let mut bytes = Vec::new();
        bits.for_each(|bits| oracle::write(format, bits, &mut bytes));
        let kinds =
            bytes.chunks_exact(format.size_in_bytes()).map(|raw| kind(format, oracle::read(raw)));
        let kinds: Vec<Kind> = kinds.collect();
        let class = |wanted| {
            Occurrences::new(
                kinds.iter().filter(|&&kind| kind == wanted).count(),
                kinds.iter().position(|&kind| kind == wanted),
            )
        };
        let census = Census::new(class(Kind::Nan), class(Kind::PosInf), class(Kind::NegInf));
        Self { format, bytes, kinds, census }
    }

    fn elements(&self) -> Elements<'_> {
        Elements::from_bytes(&self.bytes, self.format).unwrap()
    }

    /// Every sink on every backend, in every pool.
    fn check(&self, pools: &[ThreadPool], predicates: &[Predicate], masks: bool) {
        for backend in Backend::available() {
            let alone = TensorView::from(self.elements()).on(backend);
            let stats = alone.stats();
            for pool in pools {
                let at = format!("{} {}", backend.name(), pool.current_num_threads());
                let (census, shared) = pool.install(|| (alone.par().census(), alone.par().stats()));
                assert_eq!(census, self.census, "census {at}");
                assert_eq!(shared, stats, "stats {at}");
            }
        }
        for &predicate in predicates {
            let hits: Vec<bool> = self.kinds.iter().map(|&kind| holds(predicate, kind)).collect();
            for pool in pools {
                for backend in Backend::available() {
                    let at = format!(
                        "{} {} {predicate:?}, {} threads",
                        backend.name(),
                        self.format,
                        pool.current_num_threads()
                    );
                    pool.install(|| {
                        self.check_reductions(backend, predicate, &hits, &at);
                        if masks {
                            self.check_mask(backend, predicate, &hits, &at);
                            self.check_bits(backend, predicate, &hits, 0, &at);
                            self.check_bits(backend, predicate, &hits, 13, &at);
                        }
                    });
                }
            }
        }
    }

    fn check_reductions(&self, backend: Backend, predicate: Predicate, hits: &[bool], at: &str) {
        let x = self.elements();
        let first = hits.iter().position(|&hit| hit);
        let count = hits.iter().filter(|&&hit| hit).count();
        assert_eq!(
            TensorView::from(x).on(backend).par().position(predicate),
            first,
            "position {at}"
        );
        assert_eq!(
            TensorView::from(x).on(backend).par().any(predicate),
            first.is_some(),
            "any {at}"
        );
        assert_eq!(
            TensorView::from(x).on(backend).par().all(predicate),
            count == hits.len(),
            "all {at}"
        );
        assert_eq!(TensorView::from(x).on(backend).par().count(predicate), count, "count {at}");
    }

    fn check_mask(&self, backend: Backend, predicate: Predicate, hits: &[bool], at: &str) {
        const CANARY: u8 = 0xA5;
        let mut out = vec![CANARY; hits.len() + 2];
        TensorView::from(self.elements())
            .on(backend)
            .par()
            .mask(predicate, &mut out[1..=hits.len()])
            .unwrap();
        let wrong = hits.iter().zip(&out[1..]).position(|(&hit, &byte)| u8::from(hit) != byte);
        assert_eq!(wrong, None, "mask {at}");
        assert_eq!((out[0], out[hits.len() + 1]), (CANARY, CANARY), "mask {at} wrote outside");
    }

    fn check_bits(
        &self,
        backend: Backend,
        predicate: Predicate,
        hits: &[bool],
        offset: usize,
        at: &str,
    ) {
        const CANARY: u8 = 0xA5;
        let mut out = vec![CANARY; (offset + hits.len()).div_ceil(8) + 1];
        let mut want = out.clone();
        for (i, &hit) in hits.iter().enumerate() {
            let (byte, bit) = ((offset + i) / 8, (offset + i) % 8);
            want[byte] = want[byte] & !(1 << bit) | u8::from(hit) << bit;
        }
        let end = out.len() - 1;
        TensorView::from(self.elements())
            .on(backend)
            .par()
            .bits(predicate, &mut out[..end], offset)
            .unwrap();
        assert!(out == want, "bits {at} offset {offset}");
    }
}

/// The bits of a positive NaN, and of one.
fn nan_and_one(format: Format) -> (u64, u64) {
    match format {
        Format::F64 => (f64::NAN.to_bits(), 1f64.to_bits()),
        Format::F32 => (f32::NAN.to_bits().into(), 1f32.to_bits().into()),
        Format::Bf16 => (0x7FC0, 0x3F80),
        Format::F8E5M2 => (0x7E, 0x3C),
        _ => unreachable!("not among FORMATS"),
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
        let mut random = random();
        let tensor = Tensor::new(format, (0..long(format)).map(|_| random()));
        tensor.check(&pools, &[Predicate::Nan, Predicate::Finite], true);
    }
}

#[test]
fn rare_hits() {
    let pools = pools();
    for format in FORMATS {
        let (_, one) = nan_and_one(format);
        let edges = oracle::edges(format);
        let mut random = random();
        let bits = (0..long(format)).map(|_| match random() {
            rare if rare.is_multiple_of(50_000) => edges[rare as usize / 50_000 % edges.len()],
            _ => one,
        });
        Tensor::new(format, bits).check(
            &pools,
            &[Predicate::Nan, Predicate::Finite, Predicate::NegativeInf],
            false,
        );
    }
}

/// One hit beside each border, then all of them from there on: the smallest index is the answer.
/// Every pool is asked each question at each hit. The census of all hits from there on is slow, so
/// it is taken in the next pool at each hit.
#[test]
fn hits_at_borders() {
    let pools = pools();
    for format in [Format::F32, Format::F8E5M2] {
        let (nan, one) = nan_and_one(format);
        let n = long(format);
        let mut starts = vec![n];
        borders(format, 0, n, &mut starts);
        let mut hits: Vec<usize> =
            starts.iter().flat_map(|&s| [s.wrapping_sub(1), s]).filter(|&i| i < n).collect();
        hits.sort_unstable();
        hits.dedup();
        assert!(hits.len() > 8, "too few parts for a test: {hits:?}");
        let clean = Tensor::new(format, (0..n).map(|_| one)).bytes;
        let mut many = clean.clone();
        let size = format.size_in_bytes();
        let mut raw = Vec::new();
        oracle::write(format, nan, &mut raw);
        for (turn, &hit) in hits.iter().rev().enumerate() {
            let mut one = clean.clone();
            for (bytes, is_one) in [(&mut one, true), (&mut many, false)] {
                bytes[hit * size..][..size].copy_from_slice(&raw);
                let x = Elements::from_bytes(bytes, format).unwrap();
                for (i, pool) in pools.iter().enumerate() {
                    for backend in Backend::available() {
                        let threads = pool.current_num_threads();
                        let at = format!("{} {format} {hit}, {threads} threads", backend.name());
                        pool.install(|| {
                            assert_eq!(
                                TensorView::from(x).on(backend).par().position(Predicate::Nan),
                                Some(hit),
                                "{at}"
                            );
                            assert!(
                                TensorView::from(x).on(backend).par().any(Predicate::Nan),
                                "{at}"
                            );
                            assert!(
                                !TensorView::from(x).on(backend).par().all(Predicate::Finite),
                                "{at}"
                            );
                            if is_one || turn % pools.len() == i {
                                let census = TensorView::from(x).on(backend).par().census();
                                assert_eq!(census.nan.first, Some(hit), "{at}");
                            }
                        });
                    }
                }
            }
        }
    }
}

/// Views of slices and of bytes, around the lengths where threads begin to share.
#[test]
fn slices_and_bytes() {
    for elements in [0, 1, 63, ALONE / 4 - 1, ALONE / 4, ALONE / 4 + 1, ALONE / 4 + 70] {
        let mut x = vec![1f32; elements];
        x.iter_mut().skip(5).step_by(1000).for_each(|x| *x = f32::NAN);
        let hits: Vec<bool> = x.iter().map(|x| x.is_nan()).collect();
        let first = hits.iter().position(|&hit| hit);
        let indices = hits.iter().enumerate().filter(|(_, hit)| **hit).map(|(i, _)| i);
        let count = indices.clone().count();

        let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_ne_bytes()).collect();
        for view in [TensorView::from(&x), TensorView::from_bytes(&bytes, Format::F32).unwrap()] {
            let view = view.par();
            let mut mask = vec![true; elements];
            view.mask(Predicate::Nan, &mut mask).unwrap();
            assert!(mask == hits, "mask of {elements}");
            // Room behind the last result, from a bit far behind the first on.
            for offset in [5, 805] {
                let (begin, end) = (offset, offset + elements);
                let mut bitmap = vec![0u8; end.div_ceil(8) + 3000];
                view.bits(Predicate::Nan, &mut bitmap, offset).unwrap();
                let bit = |i: usize| bitmap[i / 8] >> (i % 8) & 1 == 1;
                assert!((begin..end).all(|i| bit(i) == hits[i - begin]), "bits of {elements}");
                assert!((0..begin).chain(end..8 * bitmap.len()).all(|i| !bit(i)), "{elements}");
            }
            assert_eq!(view.any(Predicate::Nan), first.is_some());
            assert_eq!(view.all(Predicate::Finite), first.is_none());
            assert_eq!(view.count(Predicate::Nan), count);
            assert_eq!(view.position(Predicate::Nan), first);
            assert!(view.positions(Predicate::Nan).eq(indices.clone()), "{elements}");
            assert_eq!(view.census().nan, Occurrences::new(count, first));
        }

        let finite = vec![1f32; elements];
        for backend in Backend::available() {
            let all = TensorView::from(&finite).on(backend).par().all(Predicate::Finite);
            assert!(all, "{} all of {elements}", backend.name());
        }
    }
}
