//! Functions of the module with a short way in front, for calls with a small array.
//!
//! The function that PyO3 makes takes about 10 ns to count, name and convert arguments and to note
//! that the thread holds the GIL (AMD EPYC Zen 4). The short way takes arguments by position, and
//! `out` also by its name. It keeps no object, and leaves each call that it cannot answer to the
//! function of PyO3. So all errors come from there.

use std::ffi::{CString, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::slice;
use std::sync::atomic::{AtomicPtr, Ordering};

use pyo3::ffi;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyCFunction;

use crate::arrays::error::value;
use crate::arrays::short::Function;

/// The C functions of PyO3, or null before [`add`] has stored the pointer.
static WHOLE: [AtomicPtr<c_void>; Function::ALL.len()] =
    [const { AtomicPtr::new(ptr::null_mut()) }; Function::ALL.len()];

/// The word `out`, interned. Python interns the names of arguments in programs too. Never freed.
static OUT: AtomicPtr<ffi::PyObject> = AtomicPtr::new(ptr::null_mut());

/// How Python calls the functions of this module.
const FLAGS: i32 = ffi::METH_FASTCALL | ffi::METH_KEYWORDS;

/// Adds a function of PyO3 to the module, with the short way of [`Function::ALL`] `[N]` in front.
///
/// # Errors
/// ValueError if PyO3 has made a function that is called in another way. Errors of Python.
pub(crate) fn add<const N: usize>(
    module: &Bound<'_, PyModule>,
    whole: Bound<'_, PyCFunction>,
) -> PyResult<()> {
    let py = module.py();
    // SAFETY: `whole` is a function in C.
    let (function, flags) = unsafe {
        (ffi::PyCFunction_GetFunction(whole.as_ptr()), ffi::PyCFunction_GetFlags(whole.as_ptr()))
    };
    let function = function.filter(|_| flags == FLAGS);
    let function = function.ok_or_else(|| value("a function with other flags"))?;
    WHOLE[N].store(function as *mut c_void, Ordering::Release);
    OUT.store(intern!(py, "out").clone().into_ptr(), Ordering::Release);

    let text = |name: &str| whole.getattr(name)?.extract::<String>();
    let (name, doc) = (text("__name__")?, text("__doc__")?);
    // The form in which CPython finds the signature of a function in C.
    let doc = format!("{name}{}\n--\n\n{doc}", text("__text_signature__")?);
    let definition = ffi::PyMethodDef {
        ml_name: CString::new(name.as_str())?.into_raw(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: call::<N> },
        ml_flags: FLAGS,
        ml_doc: CString::new(doc)?.into_raw(),
    };
    let definition = Box::into_raw(Box::new(definition));
    // SAFETY: the definition is never freed, and `call` is called as the flags say. The other
    // pointers are objects of Python. The result is null with an exception set, or a new reference.
    let function = unsafe {
        let name = module.name()?;
        let function = ffi::PyCFunction_NewEx(definition, module.as_ptr(), name.as_ptr());
        Bound::from_owned_ptr_or_err(py, function)?
    };
    module.add(name.as_str(), function)
}

/// Calls the short way, and the function of PyO3 if there is no answer.
///
/// # Safety
/// The caller is CPython, by the rules of `METH_FASTCALL | METH_KEYWORDS`: `args` points to
/// `positional` objects, followed by one for each name in the tuple `names`, which may be null. The
/// thread holds the GIL. `add` has been called for `N`.
unsafe extern "C" fn call<const N: usize>(
    module: *mut ffi::PyObject,
    args: *const *mut ffi::PyObject,
    positional: ffi::Py_ssize_t,
    names: *mut ffi::PyObject,
) -> *mut ffi::PyObject {
    // SAFETY: by the contract of this function.
    unsafe {
        let own = Function::ALL[N];
        let by_name = usize::from(!names.is_null());
        let given = positional.cast_unsigned() + by_name;
        if by_name == 0 || own.place_of_out() == Some(given - 1) && is_out(names) {
            let py = Python::assume_attached();
            // A `Borrowed` has the layout of a pointer.
            let arguments = match given {
                0 => &[],
                given => slice::from_raw_parts(args.cast::<Borrowed<'_, '_, PyAny>>(), given),
            };
            // After a panic the function of PyO3 meets it again, and raises an exception.
            let answer = catch_unwind(AssertUnwindSafe(|| own.answer(py, arguments)));
            if let Ok(Some(answer)) = answer {
                return answer.into_ptr();
            }
        }
        let whole = WHOLE[N].load(Ordering::Acquire);
        std::mem::transmute::<*mut c_void, ffi::PyCFunctionFastWithKeywords>(whole)(
            module, args, positional, names,
        )
    }
}

/// Whether the only name of the tuple is `out`.
///
/// # Safety
/// `names` is a tuple, and the thread holds the GIL.
unsafe fn is_out(names: *mut ffi::PyObject) -> bool {
    // SAFETY: by the contract of this function.
    unsafe {
        ffi::PyTuple_Size(names) == 1
            && ffi::PyTuple_GetItem(names, 0) == OUT.load(Ordering::Acquire)
    }
}
