"""What a trace found, as data, text and a page."""

from pathlib import Path

from nonfinite.trace.html import page
from nonfinite.trace.results import Results
from nonfinite.trace.text import text


class Trace(Results):
    """The result of a trace of an ONNX model."""

    def to_html(self, path: str | Path) -> None:
        """Writes a page with the graph around the first finding."""
        Path(path).write_text(page(self), encoding="utf-8")

    def __str__(self) -> str:
        return text(self)
