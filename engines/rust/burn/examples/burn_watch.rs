//! A loop of gradient descent in burn whose learning rate is too high: the watch names the tensor
//! in which the numbers first exceed f32. `cargo run -p nonfinite-burn --example burn_watch`.

use burn_tensor::{Device, Tensor};
use nonfinite::{Predicate, Watch};
use nonfinite_burn::look;

fn main() {
    let device = Device::flex();
    let x = Tensor::<2>::from_data([[1f32, 2.0], [3.0, 4.0], [5.0, 6.0]], &device);
    let y = Tensor::<2>::from_data([[5f32], [11.0], [17.0]], &device);
    let mut weights = Tensor::<2>::from_data([[0f32], [0.0]], &device);
    let watch = Watch::new(Predicate::NonFinite);
    for step in 0.. {
        // The loss is the sum of the squared errors.
        let errors = x.clone().matmul(weights.clone()) - y.clone();
        look(&watch, "errors", &errors);
        look(&watch, "squares", &(errors.clone() * errors.clone()));
        let gradient = x.clone().transpose().matmul(errors) * 2.0;
        look(&watch, "gradient", &gradient);
        weights = weights - gradient * 0.5;
        look(&watch, "weights", &weights);
        if let Some(bad) = watch.first() {
            println!("step {step}: {bad}");
            // A square exceeds f32 long before the weights do.
            assert_eq!(bad.name(), "squares");
            break;
        }
        println!("step {step}: doublings until f32 overflows: {:?}", watch.totals().headroom);
        watch.clear();
    }
}
