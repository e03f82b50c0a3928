//! Any bytes as GGUF files.
#![no_main]

nonfinite_fuzz::read_target!(GGUF);
