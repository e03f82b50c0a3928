//! A format by its name, in what is sent to another process.

use nonfinite::Format;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serializer};

pub(super) fn serialize<S: Serializer>(format: &Format, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(format.name())
}

pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Format, D::Error> {
    let name = String::deserialize(from)?;
    let known = Format::ALL.iter().copied().find(|known| known.name() == name);
    known.ok_or_else(|| D::Error::custom("a format of numbers that is not known"))
}
