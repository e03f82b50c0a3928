"""Is it NaN, is it infinite, is it finite? Exact answers for arrays, tensors and files."""

from nonfinite._native import (
    Census as Census,
    Extreme as Extreme,
    NonFiniteError as NonFiniteError,
    Occurrences as Occurrences,
    Stats as Stats,
    __version__ as __version__,
    all as all,
    all_finite as all_finite,
    any as any,
    any_inf as any_inf,
    any_nan as any_nan,
    assert_finite as assert_finite,
    census as census,
    count as count,
    is_finite as is_finite,
    is_inf as is_inf,
    is_nan as is_nan,
    mask as mask,
    nan_to_num as nan_to_num,
    position as position,
    stats as stats,
    unscale_and_check as unscale_and_check,
)

# The names of numpy and torch.
isnan, isinf, isfinite = is_nan, is_inf, is_finite

# For type checkers. `typing.TYPE_CHECKING` would import `typing`, which takes milliseconds.
TYPE_CHECKING = False
if TYPE_CHECKING:
    from nonfinite import torch as torch
    from nonfinite._checks import *
    from nonfinite.trace.onnx import trace_onnx as trace_onnx
else:

    def __getattr__(name: str) -> object:
        """Import the checks of files at their first use: arrays and the command need none.

        Modules of the package write `import nonfinite.report as report`. `from nonfinite import
        report` would come here, and import the modules in a circle.
        """
        from importlib import import_module

        # They need torch, or onnx and onnxruntime.
        if name == "torch":
            return import_module("nonfinite.torch")
        if name == "trace_onnx":
            return import_module("nonfinite.trace.onnx").trace_onnx
        checks = import_module("nonfinite._checks")
        if name not in checks.__all__:
            raise AttributeError(f"module 'nonfinite' has no attribute {name!r}")
        globals()[name] = value = getattr(checks, name)
        return value

    def __dir__() -> list[str]:
        from importlib import import_module

        checks = import_module("nonfinite._checks")
        return sorted({*globals(), *checks.__all__, "torch", "trace_onnx"})
