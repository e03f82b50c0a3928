"""Which operation of a torch model made the first NaN or infinity: `watch`."""

from nonfinite.torch.refuse import UnsupportedError
from nonfinite.torch.report import Finding, NonFiniteError
from nonfinite.torch.watch import Watch

__all__ = ["Finding", "NonFiniteError", "UnsupportedError", "Watch", "watch"]

watch = Watch
