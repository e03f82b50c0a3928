//! DirectML.
