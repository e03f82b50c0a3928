//! The loops that published crates have today, beside `nonfinite`; see README.md.

use std::process::ExitCode;

use nonfinite_adopters::adopters::{ALL, Adopter};
use nonfinite_adopters::data::{Data, Type};
use nonfinite_adopters::report::{self, Row, print};

const USAGE: &str = "\
--rounds N      samples of each loop (31)
--kib 4,64      sizes of the input (4, 64, 4096)
--adopter NAME  one of those that were built in (all)";

struct Options {
    rounds: usize,
    sizes: Vec<usize>,
    adopter: Option<String>,
}

impl Options {
    fn from_env() -> Result<Self, String> {
        let mut options =
            Self { rounds: 31, sizes: vec![4 << 10, 64 << 10, 4 << 20], adopter: None };
        let mut args = std::env::args().skip(1);
        while let Some(arg) = args.next() {
            let value = args.next().ok_or(format!("{arg} needs a value; known are\n{USAGE}"))?;
            let number =
                |text: &str| text.parse::<usize>().map_err(|e| format!("{arg} {text}: {e}"));
            match arg.as_str() {
                "--rounds" => options.rounds = number(&value)?.max(1),
                "--kib" => {
                    let kib: Result<Vec<_>, _> = value.split(',').map(number).collect();
                    options.sizes = kib?.into_iter().map(|kib| kib << 10).collect();
                }
                "--adopter" => options.adopter = Some(value),
                _ => return Err(format!("{arg}? Known are\n{USAGE}")),
            }
        }
        Ok(options)
    }
}

/// Compares the answers on data of several kinds, in lengths that no block divides.
fn assert_same(adopter: &Adopter) {
    for (element, name, _) in Type::ALL {
        for nulls in [false, true] {
            for (data, what) in [
                (Data::Clean, "clean"),
                (Data::Dirty, "dirty"),
                (Data::Random, "random"),
                (Data::AllNan, "all NaN"),
            ] {
                for len in [1, 7, 64, 100, 1023, 4096, 50_021] {
                    let on = format!("{} of {len} {name}, {what}, nulls: {nulls}", adopter.name);
                    for pair in (adopter.pairs)(&element.column(data, len, nulls)) {
                        pair.assert_same(&on);
                    }
                }
            }
        }
    }
}

fn measure(adopter: &Adopter, options: &Options) -> Vec<Row> {
    let mut rows = Vec::new();
    for (element, name, bytes) in Type::ALL {
        for nulls in [false, true] {
            let first = rows.len();
            let mut column = 0;
            for &size in &options.sizes {
                for data in [Data::Clean, Data::Dirty] {
                    let values = element.column(data, size / bytes, nulls);
                    for pair in (adopter.pairs)(&values) {
                        pair.assert_same(adopter.name);
                        let same = |row: &Row| row.question == pair.question;
                        let at = rows[first..].iter().position(same).unwrap_or_else(|| {
                            rows.push(Row::new(pair.question, name, nulls));
                            rows.len() - 1 - first
                        });
                        rows[first + at].set(column, pair.seconds(options.rounds));
                    }
                    column += 1;
                }
            }
        }
    }
    rows
}

fn main() -> ExitCode {
    let options = match Options::from_env() {
        Ok(options) => options,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    for name in ["RAYON_NUM_THREADS", "RTEN_NUM_THREADS"] {
        if std::env::var(name).as_deref() != Ok("1") {
            eprintln!("{name} is not 1: start this program by cargo, in its folder");
            return ExitCode::FAILURE;
        }
    }
    let load = report::load();
    println!("{}\n", report::machine());
    for adopter in ALL {
        if options.adopter.as_deref().is_some_and(|name| name != adopter.name) {
            continue;
        }
        assert_same(adopter);
        let rows = measure(adopter, &options);
        print(adopter, &options.sizes, &rows);
        if let Some(note) = adopter.note {
            println!("{}\n", note());
        }
    }
    println!("Load average before: {load}; after: {}.", report::load());
    ExitCode::SUCCESS
}
