//! The functions of the kernels, with rules and backends that are known only at run time. Those for
//! nulls and statistics are in the programs `everything` and `statistics`.
use std::hint::black_box;
use std::mem::MaybeUninit;

use nonfinite_kernels::strided::{self, MaskView, Rows, Tensor};
use nonfinite_kernels::{self as kernels, Backend, Float, MaskOut, Rule, Values};

fn dense(backend: Option<Backend>, x: &mut [u8], rule: &Rule, out: &mut [u8]) {
    kernels::mask(backend, x, rule, MaskOut::from(&mut *out));
    black_box(kernels::mask_uninit(
        backend,
        x,
        rule,
        black_box(&mut [MaybeUninit::uninit(); 100][..]),
    ));
    kernels::bits(backend, x, rule, out, 3);
    black_box((kernels::position(backend, x, rule), kernels::count(backend, x, rule)));
    black_box((kernels::occurrences(backend, x, rule), kernels::census(backend, x, rule)));
    let values = black_box(Values { nan: 0, pos_inf: 1, neg_inf: 2 });
    black_box(kernels::replace(backend, x, rule, values));
    black_box(kernels::replace_into(backend, x, out, rule, values));
    black_box(kernels::scale(backend, x, black_box(Float::F16), 0.5));
}

fn strides(backend: Option<Backend>, x: &[u8], rule: &Rule, out: &mut [u8]) {
    let (sizes, strides) = (black_box([10, 10]), black_box([10, 1]));
    let tensor = Tensor::strided(x, rule.size(), black_box(0), &sizes, &strides).unwrap();
    let to = MaskView::strided(&mut *out, black_box(0), &sizes, &strides).unwrap();
    strided::mask_into(backend, &tensor, rule, to).unwrap();
    strided::bits(backend, &tensor, rule, out, 3);
    black_box((strided::any(backend, &tensor, rule), strided::position(backend, &tensor, rule)));
    black_box(strided::counts(backend, &tensor, rule, [rule; 3]));
    strided::rows(
        backend,
        &tensor,
        black_box(0),
        rule,
        &[rule],
        Rows::Any(black_box(&mut [false; 10][..])),
    );
    strided::rows(
        backend,
        &tensor,
        black_box(1),
        rule,
        &[rule],
        Rows::Count(black_box(&mut [0; 10][..])),
    );
}

fn main() {
    // With lengths that are known only at run time, so that the compiler cannot prove a panic.
    let (mut x, mut out) = (vec![0; black_box(400)], vec![0; black_box(400)]);
    let name = std::env::args().next().unwrap_or_default();
    let backend = black_box(Backend::by_name(&name));
    for rule in [Rule::greater(4, 7, 3), Rule::equal(1, 7, 7), Rule::equal(8, 7, 3).not()] {
        dense(backend, black_box(&mut x), black_box(&rule), black_box(&mut out));
        strides(backend, black_box(&x), black_box(&rule), black_box(&mut out));
    }
    Backend::active().activate();
    black_box((
        &out,
        Backend::all().count(),
        Backend::active().name(),
    ));
}
