//! Any bytes as GGUF files.
#![no_main]

nonfinite_check_fuzz::read_target!(GGUF);
