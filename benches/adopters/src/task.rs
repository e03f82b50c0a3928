//! A published loop and ours, on the same memory.

use std::hint::black_box;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The answer to a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Count(usize),
    Flag(bool),
    /// The minimum and the maximum of finite elements.
    Extremes([f64; 2]),
    /// One for each element; nothing for a null.
    Mask(Vec<Option<bool>>),
}

impl Answer {
    pub fn mask(values: impl IntoIterator<Item = bool>) -> Self {
        Self::Mask(values.into_iter().map(Some).collect())
    }
}

/// How long one sample takes at least, if a call takes less.
const SAMPLE: Duration = Duration::from_micros(300);

/// A call to be timed.
pub struct Task {
    time: Box<dyn Fn(u32) -> Duration>,
    answer: Box<dyn Fn() -> Answer>,
}

impl Task {
    /// Times `run`. `answer` converts the result, and is not timed.
    pub fn new<R: 'static>(
        run: impl Fn() -> R + 'static,
        answer: impl Fn(R) -> Answer + 'static,
    ) -> Self {
        let run: Rc<dyn Fn() -> R> = Rc::new(run);
        let timed = Rc::clone(&run);
        let time = move |calls| {
            let start = Instant::now();
            for _ in 0..calls {
                // The call is indirect, so that no compiler hoists the work out of the loop.
                black_box(black_box(&timed)());
            }
            start.elapsed()
        };
        Self { time: Box::new(time), answer: Box::new(move || answer(run())) }
    }

    /// How many calls make a sample.
    fn calls(&self) -> u32 {
        // The first call pays for pages and caches.
        (self.time)(1);
        let mut calls = 1;
        while calls < 1 << 20 && (self.time)(calls) < SAMPLE {
            calls *= 2;
        }
        calls
    }

    /// Seconds a call.
    fn sample(&self, calls: u32) -> f64 {
        // Brings the data of this task into the caches.
        if calls > 1 {
            (self.time)(1);
        }
        (self.time)(calls).as_secs_f64() / f64::from(calls)
    }
}

/// A published loop and ours.
pub struct Pair {
    /// What is asked.
    pub question: &'static str,
    pub theirs: Task,
    /// The part of `theirs` that is not the loop. Its time is subtracted. For private loops only.
    pub around: Option<Task>,
    pub ours: Task,
}

/// Seconds of a call, medians.
#[derive(Clone, Copy)]
pub struct Seconds {
    /// The time of the loop alone: theirs without `around`.
    pub theirs: f64,
    pub around: f64,
    pub ours: f64,
}

impl Pair {
    pub fn new(question: &'static str, theirs: Task, ours: Task) -> Self {
        Self { question, theirs, around: None, ours }
    }

    /// Subtracts the time of `around` from theirs.
    pub fn without(self, around: Task) -> Self {
        Self { around: Some(around), ..self }
    }

    /// # Panics
    /// If the answers differ.
    pub fn assert_same(&self, on: &str) {
        let (theirs, ours) = ((self.theirs.answer)(), (self.ours.answer)());
        assert!(theirs == ours, "{}, {on}: the answers differ", self.question);
    }

    /// Medians of `rounds` samples. All take turns, and who begins changes each round, so that
    /// whatever else the machine does befalls all.
    pub fn seconds(&self, rounds: usize) -> Seconds {
        let tasks = [Some(&self.theirs), self.around.as_ref(), Some(&self.ours)];
        let calls = tasks.map(|task| task.map_or(0, Task::calls));
        let mut samples = [const { Vec::new() }; 3];
        for round in 0..rounds {
            let sample = |i: usize| tasks[i].map_or(0.0, |task| task.sample(calls[i]));
            let mut order = [0, 1, 2];
            if round % 2 == 1 {
                order.reverse();
            }
            let mut seconds = [0.0; 3];
            for i in order {
                seconds[i] = sample(i);
            }
            let [theirs, around, ours] = seconds;
            for (samples, seconds) in samples.iter_mut().zip([theirs - around, around, ours]) {
                samples.push(seconds);
            }
        }
        let [theirs, around, ours] = samples.map(median);
        Seconds { theirs, around, ours }
    }
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}
