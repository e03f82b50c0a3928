//! Guards the layers of a small network: each layer must return finite elements only. The first
//! layer that does not is named, with the coordinate of its first bad element.
//!
//!     cargo run --example guard_layers

use std::error::Error;

use nonfinite::{Predicate, position};

/// A dense layer with ReLU. Weights are `[inputs, outputs]`, row after row.
struct Layer {
    name: &'static str,
    outputs: usize,
    weights: Vec<f32>,
}

impl Layer {
    /// `x` is `[batch, inputs]`; the result is `[batch, outputs]`.
    fn forward(&self, x: &[f32]) -> Vec<f32> {
        let inputs = self.weights.len() / self.outputs;
        let mut y = Vec::with_capacity(x.len() / inputs * self.outputs);
        for sample in x.chunks(inputs) {
            for output in 0..self.outputs {
                let column = self.weights[output..].iter().step_by(self.outputs);
                let sum: f32 = sample.iter().zip(column).map(|(x, weight)| x * weight).sum();
                // Not `sum.max(0.0)`, which turns NaN into zero.
                y.push(if sum < 0.0 { 0.0 } else { sum });
            }
        }
        y
    }
}

fn run(layers: &[Layer], mut x: Vec<f32>) -> Result<Vec<f32>, Box<dyn Error>> {
    for layer in layers {
        x = layer.forward(&x);
        if let Some(index) = position(&x, Predicate::NonFinite) {
            let (row, column) = (index / layer.outputs, index % layer.outputs);
            return Err(format!("{}[{row}, {column}] is {}", layer.name, x[index]).into());
        }
        println!("{}: {} finite elements", layer.name, x.len());
    }
    Ok(x)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut layers = [
        Layer { name: "embed", outputs: 3, weights: vec![0.5, -1.0, 2.0, 1.5, 0.25, 1.0] },
        Layer { name: "hidden", outputs: 2, weights: vec![1.0, 0.5, 0.5, 1.0, -0.5, 0.75] },
        Layer { name: "head", outputs: 1, weights: vec![1.0, -1.0] },
    ];
    let batch = vec![1.0, 2.0, -3.0, 4.0];
    println!("head returns {:?}", run(&layers, batch.clone())?);

    // As after an update of the weights with too high a learning rate.
    layers[1].weights[3] = f32::MAX;
    let error = run(&layers, batch).expect_err("a sum overflows");
    println!("{error}");
    assert_eq!(error.to_string(), "hidden[1, 1] is inf");
    Ok(())
}
