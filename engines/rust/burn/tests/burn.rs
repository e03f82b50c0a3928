//! Our answers beside those of burn's own `is_nan`, `is_inf` and `is_finite`.

use burn_tensor::{Bool, Device, Element, Tensor, TensorData};
use half::{bf16, f16};
use nonfinite::{Predicate, Watch};
use nonfinite_burn::NonFinite;
use nonfinite_engine_testing::inputs::{Float, finite, values};

fn tensor<T: Element>(values: Vec<T>, shape: [usize; 2], device: &Device) -> Tensor<2> {
    let dtype = T::dtype();
    Tensor::from_data(TensorData::new(values, shape), (device, dtype))
}

fn theirs(x: &Tensor<2>, predicate: Predicate) -> Tensor<2, Bool> {
    let x = x.clone();
    match predicate {
        Predicate::Nan => x.is_nan(),
        Predicate::Inf => x.is_inf(),
        Predicate::Finite => x.is_finite(),
        Predicate::Exceeds(threshold) => {
            x.clone().abs().greater_elem(threshold.value()).bool_or(x.is_nan())
        }
        other => unreachable!("burn does not have {other}"),
    }
}

fn answers(mask: Tensor<2, Bool>) -> Vec<bool> {
    mask.into_data().try_to_vec::<bool>().expect("booleans")
}

/// The tensor, and views of it that are not dense, or do not begin where its memory begins.
fn views(x: Tensor<2>) -> Vec<Tensor<2>> {
    let sliced = x.clone().slice([1..3, 2..5]);
    let reversed = x.clone().flip([0]);
    vec![x.clone(), x.transpose(), sliced.clone().transpose(), sliced, reversed]
}

fn agree<T: Float + Element + nonfinite::Element>(device: &Device) {
    for shape in [[3, 5], [130, 127]] {
        let x = tensor(values::<T>(shape[0] * shape[1]), shape, device);
        assert_eq!(x.dtype(), T::dtype());
        for x in views(x) {
            let above =
                Predicate::exceeds(<T as nonfinite::Element>::FORMAT, 0.5).expect("a threshold");
            for predicate in [Predicate::Nan, Predicate::Inf, Predicate::Finite, above] {
                let mask = answers(theirs(&x, predicate));
                let ours = x.mask_of(predicate);
                assert_eq!(ours.dims(), x.dims());
                assert_eq!(answers(ours), mask, "{predicate}");
                let count = mask.iter().filter(|answer| **answer).count();
                assert_eq!(x.count_of(predicate), count);
                assert_eq!(x.any_of(predicate), count > 0);
                assert_eq!(x.all_of(predicate), count == mask.len());
                let index = mask.iter().position(|answer| *answer);
                let columns = x.dims()[1];
                let place = |index| [index / columns, index % columns];
                assert_eq!(x.first_of(predicate), index.map(place));
            }
            assert_eq!(x.census().nan.count, x.count_of(Predicate::Nan));
            assert!(!x.all_finite() && x.any_nan());
            let watch = Watch::new(Predicate::NonFinite);
            let stats = nonfinite_burn::look(&watch, "x", &x);
            assert_eq!((stats.census, watch.totals().bad_tensors), (x.census(), 1));
            assert_eq!(stats, x.stats());
            let bad = watch.first().expect("not all are finite");
            let first = x.first_of(Predicate::NonFinite).expect("as the watch");
            assert_eq!(bad.coordinate(), first);
        }
        let x = tensor(finite::<T>(shape[0] * shape[1]), shape, device);
        assert!(x.all_finite() && !x.any_nan());
        let watch = Watch::new(
            Predicate::exceeds(<T as nonfinite::Element>::FORMAT, 0.0).expect("a threshold"),
        );
        nonfinite_burn::look(&watch, "finite", &x);
        assert_eq!(watch.totals().bad_tensors, 1);
    }
}

#[test]
fn answers_on_flex() {
    let device = Device::flex();
    agree::<f64>(&device);
    agree::<f32>(&device);
    agree::<f16>(&device);
    agree::<bf16>(&device);
}
