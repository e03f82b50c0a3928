//! Masks written past the caches, against the standard library: every backend, every place of the
//! output within two lines, every length around a few blocks. Bytes beside the output must keep
//! their values.

use nonfinite_kernels::{Backend, MaskOut, Rule, mask_streamed, streams};

const CANARY: u8 = 0xA5;

/// A format: its rule, and an oracle.
struct Question {
    name: &'static str,
    rule: Rule,
    holds: fn(&[u8]) -> bool,
    /// Elements with different answers.
    elements: Vec<Vec<u8>>,
}

fn f32_of(raw: &[u8]) -> f32 {
    f32::from_ne_bytes(raw.try_into().unwrap())
}

fn f64_of(raw: &[u8]) -> f64 {
    f64::from_ne_bytes(raw.try_into().unwrap())
}

/// A bf16 is the upper half of an f32.
fn bf16_of(raw: &[u8]) -> f32 {
    f32::from_bits(u32::from(u16::from_ne_bytes(raw.try_into().unwrap())) << 16)
}

fn questions() -> Vec<Question> {
    let f32s = [1.0, f32::NAN, -f32::INFINITY, f32::MAX, f32::INFINITY, 0.0, -f32::NAN];
    let f64s = [1.0, f64::NAN, -f64::INFINITY, f64::MAX, f64::INFINITY, 0.0, -f64::NAN];
    let bf16s = [0x3F80u16, 0x7FC0, 0xFF80, 0x7F7F, 0x7F80, 0, 0xFFC0];
    let f32s: Vec<_> = f32s.iter().map(|x| x.to_ne_bytes().to_vec()).collect();
    let f64s: Vec<_> = f64s.iter().map(|x| x.to_ne_bytes().to_vec()).collect();
    let bf16s: Vec<_> = bf16s.iter().map(|x| x.to_ne_bytes().to_vec()).collect();
    let question = |name, rule, holds, elements: &[Vec<u8>]| Question {
        name,
        rule,
        holds,
        elements: elements.into(),
    };
    let (sign32, ones32) = (0x7FFF_FFFF, 0x7F80_0000);
    let (sign64, ones64) = (u64::MAX >> 1, 0x7FF0 << 48);
    let f8 = [0x38, 0x7F, 0xFF, 0x7E, 0x00].map(|code| vec![code]);
    vec![
        question("f32 nan", Rule::greater(4, sign32, ones32), |x| f32_of(x).is_nan(), &f32s),
        question(
            "f32 finite",
            Rule::equal(4, ones32, ones32).not(),
            |x| f32_of(x).is_finite(),
            &f32s,
        ),
        question("f32 inf", Rule::equal(4, sign32, ones32), |x| f32_of(x).is_infinite(), &f32s),
        question("f64 nan", Rule::greater(8, sign64, ones64), |x| f64_of(x).is_nan(), &f64s),
        question(
            "f64 finite",
            Rule::equal(8, ones64, ones64).not(),
            |x| f64_of(x).is_finite(),
            &f64s,
        ),
        question(
            "f64 +inf",
            Rule::equal(8, u64::MAX, ones64),
            |x| f64_of(x) == f64::INFINITY,
            &f64s,
        ),
        question("bf16 nan", Rule::greater(2, 0x7FFF, 0x7F80), |x| bf16_of(x).is_nan(), &bf16s),
        question(
            "bf16 finite",
            Rule::equal(2, 0x7F80, 0x7F80).not(),
            |x| bf16_of(x).is_finite(),
            &bf16s,
        ),
        question("e4m3fn nan", Rule::equal(1, 0x7F, 0x7F), |x| [0x7F, 0xFF].contains(&x[0]), &f8),
        question("all", Rule::Constant { answer: true, size: 4 }, |_| true, &f32s),
    ]
}

fn check(question: &Question, backend: Backend, elements: usize, place: usize) {
    let Question { name, rule, holds, elements: kinds } = question;
    // Lengths of the kinds divide no block, so every lane meets all of them. The input too begins
    // anywhere.
    let mut x = vec![0; place % 5];
    (0..elements).for_each(|i| x.extend(&kinds[(i + i / 64) % kinds.len()]));
    let x = &x[place % 5..];
    let mut frame = vec![CANARY; elements + 256];
    let begin = frame.as_ptr().align_offset(64) + place;
    mask_streamed(Some(backend), x, rule, MaskOut::from(&mut frame[begin..begin + elements]));
    for (i, byte) in frame.iter().enumerate() {
        let want = match i.checked_sub(begin) {
            Some(i) if i < elements => u8::from(holds(&x[i * rule.size()..][..rule.size()])),
            _ => CANARY,
        };
        assert_eq!(
            *byte,
            want,
            "{} {name}, {elements} elements at {place}: byte {i} from {begin}",
            backend.name()
        );
    }
}

#[test]
fn every_place_and_length() {
    for (name, backend) in Backend::all() {
        let Some(backend) = backend else { continue };
        println!("backend {name} ran");
        for question in questions() {
            for place in 0..128 {
                for elements in [0, 1, 63, 64, 65, 127, 128, 191, 200, 1000 + place] {
                    check(&question, backend, elements, place);
                }
            }
            for elements in 0..400 {
                check(&question, backend, elements, elements % 64);
            }
        }
    }
}

/// Short and long ones.
#[test]
#[cfg(not(target_family = "wasm"))]
fn wrong_lengths_are_refused() {
    for (elements, results) in [(3, 2), (300, 200), (200, 300), (64, 65), (65, 64)] {
        for backend in Backend::all().filter_map(|(_, backend)| backend) {
            let mut out = vec![CANARY; results];
            let ask = std::panic::AssertUnwindSafe(|| {
                let x = vec![0; 4 * elements];
                mask_streamed(
                    Some(backend),
                    &x,
                    &Rule::equal(4, 1, 1),
                    MaskOut::from(&mut out[..]),
                );
            });
            let text =
                *std::panic::catch_unwind(ask).expect_err("no panic").downcast::<String>().unwrap();
            assert_eq!(text, format!("{elements} elements, but an output for {results}"));
            assert_eq!(out, vec![CANARY; results], "nothing is written");
        }
    }
}

#[test]
fn small_masks_stay_in_the_caches() {
    for results in [0, 64, 300, 1 << 18] {
        assert!(!streams(results), "{results}");
    }
}
