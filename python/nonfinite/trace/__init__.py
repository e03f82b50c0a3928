"""Where does the NaN come from? `trace_onnx` for ONNX models; `nonfinite.torch.watch` for torch."""

from nonfinite.trace.report import Report
from nonfinite.trace.results import Finding, Look, Node, Peak

__all__ = ["Finding", "Look", "Node", "Peak", "Report"]
