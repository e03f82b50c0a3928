//! Any bytes as archives of PyTorch.
#![no_main]

nonfinite_fuzz::read_target!(PYTORCH);
