"""Tensors of torch on a GPU, without a GPU: tensors on the CPU stand for them."""

from __future__ import annotations

import itertools
import math
from pathlib import Path

import pytest
import torch
from torch import nn
from torch_faults import Of, line_of

import nonfinite as nf
from nonfinite import _away
from nonfinite.torch import BadValueError, watch

NAN, INF = math.nan, math.inf
HERE = Path(__file__)
DTYPES = [
    torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.float8_e4m3fn,
    torch.float8_e4m3fnuz, torch.float8_e5m2, torch.float8_e5m2fnuz, torch.float8_e8m0fnu,
    torch.int32, torch.bool,
]  # fmt: skip
QUESTIONS = {"any": nf.any, "all": nf.all, "count_nonzero": nf.count}


# --- questions ---


@pytest.mark.parametrize("predicate", _away._HOLDS)
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_torch_answers_as_the_kernels_do(dtype: torch.dtype, predicate: str) -> None:
    values = [NAN, INF, -INF, 1.0]
    for number in range(len(values) + 1):
        for chosen in itertools.combinations(values, number):
            x = torch.tensor(chosen, dtype=torch.float32).to(dtype)
            for question, own in QUESTIONS.items():
                answer = _away.ask(x, question, predicate)
                wanted = own(x, predicate)
                assert (answer, type(answer)) == (wanted, type(wanted)), (chosen, question)


def test_all_codes_of_8_bits() -> None:
    codes = torch.arange(256, dtype=torch.uint8)
    for dtype in DTYPES:
        if dtype.itemsize == 1 and dtype.is_floating_point:
            for predicate in _away._HOLDS:
                found = _away.ask(codes.view(dtype), "count_nonzero", predicate)
                assert found == nf.count(codes.view(dtype), predicate), (dtype, predicate)


def test_the_way_to_torch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The native module cannot read a tensor on the device meta, and asks."""
    asked = []

    def answer(x: torch.Tensor, question: str, predicate: str) -> object:
        asked.append((x, question, predicate))
        return 3 if question == "count_nonzero" else True

    monkeypatch.setattr(_away, "answer", answer)
    x = torch.ones(3, device="meta")
    assert nf.all_finite(x) is True and nf.any_nan(x, threads=2) is True
    assert nf.any(x, "inf") is True and nf.all(x, "-inf") is True
    assert nf.count(x, "nan or +inf") == 3
    assert [each[1:] for each in asked] == [
        ("all", "finite"), ("any", "nan"), ("any", "inf"), ("all", "-inf"),
        ("count_nonzero", "nan or +inf"),
    ]  # fmt: skip
    assert all(each[0] is x for each in asked)


class Subclass(torch.Tensor):
    """It might have no memory of its own."""


@pytest.mark.parametrize(
    "x",
    [
        torch.ones(3).as_subclass(Subclass),
        torch.ones(3).to_sparse(),
        torch.nested.nested_tensor([torch.ones(3)]),
        torch.ones(3, dtype=torch.complex64),
        torch.quantize_per_tensor(torch.ones(3), 1.0, 0, torch.qint8),
        torch.zeros(3, dtype=torch.uint8).view(torch.float4_e2m1fn_x2),
    ],
    ids=["subclass", "sparse", "nested", "complex", "quantised", "FP4"],
)
def test_what_torch_is_not_asked(x: torch.Tensor) -> None:
    assert _away.ask(x, "any", "nan") is None


def test_tensors_without_numbers_on_a_device() -> None:
    assert _away.answer(torch.ones(3), "any", "nan") is None
    assert _away.answer(torch.ones(3, device="meta"), "any", "nan") is None


class OnDevice(torch.Tensor):
    """A tensor as DLPack describes one on a GPU."""

    __dlpack_c_exchange_api__ = None

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0


@pytest.mark.parametrize(
    "ask",
    [
        nf.position, nf.mask, lambda x, p: nf.census(x), lambda x, p: nf.stats(x),
        lambda x, p: nf.any(x, p, axis=0), lambda x, p: nf.count(x, p, axis=0),
        lambda x, p: nf.all_finite(x), nf.any, nf.all, nf.count,
    ],
)  # fmt: skip
def test_other_questions_say_how_to_bring_a_copy(ask: object) -> None:
    with pytest.raises(TypeError, match=r"x is on device 0 of CUDA .* x\.cpu\(\) of torch"):
        ask(torch.ones(2, 3).as_subclass(OnDevice), "nan")


# --- watch ---


@pytest.mark.usefixtures("away")
def test_waits_of_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    """The program waits where it reads numbers of a device."""
    waits = []

    def counted(name: str) -> object:
        read = getattr(torch.Tensor, name)
        return lambda tensor: (waits.append(name), read(tensor))[1]

    model, x = nn.Sequential(*(nn.Linear(8, 8) for _ in range(5))), torch.ones(3, 8)
    with watch(model):
        (model(x) ** 2).mean().backward()  # The first step also looks at the weights.
        for name in ("tolist", "item", "__float__", "__bool__"):
            monkeypatch.setattr(torch.Tensor, name, counted(name))
        loss = (model(x) ** 2).mean()
        assert waits == []
        loss.backward()
    # When backward begins: operations outside, outputs of modules, the loss as a number. When
    # backward ends: gradients. The first one waits for the device. The look whether the loss is
    # finite reads memory of the CPU here.
    assert waits == ["tolist", "tolist", "__float__", "tolist"]


class Flaky(nn.Module):
    """Bad in its first call, and finite when that call runs again."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        return x * (NAN if self.calls == 1 else 1)


@pytest.mark.usefixtures("away")
def test_a_replay_that_is_finite() -> None:
    model = nn.Sequential(Flaky())
    with watch(model, on_bad="record") as found:
        model(torch.ones(3, 4, requires_grad=True)).sum().backward()
    [finding] = found.findings
    assert (finding.kind, finding.module, finding.phase) == ("unknown", "0", "forward")
    assert "finite numbers" in finding.note


def model_with_a_log() -> nn.Module:
    model = nn.Sequential(nn.Linear(4, 4), Of(lambda x: torch.log(x)))  # fault: a log
    nn.init.eye_(model[0].weight)
    nn.init.zeros_(model[0].bias)
    return model


def calls_backward(model: nn.Module, loss: torch.Tensor) -> None:
    with pytest.raises(BadValueError, match="aten.log.default"):
        loss.backward()
    raise KeyboardInterrupt


def calls_the_model(model: nn.Module, loss: torch.Tensor) -> None:
    with pytest.raises(BadValueError, match="aten.log.default.*step 0"):
        model(torch.ones(3, 4))
    raise KeyboardInterrupt


def ends(model: nn.Module, loss: torch.Tensor) -> None:
    pass


def fails(model: nn.Module, loss: torch.Tensor) -> None:
    raise ValueError("the loss is bad")


@pytest.mark.usefixtures("away")
@pytest.mark.parametrize("then", [calls_backward, calls_the_model, ends, fails])
def test_when_a_bad_output_is_found(then: object) -> None:
    """When backward begins, at the next call of the model, or at the end of the watch."""
    model = model_with_a_log()
    wanted = BadValueError if then in (ends, fails) else KeyboardInterrupt
    with pytest.raises(wanted) as error, watch(model):
        then(model, model(-torch.ones(3, 4)).sum())
    if wanted is BadValueError:
        finding = error.value.finding
        assert (finding.module, finding.operator) == ("1", "aten.log.default")
        assert finding.line == line_of("a log", HERE) and finding.coordinate == (0, 0)


@pytest.mark.usefixtures("away")
@pytest.mark.parametrize("without", [torch.no_grad, torch.inference_mode])
def test_without_gradients_a_bad_output_is_found_when_the_model_returns(without: object) -> None:
    model = model_with_a_log()
    with watch(model), without():
        for _ in range(2):
            with pytest.raises(BadValueError, match="aten.log.default"):
                model(-torch.ones(3, 4))
            model(torch.ones(3, 4))
