//! Writing a copy of a file with other numbers instead of NaN and infinity.
//!
//! The copy appears under its name only when it is whole. Before that, it has a hidden name in the
//! same folder. If anything fails, this file is removed, and there is no file of the name, or still
//! the old one. If a signal that nothing handles ends the process, the hidden file stays.

mod error;
mod output;
mod value;
mod write;

use std::io::Write;
use std::ops::{ControlFlow, Range};
use std::path::Path;
use std::sync::Arc;

pub use error::FixError;
pub use value::{Value, ValueError};

use crate::model::{ByKind, Content, Data, FileFormat, Input, ReadAt, Reason, Source, Tensor};
use crate::options::Observer;
use crate::policy::Allow;
use crate::raw::{self, TakenAs};

/// Options of a fix.
#[derive(Clone, Debug)]
pub struct FixOptions {
    /// The values that replace NaN, +Inf and -Inf.
    pub values: ByKind<Value>,
    /// Numbers that are meant to be there: they stay.
    pub allow: Vec<Allow>,
    /// The formats of tensors that are stored as integers or raw bytes, as in
    /// [`Options::taken_as`](crate::Options::taken_as). A file of raw bytes is refused without one.
    pub taken_as: Vec<TakenAs>,
    /// Whether an existing output may be replaced. The input is never replaced.
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
            taken_as: Vec::new(),
            force: false,
            observer: None,
        }
    }
}

impl FixOptions {
    /// Reports that this many more bytes have been written.
    ///
    /// # Errors
    /// [`FixError::Stopped`].
    pub(super) fn advance(&self, bytes: usize) -> Result<(), FixError> {
        match self.observer.as_ref().map(|observer| observer.advanced(bytes as u64)) {
            Some(ControlFlow::Break(())) => Err(FixError::Stopped),
            Some(ControlFlow::Continue(())) | None => Ok(()),
        }
    }
}

/// The replacements in each tensor of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fixed {
    /// The format of the file.
    pub format: FileFormat,
    /// All tensors, in the order of their data.
    pub tensors: Vec<FixedTensor>,
}

/// The replacements in a tensor. The parts of a complex number count as two numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedTensor {
    /// The name, if the file gives one.
    pub name: Option<String>,
    /// The element type as the file spells it.
    pub dtype: String,
    /// The shape.
    pub shape: Vec<usize>,
    /// The number of replaced NaN, +Inf and -Inf.
    pub replaced: ByKind<usize>,
}

impl FixedTensor {
    /// The number of replaced numbers, of all kinds.
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
    // The parent of a name alone is the empty path, which is no folder.
    let folder = Path::new(".").join(output.parent().unwrap_or(output));
    let mut file = output::temporary(&folder, input).map_err(FixError::Output)?;
    let fixed = prepared.write(options, file.as_file_mut())?;
    file.as_file().sync_all().map_err(FixError::Output)?;
    // Asks once more, since syncing may have taken long.
    options.advance(0)?;
    output::keep(file, &folder, output, options.force)?;
    Ok(fixed)
}

/// Like [`fix_file`], but writes to a stream. With [`std::io::sink`], the result lists the numbers
/// that would be replaced.
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

/// An input, read and ready to be copied.
struct Prepared {
    source: Source,
    format: FileFormat,
    /// Each tensor and its range in the file, in the order of the data.
    tensors: Vec<(Range<usize>, Tensor)>,
}

impl Prepared {
    fn new(input: &Path, options: &FixOptions) -> Result<Self, FixError> {
        let source = Source::open(input).map_err(FixError::Input)?;
        let bytes = source.bytes().map_err(FixError::Input)?;
        let format = FileFormat::of_file(bytes, Some(input)).map_err(FixError::Input)?;
        if !format.is_fixable() {
            return Err(FixError::Format(format));
        }
        let contents = format.contents(Input { bytes, path: Some(input) });
        let tensors = contents.map_err(FixError::Input)?.tensors.into_iter().map(|mut tensor| {
            raw::apply(&mut tensor, &options.taken_as);
            Ok((place(&tensor)?, tensor))
        });
        let mut tensors = tensors.collect::<Result<Vec<_>, _>>()?;
        tensors.sort_by_key(|(place, _)| place.start);
        Ok(Self { source, format, tensors })
    }

    fn write(self, options: &FixOptions, output: &mut dyn Write) -> Result<Fixed, FixError> {
        let Self { source, format, tensors } = self;
        let bytes = source.bytes().map_err(FixError::Input)?;
        if let Some(observer) = &options.observer {
            observer.started(bytes.len() as u64);
        }
        let tensors = write::write(bytes, tensors, options, output)?;
        Ok(Fixed { format, tensors })
    }
}

/// The range of a tensor in the file.
///
/// # Errors
/// [`FixError::Unreadable`] for a tensor whose numbers cannot be looked at, or are not adjacent in
/// the file.
fn place(tensor: &Tensor) -> Result<Range<usize>, FixError> {
    let unreadable = |why: Reason| FixError::Unreadable { tensor: tensor.label(), why };
    match (&tensor.content, &tensor.data) {
        (Content::Unreadable(why) | Content::Damaged(why), _) => Err(unreadable(why.clone())),
        (_, Data::Input(range)) => Ok(range.clone()),
        _ => Err(unreadable("its numbers do not lie in the file one after the other".into())),
    }
}
