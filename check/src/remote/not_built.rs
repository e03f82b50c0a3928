//! Refuses every URL: the feature `remote` is off.

use std::sync::Arc;

use crate::model::{Error, ReadAt};
use crate::options::Options;

const NOT_BUILT: Error = Error::NotBuilt("remote");

pub(super) fn names(_: &str, _: &str, _: &str) -> Result<Vec<String>, Error> {
    Err(NOT_BUILT)
}

pub(crate) fn open(_: &str, _: &Options) -> Result<Arc<dyn ReadAt>, Error> {
    Err(NOT_BUILT)
}

pub(crate) fn planned(_: &str, _: &str, _: &Options) -> Result<Option<Arc<dyn ReadAt>>, Error> {
    Err(NOT_BUILT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_are_refused() {
        let options = Options::default();
        let is_refused = |error: Option<Error>| matches!(error, Some(Error::NotBuilt("remote")));
        assert!(is_refused(crate::check_url("https://host/x.npy", &options).err()));
        assert!(is_refused(crate::list_url("hf://owner/model", &options).err()));
        assert!(is_refused(planned("https://host/x.npy", "3-tag", &options).err()));
    }
}
