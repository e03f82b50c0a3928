//! Any bytes as .npz archives.
#![no_main]

nonfinite_check_fuzz::read_target!(NPZ);
