# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Whether a watch saw calls of its model."""

import warnings

from torch import nn

from nonfinite.torch.hooked import is_compiled

_NOTHING = "the watch saw no call of the model, and looked at no output. "
_PARTS = (
    "the watch saw calls of modules in the model, but none of the model itself: what the model's "
    "own methods compute was not looked at. "
)
_CALL = (
    "Call model(x) inside of the `with`. The watch does not see model.forward(x), calls within "
    "torch.func, and calls of another model that torch.compile made of this one: watch that one"
)
_COMPILED = "Module {} was compiled after the watch began: compile first"


class Called:
    """Which calls a watch saw since it was entered."""

    def __init__(self, model: nn.Module, top: nn.Module) -> None:
        self._model, self._top = model, top
        self._compiled = self._all_compiled()
        self._any = self._whole = False

    def clear(self) -> None:
        """The watch is entered."""
        self._any = self._whole = False
        self._compiled = self._all_compiled()

    def _all_compiled(self) -> list[str]:
        """The paths of the modules that are compiled."""
        return [path for path, each in self._model.named_modules() if is_compiled(each)]

    def add(self, module: nn.Module) -> None:
        """A module is called."""
        self._any = True
        self._whole = self._whole or module is self._top

    def warn(self) -> None:
        """The watch ends. Warns if the model itself was not called: then the watch may have missed
        a NaN."""
        if self._whole:
            return
        new = [path for path in self._all_compiled() if path not in self._compiled]
        why = _COMPILED.format(new[0] or "model") if new else _CALL
        # The user's line is the one behind `Watch.__exit__`.
        warnings.warn((_PARTS if self._any else _NOTHING) + why, RuntimeWarning, stacklevel=3)
