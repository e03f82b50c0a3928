use nonfinite_check::{FileFormat, Options, Report, check_bytes};

use super::{error, read};
use crate::codes::{
    BF16, E4M3, E5M2, E8M0, ELEMENTS, F16, F32, F64, FNUZ, SHAPE, STRIDES, assert_found, plant,
};
use crate::zip::zip;
use crate::{check, names};

pub(super) fn archive(pickle: &[u8], storages: &[&[u8]]) -> Vec<u8> {
    let names: Vec<String> = (0..storages.len()).map(|key| format!("model/data/{key}")).collect();
    let mut members =
        vec![("model/data.pkl", pickle), ("model/byteorder", b"little"), ("model/version", b"3\n")];
    members.extend(names.iter().map(String::as_str).zip(storages.iter().copied()));
    zip(&members)
}

pub(super) fn text(text: &str) -> Vec<u8> {
    [b"X", &(text.len() as u32).to_le_bytes()[..], text.as_bytes()].concat()
}

pub(super) fn integers(numbers: &[usize]) -> Vec<u8> {
    let each: Vec<u8> =
        numbers.iter().flat_map(|&n| [b"J", &(n as u32).to_le_bytes()[..]].concat()).collect();
    [b"(", &each[..], b"t"].concat()
}

/// `("storage", type, key, "cpu", elements)`, as a persistent id.
pub(super) fn storage(class: &str, key: &str, elements: usize) -> Vec<u8> {
    let class = format!("ctorch\n{class}\n");
    let count = [b"J", &(elements as u32).to_le_bytes()[..]].concat();
    [b"(", &text("storage")[..], class.as_bytes(), &text(key), &text("cpu"), &count, b"tQ"].concat()
}

/// The output of `torch.save` for a tensor.
pub(super) fn tensor(storage: &[u8], offset: usize, shape: &[usize], strides: &[usize]) -> Vec<u8> {
    let offset = [b"J", &(offset as u32).to_le_bytes()[..]].concat();
    let hooks = b"\x89ccollections\nOrderedDict\n)RtR";
    [
        b"ctorch._utils\n_rebuild_tensor_v2\n(",
        storage,
        &offset,
        &integers(shape),
        &integers(strides),
        hooks,
    ]
    .concat()
}

/// The output of `torch.save` for a tensor of a dtype without a storage class of its own: an
/// untyped storage, and the dtype among the arguments.
pub(super) fn untyped(dtype: &str, length: usize, shape: &[usize], strides: &[usize]) -> Vec<u8> {
    [
        b"ctorch._utils\n_rebuild_tensor_v3\n(",
        &storage("UntypedStorage", "0", length)[..],
        b"K\x00",
        &integers(shape),
        &integers(strides),
        b"\x89}ctorch\n",
        dtype.as_bytes(),
        b"\ntR",
    ]
    .concat()
}

/// A dict of these.
pub(super) fn state_dict(entries: &[(&str, Vec<u8>)]) -> Vec<u8> {
    let entries: Vec<u8> =
        entries.iter().flat_map(|(key, value)| [text(key), value.clone()].concat()).collect();
    [b"\x80\x02}(", &entries[..], b"u."].concat()
}

fn one(pickle: &[u8], storage: &[u8]) -> Report {
    check(&archive(&state_dict(&[("w", pickle.to_vec())]), &[storage]), FileFormat::PYTORCH)
}

#[test]
fn planted_in_every_storage() {
    for (class, dtype, codes) in [
        ("FloatStorage", "float32", F32),
        ("DoubleStorage", "float64", F64),
        ("HalfStorage", "float16", F16),
        ("BFloat16Storage", "bfloat16", BF16),
    ] {
        plant(&codes, false, class, |data| {
            let mut report =
                one(&tensor(&storage(class, "0", ELEMENTS), 0, &SHAPE, &STRIDES), data);
            assert_eq!(report.tensors.len(), 1);
            assert_eq!(report.tensors[0].dtype, dtype);
            assert_eq!(report.tensors[0].name.as_deref(), Some("w"));
            report.tensors.remove(0)
        });
    }
}

#[test]
fn planted_in_untyped_storages() {
    for (dtype, codes) in [
        ("float8_e4m3fn", E4M3),
        ("float8_e4m3fnuz", FNUZ),
        ("float8_e5m2", E5M2),
        ("float8_e5m2fnuz", FNUZ),
        ("float8_e8m0fnu", E8M0),
    ] {
        let pickle = untyped(dtype, ELEMENTS, &SHAPE, &STRIDES);
        plant(&codes, false, dtype, |data| {
            let mut report = one(&pickle, data);
            assert_eq!(report.tensors[0].dtype, dtype);
            report.tensors.remove(0)
        });
    }
}

/// Each layout of the same storage, and the coordinate of element 5 in it.
#[test]
fn strides() {
    let mut data: Vec<u8> = vec![0; 4 * 24];
    data[4 * 5..4 * 6].copy_from_slice(&f32::NAN.to_le_bytes());
    let at = |offset, shape: &[usize], strides: &[usize]| {
        let report = one(&tensor(&storage("FloatStorage", "0", 24), offset, shape, strides), &data);
        let tensor = &report.tensors[0];
        (
            tensor.found.nan.count,
            tensor.found.nan.first.as_ref().map(|first| first.coordinate.clone()),
            tensor.elements,
        )
    };
    assert_eq!(at(0, &[24], &[1]), (1, Some(vec![5]), 24));
    assert_eq!(at(5, &[], &[]), (1, Some(vec![]), 1));
    assert_eq!(at(4, &[2, 1, 3], &[3, 99, 1]), (1, Some(vec![0, 0, 1]), 6));
    // Transposed: row 5 of column 0 in memory.
    assert_eq!(at(0, &[6, 4], &[1, 6]), (1, Some(vec![5, 0]), 24));
    assert_eq!(at(0, &[2, 3, 1, 4], &[1, 8, 7, 2]), (1, Some(vec![1, 0, 0, 2]), 24));
    // Gaps: every other column.
    assert_eq!(at(1, &[4, 3], &[6, 2]), (1, Some(vec![0, 2]), 12));
    assert_eq!(at(0, &[4, 3], &[6, 2]), (0, None, 12));
    // Expanded: each number of the storage counts once, and those that are not shown do not.
    assert_eq!(at(0, &[1000, 24], &[0, 1]), (1, Some(vec![0, 5]), 24_000));
    assert_eq!(at(0, &[6, 1000], &[1, 0]), (1, Some(vec![5, 0]), 6000));
    assert_eq!(at(0, &[1000, 5], &[0, 1]), (0, None, 5000));
    assert_eq!(at(6, &[1000, 18], &[0, 1]), (0, None, 18_000));
    assert_eq!(at(1, &[4, 1000, 3], &[6, 0, 2]), (1, Some(vec![0, 0, 2]), 12_000));
    assert_eq!(at(0, &[4, 1000, 3], &[6, 0, 2]), (0, None, 12_000));
    // Transposed, with gaps.
    assert_eq!(at(1, &[3, 4], &[2, 6]), (1, Some(vec![2, 0]), 12));
    assert_eq!(at(3, &[3, 4], &[1, 6]), (1, Some(vec![2, 0]), 12));
    assert_eq!(at(0, &[3, 4], &[1, 6]), (0, None, 12));
    // Windows that overlap: all that they show is looked at, once.
    assert_eq!(at(3, &[10, 11], &[1, 1]), (1, Some(vec![2]), 20));
    assert_eq!(at(6, &[8, 11], &[1, 1]), (0, None, 18));
    assert_eq!(at(0, &[0, 24], &[24, 1]), (0, None, 0));
}

/// A storage with another checksum than its own is damaged. 0 stands for none: PyTorch writes 0
/// after `torch.serialization.set_crc32_options(False)`.
#[test]
fn checksums_of_storages() {
    let data = [0u8; 420];
    let pickle = tensor(&storage("FloatStorage", "0", 105), 0, &[105], &[1]);
    let good = archive(&state_dict(&[("w", pickle)]), &[&data]);
    check(&good, FileFormat::PYTORCH);
    let mut damaged = good.clone();
    let at = good.windows(data.len()).position(|bytes| bytes == data).unwrap();
    damaged[at + 300] ^= 4;
    let expected = "member \"model/data/0\": the checksum is wrong";
    assert_eq!(error(&damaged, FileFormat::PYTORCH), expected);
    let mut crc = flate2::Crc::new();
    crc.update(&data);
    let crc = crc.sum().to_le_bytes();
    let mut without = damaged;
    for at in 0..good.len() - 4 {
        if good[at..at + 4] == crc {
            without[at..at + 4].fill(0);
        }
    }
    check(&without, FileFormat::PYTORCH);
}

/// Axes that run in another order than that of the shape: elements 4 and 5 of the storage.
#[test]
fn places_of_strides() {
    let mut data = vec![0; 4 * 24];
    data[4 * 4..4 * 6].copy_from_slice(&[f32::NAN; 2].map(f32::to_le_bytes).concat());
    let pickle = tensor(&storage("FloatStorage", "0", 24), 0, &[2, 3, 1, 4], &[1, 8, 7, 2]);
    let bytes = archive(&state_dict(&[("w", pickle)]), &[&data]);
    let options = Options { places: true, ..Options::default() };
    let report = check_bytes(&bytes, FileFormat::PYTORCH, &options).expect("a good archive");
    let statement = report.tensors[0].places.as_ref().map(|places| places.statement("w"));
    assert_eq!(statement.as_deref(), Some("axis 1 index 0 of 3, column 2 only, in full"));
}

#[test]
fn names_and_wrappers() {
    let nan = f32::NAN.to_le_bytes();
    let plain = tensor(&storage("FloatStorage", "0", 1), 0, &[1], &[1]);
    let parameter = [b"ctorch._utils\n_rebuild_parameter\n(", &plain[..], b"\x88}tR"].concat();
    let subclass = [
        b"ctorch._tensor\n_rebuild_from_type_v2\n\
          (ctorch._utils\n_rebuild_tensor_v2\ncmy\nTensor\n(",
        &storage("FloatStorage", "0", 1)[..],
        b"K\x00",
        &integers(&[1]),
        &integers(&[1]),
        b"\x89}t}tR",
    ]
    .concat();
    // A module: an object with a state, of a class that is not known here.
    let module = [b"cmy.code\nNet\n)\x81}(", &text("weight")[..], &plain, b"ub"].concat();
    let list = [b"](", &plain[..], b"}(", &text("a.b"), &plain, b"ue"].concat();
    let ordered =
        [b"ccollections\nOrderedDict\n)R(", &text("x")[..], &plain, b"K\x07", &plain, b"u"]
            .concat();
    let pickle = state_dict(&[
        ("parameter", parameter),
        ("subclass", subclass),
        ("module", module),
        ("list", list),
        ("ordered", ordered),
        ("epoch", b"K\x05".to_vec()),
        ("loss", b"G\x7F\xF8\0\0\0\0\0\0".to_vec()),
    ]);
    let report = check(&archive(&pickle, &[&nan]), FileFormat::PYTORCH);
    assert_eq!(
        names(&report),
        [
            "parameter",
            "subclass",
            "module.weight",
            "list.0",
            "list.1.a.b",
            "ordered.x",
            "ordered.7"
        ]
    );
    assert!(report.tensors.iter().all(|tensor| tensor.found.nan.count == 1));
}

#[test]
fn big_endian() {
    let pickle = state_dict(&[("w", tensor(&storage("FloatStorage", "0", 2), 0, &[2], &[1]))]);
    let data = [1f32.to_be_bytes(), f32::NEG_INFINITY.to_be_bytes()].concat();
    let members: [(&str, &[u8]); 3] =
        [("m/data.pkl", &pickle), ("m/byteorder", b"big"), ("m/data/0", &data)];
    let report = check(&zip(&members), FileFormat::PYTORCH);
    assert_found(&report.tensors[0], 2, &[1]);
}

#[test]
fn lies() {
    let data = [0; 16];
    let bad = |tensor: &[u8]| {
        error(&archive(&state_dict(&[("w", tensor.to_vec())]), &[&data]), FileFormat::PYTORCH)
    };
    let of = |offset, shape: &[usize], strides: &[usize]| {
        tensor(&storage("FloatStorage", "0", 4), offset, shape, strides)
    };
    assert!(bad(&of(0, &[5], &[1])).contains("beyond its storage"));
    assert!(bad(&of(4, &[1], &[1])).contains("beyond its storage"));
    assert!(bad(&of(0, &[2, 2], &[1])).contains("as many strides as extents"));
    assert!(bad(&of(0, &[1 << 30; 3], &[0; 3])).contains("too large"));
    // An extent of -1.
    let negative = archive(&state_dict(&[("w", of(0, &[u32::MAX as usize], &[1]))]), &[&data]);
    assert!(!check(&negative, FileFormat::PYTORCH).is_complete());
    assert!(
        bad(&tensor(&storage("FloatStorage", "9", 4), 0, &[4], &[1])).contains("not in the file")
    );
    let pickle = |pickle: &[u8]| error(&archive(pickle, &[&data]), FileFormat::PYTORCH);
    assert!(pickle(b"").contains("cut off"));
    assert!(pickle(b"\x80\x02}").contains("cut off"));
    assert!(pickle(b"\x80\x02.").contains("missing on the stack"));
    assert!(pickle(b"\x80\x02u.").contains("mark is missing"));
    assert!(pickle(b"\x80\x02h\x01.").contains("a reference to nothing"));
    assert!(pickle(b"\x80\x02X\xFF\xFF\xFF\xFFab.").contains("cut off"));
    assert!(pickle(b"\x80\x02\x82\x01.").contains("no such opcode"));
    // References that form a loop, and references that double with each step.
    assert!(!check(&archive(b"\x80\x02]q\x00h\x00a.", &[]), FileFormat::PYTORCH).is_bad());
    let mut maze = b"\x80\x04]\x94".to_vec();
    for i in 0..200 {
        maze.extend([b'h', i, b'h', i, 0x86, 0x94]);
    }
    maze.push(b'.');
    assert_eq!(check(&archive(&maze, &[]), FileFormat::PYTORCH).tensors, []);
    // Many calls that would make bytes of one text, whose last character is no byte. In quadratic
    // time, this would take hours.
    let wide = [&text(&("y".repeat(8 << 20) + "\u{100}"))[..], b"q\x00", &text("latin1")].concat();
    let encode = b"c_codecs\nencode\nq\x02h\x00h\x01\x86R0";
    let calls = b"h\x02h\x00h\x01\x86R0".repeat(500_000);
    let calls = [b"\x80\x02", &wide[..], b"q\x01", encode, &calls, b"."].concat();
    assert!(check(&archive(&calls, &[]), FileFormat::PYTORCH).tensors.is_empty());
    // A list within a list within a list.
    let nested = [b"\x80\x02", &[b']'; 1 << 16][..], &[b'a'; (1 << 16) - 1], b"."].concat();
    assert!(pickle(&nested).contains("names and shapes"));
    let whole = archive(&state_dict(&[("w", of(0, &[4], &[1]))]), &[&data]);
    for cut in 0..whole.len() {
        assert!(read(&whole[..cut], FileFormat::PYTORCH).is_err());
    }
}
