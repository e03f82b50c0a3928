"""What a watch found."""

import json
from dataclasses import dataclass
from typing import Any

from nonfinite._native import NonFiniteError
from nonfinite.trace.results import WORDS, Look, as_json

FORWARD, BACKWARD = "forward", "backward"
UNKNOWN = "unknown"


@dataclass(frozen=True)
class Finding:
    """An operation that made a NaN or an infinity."""

    kind: str
    """"origin", "NaN from Inf", "entry", or "unknown" if the operation was not found again."""
    phase: str
    """"forward" or "backward"."""
    module: str | None
    """The path of the module in the model, as "layers.3.attention". "" is the model itself, and
    None code outside of the model, such as the loss."""
    module_type: str
    operator: str | None
    """The operation of torch, as "aten.log.default". None if the kind is "unknown"."""
    file: str | None
    line: int | None
    """The line of the user's code. In backward: the line of the forward operation, or the line that
    called backward if the bad gradient came from outside of the model."""
    code: str | None
    inputs: tuple[Look, ...]
    outputs: tuple[Look, ...]
    step: int
    """How many calls of the model came before."""
    rank: int | None
    """The rank of the process, if torch.distributed runs."""
    parameter: str | None = None
    """The bad parameter, buffer or input that an entry reads."""
    note: str | None = None

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
        where = "outside of the model" if self.module is None else f"in {path} ({self.module_type})"
        rank = "" if self.rank is None else f", rank {self.rank}"
        head = f"{self.kind} in {self.phase}: {self.operator or 'some operation'} {where}"
        lines = [f"{head}, step {self.step}{rank}"]
        if self.kind in WORDS:
            lines.append(f"  {WORDS[self.kind]}")
        if self.file is not None:
            lines.append(f"  {self.file}:{self.line}: {self.code or ''}".rstrip())
        if self.parameter is not None:
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
        return "\n".join(lines)


class BadValueError(NonFiniteError):
    """A watched model made a NaN or an infinity. `finding` says where, and there is no `census`."""

    def __init__(self, finding: Finding) -> None:
        super().__init__(str(finding))
        self.finding = finding
