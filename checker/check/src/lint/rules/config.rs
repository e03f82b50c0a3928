//! Rules about the files of the configuration.

use super::Findings;
use crate::lint::finding::{CONFIG_UNREADABLE, Finding};

pub(super) fn all(found: &mut Findings<'_>) {
    for (file, why) in &found.model.broken {
        found.findings.push(Finding {
            rule: &CONFIG_UNREADABLE,
            severity: CONFIG_UNREADABLE.severity,
            file: file.clone(),
            tensor: None,
            coordinate: None,
            message: why.clone(),
        });
    }
}
