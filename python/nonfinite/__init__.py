"""Is it NaN, is it infinite, is it finite? Exact answers for arrays, tensors and files."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nonfinite.trace.onnx import trace_onnx as trace_onnx


def __getattr__(name: str) -> Any:
    """`trace_onnx` on first use, because the function needs onnx and onnxruntime."""
    if name == "trace_onnx":
        from nonfinite.trace.onnx import trace_onnx

        return trace_onnx
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
