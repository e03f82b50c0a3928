//! Writing a copy of a file with other numbers instead of NaN and infinity.
//!
//! The copy appears under its name only when it is whole. If anything fails before, or if the
//! process ends, there is no file of that name, or still the old one. On Linux the copy has no name
//! until then, so the system removes it however the process ends. On other systems, and on file
//! systems without unnamed files, the copy has a hidden name in the same folder. This file stays if
//! an unhandled signal ends the process.

mod error;
mod fixed;
mod options;
mod output;
mod value;
mod write;

use std::io::Write;
use std::ops::Range;
use std::path::Path;

pub use error::FixError;
pub use fixed::{Fixed, FixedTensor};
pub use options::FixOptions;
pub use value::{Value, ValueError};

use crate::model::{Content, Data, FileFormat, Input, ReadAt, Reason, Source, Tensor};
use crate::raw;
use output::Temporary;

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
    let mut file = Temporary::new(&folder, input).map_err(FixError::Output)?;
    let fixed = prepared.write(options, file.file())?;
    file.file().sync_all().map_err(FixError::Output)?;
    // Asks once more, since syncing may have taken long.
    options.advance(0)?;
    file.keep(&folder, output, options.force)?;
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
#[derive(Debug)]
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
        let tensors = format.tensors(Input { bytes, path: Some(input) });
        let tensors = tensors.map_err(FixError::Input)?.into_iter().map(|mut tensor| {
            raw::apply(&mut tensor, &options.raw, &[]);
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
    match &tensor.content {
        Content::Unreadable(why) | Content::Damaged(why) => return Err(unreadable(why.clone())),
        Content::Floats { .. }
        | Content::Blocks { .. }
        | Content::AlwaysFinite
        | Content::NotFloat => {}
    }
    match &tensor.data {
        Data::Input(range) => Ok(range.clone()),
        Data::Other { .. } | Data::Owned(_) | Data::Decoded(_) | Data::Column(_) => {
            Err(unreadable("its numbers do not lie in the file one after the other".into()))
        }
    }
}
