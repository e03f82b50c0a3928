//! What the fuzz targets share: the paths they run, and the inputs they are given. What is right is told by
//! `nonfinite_oracle`, as in the tests.

mod strided;
mod tensor;

use std::sync::LazyLock;

use nonfinite::Path;

pub use strided::{Layout, Strided};
pub use tensor::Tensor;

/// All paths that this CPU can run, and `portable`. Their names are printed once.
pub static PATHS: LazyLock<Vec<Path>> = LazyLock::new(|| {
    let paths: Vec<_> = Path::available().collect();
    let names: Vec<_> = paths.iter().map(|path| path.name()).collect();
    eprintln!("paths: {}", names.join(" "));
    paths
});

/// Ends the run with what was wrong.
///
/// # Panics
/// If something was.
#[track_caller]
pub fn expect(result: Result<(), String>) {
    if let Err(wrong) = result {
        panic!("{wrong}");
    }
}
