//! Options of a fix: replacements, and an observer of the progress.

use std::ops::ControlFlow;
use std::sync::Arc;

use super::error::FixError;
use super::value::Value;
use crate::model::ByKind;
use crate::options::Observer;
use crate::policy::Allow;
use crate::raw::RawDtype;

/// Options of a fix.
#[derive(Clone, Debug)]
pub struct FixOptions {
    /// The values that replace NaN, +Inf and -Inf.
    pub values: ByKind<Value>,
    /// Numbers that are meant to be there: they stay.
    pub allow: Vec<Allow>,
    /// The formats of elements that numpy saved as raw bytes. A file of such elements is refused
    /// without an entry here.
    pub raw: Vec<RawDtype>,
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
            raw: Vec::new(),
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
