//! Elements of .npy files whose format the file does not say: numpy saves elements of `ml_dtypes` as
//! raw bytes.

use std::fmt;
use std::str::FromStr;

use nonfinite::Format;

use crate::model::{ByteOrder, Content, Tensor};

/// The format of raw elements: all elements of this dtype have this format.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawDtype {
    /// The dtype without its byte order: `V2` (bf16), `V1` (fp8), `f1` (how `float8_e5m2` is
    /// saved).
    pub dtype: String,
    /// The format of its elements, which are as long as the dtype says.
    pub format: Format,
}

/// The bytes of a raw element. None unless the dtype, without its byte order, is `V` and a number, or
/// `f1`.
pub(crate) fn size(dtype: &str) -> Option<usize> {
    match dtype {
        "f1" => Some(1),
        _ => dtype.strip_prefix('V')?.parse().ok(),
    }
}

/// Turns a raw tensor into one of floats if its dtype is among these.
pub(crate) fn apply(tensor: &mut Tensor, raw: &[RawDtype]) {
    if raw.is_empty() || !matches!(tensor.content, Content::Unreadable(_)) {
        return;
    }
    let Some((order, dtype)) = tensor.dtype.split_at_checked(1) else { return };
    let order = if order == ">" { ByteOrder::Big } else { ByteOrder::Little };
    if let Some(raw) =
        raw.iter().find(|raw| raw.dtype == dtype && size(dtype) == Some(raw.format.size_in_bytes()))
    {
        tensor.content = Content::Floats { format: raw.format, parts: 1, order };
    }
}

/// Whether [`apply`] can turn a tensor into one of this content.
pub(crate) fn fits(tensor: &Tensor, content: &Content) -> bool {
    let dtype = tensor.dtype.split_at_checked(1).map(|(_, dtype)| dtype);
    let is_raw = matches!(tensor.content, Content::Unreadable(_));
    is_raw
        && matches!(content, Content::Floats { format, parts: 1, .. }
            if dtype.and_then(size) == Some(format.size_in_bytes()))
}

/// `DTYPE=FORMAT`, such as `V2=bf16`.
impl FromStr for RawDtype {
    type Err = RawDtypeError;

    fn from_str(text: &str) -> Result<Self, RawDtypeError> {
        let (dtype, format) = text.split_once('=').ok_or(RawDtypeError::NoEquals)?;
        let size = size(dtype).ok_or_else(|| RawDtypeError::Dtype(dtype.to_owned()))?;
        let named = Format::ALL.iter().copied().find(|known| known.names().contains(&format));
        let format = named.ok_or_else(|| RawDtypeError::Format(format.to_owned()))?;
        if format.size_in_bytes() == size {
            Ok(Self { dtype: dtype.to_owned(), format })
        } else {
            Err(RawDtypeError::Size { size, format })
        }
    }
}

/// Why a text is not a [`RawDtype`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RawDtypeError {
    /// There is no `=`.
    NoEquals,
    /// The dtype is not one of raw bytes.
    Dtype(String),
    /// There is no format of this name.
    Format(String),
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
            Self::NoEquals => f.write_str("no '=', as in V2=bf16"),
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
