"""The causes that `nonfinite.torch.watch` tells, and what may be bad."""

import importlib
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch_faults import INF, MODES, NAN, X, Of, WithLayer, line_of

from nonfinite.torch import watch

HERE = Path(__file__)
DIVIDED = "a division by zero (a norm, a sum, a count): input"
POWER = "a negative power of zero, which is a division by zero"
SLOPE = "the slope of a square root (a norm, a distance, a deviation) is infinite at 0"


def square(y):
    return torch.diag(y[0] * 0 + torch.tensor([-1.0, 1, 1, 1]))


def steep(y):
    return (y - y.detach()) * 3e38


# What a loss computes of the output of the model, the operation, and how the cause begins.
CASES = [
    (lambda y: F.cross_entropy(y, torch.full((3,), -100)), "nll_loss_forward", "all labels are i"),
    (lambda y: y.masked_fill(y < INF, -INF).softmax(-1), "_softmax", "a row is masked whole"),
    (lambda y: y / (y * 0).norm(dim=-1, keepdim=True), "div", f"{DIVIDED} 1 has 3 zeros"),
    (lambda y: (y * 0).log(), "log", "the logarithm of zero: input 0 has 12 zeros"),
    (lambda y: (y * 0 - 1).log(), "log", "the logarithm of a negative number: input 0 has -1"),
    (lambda y: (y * 0 - 1).sqrt(), "sqrt", "the square root of a negative number: input 0 has -1"),
    (lambda y: y[:0].mean(), "mean", "the mean of no elements"),
    (lambda y: y[0, 0].std(), "std", "the deviation of a single element"),
    (lambda y: y[:0].std(), "std", "the deviation of no elements"),
    (lambda y: y[0].std(correction=4), "std", "the deviation of 4 elements or fewer"),
    (lambda y: ((y - y.detach()) + 1e3 * X).cumsum(-1).half().var(correction=2), "var", "an overf"),
    (lambda y: (y * 0 + 1e5).half(), "_to_copy", "an overflow: float16 ends at 65504"),
    (lambda y: F.ctc_loss(y[:, None].log_softmax(-1), torch.ones(1, 5).long(), [3], [5]),
     "_ctc_loss", "a target is too long for its input"),
    # Nothing common: the table has no rule.
    (lambda y: torch.igamma(y.detach() * 0 - 1, y.detach()) * y, "igamma", None),
    (lambda y: (y * 0) ** -1, "pow", f"{POWER}: input 0 has 12 zeros"),
    (lambda y: 0.0 ** (y * 0 - 1), "pow", f"{POWER}: input 0 is 0"),
    (lambda y: y * torch.tensor([0, 1, 2, 3.0]) ** torch.tensor([-1, 2, -1, 1]), "pow",
     f"{POWER}, or an overflow: input 0 has 1 zeros"),
    (lambda y: 2.0 ** (y * 0 + 200), "pow", "an overflow: float32 ends at 3.40282e+38"),
    (lambda y: (y * 0 - 1) ** 0.5, "pow", "a fractional power of a negative number"),
    (lambda y: y / 0.0, "div", f"{DIVIDED} 1 is 0"),
    (lambda y: y / 1e-40, "div", "an overflow"),
    (lambda y: y / torch.tensor(0.0), "div", f"{DIVIDED} 1 is 0"),
    (lambda y: y / torch.tensor([1, 0, 2, 0]), "div", f"{DIVIDED} 1 has 2 zeros"),
    (lambda y: y.clone().div_(0), "div_", f"{DIVIDED} 1 is 0"),
    (lambda y: torch.true_divide(1, y * 0), "div", f"{DIVIDED} 1 has 12 zeros"),
    (lambda y: 1 / (y * 0), "reciprocal", f"{DIVIDED} 0 has 12 zeros"),
    (lambda y: torch.fmod(y, 0), "fmod", "the remainder of a division by zero: input 1 is 0"),
    (lambda y: y % (y.detach() * 0), "remainder", "the remainder of a division by zero: input 1"),
    (lambda y: torch.addcdiv(y, y, y * 0), "addcdiv", f"{DIVIDED} 2 has 12 zeros"),
    (lambda y: F.softplus(y, beta=0), "softplus", f"{DIVIDED} 1 is 0"),
    (lambda y: y + (y > 0) * -INF, "mul", "0 times an infinity: input 0 has 9 zeros"),
    (lambda y: (y + INF) - INF, "sub", "an infinity minus an infinity"),
    (lambda y: (y + INF).softmax(-1), "_softmax", "a score is +Inf"),
    (lambda y: (y + INF) @ torch.zeros(4, 1), "mm", "in a sum of products, 0 times an infinity"),
    (lambda y: y.abs() * INF, "mul", "a number of the program is infinite: input 1"),
    (lambda y: y * NAN, "mul", "a number of the program is NaN: input 1"),
    (lambda y: torch.where(y > 9, y, NAN), "where", "a number of the program is NaN: input 2"),
    (lambda y: (y * 0 - 1).log1p(), "log1p", "log1p of -1 is infinite: input 0 has that"),
    (lambda y: (y * 0 - 2).log1p(), "log1p", "log1p of a number below -1: input 0 has -2"),
    (lambda y: torch.xlogy(2.0, y * 0), "xlogy", "the logarithm of zero: input 1 has 12 zeros"),
    (lambda y: (y * 0 + 1).atanh(), "atanh", "atanh of 1 is infinite"),
    (lambda y: (y * 0 + 1.0000002).acos(), "acos", "acos of a number above 1: input 0 has 1.000"),
    (lambda y: (y * 0 - 2).asin(), "asin", "asin of a number below -1: input 0 has -2"),
    (lambda y: (y * 0 + 0.5).acosh(), "acosh", "acosh of a number below 1: input 0 has 0.5"),
    (lambda y: (y * 0 + 1).erfinv(), "erfinv", "erfinv of 1 is infinite"),
    (lambda y: (y * 0 + 2).logit(), "logit", "logit of a number above 1: input 0 has 2"),
    (lambda y: (y * 0 - 1).rsqrt(), "rsqrt", "the square root of a negative number"),
    (lambda y: (y * 0 - 1).digamma(), "digamma", "a pole at a whole number of 0 or less: input 0"),
    (lambda y: F.layer_norm(y * 0, (4,), eps=0), "native_layer_norm", "a division by zero: eps is"),
    (lambda y: F.group_norm(y * 0, 2, eps=0), "native_group_norm", "a division by zero: eps is"),
    (lambda y: F.rms_norm(y * 0, (4,), eps=0), "rsqrt", f"{DIVIDED} 0 has 3 zeros"),
    (lambda y: F.layer_norm(y * 1e30, (4,)), "native_layer_norm", "an overflow of a variance"),
    (lambda y: torch.logdet(square(y)), "logdet", "the determinant is negative"),
    (lambda y: torch.logdet(square(y) * 0), "_linalg_slogdet", "the determinant is 0"),
    (lambda y: torch.linalg.inv_ex(square(y) * 0)[0], "linalg_inv_ex", "the matrix is singular"),
    (lambda y: (y * 0 + 3e38) @ torch.tensor([[3e38], [-3e38]] * 2), "mm",
     "an overflow inside of the sum: float32 ends at"),
    (lambda y: (y * 0 + 99).masked_fill(torch.eye(3, 4) > 0, -INF).exp(), "exp", "an overflow: f"),
    (lambda y: (y * 0 + 1e20).cumprod(-1), "cumprod", "an overflow: float32"),
    (lambda y: (y * 0).sqrt(), "SqrtBackward0", SLOPE),
    (lambda y: (y * 0) ** 0.5, "PowBackward0", "the slope of a power below 1 is infinite at 0"),
    (lambda y: steep((y * torch.tensor([0, 9, 9, 9])) ** 2), "PowBackward0", None),
]  # fmt: skip


def first_of(loss, **options):
    model = nn.Linear(4, 4)
    torch.manual_seed(0)
    with watch(model, on_bad="record", **options) as found:
        loss(model(X)).sum().backward()
    return found.first


@pytest.mark.parametrize("loss,operator,cause", CASES, ids=[str(cause) for *_, cause in CASES])
def test_common_causes_are_told_in_a_line(loss, operator, cause):
    finding = first_of(loss)
    assert operator in finding.operator.replace(" in ", ".").split("."), str(finding)
    lines = [line for line in str(finding).splitlines() if line.startswith("  cause: ")]
    assert [line[: 9 + len(cause or "")] for line in lines] == [f"  cause: {cause}"] * bool(cause)
    given = any(each.pos_inf or each.neg_inf for each in finding.inputs)
    from_inf = "NaN from Inf" if finding.outputs[0].nan else "intended"
    assert finding.kind == (from_inf if given and "overflow" not in cause else "origin")
    # Where the cause names an input, the input is shown.
    number = (cause or "").partition(": input ")[2][:1]
    assert not number or number in {each.name for each in finding.inputs}, str(finding)


class Balanced(WithLayer):
    """The loss reads an attribute that the model has set, besides its output."""

    def forward(self, x):
        y = self.layer(x)
        scores = y.masked_fill(y < INF, -INF)
        self.weights = scores.softmax(-1)  # fault: attribute
        return y


class Reads(nn.Module):
    """A module that reads an attribute of another one."""

    def __init__(self, other):
        super().__init__()
        self.read = lambda: other.weights

    def forward(self, x):
        return x * self.read()


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("inside", [False, True])
def test_a_tensor_that_is_not_seen_when_it_is_made(inside, options):
    """The operation is named if a module of the model reads the tensor, or with operations=True."""
    other = Balanced()
    model = nn.Sequential(other, Reads(other)) if inside else other
    with watch(model, on_bad="record", **options) as found:
        (model(X) + (0 if inside else other.weights)).sum().backward()
    if inside or "operations" in options:
        assert (found.first.operator, found.first.kind) == ("aten._softmax.default", "NaN from Inf")
        assert found.first.line == line_of("attribute", HERE) and found.first.note is None
        return
    told = f"tensor 1 of the operation, made by the forward of SoftmaxBackward0 in {HERE}:"
    told += f"{line_of('attribute', HERE)}, which was bad when first looked at"
    assert (found.first.kind, found.first.operator) == ("entry", "aten.add.Tensor")
    assert found.first.parameter == told and "operations=True" in found.first.note


def test_a_device_is_asked_before_a_tensor_that_is_here(monkeypatch):
    """The sum, which is here, is bad by the logarithms, which are not."""
    module = importlib.import_module("nonfinite.torch.outside")
    monkeypatch.setattr(module, "is_away", lambda tensor: tensor.dim() > 0)
    assert first_of(lambda y: (y * 0).log().sum()).operator == "aten.log.default"


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("value", [NAN, INF])
def test_a_bad_class_weight_is_an_entry(value, options):
    loss = nn.CrossEntropyLoss(weight=torch.tensor([1, value, 1, 1]))
    finding = first_of(lambda y: loss(y, torch.tensor([0, 1, 2])), **options)
    assert (finding.kind, finding.operator) == ("entry", "aten.nll_loss_forward.default")
    assert finding.parameter.startswith("tensor 2 of the operation"), str(finding)


@pytest.mark.parametrize("options", MODES, ids=str)
def test_a_step_of_the_optimizer(options):
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=NAN)
    with watch(model, on_bad="record", **options) as found:
        for _ in range(2):
            model(X).sum().backward()
            optimizer.step()
    if "operations" in options:
        assert found.first.cause == "a number of the program is NaN: alpha"
    else:
        assert (found.first.kind, found.first.step) == ("entry", 1)
        assert "whether a step of the optimizer made it bad" in found.first.note


def impute(y):
    return torch.where(y.isfinite(), y, 0.0)


def double(y):
    return y * 2


def divide(y):
    return y.detach() * 0 / 0 + y


# The modules, the loss, what may be bad, and what is found then.
ALLOWED = {
    "an input": ([double, impute], torch.sum, ["input 0"], None),
    "inputs": ([double, double, impute], torch.sum, ["input *"], None),
    "a module": ([divide, impute], torch.sum, ["0"], None),
    "passes others": ([divide, double, impute], torch.sum, ["0"], None),
    "the loss leaves it out": ([divide], torch.nansum, ["0"], None),
    "a module, in the loss": ([divide, double], torch.sum, ["0"], "the loss"),
    "an input, in the loss": ([double], torch.sum, ["input 0"], "the loss"),
    "another one": ([divide, divide, impute], torch.sum, ["1"], "aten.div.Tensor"),
    "a gradient": ([lambda y: y * (0 * y).log(), impute], torch.sum, ["0"], "backward"),
}


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("case", ALLOWED)
def test_what_may_be_bad(case, options):
    """Without `allow` it is found in each step."""
    functions, loss, allow, left = ALLOWED[case]
    model = nn.Sequential(*map(Of, functions))
    x = torch.ones(3, 4)
    if case.split(",")[0] in ("an input", "inputs"):
        x[1, 2] = NAN
    weight = torch.ones(4, requires_grad=True)

    def findings(allow):
        with watch(model, on_bad="record", allow=allow, **options) as found:
            for _ in range(3):
                loss(model(weight * x) if left == "backward" else model(x + weight * 0)).backward()
        return found.findings

    assert len(findings([])) == 3
    found = findings(allow)
    assert len(found) == (0 if left is None else 3), str(found[:1])
    for each in found:
        told = f"{each.kind}, {each.phase}, {each.operator}, {each.note}"
        assert left in told and (left != "the loss" or each.kind == "intended"), str(each)
