//! Finds NaN and infinity in columns of [Apache Arrow](https://docs.rs/arrow), at the speed of
//! memory. Nulls count as nothing, and values are read where they lie.
//!
//! ```
//! use arrow_array::{BooleanArray, Float32Array};
//! use nonfinite_arrow::{Column, Predicate};
//!
//! let losses = Float32Array::from(vec![Some(0.5), None, Some(f32::NAN), Some(f32::INFINITY)]);
//! let column = Column::new(&losses)?;
//! assert_eq!(column.count(Predicate::Nan), 1);
//! assert_eq!(column.position(Predicate::NonFinite), Some(2));
//! let is_nan = column.mask(Predicate::Nan)?;
//! assert_eq!(is_nan, BooleanArray::from(vec![Some(false), None, Some(true), Some(false)]));
//! # Ok::<(), nonfinite_arrow::Error>(())
//! ```
//!
//! # Which arrays
//!
//! | array | values | row |
//! |---|---|---|
//! | `Float16Array`, `Float32Array`, `Float64Array` | its elements | the element |
//! | `DictionaryArray` of these | one for each key | the key |
//! | `RunArray` of these | one for each row of a run | the row |
//! | `ListArray`, `FixedSizeListArray`, `ListViewArray` | those of the lists | the list |
//! | `LargeListArray`, `LargeListViewArray` | those of the lists | the list |
//! | `StructArray` | those of all fields | the struct |
//!
//! An entry of a dictionary counts once for each key that refers to it. Lists and structs hold any
//! arrays of this table; values of a null list or a null struct do not count.
//!
//! Slices and chunks (`&[ArrayRef]`) are columns, too. Any other type is an [`Error::NotFloat`], so
//! that no column is called clean without a look. To check a table, make a column of each field.
//!
//! # Example: embeddings
//!
//! ```
//! use arrow_array::{FixedSizeListArray, types::Float32Type};
//! use nonfinite_arrow::{Column, Predicate};
//!
//! let vectors = [Some([Some(1.0), Some(2.0)]), None, Some([Some(f32::NAN), Some(4.0)])];
//! let vectors = FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(vectors, 2);
//! let column = Column::new(&vectors)?;
//! assert_eq!(column.position(Predicate::NonFinite), Some(2));
//! // A filter for the rows that can be used.
//! let usable = column.all_rows(Predicate::Finite);
//! assert_eq!(usable.iter().collect::<Vec<_>>(), [Some(true), None, Some(false)]);
//! # Ok::<(), nonfinite_arrow::Error>(())
//! ```
#![forbid(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

mod column;
mod error;

pub use column::{Column, Values};
pub use error::Error;
pub use nonfinite::{Census, Format, Occurrences, Predicate};
#[cfg(feature = "stats")]
#[cfg_attr(docsrs, doc(cfg(feature = "stats")))]
pub use nonfinite::{Extreme, Stats};
