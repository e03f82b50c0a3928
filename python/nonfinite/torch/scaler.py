# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Overflows that a GradScaler expects."""

from typing import Any

from nonfinite.torch.operations import Found
from nonfinite.trace.results import ORIGIN


class Scaler:
    """The GradScaler of a program. None: there is none."""

    def __init__(self, scaler: Any) -> None:
        if scaler is not None and not hasattr(scaler, "get_scale"):
            raise TypeError(f"scaler is a {type(scaler).__name__}, and must be a GradScaler")
        self._scaler = scaler
        self.overflows = 0
        # At the last bad gradient.
        self._scale_before: float | None = None

    def _scale(self) -> float | None:
        on = self._scaler is not None and self._scaler.is_enabled()
        return self._scaler.get_scale() if on else None

    def expects(self) -> bool:
        """Whether a bad gradient is an overflow, which the scaler takes care of. Counts it."""
        scale = self._scale_before = self._scale()
        overflows = scale is not None and scale > 1
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

    def expects_loss(self, found: Found | None) -> bool:
        """The same of a bad loss, which is an overflow if the operation behind it multiplies finite
        numbers by the scale. A loss that was bad before is a finding."""
        if found is None or found.kind != ORIGIN:
            return False
        scale = self._scale()
        scaled = any(each.elements == 1 and each.max == scale for each in found.inputs)
        return scaled and self.expects()

    def note(self) -> str | None:
        """Why a bad gradient is no overflow, under a scaler that scales no longer."""
        scale = self._scale()
        if scale is None:
            return None
        note = f"the GradScaler's scale is {scale:g}, so scaling is not the cause"
        if self.overflows:
            note += f"; {self.overflows} bad gradients before were counted as overflows"
        return note
