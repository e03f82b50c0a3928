//! Strided views of any layout, with and without nulls, against a nested loop over the elements
//! that they name.
#![no_main]

use libfuzzer_sys::fuzz_target;
use nonfinite::{Elements, Error, LayoutError};
use nonfinite_fuzz::{Strided, expect};
use nonfinite_oracle::{self as oracle, Expected, Framed, bitmap};

/// Longer than most layouts of outputs reach.
const ROOM: usize = 6000;

fuzz_target!(init: oracle::require(), |input: Strided| {
    let Strided { format, predicate, from, to, memory, offset, .. } = &input;
    let x = Elements::from_bytes(memory, *format).expect("whole elements");
    let view = from.view(x);
    if from.len() > Strided::MOST as u128 {
        // Too many elements for a loop: only checks that the view is made or refused, and that a
        // short output is refused.
        if let Ok(view) = view {
            let length = Error::OutputLength { elements: view.len(), output: 1 };
            assert_eq!(view.mask(*predicate, &mut [0xA5u8][..]), Err(length));
        }
        return;
    }
    let exist = from.gather(memory, format.size_in_bytes()).is_some();
    assert_eq!(view.is_ok(), exist, "{view:?}");
    let Ok(view) = view else { return };
    let mut outputs = Vec::new();
    let mut room = [0xA5; ROOM];
    match to.output(&mut room) {
        Err(Error::Layout(LayoutError::Overlap { .. })) => {}
        Err(error) => {
            let outside = |&place: &i128| !(0..ROOM as i128).contains(&place);
            assert!(to.len() > ROOM as u128 || to.places().iter().any(outside), "{error}: {to:?}");
        }
        Ok(mut out) if to.sizes != from.sizes => {
            assert!(view.mask_into(*predicate, &mut out).is_err(), "{to:?}");
        }
        Ok(_) => {
            let mut places = to.places();
            places.sort_unstable();
            assert!(places.windows(2).all(|two| two[0] < two[1]), "{to:?} names a byte twice");
            outputs.push(to.clone());
        }
    }
    assert_eq!(room, [0xA5; ROOM], "{to:?}");
    // Rows along all axes would take three quarters of the time.
    let axis = *offset % from.sizes.len().max(1);
    let expected = Expected::strided(*format, memory, from).asking_about(*predicate).along(axis);
    let expected = expected.into_outputs(outputs);
    expect(oracle::check_view(view, &expected, &mut Framed::default()));
    let valid: Vec<bool> = (0..view.len()).map(|i| input.is_valid(i)).collect();
    let bits = bitmap(&valid, *offset);
    let view = view.with_validity(&bits, *offset).expect("a bit for each element");
    expect(oracle::check_view(view, &expected.with_nulls(valid), &mut Framed::default()));
});
