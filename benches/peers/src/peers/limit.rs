//! What the machine allows: reading all, and reading all and writing a byte an element.

#[path = "../../../common/limits.rs"]
#[allow(dead_code, reason = "the copy is not used here")]
mod limits;

use crate::task::{Ask, Input, Task};

pub fn tasks(ask: Ask, x: Input<'_>) -> Vec<Task<'_>> {
    let n = x.len();
    let of_size = match x.size() {
        1 => limits::limits::<1>(),
        2 => limits::limits::<2>(),
        4 => limits::limits::<4>(),
        _ => limits::limits::<8>(),
    };
    let mut tasks = Vec::new();
    for (bits, load, floor) in of_size {
        let (load_name, mask_name) = match bits {
            "512" => ("limit load 512", "limit mask 512"),
            _ => ("limit load 256", "limit mask 256"),
        };
        tasks.push(Task::limit(load_name, 0, move |_| load(x.as_bytes())));
        if let Ask::Mask(_) = ask {
            tasks.push(Task::limit(mask_name, n, move |out| floor(x.as_bytes(), out)));
        }
    }
    tasks
}
