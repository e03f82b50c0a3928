//! A program with files of its own: paths lead to them, and not to those of the system. The opener
//! is that of the whole process, so this test has a process of its own.

use std::io;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use nonfinite_check::lint::Linter;
use nonfinite_check::{Error, Options, ReadAt, check_file, open_files_by, work};

/// The two shards of a model, and their index.
fn bytes(path: &str) -> Option<Vec<u8>> {
    let shard = |name: &str, number: f32| {
        let header = format!(r#"{{"{name}":{{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}}}"#);
        let length = (header.len() as u64).to_le_bytes();
        [&length[..], header.as_bytes(), &number.to_le_bytes()].concat()
    };
    Some(match path {
        "model/one.safetensors" => shard("a", 1.0),
        "model/two.safetensors" => shard("b", f32::NAN),
        "model/model.safetensors.index.json" => {
            br#"{"weight_map":{"a":"one.safetensors","b":"two.safetensors"}}"#.to_vec()
        }
        _ => return None,
    })
}

#[derive(Debug)]
struct Owned(String, Vec<u8>);

impl ReadAt for Owned {
    fn length(&self) -> u64 {
        self.1.len() as u64
    }

    fn read_exact_at(&self, out: &mut [u8], at: u64) -> io::Result<()> {
        self.1.read_exact_at(out, at)
    }

    fn file(&self) -> Option<&Path> {
        Some(Path::new(&self.0))
    }
}

fn open(path: &Path) -> Result<Arc<dyn ReadAt>, Error> {
    let name = path.to_str().unwrap_or_default();
    let bytes = bytes(name).ok_or(Error::Io(io::ErrorKind::NotFound.into()))?;
    Ok(Arc::new(Owned(name.to_owned(), bytes)))
}

#[test]
fn files_of_a_program() {
    open_files_by(open);
    let index = Path::new("model/model.safetensors.index.json");
    let options = Options::default();
    let most = NonZeroUsize::new(1 << 20).expect("not 0");
    let mut linter = Linter::new(options.clone());
    let mut plan = linter.plan("model/two.safetensors", most).expect("a plan");
    let found = work::check_pieces(&plan.take_pieces(), &options).expect("tallies");
    let merged = linter.merge(&plan, [found]).expect("a report");
    assert_eq!(merged.tensors[0].found.nan.count, 1);
    let report = check_file(index, &options).expect("a report");
    assert_eq!(Linter::new(options.clone()).check(index).expect("a report").tensors.len(), 2);
    assert_eq!(report.tensors[1].file.as_deref(), Some(Path::new("model/two.safetensors")));
    assert!(report.tensors[1].is_bad());
    assert!(matches!(check_file(Path::new("Cargo.toml"), &options), Err(Error::Io(_))));
    let shards = nonfinite_check::formats::shards(index);
    assert_eq!(shards, ["model/one.safetensors", "model/two.safetensors"].map(Path::new));
}
