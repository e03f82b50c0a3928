//! Replaces NaN and infinities, on every backend, in place and into another slice, at any address.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite::{Backend, Elements, ElementsMut, Replacement};
use nonfinite_fuzz::{Kind, Tensor};

/// Bytes around an output that no backend may touch.
const FRAME: usize = 64;
const CANARY: u8 = 0xA5;

fuzz_target!(|input: ([u64; 3], Tensor)| {
    let (codes, input) = input;
    let (format, size) = (input.format, input.format.size_in_bytes());
    let [nan, pos_inf, neg_inf] = codes.map(|code| code & u64::MAX >> (64 - 8 * size));
    let kinds = input.kinds();
    let found = kinds.iter().filter(|&&kind| kind != Kind::Finite).count();
    let mut want = input.bytes().to_vec();
    for (raw, kind) in want.chunks_exact_mut(size).zip(&kinds) {
        let code = match kind {
            Kind::Finite => continue,
            Kind::Nan => nan,
            Kind::PosInf => pos_inf,
            Kind::NegInf => neg_inf,
        };
        let bytes = code.to_ne_bytes();
        raw.copy_from_slice(if cfg!(target_endian = "big") {
            &bytes[8 - size..]
        } else {
            &bytes[..size]
        });
    }
    let frame =
        |inside: &[u8]| [&vec![CANARY; FRAME + input.start()], inside, &[CANARY; FRAME]].concat();
    let inside = FRAME + input.start()..FRAME + input.start() + want.len();
    let with = Replacement { nan, pos_inf, neg_inf };
    for backend in Backend::available() {
        let name = backend.name();
        let mut room = frame(input.bytes());
        let x = ElementsMut::from_bytes(&mut room[inside.clone()], format).expect("whole elements");
        assert_eq!(x.with_backend(backend).replace_non_finite(with), Ok(found), "{name}: in place");
        assert!(room == frame(&want), "{name}: in place");

        let mut room = frame(&vec![CANARY; want.len()]);
        let x = Elements::from_bytes(input.bytes(), format).expect("whole elements");
        assert_eq!(
            ElementsMut::from_bytes(&mut room[inside.clone()], format)
                .unwrap()
                .with_backend(backend)
                .copy_replacing(x, with),
            Ok(found),
            "{name}: into"
        );
        assert!(room == frame(&want), "{name}: into");
    }
});
