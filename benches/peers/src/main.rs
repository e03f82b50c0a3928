//! Measures `nonfinite` and other libraries with the same questions, in one run; see README.md.

mod buffer;
mod data;
mod measure;
mod peers;
mod report;
mod task;

use std::collections::BTreeSet;
use std::process::ExitCode;

use half::{bf16, f16};
use nonfinite::{Backend, F8E4M3Fn, F8E5M2};

use data::{Data, Element, expected};
use report::Cell;
use task::{Answer, Ask, Task};

const USAGE: &str = "\
--json FILE        writes all rows
--filter TEXT,..   cells that have one of these in their name, as mask/f32 or 16KiB/dirty
--kib 1,16         sizes; 1, 4, 16 and 256 KiB otherwise, of clean data also 8 and 256 MiB
--data clean,1/16  of clean, dirty3 (or 1/3), dirty16, dirty100, dirty (1/1000), runs; all otherwise
--offset 16        bytes from a multiple of 64 to where inputs and outputs begin (0)
--rounds N         samples (9)";

struct Options {
    json: Option<String>,
    filter: Vec<String>,
    sizes: Option<Vec<usize>>,
    data: Vec<Data>,
    rounds: usize,
}

impl Options {
    fn from_env() -> Result<Self, String> {
        let mut options = Self {
            json: None,
            filter: vec![String::new()],
            sizes: None,
            data: Data::NAMED.iter().map(|(_, data)| *data).collect(),
            rounds: 9,
        };
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            let value = args.next().ok_or(format!("{arg} needs a value; known are\n{USAGE}"))?;
            let number =
                |text: &str| text.parse::<usize>().map_err(|e| format!("{arg} {text}: {e}"));
            let parts = value.split(',');
            match arg.as_str() {
                "--json" => options.json = Some(value),
                "--filter" => options.filter = parts.map(String::from).collect(),
                "--kib" => {
                    let kib: Result<Vec<_>, _> =
                        parts.map(|kib| Ok::<_, String>(number(kib)? << 10)).collect();
                    options.sizes = Some(kib?);
                }
                "--data" => {
                    let data = |name| Data::by_name(name).ok_or(format!("--data {name}?"));
                    options.data = parts.map(data).collect::<Result<_, _>>()?;
                }
                "--offset" => {
                    let offset = number(&value)?;
                    if offset >= 64 || !offset.is_multiple_of(8) {
                        return Err(format!("--offset {offset}: must be a multiple of 8 below 64"));
                    }
                    buffer::OFFSET.set(offset).map_err(|_| "--offset is given twice")?;
                }
                "--rounds" => options.rounds = number(&value)?,
                _ => return Err(format!("{arg}? Known are\n{USAGE}")),
            }
        }
        Ok(options)
    }

    /// Whether a cell is measured.
    fn wants(&self, ask: Ask, bytes: usize, data: Data, cell: &str) -> bool {
        let usual = match (&self.sizes, data) {
            (Some(sizes), _) => sizes.contains(&bytes),
            // In memory, a search of clean data reads everything, like a count.
            (None, Data::Clean) => bytes < 64 << 20 || !ask.is_search(),
            // A search ends at the first hit, so the size does not matter.
            (None, _) => bytes == 1 << 10 || bytes < 1 << 20 && !ask.is_search(),
        };
        usual && self.filter.iter().any(|text| cell.contains(text.as_str()))
    }
}

fn size_name(bytes: usize) -> String {
    match bytes {
        0x10_0000.. => format!("{}MiB", bytes >> 20),
        _ => format!("{}KiB", bytes >> 10),
    }
}

fn tasks<'a, T: Element>(ask: Ask, x: &'a [T]) -> Vec<Task<'a>> {
    peers::ALL.iter().flat_map(|tasks| tasks(ask, T::input(x))).collect()
}

/// The peers with wrong answers, on several kinds of data and lengths that no block divides.
fn wrong<T: Element>(ask: Ask) -> BTreeSet<&'static str> {
    let mut wrong = BTreeSet::new();
    for data in [Data::Clean, Data::Dirty(100), Data::Runs, Data::Random, Data::AllNan] {
        for n in [1, 7, 64, 100, 1023, 4096, 50_021] {
            let x = data.make::<T>(n);
            let expected = expected(ask, &x);
            for mut task in tasks(ask, &x) {
                task.prepare();
                task.run();
                let answer = task.answer();
                if answer != Answer::None && answer != expected && wrong.insert(task.name) {
                    let cell = ask.name(T::NAME);
                    println!(
                        "WRONG: {} in {cell}, {n} elements, {}; it is left out",
                        task.name,
                        data.name()
                    );
                }
            }
        }
    }
    wrong
}

fn measure<T: Element>(options: &Options, cells: &mut Vec<Cell>) {
    let usual = [1 << 10, 4 << 10, 16 << 10, 256 << 10, 8 << 20, 256 << 20];
    let sizes = options.sizes.as_deref().unwrap_or(&usual);
    for ask in Ask::ALL {
        if !T::HAS_INF && ask == Ask::Mask(task::Question::Inf) {
            continue;
        }
        let mut liars = None;
        for (&bytes, &data) in
            sizes.iter().flat_map(|size| options.data.iter().map(move |data| (size, data)))
        {
            let name = format!("{}/{}/{}", ask.name(T::NAME), size_name(bytes), data.name());
            if !options.wants(ask, bytes, data, &name) {
                continue;
            }
            let liars = liars.get_or_insert_with(|| wrong::<T>(ask));
            let x = data.make::<T>(bytes / size_of::<T>());
            let mut tasks = tasks(ask, &x);
            tasks.retain(|task| !liars.contains(task.name));
            let rounds = if bytes >= 1 << 20 { options.rounds.div_ceil(3) } else { options.rounds };
            let seconds = measure::seconds(&mut tasks, rounds);
            let speed = |seconds| bytes as f64 / seconds / 1e9;
            let rows = tasks.iter().zip(seconds).map(|(task, s)| (task.name, speed(s))).collect();
            cells.push(Cell { name, bytes, rows });
        }
        eprintln!("{}", ask.name(T::NAME));
    }
}

fn main() -> ExitCode {
    let options = match Options::from_env() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    // SAFETY: no other thread runs yet. Thread pools of the peers ask for these when they are first
    // used: one thread for everybody.
    unsafe {
        for name in
            ["RAYON_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS", "RTEN_NUM_THREADS"]
        {
            std::env::set_var(name, "1");
        }
    }
    let active = Backend::active();
    let mut cells = Vec::new();
    measure::<f32>(&options, &mut cells);
    measure::<f64>(&options, &mut cells);
    measure::<f16>(&options, &mut cells);
    measure::<bf16>(&options, &mut cells);
    measure::<F8E4M3Fn>(&options, &mut cells);
    measure::<F8E5M2>(&options, &mut cells);
    for backend in
        Backend::available().filter(|backend| *backend == active || backend.name() == "avx2")
    {
        println!("{}", report::markdown(&cells, backend.name()));
    }
    if let Some(file) = &options.json
        && let Err(error) = std::fs::write(file, report::json(&cells))
    {
        eprintln!("{file}: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
