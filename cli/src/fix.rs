//! `nonfinite fix`: the arguments, and what is printed. The work is that of
//! [`nonfinite_check::fix`].

use std::io::{self, Write};
use std::path::PathBuf;

use clap::{Args, ValueHint};
use nonfinite_check::fix::{FixOptions, FixedTensor, Value, fix_file_observed};
use nonfinite_check::{ByKind, Observer};

use crate::report::OneLine;

/// What to write, and where.
#[derive(Clone, Debug, Args)]
pub struct Fix {
    /// The .safetensors or .npy file; it stays as it is
    #[arg(value_name = "IN", value_hint = ValueHint::FilePath)]
    input: PathBuf,
    /// The file to write
    #[arg(short, long, value_name = "OUT", value_hint = ValueHint::FilePath)]
    output: PathBuf,
    /// In the place of NaN
    #[arg(long, value_name = "VALUE", default_value = "0", allow_hyphen_values = true)]
    nan: Value,
    /// In the place of +Inf
    #[arg(long, value_name = "VALUE", default_value = "max", allow_hyphen_values = true)]
    posinf: Value,
    /// In the place of -Inf
    #[arg(long, value_name = "VALUE", default_value = "min", allow_hyphen_values = true)]
    neginf: Value,
    /// OUT may be replaced if it is there
    #[arg(long)]
    force: bool,
}

impl Fix {
    fn options(&self) -> FixOptions {
        let values = ByKind { nan: self.nan, pos_inf: self.posinf, neg_inf: self.neginf };
        FixOptions { values, force: self.force }
    }

    /// Writes the output, and a line for each tensor of which something was replaced. The message
    /// says why there is no output. The observer may end it before.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn run(
        &self,
        observer: &dyn Observer,
        out: &mut impl Write,
    ) -> io::Result<Result<(), String>> {
        let fixed = match fix_file_observed(&self.input, &self.output, &self.options(), observer) {
            Ok(fixed) => fixed,
            Err(error) => {
                let file = OneLine(self.input.display());
                let why = OneLine(&error);
                return Ok(Err(format!("{file} to {}: {why}", OneLine(self.output.display()))));
            }
        };
        let mut replaced = 0;
        for tensor in &fixed.tensors {
            replaced += tensor.total();
            if tensor.total() != 0 {
                writeln!(out, "{}: {}", OneLine(self.output.display()), line(tensor))?;
            }
        }
        let tensors = fixed.tensors.len();
        let s = if tensors == 1 { "" } else { "s" };
        writeln!(
            out,
            "wrote {}: {tensors} tensor{s}, {replaced} replaced",
            OneLine(self.output.display())
        )?;
        Ok(Ok(()))
    }
}

fn line(tensor: &FixedTensor) -> String {
    let name = tensor.name.as_ref().map_or_else(String::new, |name| format!("{} ", OneLine(name)));
    let counts = tensor.replaced.zip(ByKind::NAMES).into_array().into_iter();
    let counts: Vec<_> =
        counts.filter(|(n, _)| *n != 0).map(|(n, kind)| format!("{n} {kind}")).collect();
    format!("{name}{} {:?} replaced {}", OneLine(&tensor.dtype), tensor.shape, counts.join(", "))
}
