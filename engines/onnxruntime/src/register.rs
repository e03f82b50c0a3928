//! The function that ONNX Runtime calls when it loads this library.

use std::sync::OnceLock;

use ort_sys::{OrtApiBase, OrtCustomOpDomain, OrtSessionOptions, OrtStatusPtr};

use crate::DOMAIN;
use crate::api::Api;
use crate::operator::Operator;

/// The domain with our operators. It is made once and never released: sessions refer to it.
struct Made(*mut OrtCustomOpDomain);

// SAFETY: the domain is complete before it is shared (`OnceLock` orders that), and from then on
// sessions only read it.
#[expect(unsafe_code, reason = "a raw pointer is shared")]
unsafe impl Send for Made {}
// SAFETY: as for `Send`.
#[expect(unsafe_code, reason = "a raw pointer is shared")]
unsafe impl Sync for Made {}

static MADE: OnceLock<Made> = OnceLock::new();

/// Called by ONNX Runtime to add our operators to a session.
///
/// Returns null, or the runtime's status: null pointers and a runtime older than 1.17 are refused.
/// If the runtime cannot make a status, the function returns null, and the model fails later
/// because the operators are missing.
///
/// # Safety
/// As ONNX Runtime's custom operator interface says: `options` is a session's options, and `base`
/// what `OrtGetApiBase` returns, both valid during the call; the functions behind `base` live as
/// long as this library.
#[expect(unsafe_code, reason = "ONNX Runtime calls this function")]
#[unsafe(no_mangle)]
pub unsafe extern "system" fn RegisterCustomOps(
    options: *mut OrtSessionOptions,
    base: *const OrtApiBase,
) -> OrtStatusPtr {
    // SAFETY: null or, by this function's contract, what `OrtGetApiBase` returns.
    let Some(api) = (unsafe { Api::new(base) }) else { return OrtStatusPtr::default() };
    api.guard(|| {
        if options.is_null() {
            return Err(api.invalid(c"nonfinite: session options are null"));
        }
        let domain = match MADE.get() {
            Some(domain) => domain,
            None => {
                let made = api.create_domain(DOMAIN.name)?;
                for operator in Operator::all(&DOMAIN, api) {
                    api.add_operator(made, operator)?;
                }
                MADE.get_or_init(|| Made(made))
            }
        };
        api.add_domain(options, domain.0)
    })
}
