//! The fuzz targets of files that name other files, which stand beside them: those of
//! `checker/fuzz/beside`.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::{env, fs, process};

use nonfinite_check::check_source;

use crate::read::{FACTOR, FIXED, check_by, counts_memory};

/// The names and the contents of the other files; see `sets.py`.
const FILES: [(&str, &[u8]); 6] = [
    ("a.safetensors", include_bytes!("../beside/a.safetensors")),
    ("b.safetensors", include_bytes!("../beside/b.safetensors")),
    ("a.bin", include_bytes!("../beside/a.bin")),
    ("b.bin", include_bytes!("../beside/b.bin")),
    ("cut.bin", include_bytes!("../beside/cut.bin")),
    ("x.distcp", include_bytes!("../beside/x.distcp")),
];

/// A folder with these files. Processes that run at once share the folder.
static FOLDER: LazyLock<PathBuf> = LazyLock::new(|| {
    let folder = env::temp_dir().join("nonfinite-fuzz-beside");
    fs::create_dir_all(&folder).expect("the folder for temporary files can be written to");
    for (name, content) in FILES {
        let (path, new) = (folder.join(name), folder.join(format!("{name}.{}", process::id())));
        fs::write(&new, content).expect("the folder can be written to");
        fs::rename(new, path).expect("the file can be renamed");
    }
    folder
});

/// Writes the other files.
///
/// # Panics
/// If the target does not allocate by [`PeakAlloc`](crate::read::PeakAlloc).
pub fn prepare() {
    counts_memory();
    LazyLock::force(&FOLDER);
}

/// Reads the bytes as a file of this name in the folder, and checks the report and the memory. The
/// target must allocate by [`PeakAlloc`](crate::read::PeakAlloc).
///
/// # Panics
/// If a promise is broken.
pub fn check(bytes: &[u8], name: &str) {
    let path = FOLDER.join(name);
    // A name of a file takes a few bytes, and each name can be another spelling of one file.
    let beside = FILES.iter().map(|(_, content)| content.len()).sum::<usize>();
    let limit = FACTOR * (bytes.len() + beside) + FIXED;
    // The result is a report or an error.
    drop(check_by(limit, &|options| check_source(&bytes, Some(&path), options)));
}
