//! What the tests of all engines share: models in ONNX's format, inputs, and the measuring of time.

pub mod inputs;
pub mod onnx;

use std::time::{Duration, Instant};

/// The median duration of a call of each of two functions, which run in turns 101 times.
pub fn medians(mut ours: impl FnMut(), mut theirs: impl FnMut()) -> [Duration; 2] {
    let mut times = [Vec::new(), Vec::new()];
    let time = |run: &mut dyn FnMut()| {
        let start = Instant::now();
        run();
        start.elapsed()
    };
    for _ in 0..101 {
        times[0].push(time(&mut ours));
        times[1].push(time(&mut theirs));
    }
    times.map(|mut times| {
        times.sort_unstable();
        times[times.len() / 2]
    })
}

/// Prints the times of [`medians`] as a row of a table of Markdown, in microseconds.
pub fn report(name: &str, [ours, theirs]: [Duration; 2]) {
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    println!("| {name} | {:.1} | {:.1} |", micros(ours), micros(theirs));
}
