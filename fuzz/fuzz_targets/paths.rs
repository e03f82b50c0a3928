//! Every path and every sink against the oracle, at any address and any bit of the output.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use nonfinite::{Census, Class, Elements, Path};
use nonfinite_fuzz::{Input, Kind};

/// Bytes around an output that no path may touch.
const FRAME: usize = 64;
/// Neither a result nor a likely mistake.
const CANARY: u8 = 0xA5;

static PATHS: LazyLock<Vec<Path>> = LazyLock::new(|| {
    let paths: Vec<_> = Path::available().collect();
    let names: Vec<_> = paths.iter().map(|path| path.name()).collect();
    eprintln!("paths: {}", names.join(" "));
    paths
});

fuzz_target!(|input: Input| {
    let kinds = input.kinds();
    let answers = input.answers();
    let first = answers.iter().position(|&answer| answer);
    let count = answers.iter().filter(|&&answer| answer).count();
    let census = census(&kinds);
    // All bits of the output stay but those of the results.
    let (old, new) = bitmaps(&answers, input.bit);

    for &path in &*PATHS {
        let name = path.name();
        let x = Elements::from_bytes(input.bytes(), input.format).expect("whole elements");

        let mut framed = vec![CANARY; FRAME + answers.len() + FRAME];
        let (before, rest) = framed.split_at_mut(FRAME);
        let (out, behind) = rest.split_at_mut(answers.len());
        path.mask(x, input.predicate, &mut *out);
        assert!(
            out.iter().copied().eq(answers.iter().map(|&answer| u8::from(answer))),
            "{name}: mask {out:?}"
        );
        assert!(before.iter().chain(&*behind).all(|&byte| byte == CANARY), "{name}: mask outside its output");

        let mut bits = old.clone();
        path.bits(x, input.predicate, &mut bits, FRAME * 8 + input.bit);
        assert_eq!(bits, new, "{name}: bits");

        assert_eq!(path.any(x, input.predicate), first.is_some(), "{name}: any");
        assert_eq!(path.all(x, input.predicate), count == answers.len(), "{name}: all");
        assert_eq!(path.count(x, input.predicate), count, "{name}: count");
        assert_eq!(path.position(x, input.predicate), first, "{name}: position");
        assert_eq!(path.census(x), census, "{name}: census");
    }
});

/// The framed output of packed bits before and after.
fn bitmaps(answers: &[bool], bit: usize) -> (Vec<u8>, Vec<u8>) {
    let old = vec![CANARY; FRAME + (bit + answers.len()).div_ceil(8) + FRAME];
    let mut new = old.clone();
    for (i, &answer) in answers.iter().enumerate() {
        let at = bit + i;
        let byte = &mut new[FRAME + at / 8];
        *byte = *byte & !(1 << (at % 8)) | u8::from(answer) << (at % 8);
    }
    (old, new)
}

fn census(kinds: &[Kind]) -> Census {
    let class = |kind| Class {
        count: kinds.iter().filter(|&&other| other == kind).count(),
        first: kinds.iter().position(|&other| other == kind),
    };
    Census { nan: class(Kind::Nan), pos_inf: class(Kind::PositiveInf), neg_inf: class(Kind::NegativeInf) }
}
