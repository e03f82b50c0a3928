//! Implementations that are known to be wrong, from libraries in use and from common idioms. The
//! checks of the suite, on the tensors of the suite, must refuse all of them.

use half::f16;
use nonfinite::{Census, Elements, Format, Occurrences, Predicate};

use crate::oracle::{self, Above, Kind, Subject, Summary};
use crate::{Visit, codes, lengths, patterns};

/// A wrong implementation, one element at a time. The mistake is in `judge` or in `sinks`.
struct Implementation {
    name: &'static str,
    /// The formats with wrong answers.
    formats: &'static [Format],
    judge: fn(Format, Predicate, u64) -> bool,
    sinks: Sinks,
}

/// How sinks are computed from the judgements.
#[derive(Clone, Copy, PartialEq)]
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
}

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

/// The first entries are those of OpenVINO 2026.4.1, ggml, StableHLO's lowering to TOSA,
/// coremltools, burn, Highway and onnxruntime 1.31.1, as those projects' sources or answers have
/// them.
const KNOWN_BAD: [Implementation; 21] = [
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
    Implementation {
        name: "contains_nan by a sum (burn)",
        formats: &[Format::F16],
        judge: right,
        sinks: Sinks::SumForAny,
    },
    Implementation {
        name: "all finite by least and greatest, which pass over NaN",
        formats: &[Format::F32],
        judge: right,
        sinks: Sinks::RangeForAll,
    },
    Implementation {
        name: "7FFFFFFF is no NaN (std::isnan of clang for AVX3, by Highway)",
        formats: &[Format::F32],
        judge: |format, predicate, bits| {
            let bits = if bits == 0x7FFF_FFFF { 0 } else { bits };
            right(format, predicate, bits)
        },
        sinks: Sinks::Right,
    },
    Implementation {
        name: "no kernel for bf16 (IsNaN 13 to 19 of onnxruntime)",
        formats: &[Format::Bf16],
        judge: right,
        sinks: Sinks::Silent,
    },
    Implementation {
        name: "only the upper word of f64",
        formats: &[Format::F64],
        judge: |format, predicate, bits| right(format, predicate, bits & !0xFFFF_FFFF),
        sinks: Sinks::Right,
    },
    Implementation { name: "255 for true", formats: IEEE, judge: right, sinks: Sinks::AllOnes },
    Implementation {
        name: "bits behind the results become 0",
        formats: IEEE,
        judge: right,
        sinks: Sinks::ClearsRest,
    },
    Implementation { name: "last for first", formats: IEEE, judge: right, sinks: Sinks::Last },
    Implementation {
        name: "counts in a byte",
        formats: IEEE,
        judge: right,
        sinks: Sinks::NarrowCount,
    },
    Implementation {
        name: "statistics by fmax, which drops NaN",
        formats: IEEE,
        judge: right,
        sinks: Sinks::DropsNan,
    },
    Implementation {
        name: "-0 is the minimum",
        formats: IEEE,
        judge: right,
        sinks: Sinks::OrderedZeros,
    },
    Implementation {
        name: "a subnormal number counts as zero",
        formats: IEEE,
        judge: right,
        sinks: Sinks::Flushes,
    },
    Implementation {
        name: "the threshold itself is above",
        formats: IEEE,
        judge: right,
        sinks: Sinks::AboveOrEqual,
    },
];

impl Implementation {
    fn hits(&self, x: Elements<'_>, predicate: Predicate) -> Vec<bool> {
        let elements = x.as_bytes().chunks_exact(x.format().size_in_bytes());
        elements.map(|raw| (self.judge)(x.format(), predicate, oracle::read(raw))).collect()
    }

    fn class(&self, x: Elements<'_>, predicate: Predicate) -> Occurrences {
        Occurrences::new(self.count(x, predicate), self.position(x, predicate))
    }
}

impl Subject for Implementation {
    fn name(&self) -> &str {
        self.name
    }

    fn mask(&self, x: Elements<'_>, predicate: Predicate, out: &mut [u8]) {
        let one = if self.sinks == Sinks::AllOnes { 255 } else { 1 };
        if self.sinks != Sinks::Silent {
            self.hits(x, predicate)
                .into_iter()
                .zip(out)
                .for_each(|(hit, out)| *out = u8::from(hit) * one);
        }
    }

    fn bits(&self, x: Elements<'_>, predicate: Predicate, out: &mut [u8], offset: usize) {
        for (bit, hit) in (offset..).zip(self.hits(x, predicate)) {
            out[bit / 8] = out[bit / 8] & !(1 << (bit % 8)) | u8::from(hit) << (bit % 8);
        }
        let end = offset + x.len();
        if self.sinks == Sinks::ClearsRest && !end.is_multiple_of(8) {
            out[end / 8] &= !(u8::MAX << (end % 8));
        }
    }

    fn any(&self, x: Elements<'_>, predicate: Predicate) -> bool {
        if self.sinks == Sinks::SumForAny && predicate == Predicate::Nan {
            let mut sums = [f16::ZERO; 8];
            for (i, raw) in x.as_bytes().chunks_exact(2).enumerate() {
                sums[i % 8] += f16::from_bits(oracle::read(raw) as u16);
            }
            return sums.into_iter().fold(f16::ZERO, |sum, lane| sum + lane).is_nan();
        }
        self.hits(x, predicate).contains(&true)
    }

    fn all(&self, x: Elements<'_>, predicate: Predicate) -> bool {
        if self.sinks == Sinks::RangeForAll && predicate == Predicate::Finite {
            let elements =
                || x.as_bytes().chunks_exact(4).map(|raw| f32::from_bits(oracle::read(raw) as u32));
            return elements().fold(0.0, f32::max).is_finite()
                && elements().fold(0.0, f32::min).is_finite();
        }
        !self.hits(x, predicate).contains(&false)
    }

    fn count(&self, x: Elements<'_>, predicate: Predicate) -> usize {
        let count = self.hits(x, predicate).into_iter().filter(|&hit| hit).count();
        if self.sinks == Sinks::NarrowCount { count % 256 } else { count }
    }

    fn position(&self, x: Elements<'_>, predicate: Predicate) -> Option<usize> {
        let hits = self.hits(x, predicate);
        match self.sinks {
            Sinks::Last => hits.iter().rposition(|&hit| hit),
            _ => hits.iter().position(|&hit| hit),
        }
    }

    fn census(&self, x: Elements<'_>) -> Census {
        Census::new(
            self.class(x, Predicate::Nan),
            self.class(x, Predicate::PositiveInf),
            self.class(x, Predicate::NegativeInf),
        )
    }

    fn stats(&self, x: Elements<'_>) -> Summary {
        let (format, size) = (x.format(), x.format().size_in_bytes());
        let elements = x.as_bytes().chunks_exact(size).map(oracle::read);
        match self.sinks {
            // A maximum that passes over NaN, as fmax does, and so over what a census counts.
            Sinks::DropsNan => {
                let mut summary = oracle::summary(format, elements);
                summary.classes[0] = (0, None);
                summary
            }
            // -0 before +0, as IEEE 754-2019 `minimum` has it: the first zero is another one.
            Sinks::OrderedZeros => {
                let mut summary = oracle::summary(format, elements.clone());
                let minus = elements.clone().position(|bits| bits == 1 << (8 * size - 1));
                if let (Some((bits, 0.0, index)), Some(minus)) = (&mut summary.min, minus) {
                    (*bits, *index) = (1 << (8 * size - 1), minus);
                }
                summary
            }
            // Flush to zero.
            Sinks::Flushes => {
                let mut summary = oracle::summary(format, elements);
                let [zeros, subnormals, _] = &mut summary.counts;
                (*zeros, *subnormals) = (*zeros + *subnormals, 0);
                summary
            }
            Sinks::NarrowCount => {
                let mut summary = oracle::summary(format, elements);
                summary.counts = summary.counts.map(|count| count % 256);
                summary
            }
            _ => oracle::summary(format, elements),
        }
    }

    fn above(&self, x: Elements<'_>, threshold: f64) -> Above {
        let mut above = Above::right(x, threshold);
        if self.sinks == Sinks::AboveOrEqual {
            let values = x.as_bytes().chunks_exact(x.format().size_in_bytes()).map(|raw| {
                let x = oracle::value(x.format(), oracle::read(raw));
                x.is_nan() || x.abs() >= threshold
            });
            above.mask = values.collect();
        }
        above
    }
}

type Tensors = fn(Visit<'_>);

/// The tensors that the tests of the suite check, by test.
const SUITE: [(&str, Tensors); 8] = [
    ("all_codes_in_every_lane", codes::codes),
    ("one_special_element", codes::lone_specials),
    ("one_finite_element", codes::lone_finites),
    ("every_length", lengths::lengths),
    ("long_inputs", lengths::long),
    ("edges_in_every_lane", patterns::edges),
    ("all_exponents", patterns::exponents),
    ("low_word_nans", patterns::low_words),
];

/// The first thing that the check of the suite finds wrong with an implementation on some tensors.
fn refusal(subject: &Implementation, tensors: Tensors) -> Option<String> {
    let mut refusal = None;
    tensors(&mut |format, bytes| {
        if refusal.is_none() && subject.formats.contains(&format) {
            refusal = oracle::check(subject, format, bytes, &oracle::kinds(format, bytes)).err();
        }
    });
    refusal
}

#[test]
fn known_bad_implementations_are_refused() {
    for subject in &KNOWN_BAD {
        let mut found =
            SUITE.iter().filter_map(|(test, tensors)| Some((test, refusal(subject, *tensors)?)));
        let (test, wrong) =
            found.next().unwrap_or_else(|| panic!("no test refuses: {}", subject.name));
        println!("{test} refuses {wrong}");
    }
}

/// A right implementation of the same construction passes, so it is the wrong judgement that is
/// refused.
#[test]
fn the_right_one_is_not_refused() {
    let subject =
        Implementation { name: "right", formats: IEEE, judge: right, sinks: Sinks::Right };
    for (test, tensors) in [SUITE[3], SUITE[4], SUITE[6], SUITE[7]] {
        assert_eq!(refusal(&subject, tensors), None, "{test}");
    }
}
