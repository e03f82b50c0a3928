//! `nonfinite fix`: the arguments, and what is printed. The work is that of [`nonfinite_check::fix`].

use std::io::{self, Write};
use std::path::PathBuf;

use lexopt::{Arg, Parser, ValueExt};
use nonfinite_check::fix::{FixOptions, FixedTensor, fix_file};

use crate::report::OneLine;

/// What to do.
#[derive(Clone, Debug, PartialEq)]
pub struct Fix {
    input: PathBuf,
    output: PathBuf,
    options: FixOptions,
}

impl Fix {
    /// The arguments behind the name of the command. None if help is asked for.
    ///
    /// # Errors
    /// Wrong usage.
    pub fn parse(parser: &mut Parser) -> Result<Option<Self>, lexopt::Error> {
        let (mut input, mut output, mut options) = (None, None, FixOptions::default());
        while let Some(argument) = parser.next()? {
            match argument {
                Arg::Short('h') | Arg::Long("help") => return Ok(None),
                Arg::Short('o') | Arg::Long("output") => output = Some(parser.value()?.into()),
                Arg::Long("nan") => options.nan = parser.value()?.parse()?,
                Arg::Long("posinf") => options.pos_inf = parser.value()?.parse()?,
                Arg::Long("neginf") => options.neg_inf = parser.value()?.parse()?,
                Arg::Long("force") => options.force = true,
                Arg::Value(file) if input.is_none() => input = Some(file.into()),
                argument => return Err(argument.unexpected()),
            }
        }
        let input = input.ok_or("no file to fix")?;
        let output = output.ok_or("no file to write: fix IN -o OUT")?;
        Ok(Some(Self { input, output, options }))
    }

    /// Writes the output, and a line for each tensor of which something was replaced. The message says why there is
    /// no output.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn run(&self, out: &mut impl Write) -> io::Result<Result<(), String>> {
        let fixed = match fix_file(&self.input, &self.output, &self.options) {
            Ok(fixed) => fixed,
            Err(error) => {
                let file = OneLine(self.input.display());
                let why = OneLine(&error);
                return Ok(Err(format!("{file} to {}: {why}", OneLine(self.output.display()))));
            }
        };
        let mut replaced = 0;
        for tensor in &fixed.tensors {
            replaced += tensor.replaced();
            if tensor.replaced() != 0 {
                writeln!(out, "{}: {}", OneLine(self.output.display()), line(tensor))?;
            }
        }
        let tensors = fixed.tensors.len();
        let s = if tensors == 1 { "" } else { "s" };
        writeln!(out, "wrote {}: {tensors} tensor{s}, {replaced} replaced", OneLine(self.output.display()))?;
        Ok(Ok(()))
    }
}

fn line(tensor: &FixedTensor) -> String {
    let name = tensor.name.as_ref().map_or_else(String::new, |name| format!("{} ", OneLine(name)));
    let counts = [(tensor.nan, "NaN"), (tensor.pos_inf, "+Inf"), (tensor.neg_inf, "-Inf")];
    let counts: Vec<_> =
        counts.iter().filter(|(n, _)| *n != 0).map(|(n, kind)| format!("{n} {kind}")).collect();
    format!("{name}{} {:?} replaced {}", OneLine(&tensor.dtype), tensor.shape, counts.join(", "))
}
