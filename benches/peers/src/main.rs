//! `nonfinite` and others that answer its questions, measured in one run; see README.md.

mod data;
mod measure;
mod peers;
mod report;
mod task;

use std::collections::BTreeSet;
use std::process::ExitCode;

use half::{bf16, f16};

use data::{Data, Element, expected};
use report::Row;
use task::{Answer, Ask, Task};

struct Options {
    json: Option<String>,
    /// Cells that have this in their name.
    filter: String,
    sizes: Vec<usize>,
    data: Vec<Data>,
    rounds: usize,
}

impl Options {
    fn from_env() -> Result<Self, String> {
        let mut options = Self {
            json: None,
            filter: String::new(),
            sizes: vec![16 << 10, 256 << 10, 8 << 20, 256 << 20],
            data: vec![Data::Clean],
            rounds: 11,
        };
        if let Ok(list) = std::env::var("NONFINITE_BENCH_KIB") {
            let kib = |kib: &str| kib.parse::<usize>().map(|kib| kib << 10);
            options.sizes =
                list.split(',').map(kib).collect::<Result<_, _>>().map_err(|e| format!("{list}: {e}"))?;
        }
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            let mut value = || args.next().ok_or(format!("{arg} needs a value"));
            match arg.as_str() {
                "--json" => options.json = Some(value()?),
                "--filter" => options.filter = value()?,
                "--rounds" => options.rounds = value()?.parse().map_err(|e| format!("--rounds: {e}"))?,
                "--dirty" => options.data.push(Data::Dirty),
                _ => return Err(format!("{arg}? Known are --json FILE, --filter TEXT, --rounds N, --dirty")),
            }
        }
        Ok(options)
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

/// Who answers wrongly, on data of several kinds and of lengths that no block divides.
fn wrong<T: Element>(ask: Ask, wrong: &mut BTreeSet<&'static str>) {
    for data in [Data::Clean, Data::Dirty, Data::Random, Data::AllNan] {
        for n in [1, 7, 64, 100, 1023, 4096, 50_021] {
            let x = data.make::<T>(n);
            let expected = expected(ask, &x);
            for mut task in tasks(ask, &x) {
                task.run();
                let answer = task.answer();
                if answer != Answer::None && answer != expected && wrong.insert(task.name) {
                    let cell = ask.name(T::NAME);
                    println!("WRONG: {} in {cell}, {n} elements, {}; it is left out", task.name, data.name());
                }
            }
        }
    }
}

fn measure<T: Element>(options: &Options, rows: &mut Vec<Row>) {
    for ask in Ask::ALL {
        if !ask.name(T::NAME).contains(&options.filter) {
            continue;
        }
        let mut liars = BTreeSet::new();
        wrong::<T>(ask, &mut liars);
        for (&bytes, &data) in
            options.sizes.iter().flat_map(|size| options.data.iter().map(move |data| (size, data)))
        {
            let cell = format!("{}/{}/{}", ask.name(T::NAME), size_name(bytes), data.name());
            let x = data.make::<T>(bytes / size_of::<T>());
            let mut tasks = tasks(ask, &x);
            tasks.retain(|task| !liars.contains(task.name));
            let rounds = if bytes >= 64 << 20 { options.rounds.div_ceil(2) } else { options.rounds };
            let seconds = measure::seconds(&mut tasks, rounds);
            for (task, seconds) in tasks.iter().zip(seconds) {
                rows.push(Row {
                    cell: cell.clone(),
                    name: task.name,
                    gb_per_s: bytes as f64 / seconds / 1e9,
                });
            }
            eprintln!("{cell}");
        }
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
    // SAFETY: no other thread runs yet. Thread pools of the peers ask for these when they are first used: one thread for
    // everybody.
    unsafe {
        for name in ["RAYON_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS", "RTEN_NUM_THREADS"] {
            std::env::set_var(name, "1");
        }
    }
    let mut rows = Vec::new();
    measure::<f32>(&options, &mut rows);
    measure::<f64>(&options, &mut rows);
    measure::<f16>(&options, &mut rows);
    measure::<bf16>(&options, &mut rows);
    println!("{}", report::markdown(&rows));
    if let Some(file) = &options.json
        && let Err(error) = std::fs::write(file, report::json(&rows))
    {
        eprintln!("{file}: {error}");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}
