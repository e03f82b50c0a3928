//! Questions about arrays of numbers, for the npm package.

use js_sys::{Object, Reflect};
use nonfinite::{Format, Predicate, TensorView};
use wasm_bindgen::prelude::{JsError, JsValue, wasm_bindgen};

fn view<'a>(bytes: &'a [u8], format: &str) -> Result<TensorView<'a>, JsError> {
    let format: Format = format.parse()?;
    Ok(TensorView::from_bytes(bytes, format)?)
}

fn predicate(name: &str) -> Result<Predicate, JsError> {
    let predicate = name.parse()?;
    if Predicate::ALL.contains(&predicate) {
        Ok(predicate)
    } else {
        Err(JsError::new("a threshold is not taken"))
    }
}

/// Whether all elements are finite.
///
/// # Errors
/// For a format that is not known, and bytes that are no whole elements.
#[wasm_bindgen(js_name = allFinite)]
pub fn all_finite(bytes: &[u8], format: &str) -> Result<bool, JsError> {
    Ok(view(bytes, format)?.all(Predicate::Finite))
}

/// The index of the first element for which the predicate holds, or -1.
///
/// # Errors
/// As [`all_finite`], and for a predicate that is not known.
#[wasm_bindgen]
pub fn position(bytes: &[u8], format: &str, of: &str) -> Result<f64, JsError> {
    Ok(view(bytes, format)?.position(predicate(of)?).map_or(-1.0, |index| index as f64))
}

/// How many elements the predicate holds for.
///
/// # Errors
/// As [`position`].
#[wasm_bindgen]
pub fn count(bytes: &[u8], format: &str, of: &str) -> Result<f64, JsError> {
    Ok(view(bytes, format)?.count(predicate(of)?) as f64)
}

/// How many NaN, +Inf and -Inf there are, and the index of the first of each, or -1.
///
/// # Errors
/// As [`all_finite`].
#[wasm_bindgen]
pub fn census(bytes: &[u8], format: &str) -> Result<Object, JsError> {
    let census = view(bytes, format)?.census();
    let object = Object::new();
    for (name, found) in
        [("nan", census.nan), ("posInf", census.pos_inf), ("negInf", census.neg_inf)]
    {
        let first = found.first.map_or(-1.0, |index| index as f64);
        let pair = Object::new();
        // A plain object takes any field.
        let _ = Reflect::set(&pair, &"count".into(), &JsValue::from_f64(found.count as f64));
        let _ = Reflect::set(&pair, &"first".into(), &JsValue::from_f64(first));
        let _ = Reflect::set(&object, &name.into(), &pair);
    }
    Ok(object)
}
