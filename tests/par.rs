//! Several threads give the answers of the oracles, on every backend, whatever the pool: random
//! data, and hits at the borders between the parts that threads take.

use nonfinite::par::{self, ALONE, GRAIN};
use nonfinite::{Backend, Census, Elements, Error, Format, Occurrences, Predicate};
use nonfinite_oracle::{self as oracle, Kind, holds, kind};
use rayon::{ThreadPool, ThreadPoolBuilder};

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
        let class = |wanted| Occurrences {
            count: kinds.iter().filter(|&&kind| kind == wanted).count(),
            first: kinds.iter().position(|&kind| kind == wanted),
        };
        let census = Census {
            nan: class(Kind::Nan),
            pos_inf: class(Kind::PosInf),
            neg_inf: class(Kind::NegInf),
        };
        Self { format, bytes, kinds, census }
    }

    fn elements(&self) -> Elements<'_> {
        Elements::from_bytes(&self.bytes, self.format).unwrap()
    }

    /// Every sink on every backend, in every pool.
    fn check(&self, pools: &[ThreadPool], predicates: &[Predicate], masks: bool) {
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
        assert_eq!(backend.par_position(x, predicate), first, "position {at}");
        assert_eq!(backend.par_any(x, predicate), first.is_some(), "any {at}");
        assert_eq!(backend.par_all(x, predicate), count == hits.len(), "all {at}");
        assert_eq!(backend.par_count(x, predicate), count, "count {at}");
        assert_eq!(backend.par_census(x), self.census, "census {at}");
    }

    fn check_mask(&self, backend: Backend, predicate: Predicate, hits: &[bool], at: &str) {
        const CANARY: u8 = 0xA5;
        let mut out = vec![CANARY; hits.len() + 2];
        backend.par_mask(self.elements(), predicate, &mut out[1..=hits.len()]);
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
        backend.par_bits(self.elements(), predicate, &mut out[..end], offset);
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
        for &hit in hits.iter().rev() {
            let mut one = clean.clone();
            for bytes in [&mut one, &mut many] {
                bytes[hit * size..][..size].copy_from_slice(&raw);
                let x = Elements::from_bytes(bytes, format).unwrap();
                for pool in &pools {
                    for backend in Backend::available() {
                        let threads = pool.current_num_threads();
                        let at = format!("{} {format} {hit}, {threads} threads", backend.name());
                        pool.install(|| {
                            assert_eq!(backend.par_position(x, Predicate::Nan), Some(hit), "{at}");
                            assert!(backend.par_any(x, Predicate::Nan), "{at}");
                            assert!(!backend.par_all(x, Predicate::Finite), "{at}");
                            assert_eq!(backend.par_census(x).nan.first, Some(hit), "{at}");
                        });
                    }
                }
            }
        }
    }
}

/// The public functions, around the lengths where threads begin to share.
#[test]
fn slices_and_bytes() {
    for elements in [0, 1, 63, ALONE / 4 - 1, ALONE / 4, ALONE / 4 + 1, ALONE / 4 + 70] {
        let mut x = vec![1f32; elements];
        x.iter_mut().skip(5).step_by(1000).for_each(|x| *x = f32::NAN);
        let hits: Vec<bool> = x.iter().map(|x| x.is_nan()).collect();
        let first = hits.iter().position(|&hit| hit);
        let count = hits.iter().filter(|&&hit| hit).count();

        let mut mask = vec![true; elements];
        par::mask(&x, Predicate::Nan, &mut mask);
        assert!(mask == hits, "mask of {elements}");
        let mut words = vec![u64::MAX; elements.div_ceil(64)];
        par::bits(&x, Predicate::Nan, &mut words);
        let bit = |i: usize| words[i / 64] >> (i % 64) & 1 == 1;
        assert!((0..elements).all(|i| bit(i) == hits[i]), "bits of {elements}");
        assert!((elements..64 * words.len()).all(bit), "bits behind {elements}");
        let mut bitmap = vec![0u8; (elements + 5).div_ceil(8)];
        par::bits_at(&x, Predicate::Nan, &mut bitmap, 5);
        assert!((0..elements).all(|i| (bitmap[(i + 5) / 8] >> ((i + 5) % 8) & 1 == 1) == hits[i]));
        assert_eq!(par::any(&x, Predicate::Nan), first.is_some());
        assert_eq!(par::all(&x, Predicate::Finite), first.is_none());
        assert_eq!(par::count(&x, Predicate::Nan), count);
        assert_eq!(par::position(&x, Predicate::Nan), first);
        assert_eq!(par::census(&x).nan, Occurrences { count, first });

        let finite = vec![1f32; elements];
        for backend in Backend::available() {
            assert!(
                backend.par_all(&finite[..], Predicate::Finite),
                "{} all of {elements}",
                backend.name()
            );
        }

        // Room behind the last result, from a bit far behind the first on.
        let mut long = vec![0u8; 10 * bitmap.len() + 3000];
        par::bits_at(&x, Predicate::Nan, &mut long, 805);
        assert!(long[..100].iter().chain(&long[100 + bitmap.len()..]).all(|&byte| byte == 0));
        assert!(long[100..][..bitmap.len()] == bitmap);

        let bytes: Vec<u8> = x.iter().flat_map(|x| x.to_ne_bytes()).collect();
        let f32s = Format::F32;
        let mut mask = vec![7u8; elements];
        assert_eq!(par::bytes::mask(&bytes, f32s, Predicate::Nan, &mut mask), Ok(()));
        assert!(mask.iter().zip(&hits).all(|(&byte, &hit)| byte == u8::from(hit)));
        let mut again = vec![0u8; (elements + 5).div_ceil(8)];
        assert_eq!(par::bytes::bits(&bytes, f32s, Predicate::Nan, &mut again, 5), Ok(()));
        assert!(again == bitmap);
        assert_eq!(par::bytes::any(&bytes, f32s, Predicate::Nan), Ok(first.is_some()));
        assert_eq!(par::bytes::all(&bytes, f32s, Predicate::Finite), Ok(first.is_none()));
        assert_eq!(par::bytes::count(&bytes, f32s, Predicate::Nan), Ok(count));
        assert_eq!(par::bytes::position(&bytes, f32s, Predicate::Nan), Ok(first));
        assert_eq!(
            par::bytes::census(&bytes, f32s).map(|census| census.nan),
            Ok(Occurrences { count, first })
        );
    }
}

/// What is larger than the last-level cache is written past it.
#[test]
fn masks_larger_than_the_cache() {
    let Some(elements) =
        (20..30).map(|power| 1 << power).find(|&results| nonfinite_kernels::streams(results))
    else {
        println!("no mask of less than 2^30 results is written past the caches here");
        return;
    };
    println!("{elements} results are written past the caches");
    let format = Format::F8E5M2;
    // One more than all codes, so that the pattern moves.
    let codes: Vec<u8> = (0..=255).chain([0x7F]).collect();
    let x: Vec<u8> = codes.iter().copied().cycle().take(elements).collect();
    let hits: Vec<u8> =
        codes.iter().map(|&code| u8::from(kind(format, code.into()) == Kind::Nan)).collect();
    let pool = ThreadPoolBuilder::new().num_threads(3).build().unwrap();
    for threads in [false, true] {
        let mut mask = vec![0xA5; elements];
        let written = if threads {
            pool.install(|| par::bytes::mask(&x, format, Predicate::Nan, &mut mask))
        } else {
            nonfinite::bytes::mask(&x, format, Predicate::Nan, &mut mask)
        };
        assert_eq!(written, Ok(()));
        let wrong = mask.chunks(hits.len()).position(|piece| *piece != hits[..piece.len()]);
        assert_eq!(wrong, None, "piece of {} results, threads: {threads}", hits.len());
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let x = vec![f32::NAN; ALONE];
    let bytes = vec![0xFF; 4 * ALONE];
    for wrong in [ALONE - 1, ALONE + 1] {
        let mut mask = vec![false; wrong];
        let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            par::mask(&x, Predicate::Nan, &mut mask)
        }));
        let message = *refused.expect_err("no panic").downcast::<String>().unwrap();
        assert_eq!(message, format!("{ALONE} elements, but an output for {wrong}"));
        assert!(!mask.contains(&true), "nothing is written");
        let mut mask = vec![0; wrong];
        let error = Error::OutputLength { elements: ALONE, output: wrong };
        assert_eq!(par::bytes::mask(&bytes, Format::F32, Predicate::Nan, &mut mask), Err(error));
        assert!(mask.iter().all(|&byte| byte == 0), "nothing is written");
    }
    for (room, offset) in
        [(ALONE / 8, 1), (ALONE / 8, 7), (ALONE / 8 - 1, 0), (ALONE / 8, usize::MAX)]
    {
        let mut bitmap = vec![0; room];
        let refused = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            par::bits_at(&x, Predicate::Nan, &mut bitmap, offset);
        }));
        assert!(refused.is_err(), "{room} bytes from bit {offset} on");
        let error = Error::OutputBits { elements: ALONE, offset, bytes: room };
        assert_eq!(
            par::bytes::bits(&bytes, Format::F32, Predicate::Nan, &mut bitmap, offset),
            Err(error)
        );
        assert!(bitmap.iter().all(|&byte| byte == 0), "nothing is written");
    }
    let partial = Error::PartialElement { bytes: 4 * ALONE - 1, format: Format::F32 };
    let odd = &bytes[1..];
    assert_eq!(par::bytes::any(odd, Format::F32, Predicate::Nan), Err(partial));
    assert_eq!(par::bytes::all(odd, Format::F32, Predicate::Nan), Err(partial));
    assert_eq!(par::bytes::count(odd, Format::F32, Predicate::Nan), Err(partial));
    assert_eq!(par::bytes::position(odd, Format::F32, Predicate::Nan), Err(partial));
    assert_eq!(par::bytes::census(odd, Format::F32), Err(partial));
}
