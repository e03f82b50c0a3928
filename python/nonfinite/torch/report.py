# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""What a watch found."""

import json
from dataclasses import dataclass
from typing import Any

from nonfinite._native import NonFiniteError
from nonfinite.findings import ORIGIN, WORDS, Look, as_json
from nonfinite.torch import notes

FORWARD, BACKWARD = "forward", "backward"
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Past:
    """A step before the finding."""

    step: int
    loss: float | None
    """What backward began with. None if that was no single number, or if there was no backward."""
    largest_weight: float | None
    """The largest magnitude of a finite weight. None where the watch did not look."""
    weight: str | None
    """The parameter that has this weight."""

    def __str__(self) -> str:
        parts = [f"step {self.step}:"]
        if self.loss is not None:
            parts.append(f"loss {self.loss:.3g},")
        if self.largest_weight is not None:
            parts.append(f"largest weight {self.largest_weight:.3g} in {self.weight}")
        return " ".join(parts).rstrip(",")


@dataclass(frozen=True)
class BadOperation:
    """A finding: an operation that made a NaN or an infinity."""

    kind: str
    """"origin", "NaN from Inf", "entry", "intended" for a mask that reached the loss, or "unknown"
    if the operation was not found again."""
    phase: str
    """"forward" or "backward"."""
    module: str | None
    """The path of the module in the model, as "layers.3.attention". "" is the model itself, and
    None code outside of the model, such as the loss, or code that the watch did not see."""
    module_type: str
    operator: str | None
    """The operation of torch, as "aten.log.default". None if the kind is "unknown"."""
    file: str | None
    line: int | None
    """The line of the user's code. In backward: the line of the forward operation, or the line that
    called backward if the operation outside of the model is not known."""
    code: str | None
    inputs: tuple[Look, ...]
    outputs: tuple[Look, ...]
    step: int
    """How many steps of training came before."""
    call: int
    """How many calls of the model came before, also those that trained nothing."""
    rank: int | None
    """The rank of the process, if torch.distributed runs."""
    parameter: str | None = None
    """The bad parameter, buffer or input that an entry reads."""
    cause: str | None = None
    """What is behind the finding, if that is a common fault, such as a logarithm of zero."""
    bad_inputs: tuple[Look, ...] = ()
    """What the model got that was bad before any operation. Empty if that explains nothing: the
    operation got finite numbers."""
    note: str | None = None
    history: tuple[Past, ...] = ()
    """The first step and the last ones, if the largest weight has grown more than a hundredfold."""

    @property
    def coordinate(self) -> tuple[int, ...] | None:
        """The coordinate of the first NaN or infinity of the first bad output."""
        return next((each.coordinate for each in self.outputs if each.bad), None)

    def to_json(self) -> str:
        """The finding as JSON."""
        fields: dict[str, Any] = as_json(self)
        return json.dumps(fields, indent=1, allow_nan=False)

    def __str__(self) -> str:
        path = f"model.{self.module}" if self.module else "model"
        where = f"in {path} ({self.module_type})"
        if self.module is None:
            unseen = (self.note or "").startswith(notes.BEFORE_WATCH)
            where = "in code that the watch did not see" if unseen else "outside of the model"
        rank = "" if self.rank is None else f", rank {self.rank}"
        operation = f"{self.operator or 'some operation'} {where}"
        given = {each.name: f"{each.name} had {each.bad_words}" for each in self.bad_inputs}
        read = given.pop(self.parameter or "", None)
        head = f" in {self.phase}: {operation}"
        if read is not None:
            head = f": before any operation {read}"
        call = f", call {self.call} of the model" if self.call != self.step else ""
        lines = [f"{self.kind}{head}, step {self.step}{call}{rank}"]
        lines += [f"  before any operation {each}" for each in given.values()]
        if read is not None:
            lines.append(f"  first read in {self.phase} by {operation}")
        elif self.kind in WORDS and not (self.note or "").startswith(notes.WHOLE):
            words = WORDS[self.kind]
            if self.kind == ORIGIN and self.phase == BACKWARD:
                kept = any(each.bad for each in self.inputs)
                words = "the gradient that comes in is finite, " + (
                    "what the forward operation has kept is not" if kept else "the new one is not"
                )
            elif self.kind == ORIGIN and any(each.nan for each in self.inputs):
                words = "the tensors are finite, the output is not"
            elif self.kind == ORIGIN and any(each.bad for each in self.inputs):
                words = "the inputs have -Inf, the output has +Inf"
            lines.append(f"  {words}")
        if self.cause is not None:
            lines.append(f"  cause: {self.cause}")
        if self.file is not None:
            lines.append(f"  {self.file}:{self.line}: {self.code or ''}".rstrip())
        if self.parameter is not None and read is None:
            lines.append(f"  reads bad {self.parameter}")
        # An input of the model is named "input 0 of the model". Names of parameters have no space.
        lines += [
            f"  {each}" if each.name.startswith("input ") else f"  input {each}"
            for each in self.inputs
        ]
        # Their names begin with "output" or "gradient".
        lines += [f"  {each}" for each in self.outputs]
        if self.note:
            lines.append(f"  note: {self.note}")
        if self.history:
            lines.append("  the training diverges: the weights have grown more than a hundredfold")
            lines += [f"    {each}" for each in self.history]
        return "\n".join(lines)


class BadValueError(NonFiniteError):
    """A watched model made a NaN or an infinity. `finding` says where, and there is no `census`.
    The traceback has the lines of the program, and not those of torch and of the watch."""

    __module__ = "nonfinite.torch"

    def __init__(self, finding: BadOperation) -> None:
        super().__init__(str(finding))
        self.finding = finding
