"""Why no operation is named, and which common fault is behind an operation."""

from nonfinite.findings import NAN_FROM_INF, ORIGIN, Look

# Left out where the watch does so already.
ADVICE = "; watch with operations=True names the operation"
CHANGED = "an input was changed in place" + ADVICE
LOSS_IS_BAD = (
    "the loss was bad before backward began, and the watch did not see which operation made it"
    + ADVICE
)
MASK = "these infinities, which the program made as told, reached the loss"


def failed(error: Exception) -> str:
    """A replay raised an error. The first line: torch may add the frames of C++."""
    line = (str(error).splitlines() or [""])[0]
    return f"the replay failed: {type(error).__name__}: {line}"


# Their slopes are infinite at 0.
_SLOPES = {
    "SqrtBackward0": "a square root (a norm, a distance, a deviation)",
    "StdBackward0": "a deviation",
    "LogBackward0": "a logarithm",
    "PowBackward0": "a power below 1",
}
_LOGARITHMS = ("log", "log2", "log10", "xlogy")
_OVERFLOWS = (
    "add", "sub", "mul", "pow", "exp", "sum", "mean", "mm", "bmm", "addmm", "baddbmm", "mse_loss",
    "_to_copy", "convolution", "cumsum", "dot", "linalg_vector_norm",
)  # fmt: skip


def cause(
    kind: str, operator: str | None, inputs: tuple[Look, ...], outputs: tuple[Look, ...]
) -> str | None:
    """The common fault behind an operation, in a line. None if the numbers show none."""
    name = operator or ""
    # "aten.log_.default" is a logarithm in place.
    name = name.split(".")[1].removesuffix("_") if "." in name else name
    bad = [each for each in inputs if each.bad]
    if kind == NAN_FROM_INF and name in ("_softmax", "_log_softmax"):
        masked = all(each.only_minus_inf for each in bad)
        return "a row is masked whole: all its scores are -Inf" if masked else None
    if kind != ORIGIN or bad:
        return None
    if name in _SLOPES:
        # On a device it is not known what the operation has kept.
        kept = [each for each in inputs if each.name in ("self", "result")]
        is_slope = not inputs or any(each.zeros for each in kept)
        return f"the slope of {_SLOPES[name]} is infinite at 0" if is_slope else None
    if not inputs:
        return None
    first, last, nan = inputs[0], inputs[-1], any(each.nan for each in outputs)
    zeros = f"input {last.name}" if last.name.isdecimal() else last.name
    zeros += f" has {last.zeros} zeros"
    if name.startswith("nll_loss") and nan:
        return "all labels are ignored (ignore_index) or have weight 0, so the mean is 0 / 0"
    if name == "_ctc_loss":
        return "a target is too long for its input; ctc_loss(zero_infinity=True) leaves it out"
    if name == "mean" and first.elements == 0:
        return "the mean of no elements"
    if name in ("std", "var") and nan:
        return "the deviation of a single element, which has no degree of freedom"
    if name in _LOGARITHMS and (last.min or 0) < 0:
        return "the logarithm of a negative number"
    if name in _LOGARITHMS and last.zeros:
        return f"the logarithm of zero: {zeros}"
    if name in ("sqrt", "rsqrt") and (first.min or 0) < 0:
        return "the square root of a negative number"
    if name in ("reciprocal", "rsqrt") or name == "div" and len(inputs) == 2:
        return f"a division by zero (a norm, a sum, a count): {zeros}" if last.zeros else None
    if name in _OVERFLOWS and not nan and outputs and outputs[0].limit is not None:
        return f"an overflow: {outputs[0].dtype} ends at {outputs[0].limit:.6g}"
    return None
