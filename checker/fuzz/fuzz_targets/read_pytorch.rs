//! Any bytes as archives of PyTorch.
#![no_main]

nonfinite_check_fuzz::read_target!(PYTORCH);
