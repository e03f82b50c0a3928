//! Any bytes as files and streams of Arrow IPC.
#![no_main]

nonfinite_fuzz::read_target!(ARROW);
