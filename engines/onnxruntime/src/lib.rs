//! Custom operators for ONNX Runtime, in the domain `nonfinite`: `IsNaN`, `IsInf` (attributes
//! `detect_negative` and `detect_positive` as ONNX IsInf-20 has them) and `IsFinite`. One input of
//! any shape, one output of the same shape, bool.
//!
//! The runtime loads this library by `SessionOptions::RegisterCustomOpsLibrary` and calls
//! [`RegisterCustomOps`].

mod api;
mod kernel;
mod operator;

use std::ffi::CStr;
use std::sync::OnceLock;

use ort_sys::{OrtApi, OrtApiBase, OrtCustomOpDomain, OrtSessionOptions, OrtStatusPtr};

use crate::api::Api;
use crate::operator::Operator;

/// Version of the interface that this library asks the runtime for: the first of ONNX Runtime 1.17.
const API_VERSION: u32 = 17;

/// The name of the domain.
const DOMAIN: &CStr = c"nonfinite";

/// The domain with our operators. It is made once and never released: sessions refer to it.
struct Domain(*mut OrtCustomOpDomain);

// SAFETY: the domain is complete before it is shared (`OnceLock` orders that), and from then on
// sessions only read it.
#[expect(unsafe_code, reason = "a raw pointer is shared")]
unsafe impl Send for Domain {}
// SAFETY: as for `Send`.
#[expect(unsafe_code, reason = "a raw pointer is shared")]
unsafe impl Sync for Domain {}

static FOUND: OnceLock<Domain> = OnceLock::new();

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
    if base.is_null() {
        return OrtStatusPtr::default();
    }
    // SAFETY: not null, so by this function's contract a valid `OrtApiBase`, whose functions may be
    // called.
    let raw: *const OrtApi = unsafe { ((*base).GetApi)(API_VERSION) };
    if raw.is_null() {
        return OrtStatusPtr::default();
    }
    // SAFETY: `GetApi` gave it for our version, and by this function's contract it lives as long as
    // this library.
    let api = unsafe { Api::new(raw) };
    api.register();
    api.guard(|| {
        if options.is_null() {
            return Err(api.invalid(c"nonfinite: session options are null"));
        }
        let domain = match FOUND.get() {
            Some(domain) => domain,
            None => {
                let made = api.create_domain(DOMAIN)?;
                for operator in Operator::all() {
                    api.add_operator(made, operator)?;
                }
                FOUND.get_or_init(|| Domain(made))
            }
        };
        api.add_domain(options, domain.0)
    })
}
