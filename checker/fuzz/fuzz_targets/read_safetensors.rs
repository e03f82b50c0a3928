//! Any bytes as .safetensors files.
#![no_main]

nonfinite_check_fuzz::read_target!(SAFETENSORS);
