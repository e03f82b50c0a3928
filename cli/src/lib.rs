//! The parts of the command `nonfinite`: readers that turn the bytes of a file into tensors, and the report on them.
//!
//! The readers take any bytes. They answer with tensors or a typed error, never with a panic, and allocate no more than
//! a small multiple of the header that is really there.

pub mod npy;
pub mod report;
pub mod safetensors;
pub mod source;
pub mod tensor;
