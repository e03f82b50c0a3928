//! Questions under a validity bitmap: `OPERATION/PREDICATE/FORMAT/SIZE/DATA`, with nulls at random
//! places. `no bitmap` is the same question without one.

use std::cell::RefCell;
use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use nonfinite::{Predicate, TensorView};
use nonfinite_benches::{Data, Sample};

/// Whether an element is null, by a random number.
type IsNull = fn(u64) -> bool;

const NULLS: [(&str, IsNull); 4] = [
    ("all valid", |_| false),
    ("one in 1000 null", |random| random.is_multiple_of(1000)),
    ("half null", |random| random.is_multiple_of(2)),
    ("all but one in 1000 null", |random| !random.is_multiple_of(1000)),
];

/// A bitmap for this number of elements. It begins at bit 3.
fn bitmap(elements: usize, is_null: IsNull) -> Vec<u8> {
    let mut state = 0x9E37_79B9_7F4A_7C15u64;
    let mut bitmap = vec![0xFF; (3 + elements).div_ceil(8)];
    for bit in 3..3 + elements {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        bitmap[bit / 8] &= !(u8::from(is_null(state >> 11)) << (bit % 8));
    }
    bitmap
}

/// One question, with each kind of bitmap.
fn operation<T: Sample, R>(
    c: &mut Criterion,
    name: String,
    x: &[T],
    plain: impl Fn(TensorView<'_>) -> R,
    valid: impl Fn(TensorView<'_>) -> R,
) {
    let mut group = nonfinite_benches::group(c, name, size_of_val(x));
    group.bench_function("no bitmap", |b| b.iter(|| plain(TensorView::from(black_box(x)))));
    for (name, is_null) in NULLS {
        let bitmap = bitmap(x.len(), is_null);
        group.bench_function(name, |b| {
            b.iter(|| {
                let view = TensorView::from(black_box(x));
                valid(view.with_validity(black_box(&bitmap), 3).unwrap())
            });
        });
    }
    group.finish();
}

fn format<T: Sample>(c: &mut Criterion) {
    for bytes in nonfinite_benches::sizes_or(&[16 << 10, 256 << 10, 8 << 20, 256 << 20]) {
        for (data, data_name) in Data::ALL {
            let x: Vec<T> = data.make(bytes);
            let name = |operation: &str| {
                format!("{operation}/{}/{}/{data_name}", T::NAME, nonfinite_benches::name(bytes))
            };
            let count = name("count/nan");
            let nan = Predicate::Nan;
            operation(c, count, &x, |x| x.count(nan), |x| x.count(nan));
            let finite = Predicate::Finite;
            operation(c, name("all/finite"), &x, |x| x.all(finite), |x| x.all(finite));
            operation(c, name("census/all"), &x, |x| x.census(), |x| x.census());
            operation(c, name("stats/all"), &x, |x| x.stats(), |x| x.stats());
            let room = || vec![0u8; x.len().div_ceil(8)];
            let (out, out_valid) = (RefCell::new(room()), RefCell::new(room()));
            operation(
                c,
                name("bits/nan"),
                &x,
                |x| x.bits(nan, &mut out.borrow_mut(), 0).unwrap(),
                |x| x.bits(nan, &mut out_valid.borrow_mut(), 0).unwrap(),
            );
        }
    }
}

criterion_group! {
    name = nulls;
    config = nonfinite_benches::criterion();
    targets = format::<f32>, format::<f64>, format::<half::f16>
}
criterion_main!(nulls);
