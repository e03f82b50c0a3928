//! Weights of fp8 that were cast to another dtype without their scale: all are numbers of fp8, and
//! far larger than those of other layers.

use nonfinite::Format;

use super::Findings;
use super::kin::Kin;
use crate::lint::finding::MAGNITUDE;

/// Compares the matrices of other layers.
pub(super) fn all(found: &mut Findings<'_>, kin: &Kin<'_>) {
    /// Layers differ by less. A scale of fp8 makes weights a thousand times as small.
    const FACTOR: f64 = 100.0;
    let model = found.model;
    let largest = |index: &usize| model.tensors[*index].max_abs().map(|most| most.value.abs());
    for (_, all) in kin.iter().filter(|((_, shape), all)| shape.len() > 1 && all.len() > 2) {
        let mut sizes: Vec<f64> =
            all.iter().filter_map(largest).filter(|most| *most > 0.0).collect();
        sizes.sort_by(f64::total_cmp);
        let Some(&usual) = sizes.get(sizes.len().saturating_sub(1) / 2) else { continue };
        for &index in all {
            let Some(most) = largest(&index).filter(|most| *most > FACTOR * usual) else {
                continue;
            };
            let of = [(Format::F8E4M3Fn, "F8_E4M3"), (Format::F8E5M2, "F8_E5M2")];
            if let Some((_, name)) = of.iter().find(|(format, _)| is_cast(found, index, *format)) {
                let message = format!(
                    "all numbers are those of {name}, up to {most}, where other layers reach \
                     {usual}: the weights were cast without their scale"
                );
                found.add(&MAGNITUDE, index, None, message);
            }
        }
    }
}

/// Whether all numbers of a tensor of another format are numbers of this one.
fn is_cast(found: &Findings<'_>, index: usize, fp8: Format) -> bool {
    let tensor = found.tensor(index);
    let Some(format) = tensor.format().filter(|format| format.size_in_bytes() > 1) else {
        return false;
    };
    let mut numbers: Vec<u64> = (0..=0xFF).map(|code| fp8.to_f64(code).to_bits()).collect();
    numbers.sort_unstable();
    let mut are_all = true;
    tensor.elements(format.size_in_bytes(), |_, bits| {
        are_all = numbers.binary_search(&format.to_f64(bits).to_bits()).is_ok();
        are_all
    });
    are_all
}
