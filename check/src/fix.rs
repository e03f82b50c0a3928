//! Writing a file anew with other numbers in the place of NaN and infinity.
//!
//! The new file appears under its name only when it is whole: it is written beside that, synced,
//! and then renamed. If anything goes wrong before, even the end of the process, there is no file
//! of that name, or still the old one.

mod value;

use std::fs::File;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::{fmt, fs};

use nonfinite::{Census, ElementsMut, Format, TensorView};

pub use value::{Value, ValueError};

use crate::formats::FileFormat;
use crate::scan::{label, turn};
use crate::source::{Input, Source};
use crate::tensor::{ByteOrder, Content, Data, Tensor};
use crate::{Error, Observer};

/// Bytes that are looked at before they are written: they stay in a near cache, and are a whole
/// number of elements.
const CHUNK: usize = 256 << 10;

/// What is put in the place of NaN and infinity, and over which files.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FixOptions {
    /// In the place of NaN.
    pub nan: Value,
    /// In the place of +Inf.
    pub pos_inf: Value,
    /// In the place of -Inf.
    pub neg_inf: Value,
    /// Whether a file that is there already may be replaced. The input never is.
    pub force: bool,
}

/// Zero, and the largest and the least finite number: the defaults of `nan_to_num`.
impl Default for FixOptions {
    fn default() -> Self {
        Self { nan: Value::Number(0.0), pos_inf: Value::Max, neg_inf: Value::Min, force: false }
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

/// What was done with a tensor. The parts of a complex number count each for itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FixedTensor {
    /// The name, where the file gives one.
    pub name: Option<String>,
    /// The element type as the file spells it.
    pub dtype: String,
    /// The shape.
    pub shape: Vec<usize>,
    /// How many NaN were replaced.
    pub nan: usize,
    /// How many +Inf were replaced.
    pub pos_inf: usize,
    /// How many -Inf were replaced.
    pub neg_inf: usize,
}

impl FixedTensor {
    /// How many numbers were replaced.
    #[must_use]
    pub fn replaced(&self) -> usize {
        self.nan + self.pos_inf + self.neg_inf
    }

    fn add(&mut self, census: &Census) {
        self.nan += census.nan.count;
        self.pos_inf += census.pos_inf.count;
        self.neg_inf += census.neg_inf.count;
    }
}

/// Why a file was not written anew. There is no output then, or still the old one.
#[derive(Debug)]
#[non_exhaustive]
pub enum FixError {
    /// The input is no whole, good file of a known format.
    Input(Error),
    /// Files of this format are not written.
    Format(FileFormat),
    /// What the numbers of a tensor are is not known.
    Unreadable {
        /// The name of the tensor, or nothing.
        tensor: String,
        /// Why.
        why: String,
    },
    /// The observer asked to stop.
    Stopped,
    /// A value that is needed cannot be had in the element type of a tensor.
    Value {
        /// The name of the tensor, or nothing.
        tensor: String,
        /// Why.
        error: ValueError,
    },
    /// Input and output are the same file.
    SameFile,
    /// The output is there already, and is a pipe, a device or a socket, which nothing may take the
    /// place of.
    NotAFile,
    /// The output is there already.
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

/// Writes the file `input` (safetensors or npy) to `output`, with other numbers in the place of NaN
/// and infinity. Every other byte stays as it is, the header too.
///
/// # Errors
/// [`FixError`]. There is no file `output` then, or still the old one.
pub fn fix_file(input: &Path, output: &Path, options: &FixOptions) -> Result<Fixed, FixError> {
    fix_file_observed(input, output, options, &Unobserved)
}

/// As [`fix_file`], and tells the observer how far it is, who may stop it.
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
    let format = crate::detect(source.bytes(), Some(input)).map_err(FixError::Input)?;
    if !matches!(format, FileFormat::Npy | FileFormat::Safetensors) {
        return Err(FixError::Format(format));
    }
    let tensors = format.tensors(Input { bytes: source.bytes(), path: Some(input) });
    let mut tensors = tensors.map_err(FixError::Input)?;
    tensors.sort_by_key(|tensor| range(tensor).start);
    if let Some((tensor, why)) = tensors.iter().find_map(|tensor| match &tensor.content {
        Content::Unreadable(why) => Some((label(tensor), why.clone())),
        _ => None,
    }) {
        return Err(FixError::Unreadable { tensor, why });
    }
    refuse(input, output, options.force)?;
    observer.started(source.bytes().len() as u64);

    let folder = match output.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    let mut builder = tempfile::Builder::new();
    builder.prefix(".nonfinite-fix-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Those of a new file; the system takes away what the mask of the process forbids.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    // It is removed when it is dropped.
    let mut file = builder.tempfile_in(&folder).map_err(FixError::Output)?;
    let mut out = Observed { file: file.as_file_mut(), observer };
    let tensors = write(source.bytes(), tensors, options, &mut out)?;
    file.as_file().sync_all().map_err(FixError::Output)?;
    // That may have taken its time.
    stopped(observer, 0)?;
    if options.force {
        file.persist(output).map_err(|error| FixError::Output(error.error))?;
    } else {
        // One that has come meanwhile stays, too.
        file.persist_noclobber(output).map_err(|error| match error.error.kind() {
            io::ErrorKind::AlreadyExists => FixError::Exists,
            _ => FixError::Output(error.error),
        })?;
    }
    // The name is to last as well. What a system cannot do here is no failure: the file is whole.
    #[cfg(unix)]
    let _ = File::open(folder).and_then(|folder| folder.sync_all());
    Ok(Fixed { format, tensors })
}

/// Nobody wants to know.
#[derive(Debug)]
struct Unobserved;

impl Observer for Unobserved {
    fn advanced(&self, _: u64) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// So many more bytes have been written: whether it is to go on.
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

/// What is not to be written over.
fn refuse(input: &Path, output: &Path, force: bool) -> Result<(), FixError> {
    // Of a link, where it leads: it would be replaced, but who names it means the file.
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
    // Such as /dev/null: the new file would take its place, for all programs.
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

/// Where a tensor lies in the file: those of the two formats lie nowhere else.
fn range(tensor: &Tensor) -> std::ops::Range<usize> {
    match &tensor.data {
        Data::Input(range) => range.clone(),
        _ => unreachable!("a tensor of a .npy or .safetensors file that does not lie in it"),
    }
}

/// Writes what lies before, between and behind the tensors as it is, and the tensors with their
/// numbers replaced.
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
        let mut report = FixedTensor { name, dtype, shape, nan: 0, pos_inf: 0, neg_inf: 0 };
        match content {
            Content::Floats { format, order, .. } => {
                write_numbers(&input[range], format, order, options, out, &mut report)?;
            }
            _ => out.write(&input[range])?,
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
    let turned = order != ByteOrder::NATIVE && size > 1;
    let refused = |error| FixError::Input(Error::Census(error));
    let mut buffer = Vec::new();
    for chunk in numbers.chunks(CHUNK) {
        buffer.clear();
        buffer.extend_from_slice(chunk);
        if turned {
            turn(&mut buffer, size);
        }
        let census = TensorView::from_bytes(&buffer, format).map_err(refused)?.census();
        let clean = census == Census::default();
        if !clean {
            report.add(&census);
            let named =
                |error| FixError::Value { tensor: report.name.clone().unwrap_or_default(), error };
            let with = value::codes(format, options, &census).map_err(named)?;
            ElementsMut::from_bytes(&mut buffer, format)
                .and_then(|x| x.replace_non_finite(with))
                .map_err(refused)?;
            if turned {
                turn(&mut buffer, size);
            }
        }
        // What was turned and is clean goes out as it came.
        out.write(if clean { chunk } else { &buffer })?;
    }
    Ok(())
}
