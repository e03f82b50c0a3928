"""Where does the NaN come from? `trace_onnx` for ONNX models; `nonfinite.torch.watch` for torch."""

from nonfinite.findings import Look
from nonfinite.trace.report import Trace
from nonfinite.trace.results import BadNode, Node, Peak

__all__ = ["BadNode", "Look", "Node", "Peak", "Trace"]
