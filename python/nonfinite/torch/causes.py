"""Which common fault is behind an operation: a table of rules, by the name of the function.

A rule says what it sees in finite inputs, or nothing. So that each line is true, a rule asks
whether the output has a NaN or only infinities: a logarithm gives a NaN for a negative number, and
an infinity for zero.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from nonfinite.findings import INTENDED, NAN_FROM_INF, ORIGIN, Look

# The square of a larger number is infinite in float32.
HUGE = 1e18

Looks = tuple[Look, ...]
Rule = Callable[[Any, bool], Any]
"""Gets the inputs, whose numbers are NaN if they are unknown, and whether the output has a NaN."""


def _zeros(look: Look) -> str:
    return f"{look.title} is 0" if look.number == 0 else f"{look.title} has {look.zeros} zeros"


def _domain(what: str, low: float, high: float = math.inf, at: int = 0) -> Rule:
    """A function that is defined from `low` to `high`, and infinite at the ends if anywhere. `at`:
    which input it is of."""

    def rule(inputs: Any, nan: bool) -> str | None:
        title, least, most = inputs[at].title, inputs[at].min, inputs[at].max
        if nan and least < low:
            side = "negative number" if low == 0 else f"number below {low:g}"
            return f"{what} of a {side}: {title} has {least:.9g}"
        if nan and most > high:
            return f"{what} of a number above {high:g}: {title} has {most:.9g}"
        if low == 0 and inputs[at].zeros:
            return f"{what} of zero: {_zeros(inputs[at])}"
        end = low if least == low else high
        is_end = not nan and end in (least, most)
        return f"{what} of {end:g} is infinite: {title} has that" if is_end else None

    return rule


def _division(at: int, what: str = "a division by zero (a norm, a sum, a count)") -> Rule:
    return lambda given, nan: len(given) > at and given[at].zeros and f"{what}: {_zeros(given[at])}"


def _power(inputs: Any, nan: bool) -> str | None:
    base, exponent = inputs[:2]
    if nan and base.min < 0:
        return f"a fractional power of a negative number: {base.title} has {base.min:.9g}"
    if base.zeros and exponent.min < 0:
        doubt = "" if exponent.max < 0 else ", or an overflow"
        return f"a negative power of zero, which is a division by zero{doubt}: {_zeros(base)}"
    return None


def _norm(inputs: Any, nan: bool) -> str | None:
    if any(each.name.endswith("running_var") and each.min < 0 for each in inputs):
        return "the square root of a negative variance"
    if any(each.name == "eps" and each.zeros for each in inputs):
        return "a division by zero: eps is 0, and so is what it is added to (a variance, a moment)"
    title, largest = inputs[0].title, inputs[0].max_abs or 0
    return f"an overflow of a variance: {title} has {largest:g}" if largest > HUGE else None


def _deviation(inputs: Any, nan: bool) -> str | None:
    correction = next((each.max for each in inputs if each.name == "correction"), 1)
    few = "a single element" if correction == 1 else f"{correction:g} elements or fewer"
    few = few if inputs[0].elements else "no elements"
    most = inputs[0].max_abs or 0
    # Without numbers, as on a device, an overflow may be behind an infinity.
    overflows = 4 * most * most > (inputs[0].limit or -1)
    if most > HUGE or not nan and (correction <= 1 or overflows):
        return None
    return f"the deviation of {few}, which has no degree of freedom"


_TABLE: dict[str, Rule] = {
    "log log2 log10": _domain("the logarithm", 0),
    "xlogy": _domain("the logarithm", 0, at=1),
    "log1p": _domain("log1p", -1),
    "special_xlog1py": _domain("log1p", -1, at=1),
    "sqrt": _domain("the square root", 0),
    "rsqrt": lambda given, nan: (_TABLE["sqrt"] if nan else _division(0))(given, nan),
    "acos": _domain("acos", -1, 1),
    "asin": _domain("asin", -1, 1),
    "atanh": _domain("atanh", -1, 1),
    "acosh": _domain("acosh", 1),
    "erfinv": _domain("erfinv", -1, 1),
    "logit": _domain("logit", 0, 1),
    "special_ndtri": _domain("ndtri", 0, 1),
    "lgamma digamma polygamma": lambda given, nan: given[0].min <= 0 and (
        f"a pole at a whole number of 0 or less: {given[0].title} has {given[0].min:g}"
    ),
    "reciprocal": _division(0),
    "div floor_divide softplus": _division(1),
    "fmod remainder": _division(1, "the remainder of a division by zero"),
    "addcdiv": _division(2),
    "_weight_norm_interface": _division(0, "a division by the norm of a weight, which is zero"),
    "pow float_power": _power,
    "native_layer_norm native_group_norm native_batch_norm cudnn_batch_norm miopen_batch_norm "
    "_native_batch_norm_legit _native_batch_norm_legit_no_training _fused_rms_norm _fused_adam "
    "_fused_adamw": _norm,
    "std var std_mean var_mean": _deviation,
    "mean": lambda given, nan: not given[0].elements and "the mean of no elements",
    "nll_loss_forward nll_loss2d_forward": lambda given, nan: nan and (
        "all labels are ignored (ignore_index) or have weight 0, so the mean is 0 / 0"
    ),
    "_ctc_loss": lambda given, nan: (
        "a target is too long for its input; ctc_loss(zero_infinity=True) leaves it out"
    ),
    "logdet": lambda given, nan: "the determinant is negative",
    "_linalg_slogdet": lambda given, nan: not nan and "the determinant is 0",
    "linalg_inv_ex _linalg_solve_ex": lambda given, nan: "the matrix is singular, or nearly so",
}  # fmt: skip
_PRODUCTS = "mm bmm mv dot addmm addmv addbmm baddbmm convolution "
# A NaN of finite inputs is an overflow, too.
_SUMS = _PRODUCTS + "sum mean cumsum addcmul linalg_vector_norm std var "
_OVERFLOWS = _SUMS + (
    "add sub rsub mul div addcdiv pow exp exp2 expm1 sinh cosh hypot prod cumprod mse_loss "
    "smooth_l1_loss huber_loss binary_cross_entropy_with_logits _to_copy copy lgamma reciprocal "
    "_fused_adam _fused_adamw _fused_sgd"
)
# What has made a NaN of infinities.
_WITH_INFINITIES: dict[str, Rule] = {
    "_softmax _log_softmax": lambda given, nan: (
        "a score is +Inf: softmax subtracts the largest score, and Inf - Inf is NaN"
        if given[0].pos_inf else "a row is masked whole: all its scores are -Inf"
    ),
    "mul": lambda given, nan: "0 times an infinity: " + next(
        (_zeros(each) for each in given if each.zeros), "in elements of both"
    ),
    "add sub rsub": lambda given, nan: "an infinity minus an infinity",
    "sin cos tan": lambda given, nan: "the function has no value at an infinity",
    "sum mean cumsum": lambda given, nan: "infinities of both signs in one sum",
    _PRODUCTS: lambda given, nan: (
        "in a sum of products, 0 times an infinity, or infinities of both signs"
    ),
    "native_layer_norm native_group_norm native_batch_norm std var":
        lambda given, nan: "the mean and the variance of infinities",
}  # fmt: skip
# Their slopes are infinite at 0.
_SLOPES = {
    "SqrtBackward0": "a square root (a norm, a distance, a deviation)",
    "StdBackward0": "a deviation",
    "LogBackward0": "a logarithm",
    "PowBackward0": "a power below 1",
}
_RULES, _OF_INFINITIES = (
    {name: rule for names, rule in table.items() for name in names.split()}
    for table in (_TABLE, _WITH_INFINITIES)
)


def cause(kind: str, operator: str | None, inputs: Looks, outputs: Looks) -> str | None:
    """The common fault behind an operation, in a line. None if the numbers show none."""
    if operator is None or "." not in operator:
        # A node of autograd. On a device it is not known what the operation has kept.
        kept = {each.name: each for each in inputs if not each.name.startswith("gradient")}
        exponent = kept.pop("exponent", None)
        slope = _SLOPES.get(operator or "") if exponent is None or (exponent.max or 0) < 1 else None
        at_zero = not kept or any(each.zeros for each in kept.values())
        return f"the slope of {slope} is infinite at 0" if slope and at_zero else None
    # "aten._foreach_log_.default" is a logarithm in place, of several tensors.
    name = operator.split(".")[1].removesuffix("_").removeprefix("_foreach_")
    nan = any(each.nan for each in outputs)
    given = [each for each in inputs if each.nan or kind == INTENDED and each.bad]
    if given and kind in (ORIGIN, INTENDED):
        what = "NaN" if given[0].nan else "infinite"
        return f"a number of the program is {what}: {given[0].title}"
    rule = {ORIGIN: _RULES, NAN_FROM_INF: _OF_INFINITIES}.get(kind, {}).get(name)
    if kind != ORIGIN:
        return rule and rule(inputs, nan)
    if name in ("empty", "empty_like", "empty_strided", "new_empty", "resize"):
        return "memory that nothing has written to"
    # A good tensor on a device that an operation has changed has no numbers.
    unknown = any(each.min is None and each.elements and not each.bad for each in inputs)
    no = math.nan
    numbers = [replace(each, min=no, max=no) if each.min is None else each for each in inputs]
    # What is bad is a mask.
    if inputs and rule and not any(each.bad for each in inputs) and (found := rule(numbers, nan)):
        return str(found)
    limit = outputs[0].limit if inputs and outputs and not unknown else None
    if limit is None or name not in (_SUMS if nan else _OVERFLOWS).split():
        return None
    return f"an overflow{' inside of the sum' * nan}: {outputs[0].dtype} ends at {limit:.6g}"
