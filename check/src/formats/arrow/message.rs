//! The messages of a file or a stream: metadata, and a body of data.

use std::ops::Range;

use arrow_ipc::{Message, MessageHeader, MetadataVersion, RecordBatch};
use flatbuffers::VerifierOptions;

use super::error::Error;
use super::schema::Schema;
use crate::formats::signatures::ARROW_MESSAGE;

/// The limits of the verifier, for metadata of this length. Only hostile metadata exceeds them.
pub(super) fn verifier(length: usize) -> VerifierOptions {
    VerifierOptions {
        max_depth: 128,
        max_tables: length,
        max_apparent_size: length.saturating_mul(16),
        ..VerifierOptions::default()
    }
}

/// A message: its metadata, and where its body begins.
pub(super) struct Framed {
    pub(super) metadata: Vec<u8>,
    pub(super) body: usize,
}

impl Framed {
    /// Reads the message that begins here. None at the end of a stream.
    pub(super) fn read(bytes: &[u8], at: usize) -> Result<Option<Self>, Error> {
        let rest = bytes.get(at..).ok_or(Error::Truncated("messages"))?;
        // Before version 0.15 the length came first.
        let (prefix, rest) = match rest.strip_prefix(ARROW_MESSAGE) {
            Some(rest) => (8, rest),
            None => (4, rest),
        };
        let (length, rest) = rest.split_first_chunk().ok_or(Error::Truncated("messages"))?;
        let length = i32::from_le_bytes(*length);
        if length == 0 {
            return Ok(None);
        }
        let length = usize::try_from(length).map_err(|_| Error::Length("length of a message"))?;
        // A copy, since another process may write to the map after the verifier.
        let metadata = rest.get(..length).ok_or(Error::Truncated("messages"))?.to_vec();
        Ok(Some(Self { metadata, body: at + prefix + length }))
    }

    pub(super) fn message(&self) -> Result<Message<'_>, Error> {
        let message =
            arrow_ipc::root_as_message_with_opts(&verifier(self.metadata.len()), &self.metadata)?;
        match message.version() {
            MetadataVersion::V4 | MetadataVersion::V5 => Ok(message),
            MetadataVersion(version) => Err(Error::Version(version)),
        }
    }

    /// Where the body should lie.
    pub(super) fn body(&self, message: &Message<'_>) -> Result<Range<usize>, Error> {
        let length =
            usize::try_from(message.bodyLength()).map_err(|_| Error::Length("length of a body"))?;
        let end = self.body.checked_add(length).ok_or(Error::Length("length of a body"))?;
        Ok(self.body..end)
    }

    /// The schema that a stream begins with.
    pub(super) fn schema(&self, message: &Message<'_>) -> Result<Schema, Error> {
        let schema = message.header_as_schema().ok_or(NO_SCHEMA)?;
        Schema::read(schema, self.metadata.len())
    }
}

/// The schema that a file begins with, if this range does. Polars writes it without the length of a
/// message.
pub(super) fn schema_at(bytes: &[u8], range: Range<usize>) -> Option<Range<usize>> {
    let metadata = bytes.get(range.clone())?;
    if let Ok(Some(framed)) = Framed::read(&bytes[..range.end], range.start)
        && framed.message().is_ok_and(|message| message.header_as_schema().is_some())
    {
        return Some(range.start..framed.body);
    }
    // A copy, since another process may write to the map after the verifier.
    let metadata = metadata.to_vec();
    let message = arrow_ipc::root_as_message_with_opts(&verifier(metadata.len()), &metadata);
    message.is_ok_and(|message| message.header_as_schema().is_some()).then_some(range)
}

pub(super) const NO_SCHEMA: Error = Error::Message("a stream without a schema");
pub(super) const NO_COLUMN: Error = Error::Message("a dictionary that no column has");

/// The dictionary that a batch belongs to.
#[derive(Clone, Copy)]
pub(super) struct OfDictionary {
    pub(super) id: i64,
    /// Whether the batch appends entries. Otherwise it replaces all entries.
    pub(super) is_delta: bool,
}

/// The batch of a message, with its dictionary if the batch belongs to one.
pub(super) fn batch<'a>(
    message: &Message<'a>,
) -> Result<(Option<OfDictionary>, RecordBatch<'a>), Error> {
    match message.header_type() {
        MessageHeader::RecordBatch => {
            let batch =
                message.header_as_record_batch().ok_or(Error::Message("a batch without one"))?;
            Ok((None, batch))
        }
        MessageHeader::DictionaryBatch => {
            let dictionary = message.header_as_dictionary_batch();
            let dictionary = dictionary.ok_or(Error::Message("a dictionary without one"))?;
            let batch = dictionary.data().ok_or(Error::Message("a dictionary without values"))?;
            let (id, is_delta) = (dictionary.id(), dictionary.isDelta());
            Ok((Some(OfDictionary { id, is_delta }), batch))
        }
        _ => Err(Error::Message("a message that is no batch")),
    }
}
