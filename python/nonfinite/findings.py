"""What `trace_onnx` and `nonfinite.torch.watch` share: the kinds of findings, and what a tensor
holds."""

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

# The kinds of findings. docs/trace.md has the definitions.
ORIGIN = "origin"
NAN_FROM_INF = "NaN from Inf"
ENTRY = "entry"
INTENDED = "intended"
PROPAGATION = "propagation"
OVERFLOW = "hidden overflow"

WORDS = {
    ORIGIN: "the inputs are finite, the output is not",
    NAN_FROM_INF: "the inputs have infinities, the output has a NaN",
    ENTRY: "the first operation that reads a bad weight or input",
    INTENDED: "values that are meant, as the -Inf of a mask is",
    PROPAGATION: "an input is bad already",
}


@dataclass(frozen=True)
class Look:
    """What a tensor holds."""

    name: str
    dtype: str
    """The element type, as "float16"."""
    shape: tuple[int, ...] | None
    """The sizes. None if the tensor has more than 8 dimensions, or if the runtime keeps the
    elements in another order than the model."""
    elements: int
    nan: int
    pos_inf: int
    neg_inf: int
    zeros: int
    first: int | None
    """The row-major index of the first NaN or infinity. None if it is unknown."""
    min: float | None
    """The minimum of the finite elements, or None."""
    max: float | None
    """The maximum of the finite elements, or None."""
    max_abs: float | None
    """The largest magnitude of the finite elements, or None."""
    limit: float | None
    """The largest finite number of the type."""

    @property
    def bad(self) -> int:
        """How many elements are NaN or infinite."""
        return self.nan + self.pos_inf + self.neg_inf

    @property
    def only_minus_inf(self) -> bool:
        """Whether the tensor has -Inf, no +Inf and no NaN, as a mask."""
        return self.neg_inf > 0 and self.bad == self.neg_inf

    @property
    def title(self) -> str:
        """The name, for a sentence. The inputs of an operation of torch have numbers as names."""
        return f"input {self.name}" if self.name.isdecimal() else self.name

    @property
    def number(self) -> float | None:
        """The only element, if the tensor has no dimension."""
        if self.shape != () or self.elements != 1 or self.bad > 1 or self.min != self.max:
            return None
        infinity = math.inf if self.pos_inf else -math.inf if self.neg_inf else self.min
        return math.nan if self.nan else infinity

    @property
    def coordinate(self) -> tuple[int, ...] | None:
        """The coordinate of the first NaN or infinity."""
        if self.first is None or self.shape is None:
            return None
        rest, found = self.first, []
        for size in reversed(self.shape):
            rest, index = divmod(rest, size)
            found.append(index)
        return tuple(reversed(found))

    @property
    def bad_words(self) -> str:
        """How many NaN and infinities there are, and where the first one is."""
        counts = [(self.nan, "NaN"), (self.pos_inf, "+Inf"), (self.neg_inf, "-Inf")]
        parts = [f"{count} {what}" for count, what in counts if count]
        if self.first is not None:
            place = self.coordinate
            parts.append(f"first at {list(place) if place is not None else self.first}")
        return ", ".join(parts)

    def __str__(self) -> str:
        if (number := self.number) is not None:
            return f"{self.name}: {self.dtype} {number:.6g}"
        shape = "?" if self.shape is None else ", ".join(map(str, self.shape))
        parts = [f"{self.name}: {self.dtype}[{shape}]"]
        if self.bad:
            parts.append(self.bad_words)
        if self.min is not None and self.max is not None:
            parts.append(f"finite from {self.min:.6g} to {self.max:.6g}")
        if self.zeros:
            parts.append(f"{self.zeros} zeros")
        return ", ".join(parts)


def as_json(value: Any) -> Any:
    """A value in the types of JSON, for reports and findings. NaN and infinities become None."""
    if dataclasses.is_dataclass(value):
        names = [name.name for name in dataclasses.fields(value)]
        names += ["coordinate"] * isinstance(value, Look)
        return {name: as_json(getattr(value, name)) for name in names}
    if isinstance(value, dict):
        return {name: as_json(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_json(each) for each in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value
