//! Any bytes as Parquet files.
#![no_main]

nonfinite_fuzz::read_target!(PARQUET);
