//! For each format and each dtype: a NaN, a +Inf and a -Inf at the first, the last and a random
//! element, and the report about it.

use nonfinite_check::FileFormat;

use crate::check;
use crate::codes::{
    BF16, Codes, E4M3, E5M2, E8M0, F16, F32, F64, FNUZ, SHAPE, assert_found, plant,
};
use crate::hidden::never_clean;
use crate::pieces::Random;
use crate::places::coordinate;
use crate::write::{Entry, gguf, npy, safetensors};
use crate::zip::zip_with;

#[test]
fn safetensors_files() {
    let dtypes = [
        ("F16", F16),
        ("BF16", BF16),
        ("F32", F32),
        ("F64", F64),
        ("F8_E5M2", E5M2),
        ("F8_E4M3", E4M3),
        ("F8_E4M3FNUZ", FNUZ),
        ("F8_E5M2FNUZ", FNUZ),
        ("F8_E8M0", E8M0),
    ];
    for (kind, codes) in dtypes {
        plant(&codes, false, kind, |data| {
            // Another tensor before it, so that the data begins at an odd address.
            let odd = Entry { name: "odd", kind: "U8", shape: &[3], data: &[0xFF; 3] };
            let entry = Entry { name: "x", kind, shape: &SHAPE, data };
            check(&safetensors(&[odd, entry]), FileFormat::SAFETENSORS).tensors.remove(1)
        });
    }
}

#[test]
fn npy_files() {
    for (descr, codes, big) in [
        ("<f2", F16, false),
        ("<f4", F32, false),
        ("<f8", F64, false),
        (">f2", F16, true),
        (">f4", F32, true),
        (">f8", F64, true),
    ] {
        plant(&codes, big, descr, |data| {
            check(&npy(descr, &SHAPE, false, data), FileFormat::NPY).tensors.remove(0)
        });
    }
}

#[test]
fn npz_files() {
    for deflate in [false, true] {
        for (descr, codes, big) in
            [("<f2", F16, false), ("<f4", F32, false), (">f4", F32, true), ("<f8", F64, false)]
        {
            plant(&codes, big, descr, |data| {
                let array = npy(descr, &SHAPE, false, data);
                let archive = zip_with(&[("x.npy", &array, deflate)]);
                let tensor = check(&archive, FileFormat::NPZ).tensors.remove(0);
                assert_eq!(tensor.name.as_deref(), Some("x"));
                tensor
            });
        }
    }
}

#[test]
fn gguf_floats() {
    for (kind, codes) in [(0, F32), (1, F16), (28, F64), (30, BF16)] {
        for big in [false, true] {
            plant(&codes, big, &format!("type {kind}"), |data| {
                let entry = Entry { name: "x", kind, shape: &SHAPE, data };
                check(&gguf(&[entry], big, &[]), FileFormat::GGUF).tensors.remove(0)
            });
        }
    }
}

/// A quantised type: its number, the elements and bytes of a block, and the places of its scales.
struct Quantised(u32, usize, usize, &'static [usize], Codes);

/// By CONTRACTS.md, section 5a, which was read from ggml.
fn quantised() -> Vec<Quantised> {
    let f16 = |id, elements, bytes, at| Quantised(id, elements, bytes, at, F16);
    vec![
        f16(2, 32, 18, &[0]),
        f16(3, 32, 20, &[0, 2]),
        f16(6, 32, 22, &[0]),
        f16(7, 32, 24, &[0, 2]),
        f16(8, 32, 34, &[0]),
        f16(10, 256, 84, &[80, 82]),
        f16(11, 256, 110, &[108]),
        f16(12, 256, 144, &[0, 2]),
        f16(13, 256, 176, &[0, 2]),
        f16(14, 256, 210, &[208]),
        Quantised(15, 256, 292, &[0], F32),
        f16(16, 256, 66, &[0]),
        f16(17, 256, 74, &[0]),
        f16(18, 256, 98, &[0]),
        f16(19, 256, 50, &[0]),
        f16(20, 32, 18, &[0]),
        f16(21, 256, 110, &[0]),
        f16(22, 256, 82, &[0]),
        f16(23, 256, 136, &[0]),
        f16(34, 256, 54, &[52]),
        f16(35, 256, 66, &[64]),
        Quantised(39, 32, 17, &[0], E8M0),
        Quantised(40, 64, 36, &[0, 1, 2, 3], E4M3),
        f16(41, 128, 18, &[0]),
        f16(42, 64, 18, &[0]),
    ]
}

/// Every scale of the first, the last and a random block; all other bytes are ones, which is a NaN
/// in every format.
#[test]
fn gguf_scales() {
    let mut random = Random(0x2545_F491_4F6C_DD1D);
    for Quantised(kind, elements, bytes, scales, codes) in quantised() {
        let (rows, blocks) = (3, 1001);
        let shape = [rows, blocks * elements];
        let mut good = vec![0xFF; bytes];
        for &at in scales {
            good[at..at + codes.size].copy_from_slice(&codes.finite.to_le_bytes()[..codes.size]);
        }
        let good = good.repeat(rows * blocks);
        for (special, code) in codes.special[..codes.kinds].iter().enumerate() {
            for block in [0, rows * blocks - 1, 1 + random.below(rows * blocks - 2)] {
                for &at in scales {
                    let mut data = good.clone();
                    let start = block * bytes + at;
                    data[start..start + codes.size]
                        .copy_from_slice(&code.to_le_bytes()[..codes.size]);
                    let entry = Entry { name: "x", kind, shape: &shape, data: &data };
                    let tensor =
                        check(&gguf(&[entry], false, &[]), FileFormat::GGUF).tensors.remove(0);
                    let coordinate = coordinate(&shape, false, block * elements);
                    let first = assert_found(&tensor, special, &coordinate);
                    assert_eq!(first.bits, *code, "type {kind}, block {block}, byte {at}");
                    assert!(tensor.is_bad());
                }
            }
        }
    }
}

/// The scale of IQ1_M is spread over four words, four bits in each.
#[test]
fn gguf_nibbles() {
    let shape = [2, 256];
    for (special, code) in F16.special.into_iter().enumerate() {
        for block in [0, 1] {
            let mut data = vec![0xFF; 2 * 56];
            for (index, scale) in [F16.finite, F16.finite].into_iter().enumerate() {
                let scale = if index == block { code } else { scale };
                for word in 0..4 {
                    let nibble = (scale >> (4 * word) & 0xF) as u16;
                    let at = index * 56 + 48 + 2 * word;
                    data[at..at + 2].copy_from_slice(&(nibble << 12 | 0x0FFF).to_le_bytes());
                }
            }
            let entry = Entry { name: "x", kind: 29, shape: &shape, data: &data };
            let tensor = check(&gguf(&[entry], false, &[]), FileFormat::GGUF).tensors.remove(0);
            assert_eq!(assert_found(&tensor, special, &[block, 0]).bits, code);
        }
    }
}

/// Files with a NaN, in all containers and under all names.
#[test]
fn no_file_is_clean() {
    let data = [1.0, f32::NAN].map(f32::to_le_bytes).concat();
    let array = npy("<f4", &[2], false, &data);
    never_clean("npy", &array);
    for deflate in [false, true] {
        never_clean("npz", &zip_with(&[("a.npy", &array, deflate)]));
    }
    let tensor = Entry { name: "w", kind: "F32", shape: &[2], data: &data };
    never_clean("safetensors", &safetensors(&[tensor]));
    let tensor = Entry { name: "w", kind: 0, shape: &[2], data: &data };
    never_clean("gguf", &gguf(&[tensor], false, &[]));
}
