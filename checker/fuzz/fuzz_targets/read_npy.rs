//! Any bytes as .npy files.
#![no_main]

nonfinite_fuzz::read_target!(NPY);
