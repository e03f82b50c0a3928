//! What is compared: views, the functions for typed slices, and in `tests/backends/known_bad.rs`
//! implementations that are wrong.
#![expect(unsafe_code, reason = "bytes as elements of a type")]

use std::fmt::{self, Debug};

use half::{bf16, f16};
use nonfinite::{
    Census, Element, Elements, F4E2M1Fn, F6E2M3Fn, F6E3M2Fn, F8E3M4, F8E4M3, F8E4M3B11FnUz,
    F8E4M3Fn, F8E4M3FnUz, F8E5M2, F8E5M2FnUz, F8E8M0Fnu, Format, Predicate, TensorView, Watch,
};

use crate::backends::backends;
use crate::expected::Asked;
use crate::stats::Summary;

/// What answers as a view does. `Debug` names it in messages.
pub trait Subject: Debug {
    /// 0 or 1 for each element.
    fn mask(&self, asked: Asked, out: &mut [u8]);
    /// One bit for each element, least significant first, from bit `offset` on. Other bits keep
    /// their values.
    fn bits(&self, asked: Asked, out: &mut [u8], offset: usize);
    /// Whether any element is asked for.
    fn any(&self, asked: Asked) -> bool;
    /// How many are.
    fn count(&self, asked: Asked) -> usize;
    /// The index of the first.
    fn position(&self, asked: Asked) -> Option<usize>;
    /// Whether all valid elements are asked for.
    fn all(&self, asked: Asked) -> bool;
    /// The first `most` indices of elements that are asked for.
    fn positions(&self, asked: Asked, most: usize) -> Vec<usize>;
    /// The number and the first of NaN, +Inf and -Inf.
    fn census(&self) -> Census;
    /// The census, the extreme numbers, and zeros, subnormal and normal numbers.
    fn stats(&self) -> Summary;
    /// The first index that a watch reports, and how many bad tensors it counts.
    fn watch(&self, asked: Asked) -> (Option<usize>, u64);
    /// How many elements are valid.
    fn valid_count(&self) -> usize;
    /// The view, if its rows and outputs with strides are to be checked.
    fn view(&self) -> Option<&TensorView<'_>> {
        None
    }
}

impl Subject for TensorView<'_> {
    fn mask(&self, asked: Asked, out: &mut [u8]) {
        self.mask(asked.of(self.format()), out).unwrap();
    }
    fn bits(&self, asked: Asked, out: &mut [u8], offset: usize) {
        self.bits(asked.of(self.format()), out, offset).unwrap();
    }
    fn any(&self, asked: Asked) -> bool {
        self.any(asked.of(self.format()))
    }
    fn count(&self, asked: Asked) -> usize {
        self.count(asked.of(self.format()))
    }
    fn position(&self, asked: Asked) -> Option<usize> {
        self.position(asked.of(self.format()))
    }
    fn all(&self, asked: Asked) -> bool {
        self.all(asked.of(self.format()))
    }
    fn positions(&self, asked: Asked, most: usize) -> Vec<usize> {
        (*self).positions(asked.of(self.format())).take(most).collect()
    }
    fn census(&self) -> Census {
        self.census()
    }
    fn stats(&self) -> Summary {
        self.stats().into()
    }
    fn watch(&self, asked: Asked) -> (Option<usize>, u64) {
        watch(*self, asked)
    }
    fn valid_count(&self) -> usize {
        self.valid_count()
    }
    fn view(&self) -> Option<&TensorView<'_>> {
        Some(self)
    }
}

/// What a watch tells of one tensor.
fn watch(view: TensorView<'_>, asked: Asked) -> (Option<usize>, u64) {
    let watch = Watch::new(asked.of(view.format()));
    watch.look("x", view);
    (watch.first().map(|bad| bad.index), watch.totals().bad_tensors)
}

/// All that answers about elements in one piece: a view on each backend and, if the address suits
/// the type, the functions for typed slices, on the active backend.
#[must_use]
pub fn subjects<'a>(x: Elements<'a>) -> Vec<Box<dyn Subject + 'a>> {
    let view = |&backend| Box::new(TensorView::from(x).with_backend(backend)) as Box<dyn Subject>;
    let bytes = x.as_bytes();
    let slice = match x.format() {
        Format::F64 => slice::<f64>(bytes),
        Format::F32 => slice::<f32>(bytes),
        Format::F16 => slice::<f16>(bytes),
        Format::Bf16 => slice::<bf16>(bytes),
        Format::F8E4M3Fn => slice::<F8E4M3Fn>(bytes),
        Format::F8E4M3FnUz => slice::<F8E4M3FnUz>(bytes),
        Format::F8E5M2 => slice::<F8E5M2>(bytes),
        Format::F8E5M2FnUz => slice::<F8E5M2FnUz>(bytes),
        Format::F8E4M3 => slice::<F8E4M3>(bytes),
        Format::F8E3M4 => slice::<F8E3M4>(bytes),
        Format::F8E4M3B11FnUz => slice::<F8E4M3B11FnUz>(bytes),
        Format::F8E8M0Fnu => slice::<F8E8M0Fnu>(bytes),
        Format::F4E2M1Fn => slice::<F4E2M1Fn>(bytes),
        Format::F6E2M3Fn => slice::<F6E2M3Fn>(bytes),
        Format::F6E3M2Fn => slice::<F6E3M2Fn>(bytes),
        _ => unreachable!("a format without a type"),
    };
    backends().iter().map(view).chain(slice).collect()
}

fn slice<'a, T: Element + 'static>(bytes: &'a [u8]) -> Option<Box<dyn Subject + 'a>> {
    // SAFETY: the types with this trait, which is sealed, are numbers, and structs of one integer:
    // all bits are valid.
    let (before, x, behind) = unsafe { bytes.align_to::<T>() };
    let whole = before.is_empty() && behind.is_empty();
    whole.then(|| Box::new(Slice(x)) as Box<dyn Subject>)
}

/// The functions for typed slices.
struct Slice<'a, T>(&'a [T]);

impl<T: Element> Debug for Slice<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a slice of {}", T::FORMAT)
    }
}

impl<T: Element> Subject for Slice<'_, T> {
    fn mask(&self, asked: Asked, out: &mut [u8]) {
        match asked {
            Asked::Is(Predicate::Nan) => nonfinite::is_nan(self.0, out),
            Asked::Is(Predicate::Inf) => nonfinite::is_infinite(self.0, out),
            Asked::Is(Predicate::Finite) => nonfinite::is_finite(self.0, out),
            _ => nonfinite::mask(self.0, asked.of(T::FORMAT), out),
        }
    }
    fn bits(&self, asked: Asked, out: &mut [u8], offset: usize) {
        nonfinite::bits(self.0, asked.of(T::FORMAT), out, offset);
    }
    fn any(&self, asked: Asked) -> bool {
        match asked {
            Asked::Is(Predicate::Nan) => nonfinite::any_nan(self.0),
            _ => nonfinite::any(self.0, asked.of(T::FORMAT)),
        }
    }
    fn count(&self, asked: Asked) -> usize {
        nonfinite::count(self.0, asked.of(T::FORMAT))
    }
    fn position(&self, asked: Asked) -> Option<usize> {
        nonfinite::position(self.0, asked.of(T::FORMAT))
    }
    fn all(&self, asked: Asked) -> bool {
        match asked {
            Asked::Is(Predicate::Finite) => nonfinite::all_finite(self.0),
            _ => nonfinite::all(self.0, asked.of(T::FORMAT)),
        }
    }
    fn positions(&self, asked: Asked, most: usize) -> Vec<usize> {
        TensorView::from(self.0).positions(asked.of(T::FORMAT)).take(most).collect()
    }
    fn census(&self) -> Census {
        nonfinite::census(self.0)
    }
    fn stats(&self) -> Summary {
        nonfinite::stats(self.0).into()
    }
    fn watch(&self, asked: Asked) -> (Option<usize>, u64) {
        watch(self.0.into(), asked)
    }
    fn valid_count(&self) -> usize {
        self.0.len()
    }
}
