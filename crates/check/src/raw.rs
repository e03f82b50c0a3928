//! Formats of elements that the file does not name: numpy saves elements of `ml_dtypes` as raw
//! bytes, and many models store scales and weights of 8 bits as integers.

use std::str::FromStr;

use glob::Pattern;
use nonfinite::Format;

use crate::formats::npy::raw_size;
use crate::model::{ByteOrder, Content, Reason, Tensor};

/// A format for tensors of integers or raw bytes. Tensors of floats do not change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TakenAs {
    /// Which tensors have it.
    pub of: Selector,
    /// The format of their elements.
    pub format: Format,
}

/// The tensors of a [`TakenAs`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Selector {
    /// Tensors with such a name, such as scales that are stored as `U8`: `*` stands for any
    /// characters, `?` for one character, `[..]` for one of these characters.
    Names(Pattern),
    /// Tensors of this dtype of numpy, without its byte order: `V2` (bf16), `V1` (fp8), `f1`
    /// (`float8_e5m2`).
    Dtype(String),
}

/// Gives a tensor of integers or raw bytes the format of the first option for its name or its
/// dtype. Makes the tensor unreadable if elements of the format have another length.
pub(crate) fn apply(tensor: &mut Tensor, taken_as: &[TakenAs]) {
    let is_raw = match &tensor.content {
        Content::Unreadable(_) => true,
        Content::NotFloat => false,
        _ => return,
    };
    let dtype = tensor.dtype.trim_start_matches(['<', '>', '=', '|']);
    let order = if tensor.dtype.starts_with('>') { ByteOrder::Big } else { ByteOrder::Little };
    let name = tensor.name.as_deref().unwrap_or_default();
    let concerns = |taken: &&TakenAs| match &taken.of {
        Selector::Names(pattern) => pattern.matches(name),
        Selector::Dtype(of) => is_raw && of == dtype,
    };
    let Some(&TakenAs { format, .. }) = taken_as.iter().find(concerns) else { return };
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

/// `PATTERN=FORMAT`, such as `*_scales=f8e8m0fnu`, or `DTYPE=FORMAT`, such as `V2=bf16`. The last
/// `=` separates the two. `f1` and `V` with a number are dtypes; a tensor of the name `V2` has the
/// pattern `[V]2`.
impl FromStr for TakenAs {
    type Err = TakenAsError;

    fn from_str(text: &str) -> Result<Self, TakenAsError> {
        let parts = text.rsplit_once('=');
        let (left, name) = parts.ok_or_else(|| {
            TakenAsError("no '=', as in V2=bf16 or '*_scales=f8e8m0fnu'".to_owned())
        })?;
        let format: Format = name.parse().map_err(|_| {
            let names: Vec<_> = Format::ALL.iter().copied().map(Format::name).collect();
            let names = names.join(", ");
            TakenAsError(format!("{name:?} is no format: there are {names}"))
        })?;
        let of =
            match raw_size(left) {
                Some(size) if size == format.size_in_bytes() => Selector::Dtype(left.to_owned()),
                Some(size) => {
                    let (name, bytes) = (format.name(), format.size_in_bytes());
                    return Err(TakenAsError(format!("{name} has {bytes} bytes, not {size}")));
                }
                None => Selector::Names(Pattern::new(left).map_err(|error| {
                    TakenAsError(format!("{left:?} is no pattern: {}", error.msg))
                })?),
            };
        Ok(Self { of, format })
    }
}

/// Why a text is not a [`TakenAs`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TakenAsError(String);
