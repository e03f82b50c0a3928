//! Replaces NaN and infinities before a tensor is saved, and reports what was replaced.
//!
//!     cargo run --example sanitise

use std::{env, error::Error, fs, process};

use nonfinite::{Predicate, Replacement, all, census, replace_non_finite};

fn main() -> Result<(), Box<dyn Error>> {
    let mut weights = vec![0.25f32; 5000];
    weights[12] = f32::NAN;
    weights[700] = f32::INFINITY;
    weights[4999] = f32::NEG_INFINITY;

    let before = census(&weights);
    for (name, found) in [("NaN", before.nan), ("+Inf", before.pos_inf), ("-Inf", before.neg_inf)] {
        println!("{name}: {}, first at {:?}", found.count, found.first);
    }

    // Zero for NaN; for infinities a bound of this model instead of the largest f32, which
    // `Replacement::finite()` has.
    let with = Replacement { nan: 0.0, pos_inf: 100.0, neg_inf: -100.0 };
    let replaced = replace_non_finite(&mut weights, with);
    println!("{replaced} elements replaced");
    assert_eq!(replaced, 3);
    assert_eq!((weights[12], weights[700], weights[4999]), (0.0, 100.0, -100.0));

    let bytes: Vec<u8> = weights.iter().flat_map(|weight| weight.to_le_bytes()).collect();
    let path = env::temp_dir().join(format!("nonfinite-example-{}.bin", process::id()));
    fs::write(&path, bytes)?;
    println!("saved to {}", path.display());

    // What a reader of the file finds.
    let saved = fs::read(&path)?;
    let (elements, rest) = saved.as_chunks();
    let saved: Vec<f32> = elements.iter().copied().map(f32::from_le_bytes).collect();
    assert!(rest.is_empty() && all(&saved, Predicate::Finite));
    fs::remove_file(&path)?;
    Ok(())
}
