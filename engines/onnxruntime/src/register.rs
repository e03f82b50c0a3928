//! The function that ONNX Runtime calls when it loads this library.

use std::ffi::CStr;
use std::sync::OnceLock;

use ort_sys::{OrtApiBase, OrtCustomOp, OrtCustomOpDomain, OrtSessionOptions, OrtStatusPtr};

use crate::api::{Api, Failure};
use crate::domains;

/// The domains with our operators. They are made once and never released: sessions refer to them.
struct Made(Vec<*mut OrtCustomOpDomain>);

// SAFETY: the domains are complete before they are shared (`OnceLock` orders that), and from then
// on sessions only read them.
#[expect(unsafe_code, reason = "raw pointers are shared")]
unsafe impl Send for Made {}
// SAFETY: as for `Send`.
#[expect(unsafe_code, reason = "raw pointers are shared")]
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
            return Err(api.invalid(&"session options are null"));
        }
        let domains = match MADE.get() {
            Some(domains) => domains,
            None => {
                let made = domains(api)?;
                MADE.get_or_init(|| Made(made))
            }
        };
        domains.0.iter().try_for_each(|domain| api.add_domain(options, *domain))
    })
}

/// Makes a domain of these operators, which live forever.
pub(crate) fn domain(
    api: Api,
    name: &CStr,
    operators: impl IntoIterator<Item = *const OrtCustomOp>,
) -> Result<*mut OrtCustomOpDomain, Failure> {
    let made = api.create_domain(name)?;
    for operator in operators {
        api.add_operator(made, operator)?;
    }
    Ok(made)
}
