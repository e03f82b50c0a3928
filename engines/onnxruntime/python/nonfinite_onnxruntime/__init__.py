"""Libraries of custom operators for ONNX Runtime: IsNaN, IsInf and IsFinite of `nonfinite`."""

import platform
from pathlib import Path

_NAME = {
    "Windows": "nonfinite_onnxruntime{}.dll",
    "Darwin": "libnonfinite_onnxruntime{}.dylib",
}.get(platform.system(), "libnonfinite_onnxruntime{}.so")


def library_path() -> str:
    """The library with IsNaN, IsInf and IsFinite in the domain `nonfinite`.

    For `SessionOptions.register_custom_ops_library`. It also has the sinks of
    `nonfinite.trace_onnx`.
    """
    return str(Path(__file__).parent / _NAME.format(""))


def default_domain_library_path() -> str:
    """The library with IsNaN and IsInf in ONNX's own domain, for models as they are.

    For `SessionOptions.register_custom_ops_library`. A session can have both libraries.
    """
    return str(Path(__file__).parent / _NAME.format("_default_domain"))
