//! The messages of a file or a stream: metadata, and a body of data.

use std::ops::Range;

use arrow_ipc::{Message, MessageHeader, MetadataVersion, RecordBatch};
use flatbuffers::{InvalidFlatbuffer, VerifierOptions};

use super::{refused, too_large, truncated};
use crate::formats::signatures::ARROW_MESSAGE;
use crate::model::reader::Refused;

/// The limits of the verifier, for metadata of this length. Only hostile metadata exceeds them: a
/// field takes two tables, and about 40 bytes. In memory it takes about 200. The crate `arrow-ipc`
/// calls itself for each level of nesting, and has the same limit for its own readers.
pub(super) fn verifier(length: usize) -> VerifierOptions {
    VerifierOptions {
        max_depth: 64,
        max_tables: length / 8,
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
    pub(super) fn read(bytes: &[u8], at: usize) -> Result<Option<Self>, Refused> {
        let rest = bytes.get(at..).ok_or_else(|| truncated("messages"))?;
        // Before version 0.15 the length came first.
        let (prefix, rest) = match rest.strip_prefix(ARROW_MESSAGE) {
            Some(rest) => (8, rest),
            None => (4, rest),
        };
        let (length, rest) = rest.split_first_chunk().ok_or_else(|| truncated("messages"))?;
        let length = i32::from_le_bytes(*length);
        if length == 0 {
            return Ok(None);
        }
        let length = usize::try_from(length).map_err(|_| too_large("length of a message"))?;
        // A copy, since another process may write to the map after the verifier.
        let metadata = rest.get(..length).ok_or_else(|| truncated("messages"))?.to_vec();
        Ok(Some(Self { metadata, body: at + prefix + length }))
    }

    pub(super) fn message(&self) -> Result<Message<'_>, Refused> {
        let limits = verifier(self.metadata.len());
        let message = arrow_ipc::root_as_message_with_opts(&limits, &self.metadata);
        let message = message.map_err(first_line)?;
        match message.version() {
            MetadataVersion::V4 | MetadataVersion::V5 => Ok(message),
            MetadataVersion(version) => {
                Err(format!("Arrow metadata of version {version} is not known").into())
            }
        }
    }

    /// Where the body should lie.
    pub(super) fn body(&self, message: &Message<'_>) -> Result<Range<usize>, Refused> {
        let length =
            usize::try_from(message.bodyLength()).map_err(|_| too_large("length of a body"))?;
        let end = self.body.checked_add(length).ok_or_else(|| too_large("length of a body"))?;
        Ok(self.body..end)
    }
}

pub(super) const NO_SCHEMA: &str = "a stream without a schema";

/// The message of the verifier. The trace on the lines below it is left out.
pub(super) fn first_line(error: InvalidFlatbuffer) -> Refused {
    refused(error.to_string().lines().next().unwrap_or_default())
}

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
) -> Result<(Option<OfDictionary>, RecordBatch<'a>), Refused> {
    match message.header_type() {
        MessageHeader::RecordBatch => {
            let batch =
                message.header_as_record_batch().ok_or_else(|| refused("a batch without one"))?;
            Ok((None, batch))
        }
        MessageHeader::DictionaryBatch => {
            let dictionary = message.header_as_dictionary_batch();
            let dictionary = dictionary.ok_or_else(|| refused("a dictionary without one"))?;
            let batch = dictionary.data().ok_or_else(|| refused("a dictionary without values"))?;
            let (id, is_delta) = (dictionary.id(), dictionary.isDelta());
            Ok((Some(OfDictionary { id, is_delta }), batch))
        }
        _ => Err(refused("a message that is no batch")),
    }
}
