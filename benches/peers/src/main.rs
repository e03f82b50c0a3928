//! Measures `nonfinite` and other loops with the same questions, in one run; see README.md.

mod buffer;
mod data;
mod measure;
mod peers;
mod task;

use std::collections::BTreeSet;
use std::process::ExitCode;
use std::sync::atomic::Ordering;

use half::{bf16, f16};
use nonfinite::{F8E4M3Fn, F8E5M2};

use data::{Data, Element, expected};
use task::{Ask, Task};

const USAGE: &str = "\
--questions A,..   questions that begin with one of these, as mask or mask/finite; all otherwise
--formats A,..     of f32, f64, f16, bf16, f8e4m3fn, f8e5m2; all otherwise
--lengths 8e,1KiB  elements, or B, KiB or MiB of input
--data clean,1/16  of clean, line, kib, dirty3 (or 1/3), dirty16, dirty100, dirty (1/1000), runs
--offset 0,16      bytes from a multiple of 64 to where inputs and outputs begin
--backend avx2     leaves out loops for other backends, and with avx512 none
--peers A,..       rows whose name begins with one of these
--rounds N         samples (31)";

/// Elements, or bytes of input.
#[derive(Clone, Copy)]
enum Length {
    Elements(usize),
    Bytes(usize),
}

impl Length {
    fn by_name(name: &str) -> Option<Self> {
        let number = |unit| name.strip_suffix(unit).and_then(|n| n.parse::<usize>().ok());
        number("e")
            .map(Self::Elements)
            .or_else(|| number("KiB").map(|n| Self::Bytes(n << 10)))
            .or_else(|| number("MiB").map(|n| Self::Bytes(n << 20)))
            .or_else(|| number("B").map(Self::Bytes))
    }

    fn name(self) -> String {
        match self {
            Self::Elements(n) => format!("{n}e"),
            Self::Bytes(bytes @ 0x10_0000..) => format!("{}MiB", bytes >> 20),
            Self::Bytes(bytes @ 0x400..) => format!("{}KiB", bytes >> 10),
            Self::Bytes(bytes) => format!("{bytes}B"),
        }
    }
}

struct Options {
    questions: Vec<String>,
    formats: Vec<String>,
    lengths: Vec<Length>,
    data: Vec<Data>,
    offsets: Vec<usize>,
    backend: Option<String>,
    peers: Vec<String>,
    rounds: usize,
}

impl Options {
    fn from_env() -> Result<Self, String> {
        let names = |names: &str| names.split(',').map(String::from).collect::<Vec<_>>();
        let lengths = |names: &str| names.split(',').map(Length::by_name).collect::<Option<_>>();
        let usual = "8e,16e,32e,63e,256e,1KiB,4KiB,16KiB,256KiB,8MiB,256MiB";
        let mut options = Self {
            questions: names(""),
            formats: names("f32,f64,f16,bf16,f8e4m3fn,f8e5m2"),
            lengths: lengths(usual).expect("names of lengths"),
            data: Data::NAMED.iter().map(|(_, data)| *data).collect(),
            offsets: vec![0],
            backend: None,
            peers: names(""),
            rounds: 31,
        };
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            let value = args.next().ok_or(format!("{arg} needs a value; known are\n{USAGE}"))?;
            let bad = || format!("{arg} {value}? Known are\n{USAGE}");
            match arg.as_str() {
                "--questions" => options.questions = names(&value),
                "--formats" => options.formats = names(&value),
                "--lengths" => options.lengths = lengths(&value).ok_or_else(bad)?,
                "--data" => {
                    let data = value.split(',').map(Data::by_name).collect::<Option<_>>();
                    options.data = data.ok_or_else(bad)?;
                }
                "--offset" => {
                    let offsets = value.split(',').map(|offset| offset.parse().ok());
                    options.offsets = offsets.collect::<Option<_>>().ok_or_else(bad)?;
                    if options.offsets.iter().any(|at| *at >= 64 || !at.is_multiple_of(8)) {
                        return Err(format!("{arg} {value}: must be multiples of 8 below 64"));
                    }
                }
                "--backend" => options.backend = Some(value),
                "--peers" => options.peers = names(&value),
                "--rounds" => {
                    options.rounds = value.parse().ok().filter(|n| *n > 0).ok_or_else(bad)?;
                }
                _ => return Err(bad()),
            }
        }
        Ok(options)
    }

    fn wants_task(&self, name: &str) -> bool {
        let other = |backend: &&str| self.backend.as_deref().is_some_and(|ours| ours != *backend);
        let ours = ["nonfinite", "before"].iter().any(|crate_| name.starts_with(crate_));
        let left_out = match name.rsplit_once(' ') {
            // Loops for AVX2 run on each CPU with AVX-512.
            Some((_, "avx2")) if !ours => false,
            Some((_, backend @ ("avx2" | "avx512" | "neon" | "portable"))) => other(&backend),
            _ => false,
        };
        !left_out && self.peers.iter().any(|peer| name.starts_with(peer.as_str()))
    }
}

/// Whether a cell says more than others do.
fn is_useful(ask: Ask, bytes: usize, data: Data) -> bool {
    match data {
        // In memory, a search of clean data reads everything, like a count.
        Data::Clean => bytes < 64 << 20 || !ask.is_search(),
        Data::Early(within) if within > 64 && bytes < within => false,
        // A search ends at the first hit, so longer inputs tell nothing.
        _ if ask.is_search() => bytes <= 4 << 10,
        Data::Early(_) => bytes <= 16 << 10,
        _ => bytes < 1 << 20,
    }
}

/// The peers with wrong answers, on several kinds of data and lengths that no block divides.
fn wrong<T: Element>(ask: Ask) -> BTreeSet<&'static str> {
    let mut wrong = BTreeSet::new();
    for data in [Data::Clean, Data::Dirty(100), Data::Runs, Data::Random, Data::AllNan] {
        for n in [1, 7, 64, 100, 1023, 4096, 50_021] {
            let x = data.make::<T>(n);
            let expected = expected(ask, &x);
            for mut task in peers::tasks(ask, T::input(&x)) {
                task.prepare();
                task.run();
                let answer = task.answer();
                if answer != expected && wrong.insert(task.name) {
                    let (peer, ask, format, data) = (task.name, ask.name(), T::NAME, data.name());
                    eprintln!("WRONG, left out: {peer}, {ask}, {format}, {n} elements, {data}");
                }
            }
        }
    }
    wrong
}

/// Prints a line for each row of each cell.
fn measure<T: Element>(options: &Options) {
    if !options.formats.iter().any(|format| format == T::NAME) {
        return;
    }
    for ask in Ask::ALL {
        let question = ask.name();
        let wanted = options.questions.iter().any(|name| question.starts_with(name.as_str()));
        if !wanted || !T::HAS_INF && ask == Ask::Mask(task::Question::Inf) {
            continue;
        }
        eprintln!("{} {question}", T::NAME);
        let liars = wrong::<T>(ask);
        for (&length, &offset, &data) in cells(options) {
            let n = match length {
                Length::Elements(n) => n,
                Length::Bytes(bytes) => bytes / size_of::<T>(),
            };
            let bytes = n * size_of::<T>();
            if !is_useful(ask, bytes, data) {
                continue;
            }
            buffer::OFFSET.store(offset, Ordering::Relaxed);
            let x = data.make::<T>(n);
            let mut tasks: Vec<Task<'_>> = peers::tasks(ask, T::input(&x));
            tasks.retain(|task| !liars.contains(task.name) && options.wants_task(task.name));
            let rounds = if bytes >= 1 << 20 { options.rounds.div_ceil(9) } else { options.rounds };
            let times = measure::nanoseconds(&mut tasks, rounds);
            for (task, (least, median)) in tasks.iter().zip(times) {
                let (format, length, data) = (T::NAME, length.name(), data.name());
                print!("{question}\t{format}\t{length}\t{bytes}\t{data}\t{offset}\t");
                println!("{}\t{least:.3}\t{median:.3}", task.name);
            }
        }
    }
}

fn cells(options: &Options) -> impl Iterator<Item = (&Length, &usize, &Data)> {
    let offsets = |length| options.offsets.iter().map(move |offset| (length, offset));
    let data = |(length, offset)| options.data.iter().map(move |data| (length, offset, data));
    options.lengths.iter().flat_map(offsets).flat_map(data)
}

fn main() -> ExitCode {
    let options = match Options::from_env() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    println!("question\tformat\tlength\tbytes\tdata\toffset\trow\tleast ns\tmedian ns");
    measure::<f32>(&options);
    measure::<f64>(&options);
    measure::<f16>(&options);
    measure::<bf16>(&options);
    measure::<F8E4M3Fn>(&options);
    measure::<F8E5M2>(&options);
    ExitCode::SUCCESS
}
