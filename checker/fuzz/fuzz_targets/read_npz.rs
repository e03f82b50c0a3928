//! Any bytes as .npz archives.
#![no_main]

nonfinite_fuzz::read_target!(NPZ);
