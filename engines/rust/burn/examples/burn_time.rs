//! Times of ours and of burn's own: `cargo run --release -p nonfinite-burn --all-features --example
//! burn_time`.

use std::hint::black_box;

use burn_tensor::{Device, Tensor, TensorData};
use nonfinite::Predicate;
use nonfinite_burn::NonFinite;
use nonfinite_engine_testing::inputs::finite;
use nonfinite_engine_testing::{medians, report};

fn main() {
    for (name, device) in devices() {
        let data = TensorData::new(finite::<f32>(1 << 20), [1024, 1024]);
        let x = Tensor::<2>::from_data(data, &device);
        let row = |question: &str| format!("{question}, f32, {name}");
        let mask = |predicate| drop(black_box(x.mask_of(predicate)));
        let nan = medians(|| mask(Predicate::Nan), || drop(black_box(x.clone().is_nan())));
        report(&row("is_nan"), nan);
        let inf = medians(|| mask(Predicate::Inf), || drop(black_box(x.clone().is_inf())));
        report(&row("is_inf"), inf);
        let own = || drop(black_box(x.clone().is_finite()));
        report(&row("is_finite"), medians(|| mask(Predicate::Finite), own));
        let own = || _ = black_box(x.clone().contains_nan().into_scalar::<bool>());
        report(&row("contains_nan"), medians(|| _ = black_box(x.any_nan()), own));
        let own = || _ = black_box(x.clone().is_finite().all().into_scalar::<bool>());
        report(&row("all finite?"), medians(|| _ = black_box(x.all_finite()), own));
        let scalar = |x: Tensor<1>| x.into_scalar::<f32>();
        let own = || _ = black_box([x.clone().min(), x.clone().max()].map(scalar));
        report(&row("min and max; ours: stats"), medians(|| _ = black_box(x.stats()), own));
    }
}

#[cfg_attr(feature = "ndarray", expect(deprecated, reason = "the whole backend is"))]
fn devices() -> Vec<(&'static str, Device)> {
    vec![
        ("flex", Device::flex()),
        #[cfg(feature = "ndarray")]
        ("ndarray", Device::ndarray()),
    ]
}
