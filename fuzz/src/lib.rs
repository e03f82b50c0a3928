//! Shared by the fuzz targets: the backends, and the types of inputs. `nonfinite_oracle` gives the
//! right answers, as in the tests.

pub mod beside;
pub mod border;
pub mod c;
pub mod directml;
pub mod lint;
pub mod read;
mod strided;
mod tensor;

use std::sync::LazyLock;

use nonfinite::{Backend, Format, TensorView};
use nonfinite_oracle::{Expected, Framed};

pub use nonfinite_oracle::{Kind, holds};
pub use strided::Strided;
pub use tensor::Tensor;

/// All backends that this CPU can run, and `portable`. Their names are printed once.
pub static BACKENDS: LazyLock<Vec<Backend>> = LazyLock::new(|| {
    let backends: Vec<_> = Backend::available().collect();
    let names: Vec<_> = backends.iter().map(|backend| backend.name()).collect();
    eprintln!("backends: {}", names.join(" "));
    backends
});

/// The kind of an element, by its bytes in the byte order of the machine.
#[must_use]
pub fn kind_of(format: Format, element: &[u8]) -> Kind {
    nonfinite_oracle::kind(format, nonfinite_oracle::read(element))
}

/// Ends the run with the error.
///
/// # Panics
/// If there is an error.
#[track_caller]
pub fn expect(result: Result<(), String>) {
    if let Err(wrong) = result {
        panic!("{wrong}");
    }
}

/// Compares every answer of every backend with what is right, and ends the run if one is wrong.
///
/// # Panics
/// If one is wrong.
#[track_caller]
pub fn check(view: TensorView<'_>, expected: &Expected) {
    for backend in &*BACKENDS {
        expect(nonfinite_oracle::check(
            &view.with_backend(*backend),
            expected,
            &mut Framed::default(),
        ));
    }
}
