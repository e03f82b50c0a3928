//! Any bytes as .safetensors files.
#![no_main]

nonfinite_fuzz::read_target!(SAFETENSORS);
