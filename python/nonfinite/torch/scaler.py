# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Overflows that a GradScaler expects."""

import gc
from collections.abc import Collection, Iterable
from typing import Any

import torch
from torch import Tensor
from torch.amp import GradScaler

from nonfinite.findings import ORIGIN
from nonfinite.torch import private
from nonfinite.torch.operations import Cause
from nonfinite.torch.report import BACKWARD

UNTOLD = (
    "a GradScaler has scaled the loss by {:g}, and skips steps whose gradients overflow by that; "
    "watch(model, scaler=scaler) counts such steps, and tells of faults that scaling has not made"
)


def _scale_at(places: Collection[int]) -> Any:
    """The GradScaler whose scale is at one of these addresses. Only a bad gradient makes the watch
    look for one."""
    for each in gc.get_objects() if places else ():
        if issubclass(type(each), GradScaler) and each.is_enabled():
            scale = private.scale_of(each)
            if scale is not None and scale.data_ptr() in places:
                return each
    return None


class Scaler:
    """The GradScaler of a program. None: there is none."""

    def __init__(self, scaler: Any) -> None:
        if scaler is not None and not hasattr(scaler, "get_scale"):
            raise TypeError(f"scaler is a {type(scaler).__name__}, and must be a GradScaler")
        self._scaler = scaler
        self.overflows = 0
        # One of which the watch was not told, and where the factors of the loss are in memory.
        self._untold: Any = None
        self._factors: set[int] = set()
        # At the last bad gradient.
        self._scale_before: float | None = None

    def _scale(self) -> float | None:
        scaler = self._scaler or self._untold
        return scaler.get_scale() if scaler is not None and scaler.is_enabled() else None

    def begins(self, roots: Iterable[Tensor]) -> None:
        """Backward begins. A loss that was scaled is a product."""
        nodes = [each.grad_fn for each in roots if self._scaler is None]
        products = (each for each in nodes if each is not None and each.name() == "MulBackward0")
        pairs = (pair for each in products for pair in private.saved(each))
        factors = (each for name, each in pairs if name == "other" and not each.dim())
        self._factors = {each.data_ptr() for each in factors if each.layout is torch.strided}

    def expects(self) -> bool:
        """Whether a bad gradient is an overflow, which the scaler takes care of. Counts it."""
        self._untold = _scale_at(self._factors)
        scale = self._scale_before = self._scale()
        overflows = self._scaler is not None and scale is not None and scale > 1
        self.overflows += overflows
        return overflows

    def skipped(self) -> bool:
        """Whether the scaler has left out a step because of a bad gradient, and lowered its scale.
        Asks the device only after a bad gradient."""
        before, scale = self._scale_before, self._scale() if self._scale_before else None
        lower = before is not None and scale is not None and scale < before
        if lower:
            self._scale_before = None
        return lower

    def expects_loss(self, found: Cause | None) -> bool:
        """The same of a bad loss, which is an overflow if the operation behind it multiplies finite
        numbers by the scale. A loss that was bad before is a finding."""
        self._untold = _scale_at(self._factors)
        return self._is_scaled(found) and self.expects()

    def _is_scaled(self, found: Cause | None) -> bool:
        scale = self._scale()
        if found is None or found.kind != ORIGIN or scale is None:
            return False
        # A number of the program is not the tensor of the scaler.
        tensors = [each for each in found.inputs if each.dtype not in ("int", "float")]
        return any(each.elements == 1 and each.max == scale for each in tensors)

    def note(self, phase: str, found: Cause | None) -> str | None:
        """Why a bad gradient is no overflow, under a scaler that scales no longer. Or what to do
        under a scaler of which the watch was not told."""
        scale = self._scale()
        if scale is None or phase != BACKWARD and not self._is_scaled(found):
            return None
        if self._scaler is None:
            return UNTOLD.format(scale) if scale > 1 else None
        note = f"the GradScaler's scale is {scale:g}, so scaling is not the cause"
        if self.overflows:
            note += f"; {self.overflows} bad gradients before were counted as overflows"
        return note
