//! Attention in f16 whose scores overflow: the watch names the scores, and not the weights and the
//! output, which the overflow turns to NaN. `cargo run --example candle_watch`.

use candle_core::{D, DType, Device, Result, Tensor};
use nonfinite::{Predicate, Watch};
use nonfinite_candle::look;

/// Attention of one head over `x`, of `[tokens, width]`. The watch sees each tensor.
fn attention(x: &Tensor, watch: &Watch) -> Result<Tensor> {
    look(watch, "x", x)?;
    let scores = x.matmul(&x.t()?)?; // a real model divides by the root of the width
    look(watch, "scores", &scores)?;
    let shifted = scores.broadcast_sub(&scores.max_keepdim(D::Minus1)?)?.exp()?;
    let weights = shifted.broadcast_div(&shifted.sum_keepdim(D::Minus1)?)?;
    look(watch, "weights", &weights)?;
    let out = weights.matmul(x)?;
    look(watch, "out", &out)?;
    Ok(out)
}

fn main() -> Result<()> {
    let watch = Watch::new(Predicate::NonFinite);
    for scale in [1.0, 20.0, 400.0] {
        let values: Vec<f32> = (0..16 * 32).map(|i| scale * (1.0 + (i % 7) as f32 / 8.0)).collect();
        let x = Tensor::from_vec(values, (16, 32), &Device::Cpu)?.to_dtype(DType::F16)?;
        attention(&x, &watch)?;
        let totals = watch.totals();
        println!("scale {scale}: {} of {} tensors are bad", totals.bad_tensors, totals.tensors);
        println!("  doublings until f16 overflows: {:?}", totals.headroom);
        match watch.first() {
            Some(bad) => println!("  first: {bad}"),
            None => println!("  all are finite"),
        }
        assert_eq!(watch.first().is_some(), scale == 400.0);
        if let Some(bad) = watch.first() {
            assert_eq!((bad.name(), bad.coordinate()), ("scores", &[0, 0][..]));
            assert_eq!(totals.bad_tensors, 3);
        }
        watch.clear(); // for the next step
    }
    Ok(())
}
