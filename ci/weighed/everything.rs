//! Every public function, except those for other crates' arrays and threads, and those of the
//! feature `stats`; generic ones for five types.
use std::hint::black_box;

use nonfinite::scale::{Scalable, unscale_and_check};
use nonfinite::{
    Backend, Element, Elements, ElementsMut, F8E4M3Fn, Format, MaskView, Predicate, Replacement,
    TensorView,
};

fn typed<T: Element>(x: &mut [T]) {
    let (x, p) = (black_box(x), black_box(Predicate::Nan));
    let mut out = vec![false; x.len()];
    nonfinite::is_nan(x, &mut out);
    nonfinite::is_infinite(x, &mut out);
    nonfinite::is_finite(x, &mut out);
    nonfinite::mask(x, p, &mut out);
    nonfinite::bits(x, p, black_box(&mut [0; 20]), black_box(3));
    black_box((nonfinite::any(x, p), nonfinite::all(x, p), nonfinite::count(x, p)));
    black_box((nonfinite::position(x, p), nonfinite::census(x)));
    black_box(out);
    let (with, mut copy) = (black_box(Replacement::finite()), x.to_vec());
    black_box(nonfinite::replace_non_finite(x, with));
    black_box(nonfinite::replace_non_finite_into(x, &mut copy, with));
    black_box(copy);
}

fn scaled<T: Scalable>(x: &mut [T]) {
    typed(x);
    black_box(unscale_and_check(black_box(x), 0.5));
}

fn untyped(x: &mut [u8], format: Format) {
    let (x, format, p) = (black_box(x), black_box(format), black_box(Predicate::Nan));
    let (mut out, mut copy) = (vec![0; x.len()], x.to_vec());
    let with = Replacement::finite_bits(format);
    let view = TensorView::from_bytes(x, format).unwrap();
    let _ = black_box(view.mask(p, &mut out));
    let _ = black_box(view.bits(p, &mut out, 3));
    black_box((view.any(p), view.all(p), view.count(p), view.position(p), view.census()));
    black_box(view.positions(p).count());
    let valid = view.with_validity(black_box(&[0xA5; 20]), black_box(3)).unwrap();
    let _ = black_box((valid.mask(p, &mut out), valid.bits(p, &mut out, 3)));
    black_box((valid.any(p), valid.all(p), valid.count(p), valid.position(p), valid.census()));
    black_box((valid.positions(p).count(), valid.valid_count()));
    let from = Elements::from_bytes(x, format).unwrap();
    let into = ElementsMut::from_bytes(&mut copy, format).unwrap();
    let _ = black_box(into.copy_replacing(from, with));
    let _ = black_box(ElementsMut::from_bytes(x, format).unwrap().replace_non_finite(with));
    let _ = black_box(ElementsMut::from_bytes(x, format).unwrap().unscale_and_check(0.5));
}

fn view(x: &[f32], backend: Backend) {
    let (sizes, strides, p) = ([10, 10], [1, 10], black_box(Predicate::Nan));
    let view =
        black_box(TensorView::strided(x, 0, black_box(&sizes), black_box(&strides)).unwrap());
    let (mut out, mut rows) = (vec![false; x.len()], [0; 10]);
    let _ = black_box(view.mask(p, &mut out[..]));
    let shaped = TensorView::shaped(x, &sizes).unwrap().with_backend(backend);
    let _ = black_box(shaped.mask(p, &mut out[..]));
    let mut to = MaskView::strided(&mut out[..], 0, &sizes, &strides).unwrap();
    let _ = black_box(view.mask_into(p, &mut to));
    let _ = black_box(MaskView::shaped(&mut out[..], &sizes));
    let _ = black_box(view.bits(p, &mut [0; 20], 3));
    black_box((view.any(p), view.all(p), view.count(p), view.position(p), view.census()));
    black_box(view.coordinate(7).unwrap().count());
    let along = view.rows(black_box(1)).unwrap();
    let _ = black_box(along.any(p, &mut [false; 10]));
    let _ = black_box(along.count(p, &mut rows));
    let _ = black_box(along.position(p, &mut [None; 10]));
    let _ = black_box(along.census(&mut [Default::default(); 10]));
}

fn main() {
    let mut singles = [1.0_f32; 100];
    scaled(&mut singles);
    scaled(&mut [1.0_f64; 100]);
    scaled(&mut [half::f16::ONE; 100]);
    scaled(&mut [half::bf16::ONE; 100]);
    typed(&mut [F8E4M3Fn::default(); 100]);
    untyped(&mut [0; 100], Format::F8E5M2);
    let backend =
        black_box("scalar").parse::<String>().ok().and_then(|name| Backend::by_name(&name));
    view(&singles, backend.unwrap_or_else(Backend::active));
    Backend::active().activate();
    let _ = black_box(black_box("f32").parse::<Format>());
    black_box(Backend::all().count());
}
