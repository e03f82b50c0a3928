//! Writing a copy of a file with other numbers instead of NaN and infinity.
//!
//! The copy appears under its name only when it is whole: it is written under another name in the
//! same folder, synced and renamed. If anything fails before, or if the process ends, there is no
//! file of that name, or still the old one.

mod value;

use std::fs::File;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use nonfinite::{Census, ElementsMut, Format, TensorView};

pub use value::{Value, ValueError};

use crate::model::{
    ByKind, ByteOrder, Content, Data, Error, FileFormat, Input, ReadAt, Source, Tensor, swap_bytes,
};
use crate::options::Observer;

/// Bytes that are looked at before they are written. They stay in a near cache, and are a whole
/// number of elements.
const CHUNK: usize = 256 << 10;

/// Which numbers replace NaN and infinity, and which files may be replaced.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixOptions {
    /// The values that replace NaN, +Inf and -Inf.
    pub values: ByKind<Value>,
    /// Whether an existing output may be replaced. The input never is.
    pub force: bool,
}

/// 0 for NaN, and the largest and the least finite number: the defaults of numpy's `nan_to_num`.
impl Default for FixOptions {
    fn default() -> Self {
        let values = ByKind { nan: Value::Number(0.0), pos_inf: Value::Max, neg_inf: Value::Min };
        Self { values, force: false }
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

    fn add(&mut self, census: &Census) {
        self.replaced.nan += census.nan.count;
        self.replaced.pos_inf += census.pos_inf.count;
        self.replaced.neg_inf += census.neg_inf.count;
    }
}

/// Why no copy was written. There is no output then, or still the old one.
#[derive(Debug)]
#[non_exhaustive]
pub enum FixError {
    /// The input is not a whole, valid file of a known format.
    Input(Error),
    /// Files of this format are not written.
    Format(FileFormat),
    /// The numbers of a tensor cannot be looked at.
    Unreadable {
        /// The name of the tensor, or nothing.
        tensor: String,
        /// Why.
        why: String,
    },
    /// The observer asked to stop.
    Stopped,
    /// A value that is needed does not fit the element type of a tensor.
    Value {
        /// The name of the tensor, or nothing.
        tensor: String,
        /// Why.
        error: ValueError,
    },
    /// Input and output are the same file.
    SameFile,
    /// The output exists, and is a pipe, a device or a socket, which is never replaced.
    NotAFile,
    /// The output exists.
    Exists,
    /// The output could not be written.
    Output(io::Error),
}

impl fmt::Display for FixError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(error) => error.fmt(f),
            Self::Format(format) => {
                write!(f, "{} files are not written: only safetensors and npy are", format.name())
            }
            Self::Unreadable { tensor, why } if tensor.is_empty() => f.write_str(why),
            Self::Unreadable { tensor, why } => write!(f, "tensor {tensor:?}: {why}"),
            Self::Stopped => f.write_str("stopped"),
            Self::Value { tensor, error } if tensor.is_empty() => error.fmt(f),
            Self::Value { tensor, error } => write!(f, "tensor {tensor:?}: {error}"),
            Self::SameFile => f.write_str("the output is the input, which is never overwritten"),
            Self::NotAFile => f.write_str("the output is not a regular file"),
            Self::Exists => f.write_str("the output exists already"),
            Self::Output(error) => write!(f, "cannot write the output: {error}"),
        }
    }
}

impl std::error::Error for FixError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Input(error) => Some(error),
            Self::Value { error, .. } => Some(error),
            Self::Output(error) => Some(error),
            Self::Format(_)
            | Self::SameFile
            | Self::NotAFile
            | Self::Exists
            | Self::Unreadable { .. }
            | Self::Stopped => None,
        }
    }
}

/// Writes a copy of the file `input` (safetensors or npy) to `output`, with other numbers instead of
/// NaN and infinity. Every other byte stays as it is, the header included.
///
/// # Errors
/// [`FixError`]. There is no file `output` then, or still the old one.
pub fn fix_file(input: &Path, output: &Path, options: &FixOptions) -> Result<Fixed, FixError> {
    fix_file_observed(input, output, options, &Unobserved)
}

/// As [`fix_file`], with an observer that receives the progress and may stop it.
///
/// # Errors
/// [`FixError`]. There is no file `output` then, or still the old one, and nothing beside it.
pub fn fix_file_observed(
    input: &Path,
    output: &Path,
    options: &FixOptions,
    observer: &dyn Observer,
) -> Result<Fixed, FixError> {
    let source = Source::open(input).map_err(FixError::Input)?;
    let bytes = source.bytes().map_err(FixError::Input)?;
    let format = FileFormat::of_file(bytes, Some(input)).map_err(FixError::Input)?;
    if !format.is_fixable() {
        return Err(FixError::Format(format));
    }
    let tensors = format.tensors(Input { bytes, path: Some(input) });
    let mut tensors = tensors.map_err(FixError::Input)?;
    tensors.sort_by_key(|tensor| range(tensor).start);
    if let Some((tensor, why)) = tensors.iter().find_map(|tensor| match &tensor.content {
        Content::Unreadable(why) => Some((tensor.label(), why.clone())),
        Content::Floats { .. }
        | Content::Blocks { .. }
        | Content::AlwaysFinite
        | Content::NotFloat => None,
    }) {
        return Err(FixError::Unreadable { tensor, why });
    }
    refuse(input, output, options.force)?;
    observer.started(bytes.len() as u64);

    let folder = match output.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".nonfinite-fix-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // The permissions of a new file. The system applies the mask of the process.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    // The file is removed when it is dropped.
    let mut file = builder.tempfile_in(&folder).map_err(FixError::Output)?;
    let mut out = Observed { file: file.as_file_mut(), observer };
    let tensors = write(bytes, tensors, options, &mut out)?;
    file.as_file().sync_all().map_err(FixError::Output)?;
    // Syncing may have taken long.
    stopped(observer, 0)?;
    if options.force {
        file.persist(output).map_err(|error| FixError::Output(error.error))?;
    } else {
        // A file that came meanwhile stays, too.
        file.persist_noclobber(output).map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => FixError::Exists,
            _ => FixError::Output(error.error),
        })?;
    }
    // Syncs the name. Systems that cannot do this are no failure, since the file is whole.
    #[cfg(unix)]
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(Fixed { format, tensors })
}

/// Ignores the progress.
#[derive(Debug)]
struct Unobserved;

impl Observer for Unobserved {
    fn advanced(&self, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// Reports that so many more bytes have been written.
///
/// # Errors
/// [`FixError::Stopped`].
fn stopped(observer: &dyn Observer, bytes: u64) -> Result<(), FixError> {
    match observer.advanced(bytes) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(FixError::Stopped),
    }
}

/// The output, chunk by chunk.
struct Observed<'a> {
    file: &'a mut File,
    observer: &'a dyn Observer,
}

impl Observed<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<(), FixError> {
        bytes.chunks(CHUNK).try_for_each(|chunk| {
            self.file.write_all(chunk).map_err(FixError::Output)?;
            stopped(self.observer, chunk.len() as u64)
        })
    }
}

/// Refuses outputs that must not be written over.
fn refuse(input: &Path, output: &Path, force: bool) -> Result<(), FixError> {
    // `metadata` follows a link to its file. The checks below are about that file, although `fix`
    // would replace the link.
    let Ok(there) = fs::metadata(output) else {
        return match fs::symlink_metadata(output) {
            Ok(_) if !force => Err(FixError::Exists),
            _ => Ok(()),
        };
    };
    if same_file(input, output, &there).map_err(FixError::Output)? {
        return Err(FixError::SameFile);
    }
    if there.is_dir() {
        return Err(FixError::Output(io::ErrorKind::IsADirectory.into()));
    }
    // Such as /dev/null: the new file would replace it for all programs.
    if !there.is_file() {
        return Err(FixError::NotAFile);
    }
    if force { Ok(()) } else { Err(FixError::Exists) }
}

#[cfg(unix)]
fn same_file(input: &Path, _: &Path, output: &fs::Metadata) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    let input = fs::metadata(input)?;
    Ok((input.dev(), input.ino()) == (output.dev(), output.ino()))
}

#[cfg(not(unix))]
fn same_file(input: &Path, output: &Path, _: &fs::Metadata) -> io::Result<bool> {
    Ok(fs::canonicalize(input)? == fs::canonicalize(output)?)
}

/// Where a tensor lies in the file. Formats that can be fixed have no other tensors.
fn range(tensor: &Tensor) -> std::ops::Range<usize> {
    match &tensor.data {
        Data::Input(range) => range.clone(),
        Data::Other { .. } | Data::Owned(_) | Data::Decoded(_) | Data::Column(_) => {
            unreachable!("a tensor of a fixable format lies in the file")
        }
    }
}

/// Writes the tensors with their numbers replaced, and all other bytes as they are.
fn write(
    input: &[u8],
    tensors: Vec<Tensor>,
    options: &FixOptions,
    out: &mut Observed<'_>,
) -> Result<Vec<FixedTensor>, FixError> {
    let mut fixed = Vec::new();
    let mut written = 0;
    for tensor in tensors {
        let range = range(&tensor);
        out.write(&input[written..range.start])?;
        written = range.end;
        let Tensor { name, dtype, shape, content, .. } = tensor;
        let mut report = FixedTensor { name, dtype, shape, replaced: ByKind::default() };
        match content {
            Content::Floats { format, order, .. } => {
                write_numbers(&input[range], format, order, options, out, &mut report)?;
            }
            Content::Blocks { .. }
            | Content::AlwaysFinite
            | Content::NotFloat
            | Content::Unreadable(_) => out.write(&input[range])?,
        }
        fixed.push(report);
    }
    out.write(&input[written..])?;
    Ok(fixed)
}

fn write_numbers(
    numbers: &[u8],
    format: Format,
    order: ByteOrder,
    options: &FixOptions,
    out: &mut Observed<'_>,
    report: &mut FixedTensor,
) -> Result<(), FixError> {
    let size = format.size_in_bytes();
    let swapped = order != ByteOrder::NATIVE && size > 1;
    let refused = |error| FixError::Input(Error::Census(error));
    let mut buffer = Vec::new();
    for chunk in numbers.chunks(CHUNK) {
        buffer.clear();
        buffer.extend_from_slice(chunk);
        if swapped {
            swap_bytes(&mut buffer, size);
        }
        let census = TensorView::from_bytes(&buffer, format).map_err(refused)?.census();
        let clean = census == Census::default();
        if !clean {
            report.add(&census);
            let named =
                |error| FixError::Value { tensor: report.name.clone().unwrap_or_default(), error };
            let with = value::codes(format, &options.values, &census).map_err(named)?;
            ElementsMut::from_bytes(&mut buffer, format)
                .and_then(|x| x.replace_non_finite(with))
                .map_err(refused)?;
            if swapped {
                swap_bytes(&mut buffer, size);
            }
        }
        // A clean chunk goes out as it came, so it need not be swapped back.
        out.write(if clean { chunk } else { &buffer })?;
    }
    Ok(())
}
