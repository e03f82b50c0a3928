"""Why no operation is named, and which common fault is behind an operation."""

from nonfinite.findings import NAN_FROM_INF, ORIGIN, Look

# Left out where the watch does so already.
ADVICE = "; watch with operations=True names the operation"
CHANGED = "an input was changed in place" + ADVICE
LOSS = (
    "the loss is finite, and the gradient is bad where it enters the model: an operation outside "
    "of the model is at fault" + ADVICE
)
LOSS_IS_BAD = (
    "the loss was bad before backward began, and the watch did not see which operation made it"
    + ADVICE
)
MASK = "these infinities, which the program made as told, reached the loss"
RELEASED = (
    "the model was called again before backward, and the inputs of this call are gone" + ADVICE
)
SYNCHRONISED = (
    "a replay on one rank would wait in SyncBatchNorm for the others" + ADVICE
)
NOT_FOUND = "no replay gave a bad gradient" + ADVICE
UNSEEN = (
    "the watch saw no call of the model in this step and cannot replay it; call model(x), not "
    "model.forward(x), and watch what torch.compile returned"
)


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
    name, _, node = (operator or "").partition(" in ")
    # "aten.log_.default" is a logarithm in place.
    name = name.split(".")[1].removesuffix("_") if "." in name else name
    bad = [each for each in inputs if each.bad]
    if kind == NAN_FROM_INF and name in ("_softmax", "_log_softmax"):
        masked = all(each.only_minus_inf for each in bad)
        return "a row is masked whole: all its scores are -Inf" if masked else None
    if kind != ORIGIN or bad or not inputs:
        return None
    first, last, nan = inputs[0], inputs[-1], any(each.nan for each in outputs)
    zeros = f"input {last.name}" if last.name.isdecimal() else last.name
    zeros += f" has {last.zeros} zeros"
    if node:
        slope = _SLOPES.get(node) if any(each.zeros for each in inputs) else None
        return slope and f"the slope of {slope} is infinite at 0"
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
