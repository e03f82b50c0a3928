//! The command: see `HELP`.
#![forbid(unsafe_code)]

mod state;

use std::io::{IsTerminal, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use lexopt::Arg::{Long, Short, Value};
use lexopt::{Parser, ValueExt};
use nonfinite::Backend;
use nonfinite_sweep::{AllF32, Block, LEN, Patterns, RandomF64, StructuredF64};

use state::State;

const HELP: &str = "\
Compares answers for patterns of f32 and f64 with the standard library: on every backend, for every
predicate, every sink.

Usage: nonfinite-sweep [OPTIONS] [f32|f64]...

  f32               all 2^32 patterns
  f64               every sign and exponent with structured mantissas, and random patterns

Options:
  --backends A,B       only these backends, all of which must be there (default: all that are)
  --part K/N        only every Nth block of 8192 patterns, from the Kth (0..N) on (default 0/1)
  --random LOG2     2^LOG2 random patterns of f64 (default 33)
  --state FILE      go on where FILE says, and keep it up to date
  --seconds S       stop after about S seconds; the state file, if any, then says how far it came
Exit code: 0 all right, 1 something wrong, 2 bad usage, 3 stopped before the end.";

type Error = Box<dyn std::error::Error>;

type Sweep = fn(&Options, &mut State) -> Result<Outcome, Error>;

struct Options {
    kinds: Vec<String>,
    backends: Vec<Backend>,
    part: (u64, u64),
    random: u32,
    state: Option<PathBuf>,
    end: Option<Instant>,
}

fn options() -> Result<Option<Options>, Error> {
    let mut options = Options {
        kinds: Vec::new(),
        backends: Backend::available().collect(),
        part: (0, 1),
        random: 33,
        state: None,
        end: None,
    };
    let mut parser = Parser::from_env();
    while let Some(argument) = parser.next()? {
        match argument {
            Short('h') | Long("help") => return Ok(None),
            Long("backends") => {
                let names = parser.value()?.string()?;
                let backend =
                    |name| Backend::by_name(name).ok_or(format!("no backend {name} here"));
                options.backends = names.split(',').map(backend).collect::<Result<_, _>>()?;
            }
            Long("part") => {
                let part = parser.value()?.string()?;
                let (k, n) = part.split_once('/').ok_or("--part K/N")?;
                options.part = (k.parse()?, n.parse()?);
                if options.part.0 >= options.part.1 {
                    return Err("--part K/N needs K below N".into());
                }
            }
            Long("random") => {
                options.random = parser.value()?.parse()?;
                if !(13..=60).contains(&options.random) {
                    return Err("--random takes 13 to 60".into());
                }
            }
            Long("state") => options.state = Some(parser.value()?.into()),
            Long("seconds") => {
                options.end = Some(Instant::now() + Duration::from_secs(parser.value()?.parse()?));
            }
            Value(kind) if kind == "f32" || kind == "f64" => options.kinds.push(kind.string()?),
            _ => return Err(argument.unexpected().into()),
        }
    }
    if options.kinds.is_empty() {
        options.kinds = vec!["f32".to_owned(), "f64".to_owned()];
    }
    Ok(Some(options))
}

fn main() -> ExitCode {
    match options().and_then(|options| options.map(run).transpose()) {
        Ok(None) => {
            println!("{HELP}");
            ExitCode::SUCCESS
        }
        Ok(Some(code)) => code,
        Err(error) => {
            eprintln!("nonfinite-sweep: {error}\n\n{HELP}");
            ExitCode::from(2)
        }
    }
}

fn run(options: Options) -> Result<ExitCode, Error> {
    let names: Vec<_> = options.backends.iter().map(|backend| backend.name()).collect();
    let (k, n) = options.part;
    println!("backends {}; part {k} of {n}", names.join(","));
    let mut state = State::open(options.state.clone(), &format!("{} {k}/{n}", names.join(",")))?;
    let (mut patterns, mut finished, mut wrong) = (0, true, 0);
    let begin = Instant::now();
    for kind in &options.kinds {
        let sweeps: &[Sweep] = match &kind[..] {
            "f32" => &[|options, state| sweep(AllF32, options, state)],
            _ => &[
                |options, state| sweep(StructuredF64, options, state),
                |options, state| sweep(RandomF64 { log2: options.random }, options, state),
            ],
        };
        for sweep in sweeps {
            let outcome = sweep(&options, &mut state)?;
            patterns += outcome.patterns;
            finished &= outcome.finished;
            wrong += outcome.wrong;
        }
    }
    let seconds = begin.elapsed().as_secs_f64();
    println!(
        "{patterns} patterns, 7 predicates, 7 thresholds, on {}: {seconds:.0} s, \
         {:.1} million patterns/s",
        names.join(", "),
        patterns as f64 / seconds / 1e6
    );
    Ok(match (wrong, finished) {
        (0, true) => {
            println!("verdict: every answer is right");
            ExitCode::SUCCESS
        }
        (0, false) => {
            println!("no verdict: stopped before the end; nothing wrong so far");
            ExitCode::from(3)
        }
        _ => {
            println!("verdict: WRONG in {wrong} blocks of {LEN} patterns");
            ExitCode::FAILURE
        }
    })
}

/// The result for one kind of patterns.
struct Outcome {
    /// Swept in this run.
    patterns: u64,
    finished: bool,
    /// Blocks with a wrong answer, in this run and before.
    wrong: u64,
}

fn sweep(patterns: impl Patterns, options: &Options, state: &mut State) -> Result<Outcome, Error> {
    let (k, n) = options.part;
    let name = patterns.name();
    let blocks = patterns.len().div_ceil(LEN as u64);
    let mine = blocks.saturating_sub(k).div_ceil(n);
    let (first, mut wrong) = state.progress(&name);
    let mut bar = Bar::new(&name, first, mine);
    let mut done = first;
    while done < mine {
        let index = (k + done * n) * LEN as u64;
        let mut block = Block::new(patterns, index, 1);
        for &backend in &options.backends {
            if let Err(message) = block.check(backend) {
                wrong += 1;
                println!("\nWRONG in the {name} patterns from number {index} on: {message}");
            }
        }
        done += 1;
        if bar.is_due(done) {
            state.note(&name, done, wrong)?;
        }
        if options.end.is_some_and(|end| Instant::now() >= end) {
            break;
        }
    }
    state.note(&name, done, wrong)?;
    bar.end(done);
    Ok(Outcome { patterns: (done - first) * LEN as u64, finished: done == mine, wrong })
}

/// Progress: a bar that is drawn over on a terminal, else a line a minute.
struct Bar<'a> {
    name: &'a str,
    first: u64,
    all: u64,
    begin: Instant,
    next: Instant,
    pause: Duration,
}

impl<'a> Bar<'a> {
    fn new(name: &'a str, first: u64, all: u64) -> Self {
        let pause = Duration::from_secs(if std::io::stdout().is_terminal() { 1 } else { 60 });
        let begin = Instant::now();
        Self { name, first, all, begin, next: begin + pause, pause }
    }

    /// Prints the progress if it is time. Returns whether it was.
    fn is_due(&mut self, done: u64) -> bool {
        // Reading the clock is slow in emulators.
        let due = done.is_multiple_of(16) && Instant::now() >= self.next;
        if due {
            self.next = Instant::now() + self.pause;
            self.draw(done);
        }
        due
    }

    fn draw(&self, done: u64) {
        let filled = (done * 40 / self.all.max(1)) as usize;
        let seconds = self.begin.elapsed().as_secs_f64();
        let rate = (done - self.first) as f64 / seconds;
        let left = (self.all - done) as f64 / rate.max(1e-9);
        let (before, behind) = if self.pause.as_secs() == 1 { ("\r", "") } else { ("", "\n") };
        print!(
            "{before}{} [{:40}] {:5.1} % {:.1} million patterns/s, {left:.0} s left {behind}",
            self.name,
            "#".repeat(filled),
            done as f64 * 100.0 / self.all.max(1) as f64,
            rate * LEN as f64 / 1e6,
        );
        // Errors of the progress output are ignored.
        let _ = std::io::stdout().flush();
    }

    fn end(&self, done: u64) {
        self.draw(done);
        println!();
    }
}
