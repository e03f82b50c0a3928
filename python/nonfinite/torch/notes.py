"""What a finding says beside the operation, and why no operation is named."""

from typing import Any

from nonfinite.findings import ENTRY

# Left out where the watch does so already.
ADVICE = "; watch with operations=True names the operation"
CHANGED = "an input was changed in place" + ADVICE
LOSS_IS_BAD = (
    "the loss was bad before backward began, and the watch did not see which operation made it"
    + ADVICE
)
SUM = "each gradient is finite that comes in here, and their sum, or what a hook made of it, is not"
HOOKED = "a hook of the program ({}) made the {}; the line is that of {}"
BEFORE_WATCH = "the node was made where the watch did not see it; the line is that of backward"
# Backward notes that stand in place of the sentence of the kind.
WHOLE = SUM, HOOKED.partition("{")[0]
MASK = "these values, which are meant (a number of the program, or `allow`), reached the {}"


def failed(error: Exception) -> str:
    """A replay raised an error. The first line: torch may add the frames of C++."""
    line = (str(error).splitlines() or [""])[0]
    return f"the replay failed: {type(error).__name__}: {line}"


def of_entry(found: Any, step: int) -> str | None:
    """What to do about a bad tensor of which no operation is known to have made it."""
    if found.unseen:
        return "watch with operations=True names what made it, if that ran inside of the `with`"
    if found.kind == ENTRY and step and not found.parameter.startswith("input "):
        return "watch with operations=True tells whether a step of the optimizer made it bad"
    return None
