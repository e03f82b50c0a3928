"""Where does the NaN come from? `trace_onnx` for ONNX models; `nonfinite.torch.watch` for torch."""

from nonfinite.trace.report import Finding, Look, Node, Peak, Report

__all__ = ["Finding", "Look", "Node", "Peak", "Report"]
