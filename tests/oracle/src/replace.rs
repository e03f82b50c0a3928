//! Replacing non-finite elements, one after the other.

use nonfinite::{Elements, ElementsMut, Format, Replacement};

use crate::backends::backends;
use crate::kind::{Kind, kind, read, write};
use crate::outputs::CANARY;

/// In place and into another slice, on every backend, between canaries, at the address that the
/// input has within a line.
///
/// # Panics
/// If an answer or a byte is wrong.
pub fn check_replacing(format: Format, input: &[u8], with: Replacement<u64>) {
    let (mut want, mut found) = (Vec::new(), 0);
    for raw in input.chunks_exact(format.size_in_bytes()) {
        let bits = read(raw);
        let kind = kind(format, bits);
        found += usize::from(kind != Kind::Finite);
        let code = match kind {
            Kind::Finite => bits,
            Kind::Nan => with.nan,
            Kind::PosInf => with.pos_inf,
            Kind::NegInf => with.neg_inf,
        };
        write(format, code, &mut want);
    }
    let canaries = vec![CANARY; input.len() + 256];
    let mut room = canaries.clone();
    let start = room.as_ptr().align_offset(64) + 64 + input.as_ptr().addr() % 64;
    let mut framed = canaries.clone();
    framed[start..start + input.len()].copy_from_slice(&want);
    for &backend in backends() {
        let at = || format!("{backend:?} {format} {} bytes, {with:x?}", input.len());
        room.copy_from_slice(&canaries);
        let inside = &mut room[start..start + input.len()];
        inside.copy_from_slice(input);
        let x = ElementsMut::from_bytes(inside, format).unwrap();
        assert_eq!(
            x.with_backend(backend).replace_non_finite(with),
            Ok(found),
            "in place {}",
            at()
        );
        assert!(room == framed, "in place {}", at());

        room.copy_from_slice(&canaries);
        let x = Elements::from_bytes(input, format).unwrap();
        let out = ElementsMut::from_bytes(&mut room[start..start + input.len()], format).unwrap();
        assert_eq!(out.with_backend(backend).copy_replacing(x, with), Ok(found), "into {}", at());
        assert!(room == framed, "into {}", at());
    }
}
