//! The operators against literal vectors of suites that others wrote, on every backend; their
//! refusals; and where known runtimes give other answers.

mod boundaries;
mod dense;
mod directml;
mod directml_refusals;
mod known_bad;
mod ml_dtypes;
mod onnx;
mod onnxruntime;
mod openvino;
mod openvino_shapes;
mod stablehlo;
mod suites;
mod texts;
mod webnn;

use nonfinite::{Backend, Elements, Format, Predicate, TensorView};
use nonfinite_ops::{Dense, Operator, StandardType};

#[test]
fn required_backends() {
    let available: Vec<_> = Backend::available().map(Backend::name).collect();
    println!("backends that run here: {}", available.join(" "));
    let required = std::env::var("NONFINITE_REQUIRE").unwrap_or_default();
    for name in required.split(',').filter(|name| !name.is_empty()) {
        assert!(
            available.contains(&name),
            "backend {name} is required, but only {available:?} can run"
        );
    }
}

/// The bits of a value as a suite writes it: a decimal, `inf`, `-inf`, `nan`, or `max`, `-max` and
/// `min` of the format.
fn bits(format: Format, text: &str) -> u64 {
    // +inf, quiet NaN, largest finite, smallest normal: the constants of VECTORS.md.
    let (inf, nan, max, min) = match format {
        Format::F16 => (0x7C00, 0x7E00, 0x7BFF, 0x0400),
        Format::Bf16 => (0x7F80, 0x7FC0, 0x7F7F, 0x0080),
        Format::F32 => (0x7F80_0000, 0x7FC0_0000, 0x7F7F_FFFF, 0x0080_0000),
        Format::F64 => (
            0x7FF0_0000_0000_0000,
            0x7FF8_0000_0000_0000,
            0x7FEF_FFFF_FFFF_FFFF,
            0x0010_0000_0000_0000,
        ),
        _ => panic!("{format} has codes, not decimals"),
    };
    let sign = 1 << (8 * format.size_in_bytes() - 1);
    match text {
        "inf" => inf,
        "-inf" => inf | sign,
        "nan" => nan,
        "max" => max,
        "-max" => max | sign,
        "min" => min,
        _ => {
            let x: f64 = text.parse().unwrap_or_else(|_| panic!("{text} is no value"));
            match format {
                Format::F16 => half::f16::from_f64(x).to_bits().into(),
                Format::Bf16 => half::bf16::from_f64(x).to_bits().into(),
                Format::F32 => (x as f32).to_bits().into(),
                _ => x.to_bits(),
            }
        }
    }
}

/// The memory of elements with these bits.
fn memory(format: Format, bits: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let mut bytes = Vec::new();
    for bits in bits {
        match format.size_in_bytes() {
            1 => bytes.extend((bits as u8).to_ne_bytes()),
            2 => bytes.extend((bits as u16).to_ne_bytes()),
            4 => bytes.extend((bits as u32).to_ne_bytes()),
            _ => bytes.extend(bits.to_ne_bytes()),
        }
    }
    bytes
}

/// The elements of a line such as `-1.2 nan inf`.
fn elements(format: Format, line: &str) -> Vec<u8> {
    memory(format, line.split_whitespace().map(|text| bits(format, text)))
}

/// The codes of a line such as `B8 7F 38`.
fn codes(line: &str) -> Vec<u8> {
    line.split_whitespace().map(|code| u8::from_str_radix(code, 16).unwrap()).collect()
}

/// The results of a line such as `F T F` or `0 1 0`.
fn results(line: &str) -> Vec<u8> {
    let result = |text| match text {
        "T" | "1" => 1,
        "F" | "0" => 0,
        _ => panic!("{text} is no result"),
    };
    line.split_whitespace().map(result).collect()
}

/// Neither a result nor a likely mistake.
const CANARY: u8 = 0xA5;
/// Elements of a vector that is repeated until it fills blocks of every backend, and a remainder.
const LONG: usize = 64 * 3 + 29;

/// The operator must give `expected`, a line of results, for the vector as it is and for many
/// copies of it in a row, on every backend and on the active one, and touch nothing beside.
fn check(
    name: &str,
    op: &dyn Operator,
    element_type: impl Into<StandardType>,
    shape: &[usize],
    bytes: &[u8],
    expected: &str,
) {
    let expected = results(expected);
    let element_type = element_type.into();
    check_one(name, op, Dense::from_bytes(element_type, shape, bytes), &expected);
    if !expected.is_empty() {
        let size = bytes.len() / expected.len();
        let bytes: Vec<u8> = bytes.iter().copied().cycle().take(size * LONG).collect();
        let expected: Vec<u8> = expected.into_iter().cycle().take(LONG).collect();
        check_one(name, op, Dense::from_bytes(element_type, &[LONG], &bytes), &expected);
    }
}

fn check_one(name: &str, op: &dyn Operator, x: Dense<'_>, expected: &[u8]) {
    let n = expected.len();
    for backend in Backend::available().map(Some).chain([None]) {
        let mut framed = vec![CANARY; n + 128];
        let out = &mut framed[64..64 + n];
        let run = op.run(backend.map_or(x, |backend| x.with_backend(backend)), (&mut *out).into());
        let at = backend.map_or("active", Backend::name);
        run.unwrap_or_else(|error| panic!("{name} on {at}: {error}"));
        assert!(out == expected, "{name} on {at}: {out:?} instead of {expected:?}");
        assert!(
            framed[..64].iter().chain(&framed[64 + n..]).all(|&byte| byte == CANARY),
            "{name} on {at}"
        );
    }
    let mut out = vec![false; n];
    op.run(x, (&mut out[..]).into()).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert!(
        out.iter().map(|&result| u8::from(result)).eq(expected.iter().copied()),
        "{name} into bool"
    );
}

/// Sentences of a document, each with the case that fails if the operators do otherwise.
type Sentences = &'static [(&'static str, fn())];

/// The last sentence that a failed test prints is the one that does not hold.
fn hold(document: &str, sentences: Sentences) {
    for (sentence, case) in sentences {
        println!("{document}: {sentence}");
        case();
    }
}

/// As [`check`], for suites of no standard that has operators here.
fn check_predicate(name: &str, format: Format, predicate: Predicate, bytes: &[u8], expected: &str) {
    let expected = results(expected);
    for repeat in [1, LONG] {
        let bytes = bytes.repeat(repeat);
        for backend in Backend::available() {
            let mut out = vec![CANARY; expected.len() * repeat];
            TensorView::from(Elements::from_bytes(&bytes, format).unwrap())
                .with_backend(backend)
                .mask(predicate, &mut out[..])
                .unwrap();
            assert_eq!(
                out,
                expected.repeat(repeat),
                "{name} {predicate:?} of {format} on {}",
                backend.name()
            );
        }
    }
}
