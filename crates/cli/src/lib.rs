//! The parts of the command `nonfinite`: arguments, files to check, the run of a check, and output.
//! The check itself is in `nonfinite_check`.
#![forbid(unsafe_code)]

pub mod args;
pub mod command;
pub mod github;
pub mod html;
pub mod inputs;
pub mod interrupt;
pub mod lint;
pub mod map;
pub mod natural;
pub mod patterns;
pub mod progress;
pub mod recursive;
pub mod report;
pub mod run;
pub mod session;
pub mod status;
pub mod tensor_table;
pub mod terminal;
pub mod text_table;
pub mod text_width;
pub mod wording;
