//! Runs loops in turns, and prints a line for each.

use std::time::{Duration, Instant};

/// The time of a loop in each turn.
const TURN: Duration = Duration::from_micros(25);
const ROUNDS: usize = 161;

pub(crate) struct Loop<'a> {
    name: String,
    run: Box<dyn FnMut() + 'a>,
}

pub(crate) fn of<'a>(name: impl Into<String>, run: impl FnMut() + 'a) -> Loop<'a> {
    Loop { name: name.into(), run: Box::new(run) }
}

fn time(run: &mut dyn FnMut(), calls: u32) -> f64 {
    let start = Instant::now();
    for _ in 0..calls {
        run();
    }
    start.elapsed().as_nanos() as f64 / f64::from(calls)
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The parts that names must contain.
pub(crate) struct Filter(pub(crate) Vec<String>);

impl Filter {
    fn takes(&self, name: &str) -> bool {
        self.0.iter().all(|part| name.contains(part.as_str()))
    }

    /// Prints our loops by backend, each with the limit for its width and the other loops.
    pub(crate) fn cell<'a>(
        &self,
        name: &str,
        bytes: usize,
        ours: Vec<Loop<'a>>,
        limits: Vec<Loop<'a>>,
        others: Vec<Loop<'a>>,
    ) {
        let ours: Vec<_> =
            ours.into_iter().filter(|ours| self.takes(&format!("{name} {}", ours.name))).collect();
        if ours.is_empty() {
            return;
        }
        let (first_limit, first_other) = (ours.len(), ours.len() + limits.len());
        let names: Vec<_> = ours.iter().map(|ours| ours.name.clone()).collect();
        let mut all: Vec<_> = ours.into_iter().chain(limits).chain(others).collect();
        let calls: Vec<u32> = all
            .iter_mut()
            .map(|each| {
                let warm = (0..3).map(|_| time(&mut each.run, 3)).fold(f64::MAX, f64::min);
                (TURN.as_nanos() as f64 / warm).clamp(1.0, 1e5) as u32
            })
            .collect();
        let mut times = vec![Vec::new(); all.len()];
        for _ in 0..ROUNDS {
            for ((each, &calls), times) in all.iter_mut().zip(&calls).zip(&mut times) {
                times.push(time(&mut each.run, calls));
            }
        }
        let ratio = |of: usize, by: usize| {
            median(times[of].iter().zip(&times[by]).map(|(of, by)| of / by).collect())
        };
        for (i, backend) in names.iter().enumerate() {
            let ns = median(times[i].clone());
            let limit = if backend == "avx512" { first_other.wrapping_sub(1) } else { first_limit };
            let share = if limit < first_other && limit >= first_limit {
                format!("{:.2}", ratio(limit, i))
            } else {
                "-".into()
            };
            // An AVX-512 loop is no fair comparison for AVX2.
            let fair =
                |other: &usize| backend.contains("avx512") || !all[*other].name.contains("avx512");
            let best = (first_other..all.len())
                .filter(fair)
                .map(|other| (ratio(other, i), other))
                .min_by(|a, b| a.0.total_cmp(&b.0));
            let best = best.map_or_else(String::new, |(ratio, other)| {
                format!("{ratio:.2} {}", all[other].name)
            });
            println!(
                "{name:<36} {backend:<9} {ns:>9.1} ns {:>7.1} GB/s  share {share:<5} best {best}",
                bytes as f64 / ns
            );
        }
    }
}
