//! Any bytes as .npy files.
#![no_main]

nonfinite_check_fuzz::read_target!(NPY);
