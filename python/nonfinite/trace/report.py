"""What a trace found, as data and text."""

from nonfinite.trace.results import Results
from nonfinite.trace.text import text


class Trace(Results):
    """The result of a trace of an ONNX model."""

    def __str__(self) -> str:
        return text(self)
