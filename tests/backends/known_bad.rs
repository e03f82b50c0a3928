//! Implementations that are known to be wrong, from libraries in use and from common idioms. The
//! checks of the suite, on the tensors of the suite, must refuse all of them.

use std::fmt;

use half::f16;
use nonfinite::{Census, Format, Occurrences, Predicate};

use crate::nulls;
use crate::oracle::{self, Asked, Expected, Framed, Kind, Subject, Summary, bitmap};
use crate::tensors::SUITE;

/// A wrong implementation, one element at a time. The mistake is in `judge` or in `sinks`.
struct Implementation {
    name: &'static str,
    /// The formats with wrong answers.
    formats: &'static [Format],
    judge: fn(Format, Predicate, u64) -> bool,
    sinks: Sinks,
}

/// How sinks are computed from the judgements.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Sinks {
    /// Correctly.
    Right,
    /// `any` NaN by a sum in eight lanes.
    SumForAny,
    /// `all` finite by the least and the greatest element.
    RangeForAll,
    /// Nothing is written.
    Silent,
    /// 255 for true.
    AllOnes,
    /// Bits of the last byte that are not results are set to 0.
    ClearsRest,
    /// The last hit instead of the first.
    Last,
    /// Counts are kept in a byte.
    NarrowCount,
    /// Statistics know no NaN.
    DropsNan,
    /// In statistics, -0 is less than +0.
    OrderedZeros,
    /// In statistics, subnormal numbers are zero.
    Flushes,
    /// `>=` for `>`.
    AboveOrEqual,
    /// A watch passes over tensors without NaN and infinities.
    WatchesSpecials,
    /// The nulls count as valid elements.
    IgnoresBitmap,
    /// The bitmap begins with the first element.
    IgnoresOffset,
    /// The highest bit of a byte comes first.
    MostSignificantFirst,
    /// 1 stands for a null.
    OneIsNull,
    /// `count` is the count without the bitmap less the nulls.
    SubtractsNulls,
    /// `all` is false if there is a null.
    NullFailsAll,
    /// Indices count valid elements.
    IndexAmongValid,
    /// Null in, true out.
    NullBitsAreOnes,
    /// Only whole bytes of the bitmap are looked at; the rest counts as valid.
    ForgetsTail,
}

/// How answers under nulls go wrong.
const WITH_NULLS: [Sinks; 9] = [
    Sinks::IgnoresBitmap,
    Sinks::IgnoresOffset,
    Sinks::MostSignificantFirst,
    Sinks::OneIsNull,
    Sinks::SubtractsNulls,
    Sinks::NullFailsAll,
    Sinks::IndexAmongValid,
    Sinks::NullBitsAreOnes,
    Sinks::ForgetsTail,
];

fn right(format: Format, predicate: Predicate, bits: u64) -> bool {
    oracle::holds(predicate, oracle::kind(format, bits))
}

/// The judgement of an implementation, from its NaN, infinity and sign.
fn seen(predicate: Predicate, nan: bool, infinite: bool, negative: bool) -> bool {
    let kind = match (nan, infinite, negative) {
        (true, ..) => Kind::Nan,
        (_, true, false) => Kind::PosInf,
        (_, true, true) => Kind::NegInf,
        _ => Kind::Finite,
    };
    oracle::holds(predicate, kind)
}

const IEEE: &[Format] = &[Format::F16, Format::Bf16, Format::F32, Format::F64];
const FNUZ: &[Format] = &[Format::F8E4M3FnUz, Format::F8E5M2FnUz, Format::F8E4M3B11FnUz];

/// An implementation that judges elements correctly.
const fn by_sinks(name: &'static str, formats: &'static [Format], sinks: Sinks) -> Implementation {
    Implementation { name, formats, judge: right, sinks }
}

/// The first entries are those of OpenVINO 2026.4.1, ggml, StableHLO's lowering to TOSA,
/// coremltools, burn, Highway and onnxruntime 1.31.1, as those projects' sources or answers have
/// them.
const KNOWN_BAD: [Implementation; 22] = [
    Implementation {
        name: "infinite f64 is finite (OpenVINO IsFinite)",
        formats: &[Format::F64],
        judge: |format, predicate, bits| {
            right(format, predicate, bits)
                || predicate == Predicate::Finite && oracle::kind(format, bits) != Kind::Nan
        },
        sinks: Sinks::Right,
    },
    Implementation {
        name: "infinite f64 is not infinite (OpenVINO IsInf)",
        formats: &[Format::F64],
        judge: |format, predicate, bits| {
            predicate != Predicate::Inf && right(format, predicate, bits)
        },
        sinks: Sinks::Right,
    },
    Implementation {
        name: "subnormals are not finite (OpenVINO IsFinite on AVX-512)",
        formats: &[Format::F32, Format::Bf16],
        judge: |format, predicate, bits| {
            let (magnitude, least) = match format {
                Format::F32 => (bits & 0x7FFF_FFFF, 0x0080_0000),
                _ => (bits & 0x7FFF, 0x0080),
            };
            let subnormal = magnitude != 0 && magnitude < least;
            right(format, predicate, bits) && !(predicate == Predicate::Finite && subnormal)
        },
        sinks: Sinks::Right,
    },
    Implementation {
        name: "f64 narrowed to f32 (ggml_validate_row_data)",
        formats: &[Format::F64],
        judge: |_, predicate, bits| {
            let x = f64::from_bits(bits) as f32;
            seen(predicate, x.is_nan(), x.is_infinite(), x.is_sign_negative())
        },
        sinks: Sinks::Right,
    },
    Implementation {
        name: "NaN is finite (is_finite of StableHLO as TOSA)",
        formats: IEEE,
        judge: |format, predicate, bits| {
            right(format, predicate, bits)
                || predicate == Predicate::Finite && oracle::kind(format, bits) == Kind::Nan
        },
        sinks: Sinks::Right,
    },
    Implementation {
        name: "large is not finite (coremltools IsFinite)",
        formats: &[Format::F32],
        judge: |format, predicate, bits| match predicate {
            Predicate::Finite => f32::from_bits(bits as u32).abs() < 1e15,
            _ => right(format, predicate, bits),
        },
        sinks: Sinks::Right,
    },
    Implementation {
        name: "exponent all ones on E4M3FN",
        formats: &[Format::F8E4M3Fn],
        judge: |_, predicate, bits| {
            let special = bits & 0x78 == 0x78;
            seen(predicate, special && bits & 7 != 0, special && bits & 7 == 0, bits & 0x80 != 0)
        },
        sinks: Sinks::Right,
    },
    Implementation {
        name: "sign masked first on FNUZ",
        formats: FNUZ,
        judge: |_, predicate, bits| {
            let magnitude = bits & 0x7F;
            seen(predicate, magnitude == 0x80, false, false)
        },
        sinks: Sinks::Right,
    },
    by_sinks("contains_nan by a sum (burn)", &[Format::F16], Sinks::SumForAny),
    by_sinks(
        "all finite by least and greatest, which pass over NaN",
        &[Format::F32],
        Sinks::RangeForAll,
    ),
    Implementation {
        name: "7FFFFFFF is no NaN (std::isnan of clang for AVX3, by Highway)",
        formats: &[Format::F32],
        judge: |format, predicate, bits| {
            let bits = if bits == 0x7FFF_FFFF { 0 } else { bits };
            right(format, predicate, bits)
        },
        sinks: Sinks::Right,
    },
    by_sinks("no kernel for bf16 (IsNaN 13 to 19 of onnxruntime)", &[Format::Bf16], Sinks::Silent),
    Implementation {
        name: "only the upper word of f64",
        formats: &[Format::F64],
        judge: |format, predicate, bits| right(format, predicate, bits & !0xFFFF_FFFF),
        sinks: Sinks::Right,
    },
    by_sinks("255 for true", IEEE, Sinks::AllOnes),
    by_sinks("bits behind the results become 0", IEEE, Sinks::ClearsRest),
    by_sinks("last for first", IEEE, Sinks::Last),
    by_sinks("counts in a byte", IEEE, Sinks::NarrowCount),
    by_sinks("statistics by fmax, which drops NaN", IEEE, Sinks::DropsNan),
    by_sinks("-0 is the minimum", IEEE, Sinks::OrderedZeros),
    by_sinks("a subnormal number counts as zero", IEEE, Sinks::Flushes),
    by_sinks("the threshold itself is above", IEEE, Sinks::AboveOrEqual),
    by_sinks("a watch looks for NaN and infinities first", IEEE, Sinks::WatchesSpecials),
];

/// An implementation and what it is asked about: codes, the bitmap, and the bit of the first.
struct Answering<'a> {
    implementation: &'a Implementation,
    format: Format,
    codes: Vec<u64>,
    bitmap: Option<(Vec<u8>, usize)>,
}

impl fmt::Debug for Answering<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.implementation.name)
    }
}

impl Answering<'_> {
    fn sinks(&self) -> Sinks {
        self.implementation.sinks
    }

    fn is_valid(&self, i: usize) -> bool {
        let Some((bitmap, offset)) = &self.bitmap else { return true };
        let bit = if self.sinks() == Sinks::IgnoresOffset { i } else { offset + i };
        let whole = (offset + self.codes.len()) / 8;
        let byte = bitmap[bit / 8];
        match self.sinks() {
            Sinks::IgnoresBitmap => true,
            Sinks::MostSignificantFirst => byte >> (7 - bit % 8) & 1 == 1,
            Sinks::OneIsNull => byte >> (bit % 8) & 1 == 0,
            Sinks::ForgetsTail if bit / 8 >= whole => true,
            _ => byte >> (bit % 8) & 1 == 1,
        }
    }

    /// Whether each element is asked for, null or not.
    fn judged(&self, asked: Asked) -> Vec<bool> {
        let (format, above) = (self.format, self.sinks() == Sinks::AboveOrEqual);
        let is_hit = |&bits: &u64| match asked {
            Asked::Is(predicate) => (self.implementation.judge)(format, predicate, bits),
            Asked::Above(threshold) => {
                let x = oracle::value(format, bits);
                x.is_nan() || x.abs() > threshold || above && x.abs() == threshold
            }
        };
        self.codes.iter().map(is_hit).collect()
    }

    fn hits(&self, asked: Asked) -> Vec<usize> {
        let judged = self.judged(asked);
        (0..judged.len()).filter(|&i| judged[i] && self.is_valid(i)).collect()
    }

    fn index(&self, i: usize) -> usize {
        match self.sinks() {
            Sinks::IndexAmongValid => (0..i).filter(|&i| self.is_valid(i)).count(),
            _ => i,
        }
    }

    fn class(&self, predicate: Predicate) -> Occurrences {
        let asked = Asked::Is(predicate);
        Occurrences::new(self.count(asked), self.position(asked))
    }
}

impl Subject for Answering<'_> {
    fn mask(&self, asked: Asked, out: &mut [u8]) {
        let one = if self.sinks() == Sinks::AllOnes { 255 } else { 1 };
        if self.sinks() != Sinks::Silent {
            let hits = self.judged(asked).into_iter().zip(0..);
            let hits = hits.map(|(hit, i)| hit && self.is_valid(i));
            hits.zip(out).for_each(|(hit, out)| *out = u8::from(hit) * one);
        }
    }

    fn bits(&self, asked: Asked, out: &mut [u8], offset: usize) {
        for (i, hit) in self.judged(asked).into_iter().enumerate() {
            let null = !self.is_valid(i);
            let hit = if null { self.sinks() == Sinks::NullBitsAreOnes } else { hit };
            let (byte, bit) = ((offset + i) / 8, (offset + i) % 8);
            out[byte] = out[byte] & !(1 << bit) | u8::from(hit) << bit;
        }
        let end = offset + self.codes.len();
        if self.sinks() == Sinks::ClearsRest && !end.is_multiple_of(8) {
            out[end / 8] &= !(u8::MAX << (end % 8));
        }
    }

    fn any(&self, asked: Asked) -> bool {
        if self.sinks() == Sinks::SumForAny && asked == Asked::Is(Predicate::Nan) {
            let mut sums = [f16::ZERO; 8];
            for (i, &bits) in self.codes.iter().enumerate() {
                sums[i % 8] += f16::from_bits(bits as u16);
            }
            return sums.into_iter().fold(f16::ZERO, |sum, lane| sum + lane).is_nan();
        }
        !self.hits(asked).is_empty()
    }

    fn all(&self, asked: Asked) -> bool {
        if self.sinks() == Sinks::RangeForAll && asked == Asked::Is(Predicate::Finite) {
            let numbers = || self.codes.iter().map(|&bits| f32::from_bits(bits as u32));
            return numbers().fold(0.0, f32::max).is_finite()
                && numbers().fold(0.0, f32::min).is_finite();
        }
        let valid = self.valid_count();
        self.hits(asked).len() == valid
            && (self.sinks() != Sinks::NullFailsAll || valid == self.codes.len())
    }

    fn count(&self, asked: Asked) -> usize {
        let count = self.hits(asked).len();
        match self.sinks() {
            Sinks::NarrowCount => count % 256,
            Sinks::SubtractsNulls => {
                let all = self.judged(asked).into_iter().filter(|&hit| hit).count();
                all.saturating_sub(self.codes.len() - self.valid_count())
            }
            _ => count,
        }
    }

    fn position(&self, asked: Asked) -> Option<usize> {
        let hits = self.hits(asked);
        let hit = if self.sinks() == Sinks::Last { hits.last() } else { hits.first() };
        hit.map(|&i| self.index(i))
    }

    fn positions(&self, asked: Asked, most: usize) -> Vec<usize> {
        let hits = self.hits(asked).into_iter().take(most);
        hits.map(|i| self.index(i)).collect()
    }

    fn census(&self) -> Census {
        Census::new(
            self.class(Predicate::Nan),
            self.class(Predicate::PositiveInf),
            self.class(Predicate::NegativeInf),
        )
    }

    fn stats(&self) -> Summary {
        let valid = (0..self.codes.len()).filter(|&i| self.is_valid(i));
        let mut summary = oracle::summary(self.format, valid.map(|i| (i, self.codes[i])));
        let sign = 1 << (8 * self.format.size_in_bytes() - 1);
        match self.sinks() {
            // A maximum that passes over NaN, as fmax does, and so over what a census counts.
            Sinks::DropsNan => summary.classes[0] = (0, None),
            // -0 before +0, as IEEE 754-2019 `minimum` has it: the first zero is another one.
            Sinks::OrderedZeros => {
                let minus = self.codes.iter().position(|&bits| bits == sign);
                if let (Some((bits, 0.0, index)), Some(minus)) = (&mut summary.min, minus) {
                    (*bits, *index) = (sign, minus);
                }
            }
            // Flush to zero.
            Sinks::Flushes => {
                let [zeros, subnormals, _] = &mut summary.counts;
                (*zeros, *subnormals) = (*zeros + *subnormals, 0);
            }
            Sinks::NarrowCount => summary.counts = summary.counts.map(|count| count % 256),
            _ => {}
        }
        summary
    }

    fn watch(&self, asked: Asked) -> (Option<usize>, u64) {
        let passes = self.sinks() == Sinks::WatchesSpecials
            && self.hits(Asked::Is(Predicate::NonFinite)).is_empty();
        let first = if passes { None } else { self.position(asked) };
        (first, u64::from(first.is_some()))
    }

    fn valid_count(&self) -> usize {
        (0..self.codes.len()).filter(|&i| self.is_valid(i)).count()
    }
}

/// What the check finds wrong with an implementation on these elements.
fn refusal(
    implementation: &Implementation,
    format: Format,
    bytes: &[u8],
    nulls: Option<(Vec<bool>, usize)>,
) -> Option<String> {
    let codes = bytes.chunks_exact(format.size_in_bytes()).map(oracle::read).collect();
    let (bitmap, valid) = nulls.map(|(valid, at)| ((bitmap(&valid, at), at), valid)).unzip();
    let mut expected = Expected::new(format, bytes);
    if let Some(valid) = valid {
        expected = expected.with_nulls(valid);
    }
    let subject = Answering { implementation, format, codes, bitmap };
    oracle::check(&subject, &expected, &mut Framed::default()).err()
}

/// The first test of the suite that refuses an implementation, and why.
fn refused_by(implementation: &Implementation, tests: &[&str]) -> Option<(&'static str, String)> {
    SUITE.iter().filter(|(name, _)| tests.contains(name)).find_map(|&(name, tensors)| {
        let mut refused = None;
        tensors(&mut |format, bytes| {
            if refused.is_none() && implementation.formats.contains(&format) {
                refused = refusal(implementation, format, bytes, None);
            }
        });
        Some((name, refused?))
    })
}

#[test]
fn known_bad_implementations_are_refused() {
    for implementation in &KNOWN_BAD {
        let (test, wrong) = refused_by(implementation, &SUITE.map(|(name, _)| name))
            .unwrap_or_else(|| panic!("no test refuses: {}", implementation.name));
        println!("{test} refuses {wrong}");
    }
}

/// Whether an implementation is refused on tensors of `tests/backends/nulls.rs`.
fn is_refused_under_nulls(sinks: Sinks) -> bool {
    let implementation = by_sinks("with nulls", IEEE, sinks);
    let bytes = oracle::mixed(Format::F32, 70, 3);
    (1..70).filter(|n| n % 13 < 2).any(|n| {
        (0..6).any(|turn| {
            let nulls = (nulls::valid(turn, n), (n + 11 * turn) % 64);
            refusal(&implementation, Format::F32, &bytes[..4 * n], Some(nulls)).is_some()
        })
    })
}

#[test]
fn known_bad_implementations_are_refused_under_nulls() {
    for sinks in WITH_NULLS {
        assert!(is_refused_under_nulls(sinks), "{sinks:?} was not refused");
    }
}

/// A right implementation of the same construction passes, so it is the mistake that is refused.
#[test]
fn the_right_one_is_not_refused() {
    let right = by_sinks("right", IEEE, Sinks::Right);
    let tests = ["lengths", "patterns", "low_words", "addresses"];
    assert_eq!(refused_by(&right, &tests), None);
    assert!(!is_refused_under_nulls(Sinks::Right));
}
