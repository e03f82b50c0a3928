//! Least and median times.

use std::time::{Duration, Instant};

use crate::task::Task;

/// The least time of a sample, if a call takes less: shorter than what the scheduler gives another
/// program, so that most samples are undisturbed.
const SAMPLE: Duration = Duration::from_micros(30);

/// Nanoseconds of a call, the least and the median of `rounds` samples of each task. The tasks take
/// turns, so that other load affects all of them.
pub fn nanoseconds(tasks: &mut [Task<'_>], rounds: usize) -> Vec<(f64, f64)> {
    let calls: Vec<u32> = tasks.iter_mut().map(calls).collect();
    let mut samples = vec![Vec::with_capacity(rounds); tasks.len()];
    for _ in 0..rounds {
        for ((task, calls), samples) in tasks.iter_mut().zip(&calls).zip(&mut samples) {
            task.prepare();
            // Warms the caches up for this task, unless the data does not fit anyway.
            if *calls > 1 {
                task.run();
            }
            samples.push(time(task, *calls).as_secs_f64() * 1e9 / f64::from(*calls));
        }
    }
    samples.into_iter().map(least_and_median).collect()
}

fn time(task: &mut Task<'_>, calls: u32) -> Duration {
    let start = Instant::now();
    for _ in 0..calls {
        task.run();
    }
    start.elapsed()
}

/// The number of calls in a sample.
fn calls(task: &mut Task<'_>) -> u32 {
    // The first call pays for pages and caches.
    task.prepare();
    task.run();
    let mut calls = 1;
    loop {
        let took = time(task, calls);
        if took >= SAMPLE || calls >= 1 << 20 {
            return calls;
        }
        calls *= 2;
    }
}

fn least_and_median(mut samples: Vec<f64>) -> (f64, f64) {
    samples.sort_by(f64::total_cmp);
    (samples[0], samples[samples.len() / 2])
}
