//! Writing a copy of a file with other numbers instead of NaN and infinity.
//!
//! The copy appears under its name only when it is whole. If anything fails before, or if the
//! process ends, there is no file of that name, or still the old one. On Linux the copy has no name
//! before, so the system removes it however the process ends. Other systems, and file systems
//! without such files, have it under a hidden name in the same folder. There it stays if a signal
//! ends the process that the process does not handle.

mod error;
mod output;
mod value;
mod write;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use error::FixError;
pub use value::{Value, ValueError};

use crate::model::{ByKind, Content, FileFormat, Input, Source, Tensor};
use crate::options::Observer;
use crate::policy::Allow;
use crate::raw::{self, RawDtype};
use output::Temporary;

/// Which numbers replace NaN and infinity, and which files may be replaced.
#[derive(Clone, Debug)]
pub struct FixOptions {
    /// The values that replace NaN, +Inf and -Inf.
    pub values: ByKind<Value>,
    /// Numbers that are meant to be there: they stay.
    pub allow: Vec<Allow>,
    /// The formats of elements that numpy saved as raw bytes. A file of such elements is refused
    /// without an entry here.
    pub raw: Vec<RawDtype>,
    /// Whether an existing output may be replaced. The input never is.
    pub force: bool,
    /// Receives the progress in bytes of the file, and may end the work with
    /// [`FixError::Stopped`].
    pub observer: Option<Arc<dyn Observer>>,
}

/// 0 for NaN, and the largest and the least finite number: the defaults of numpy's `nan_to_num`.
impl Default for FixOptions {
    fn default() -> Self {
        Self {
            values: ByKind { nan: Value::Number(0.0), pos_inf: Value::Max, neg_inf: Value::Min },
            allow: Vec::new(),
            raw: Vec::new(),
            force: false,
            observer: None,
        }
    }
}

/// What was done with each tensor of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The format of the file.
    pub format: FileFormat,
    /// All tensors, in the order of their data.
    pub tensors: Vec<FixedTensor>,
}

/// What was done with a tensor. The parts of a complex number count as two numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedTensor {
    /// The name, where the file gives one.
    pub name: Option<String>,
    /// The element type as the file spells it.
    pub dtype: String,
    /// The shape.
    pub shape: Vec<usize>,
    /// How many NaN, +Inf and -Inf were replaced.
    pub replaced: ByKind<usize>,
}

impl FixedTensor {
    /// How many numbers were replaced, of all kinds.
    #[must_use]
    pub fn total(&self) -> usize {
        self.replaced.into_array().into_iter().sum()
    }
}

/// Writes a copy of the file `input` (safetensors or npy) to `output`, with other numbers instead
/// of NaN and infinity. Every other byte stays as it is, the header included. On Unix the copy has
/// the permissions of the input, less the mask of the process, as with `cp`.
///
/// # Errors
/// [`FixError`]. There is no file `output` then, or still the old one, and nothing beside it.
pub fn fix_file(input: &Path, output: &Path, options: &FixOptions) -> Result<Fixed, FixError> {
    let prepared = Prepared::new(input, options)?;
    output::refuse(input, output, options.force)?;
    let folder = match output.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let mut file = Temporary::new(&folder, input).map_err(FixError::Output)?;
    let fixed = prepared.write(options, file.file())?;
    file.file().sync_all().map_err(FixError::Output)?;
    // Syncing may have taken long.
    write::advance(options, 0)?;
    file.keep(&folder, output, options.force)?;
    Ok(fixed)
}

/// As [`fix_file`], to a stream. [`std::io::sink`] shows what would be replaced.
///
/// # Errors
/// [`FixError`]. A part of the copy may have been written then.
pub fn fix_to(
    input: &Path,
    mut output: impl Write,
    options: &FixOptions,
) -> Result<Fixed, FixError> {
    Prepared::new(input, options)?.write(options, &mut output)
}

/// An input that can be copied.
#[derive(Debug)]
struct Prepared {
    source: Source,
    format: FileFormat,
    /// In the order of their data.
    tensors: Vec<Tensor>,
}

impl Prepared {
    fn new(input: &Path, options: &FixOptions) -> Result<Self, FixError> {
        let source = Source::open(input).map_err(FixError::Input)?;
        let format = FileFormat::of_file(source.bytes(), Some(input)).map_err(FixError::Input)?;
        if !format.is_fixable() {
            return Err(FixError::Format(format));
        }
        let tensors = format.tensors(Input { bytes: source.bytes(), path: Some(input) });
        let mut tensors = tensors.map_err(FixError::Input)?;
        tensors.sort_by_key(|tensor| write::range(tensor).start);
        for tensor in &mut tensors {
            raw::apply(tensor, &options.raw);
            match &tensor.content {
                Content::Unreadable(why) => {
                    return Err(FixError::Unreadable { tensor: tensor.label(), why: why.clone() });
                }
                Content::Floats { .. }
                | Content::Blocks { .. }
                | Content::AlwaysFinite
                | Content::NotFloat => {}
            }
        }
        Ok(Self { source, format, tensors })
    }

    fn write(self, options: &FixOptions, output: &mut dyn Write) -> Result<Fixed, FixError> {
        let Self { source, format, tensors } = self;
        if let Some(observer) = &options.observer {
            observer.started(source.bytes().len() as u64);
        }
        let tensors = write::write(source.bytes(), tensors, options, output)?;
        Ok(Fixed { format, tensors })
    }
}
