"""Which operation of a torch model made the first NaN or infinity: `watch`."""

from nonfinite.torch.refuse import UnsupportedError
from nonfinite.torch.report import BadOperation, BadValueError
from nonfinite.torch.watch import Watch

__all__ = ["BadOperation", "BadValueError", "UnsupportedError", "Watch", "watch"]

watch = Watch


def __dir__() -> list[str]:
    return __all__
