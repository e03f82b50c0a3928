//! Formats of elements that the file does not name: numpy saves elements of `ml_dtypes` as raw
//! bytes, and many models store scales and weights of 8 bits as integers.

use std::fmt;
use std::str::FromStr;

use glob::Pattern;
use nonfinite::Format;

use crate::model::{ByteOrder, Content, Reason, Tensor};

/// A format for raw elements: all elements of this dtype have this format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawDtype {
    /// The dtype without its byte order: `V2` (bf16), `V1` (fp8), `f1` (`float8_e5m2`).
    pub dtype: String,
    /// The format of the elements. It has the length of the dtype.
    pub format: Format,
}

/// The bytes of a raw element. None unless the dtype, without its byte order, is `f1` or `V` and a
/// number.
pub(crate) fn size(dtype: &str) -> Option<usize> {
    match dtype {
        "f1" => Some(1),
        _ => dtype.strip_prefix('V')?.parse().ok(),
    }
}

/// A format for tensors whose name matches a pattern, such as scales that are stored as `U8`.
/// Tensors of floats do not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenAs {
    /// The names of the tensors: `*` stands for any characters, `?` for one character, `[..]` for
    /// one of these characters.
    pub pattern: Pattern,
    /// The format of their elements.
    pub format: Format,
}

/// Gives a tensor of integers or raw bytes a float format, if an option names one for its name or
/// its dtype. Makes the tensor unreadable if elements of the format have another length. Bytes that
/// nothing refers to are no tensor, so they do not change.
pub(crate) fn apply(tensor: &mut Tensor, raw: &[RawDtype], taken_as: &[TakenAs]) {
    let is_raw = match &tensor.content {
        Content::Unreadable(Reason::Unreferenced { .. }) => return,
        Content::Unreadable(_) => true,
        Content::NotFloat => false,
        Content::Floats { .. }
        | Content::Blocks { .. }
        | Content::AlwaysFinite
        | Content::Damaged(_) => return,
    };
    let dtype = tensor.dtype.trim_start_matches(['<', '>', '=', '|']);
    let order = if tensor.dtype.starts_with('>') { ByteOrder::Big } else { ByteOrder::Little };
    let name = tensor.name.as_deref().unwrap_or_default();
    let named = taken_as.iter().find(|named| named.pattern.matches(name));
    let raw = || {
        raw.iter().find(|raw| {
            is_raw && raw.dtype == dtype && size(dtype) == Some(raw.format.size_in_bytes())
        })
    };
    let format = match named {
        Some(named) => named.format,
        None => match raw() {
            Some(raw) => raw.format,
            None => return,
        },
    };
    tensor.content = if has_elements_of(tensor, format) {
        Content::Floats { format, parts: 1, order }
    } else {
        let (name, size) = (format.name(), format.size_in_bytes());
        let why = format!("it has no elements of {size} bytes to be taken as {name}");
        let is_of_part = matches!(&tensor.content,
            Content::Unreadable(reason) if reason.is_of_part());
        Content::Unreadable(if is_of_part { Reason::Part(why) } else { Reason::Other(why) })
    };
}

/// Whether the elements of a tensor have the length of numbers of this format.
fn has_elements_of(tensor: &Tensor, format: Format) -> bool {
    tensor.elements().checked_mul(format.size_in_bytes()) == Some(tensor.data.length())
}

/// Whether [`apply`] can give a tensor this content.
pub(crate) fn fits(tensor: &Tensor, content: &Content) -> bool {
    let is_taken = match &tensor.content {
        Content::Unreadable(Reason::Unreferenced { .. }) => false,
        Content::Unreadable(_) | Content::NotFloat => true,
        Content::Floats { .. }
        | Content::Blocks { .. }
        | Content::AlwaysFinite
        | Content::Damaged(_) => false,
    };
    is_taken
        && matches!(content, Content::Floats { format, parts: 1, .. }
            if has_elements_of(tensor, *format))
}

/// `PATTERN=FORMAT`, such as `*_scales=f8e8m0fnu`. The last `=` separates the two.
impl FromStr for TakenAs {
    type Err = RawDtypeError;

    fn from_str(text: &str) -> Result<Self, RawDtypeError> {
        let (pattern, name) = text.rsplit_once('=').ok_or(RawDtypeError::NoEquals)?;
        let pattern = Pattern::new(pattern)
            .map_err(|error| RawDtypeError::Pattern(pattern.to_owned(), error.msg))?;
        Ok(Self { pattern, format: format(name)? })
    }
}

/// The format of this name.
fn format(name: &str) -> Result<Format, RawDtypeError> {
    let named = Format::ALL.iter().copied().find(|known| known.names().contains(&name));
    named.ok_or_else(|| RawDtypeError::Format(name.to_owned()))
}

/// `DTYPE=FORMAT`, such as `V2=bf16`.
impl FromStr for RawDtype {
    type Err = RawDtypeError;

    fn from_str(text: &str) -> Result<Self, RawDtypeError> {
        let (dtype, name) = text.split_once('=').ok_or(RawDtypeError::NoEquals)?;
        let size = size(dtype).ok_or_else(|| RawDtypeError::Dtype(dtype.to_owned()))?;
        let format = format(name)?;
        if format.size_in_bytes() == size {
            Ok(Self { dtype: dtype.to_owned(), format })
        } else {
            Err(RawDtypeError::Size { size, format })
        }
    }
}

/// Why a text is not a [`RawDtype`] or not a [`TakenAs`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RawDtypeError {
    /// There is no `=`.
    NoEquals,
    /// The dtype is not one of raw bytes.
    Dtype(String),
    /// There is no format of this name.
    Format(String),
    /// The pattern is not valid: why.
    Pattern(String, &'static str),
    /// Elements of the format and of the dtype differ in length.
    Size {
        /// Bytes by the dtype.
        size: usize,
        /// The format.
        format: Format,
    },
}

impl fmt::Display for RawDtypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoEquals => f.write_str("no '=', as in V2=bf16 or '*_scales=f8e8m0fnu'"),
            Self::Pattern(pattern, why) => write!(f, "{pattern:?} is no pattern: {why}"),
            Self::Dtype(dtype) => {
                write!(f, "{dtype:?} is no dtype of raw bytes: those are V1, V2, .. and f1")
            }
            Self::Format(format) => {
                let names: Vec<_> = Format::ALL.iter().copied().map(Format::name).collect();
                write!(f, "{format:?} is no format: there are {}", names.join(", "))
            }
            Self::Size { size, format } => {
                write!(f, "{} has {} bytes, not {size}", format.name(), format.size_in_bytes())
            }
        }
    }
}

impl std::error::Error for RawDtypeError {}

#[cfg(test)]
mod tests {
    use super::*;

    /// A piece of a plan cannot claim numbers in bytes that nothing refers to.
    #[test]
    fn bytes_of_no_tensor_are_no_numbers() {
        let floats = Content::Floats { format: Format::F8E5M2, parts: 1, order: ByteOrder::Little };
        let bytes = Tensor::unreferenced(0..4, "nothing");
        assert!(!fits(&bytes, &floats));
        let part = Content::Unreadable(Reason::Part("a member".to_owned()));
        assert!(fits(&Tensor { content: part, ..bytes }, &floats));
    }
}
