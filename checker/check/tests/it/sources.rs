//! Sources of bytes: files, memory, and sources that only return ranges.

use std::fs::{self, File};
use std::io;
use std::num::NonZeroUsize;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use nonfinite_check::{
    Error, FileFormat, Observer, Options, ReadAt, Source, check_bytes, check_file, check_source,
};

use crate::folder::{Folder, folder};
use crate::models::onnx::{bytes, model, number};
use crate::write::{Entry, gguf, npy, safetensors};
use crate::zip::{deflated, zip};

/// Numbers of 4 bytes, some MiB of them, with a NaN among the last.
fn data() -> Vec<u8> {
    let mut data = vec![0; 9 << 20];
    let nan = data.len() - 400;
    data[nan..nan + 4].copy_from_slice(&f32::NAN.to_le_bytes());
    data
}

const ELEMENTS: usize = (9 << 20) / 4;

/// A file of each format whose header comes first.
fn files() -> [(&'static str, Vec<u8>, FileFormat); 3] {
    let data = data();
    let shape = [ELEMENTS];
    let entry = Entry { name: "x", kind: "F32", shape: &shape, data: &data };
    let quantised = Entry { name: "x", kind: 0, shape: &shape, data: &data };
    [
        ("x.npy", npy("<f4", &shape, false, &data), FileFormat::NPY),
        ("x.safetensors", safetensors(&[entry]), FileFormat::SAFETENSORS),
        ("x.gguf", gguf(&[quantised], false, &[]), FileFormat::GGUF),
    ]
}

/// Writes a file into the folder.
fn file(folder: &Folder, name: &str, bytes: &[u8]) -> PathBuf {
    let path = folder.join(name);
    fs::write(&path, bytes).expect("the build folder can be written to");
    path
}

/// An object in a store: it returns ranges, and fails at one byte.
#[derive(Debug)]
struct Object {
    bytes: Vec<u8>,
    breaks: u64,
    /// The longest range, and all of them together.
    longest: AtomicUsize,
    all: AtomicUsize,
}

impl Object {
    fn new(bytes: Vec<u8>) -> Self {
        let (longest, all) = Default::default();
        Self { bytes, breaks: u64::MAX, longest, all }
    }
}

impl ReadAt for Object {
    fn length(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_exact_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        self.longest.fetch_max(out.len(), Ordering::Relaxed);
        self.all.fetch_add(out.len(), Ordering::Relaxed);
        if at + out.len() as u64 > self.breaks {
            return Err(io::ErrorKind::ConnectionReset.into());
        }
        self.bytes.read_exact_at(out, at)
    }
}

/// Asserts that a file which is read by ranges has the same result as its bytes in memory.
#[track_caller]
pub(crate) fn assert_same_by_ranges(bytes: &[u8]) {
    let sources = [&bytes as &dyn ReadAt, &Object::new(bytes.to_vec())];
    let [in_memory, by_ranges] =
        sources.map(|source| format!("{:?}", check_source(source, None, &Options::default())));
    assert_eq!(by_ranges, in_memory);
}

/// A header and its data are read in ranges that fit into memory, for any file.
#[test]
fn by_range() {
    for (name, bytes, format) in files() {
        let expected = check_bytes(&bytes, format, &Options::default()).expect(name);
        assert_eq!(expected.tensors[0].found.nan.count, 1);
        let object = Object::new(bytes);
        let report = check_source(&object, None, &Options::default()).expect(name);
        assert_eq!(report, expected, "{name}");
        assert!(object.longest.into_inner() <= 1 << 20, "{name}");
    }
}

/// Archives and models are read by ranges that fit into memory, and only what a check needs.
#[test]
fn members_by_range() {
    let (data, shape) = (data(), [ELEMENTS]);
    let [floats, integers] = ["<f4", "<i4"].map(|descr| npy(descr, &shape, false, &data));
    let tensor = |kind| [number(1, ELEMENTS as u64), number(2, kind), bytes(9, &data)].concat();
    let of_one = |kind| model(&[bytes(5, &[bytes(8, b"x"), tensor(kind)].concat())]);
    for (name, file, is_read) in [
        ("stored", zip(&[("x.npy", &floats)]), true),
        ("deflated", deflated(&[("x.npy", &floats)]), true),
        ("deflated integers", deflated(&[("x.npy", &integers)]), false),
        ("onnx", of_one(1), true),
        ("onnx integers", of_one(6), false),
    ] {
        assert_same_by_ranges(&file);
        let object = Object::new(file);
        let report = check_source(&object, None, &Options::default()).expect(name);
        assert_eq!(report.tensors[0].found.nan.count, u64::from(is_read), "{name}");
        assert!(object.longest.into_inner() <= 1 << 20, "{name}");
        assert!(is_read || object.all.into_inner() < 64 << 10, "{name}");
    }
}

/// An error of the source becomes the error of its tensor, on every thread.
#[test]
fn broken_sources() {
    for (name, bytes, _) in files() {
        let object = Object { breaks: bytes.len() as u64 - 1000, ..Object::new(bytes) };
        let Err(Error::Decode { tensor, error }) = check_source(&object, None, &Options::default())
        else {
            panic!("{name} is checked to its end")
        };
        assert_eq!(error.kind(), io::ErrorKind::ConnectionReset);
        assert_eq!(tensor, if name == "x.npy" { "" } else { "x" });
        let object = Object { breaks: 20, ..object };
        let broken = check_source(&object, None, &Options::default());
        assert!(broken.is_err_and(|error| !matches!(error, Error::Decode { .. })), "{name}");
    }
}

#[test]
fn beyond_the_end() {
    let bytes = &[1u8, 2, 3][..];
    let mut out = [0; 2];
    bytes.read_exact_at(&mut out, 1).expect("they are there");
    assert_eq!(out, [2, 3]);
    for at in [2, 3, 4, u64::MAX] {
        let error = bytes.read_exact_at(&mut out, at).expect_err("there are no such bytes");
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
}

/// Cuts a file as soon as something of it has been looked at.
#[derive(Debug)]
struct Cut {
    path: PathBuf,
    length: u64,
}

impl Observer for Cut {
    fn advanced(&self, _: u64) -> ControlFlow<()> {
        let file = File::options().write(true).open(&self.path).expect("the file is there");
        file.set_len(self.length).expect("the file can be cut");
        ControlFlow::Continue(())
    }
}

/// A file that another process truncates during the check is an error, and does not end this
/// process.
#[test]
fn cut_during_the_check() {
    let folder = folder("sources-cut");
    for (name, bytes, _) in files() {
        for length in [0, 5 << 20] {
            let path = file(&folder, name, &bytes);
            let options = Options {
                threads: NonZeroUsize::new(1),
                observer: Some(Arc::new(Cut { path: path.clone(), length })),
                ..Options::default()
            };
            let Err(Error::Decode { error, .. }) = check_file(&path, &options) else {
                panic!("{name} is checked to its end")
            };
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{name}");
            assert!(error.to_string().contains("became shorter"), "{name}: {error}");
        }
    }
}

/// A set of more files than are kept open, of which each has its own data.
#[test]
fn many_files() {
    const SHARDS: usize = 150;
    let folder = folder("shards");
    let mut names = Vec::new();
    for shard in 0..SHARDS {
        let name = format!("x{shard:03}");
        let bits = f32::NAN.to_bits() + shard as u32;
        let entry = Entry { name: &name, kind: "F32", shape: &[1], data: &bits.to_le_bytes()[..] };
        fs::write(folder.join(format!("{name}.safetensors")), safetensors(&[entry])).unwrap();
        names.push(format!(r#""{name}":"{name}.safetensors""#));
    }
    let index = folder.join("model.safetensors.index.json");
    fs::write(&index, format!(r#"{{"weight_map":{{{}}}}}"#, names.join(","))).unwrap();
    for _ in 0..2 {
        let report = check_file(&index, &Options::default()).expect("a good set");
        assert_eq!(report.tensors.len(), SHARDS);
        for (shard, tensor) in report.tensors.iter().enumerate() {
            let first = tensor.found.nan.first.as_ref().expect("a NaN");
            assert_eq!(first.bits, u64::from(f32::NAN.to_bits()) + shard as u64);
        }
    }
    // More than are kept open.
    let sources: Vec<_> = (0..SHARDS)
        .map(|shard| Source::open(&folder.join(format!("x{shard:03}.safetensors"))).unwrap())
        .collect();
    for source in &sources {
        let mut beginning = [0; 8];
        source.read_exact_at(&mut beginning, 0).expect("it is there");
        let error = source.read_exact_at(&mut beginning, source.length() - 7).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }
    #[cfg(unix)]
    {
        let replaced = folder.join(format!("x{:03}.safetensors", SHARDS - 1));
        fs::rename(folder.join("x000.safetensors"), &replaced).unwrap();
        let error = sources[SHARDS - 1].read_exact_at(&mut [0], 0).unwrap_err();
        assert!(error.to_string().contains("another file took its place"), "{error}");
    }
    #[cfg(target_os = "linux")]
    {
        let open = fs::read_dir("/proc/self/fd").expect("the files of this process").count();
        assert!(open < SHARDS, "{open} files are open");
    }
}

/// The longest header of a .npy file, and one that is longer.
#[test]
fn headers_of_npy() {
    let of_length = |length: u32| {
        let mut text = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }".to_vec();
        text.resize(length as usize, b' ');
        let data = f32::NAN.to_le_bytes();
        [b"\x93NUMPY\x02\0", &length.to_le_bytes()[..], &text, &data].concat()
    };
    let folder = folder("headers");
    let check =
        |length| check_file(&file(&folder, "x.npy", &of_length(length)), &Options::default());
    let longest = check(1 << 20);
    assert_eq!(longest.expect("a good file").tensors[0].found.nan.count, 1);
    let longer = check((1 << 20) + 1);
    assert!(longer.unwrap_err().to_string().contains("bytes are too many for a header"));
}
