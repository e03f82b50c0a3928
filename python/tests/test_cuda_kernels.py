"""`nonfinite.cuda` and `nonfinite.torch.watch` with the kernels on the CPU, behind a double of the
driver: tensors on the CPU stand for those on a CUDA device."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pytest
import torch
from double import Double, double, launches
from torch import nn
from torch_faults import line_of

import nonfinite as nf
from nonfinite import _driver, cuda
from nonfinite.torch import BadValueError, tallies, watch

NAN, INF = math.nan, math.inf
DTYPES = [torch.float16, torch.bfloat16, torch.float32, torch.float64, torch.float8_e5m2]

__all__ = ["double"]
pytestmark = pytest.mark.usefixtures("double")


def kinds_of(x: torch.Tensor) -> list[torch.Tensor]:
    wide = x.double()
    return [wide.isnan(), wide == INF, wide == -INF]


def right(x: torch.Tensor, refused: int) -> nf.Census:
    """The census as torch sees it."""
    found = []
    for k, own in enumerate(kinds_of(x)):
        count = int(own.sum()) if refused >> k & 1 else 0
        found.append(nf.Occurrences(count, tuple(own.nonzero()[0].tolist()) if count else None))
    return nf.Census(*found)


def some_tensor(random: np.random.Generator) -> torch.Tensor:
    shape = tuple(random.integers(0, 30, random.integers(1, 4)).tolist())
    if random.integers(20) == 0:
        shape = (3, 70000)
    if random.integers(6) == 0:
        return torch.ones(shape, dtype=torch.int8)
    x = torch.ones(shape, dtype=DTYPES[random.integers(len(DTYPES))])
    if x.numel() and random.integers(4):
        for place in random.integers(0, x.numel(), 2):
            x.view(-1)[int(place)] = random.choice([NAN, INF, -INF])
    return x


@pytest.mark.parametrize("bad", cuda._KINDS)
def test_guards(bad: str) -> None:
    random, refused = np.random.default_rng(41), cuda._KINDS[bad]
    for _ in range(12):
        tensors = {f"t{i}": some_tensor(random) for i in range(random.integers(1, 40))}
        guard = cuda.Guard(tensors, bad, counts=True)
        assert guard.report() == cuda.GuardReport(0, 0, None)
        launches()
        guard.launch()
        guard.launch()
        assert len(launches()) == 2
        census = {name: right(x, refused) for name, x in tensors.items()}
        counted = guard.counts()
        for name, own in census.items():
            once = (own.nan, own.pos_inf, own.neg_inf)
            twice = [nf.Occurrences(2 * each.count, each.first) for each in once]
            assert counted[name] == nf.Census(*twice)
        first = next((name for name, own in census.items() if own), None)
        report = guard.report()
        assert (report.steps, report.bad_steps) == (2, 2 * (first is not None))
        if first is None:
            assert report.first is None
        else:
            own = census[first]
            firsts = [o.first for o in (own.nan, own.pos_inf, own.neg_inf) if o]
            assert (report.first.step, report.first.name) == (0, first)
            assert report.first.index == min(firsts)
            assert report.first.kinds == {
                name for k, name in enumerate(cuda._NAMES)
                if any((o.nan, o.pos_inf, o.neg_inf)[k] for o in census.values())
            }  # fmt: skip
        guard.clear()
        assert guard.report() == cuda.GuardReport(0, 0, None)
        assert not any(guard.counts().values())


def test_a_guard_sees_later_values_and_keeps_the_first_finding() -> None:
    x, y = torch.ones(5), torch.ones(2, 70000)
    guard = cuda.Guard([x, y])
    for step in range(6):
        if step == 2:
            y[1, 3] = -INF
        if step == 4:
            x[0] = NAN
        guard.launch()
    found = cuda.Found(2, "1", (1, 3), frozenset({"-inf"}))
    assert guard.report() == cuda.GuardReport(6, 4, found)


@pytest.mark.parametrize("bad", cuda._KINDS)
def test_flags_of_rows(bad: str) -> None:
    random = np.random.default_rng(41)
    for shape in [(7, 33), (3, 4, 300), (1, 1), (0, 4), (4, 0), (5,), (2, 1000)]:
        for dtype in DTYPES:
            x = torch.ones(shape, dtype=dtype)
            for place in random.integers(0, max(x.numel(), 1), 3 if x.numel() else 0):
                x.view(-1)[int(place)] = random.choice([NAN, INF, -INF])
            for each in [x, x[..., :-1], x.mT if x.dim() > 1 else x, x[..., ::2]]:
                own = [k for n, k in enumerate(kinds_of(each)) if cuda._KINDS[bad] >> n & 1]
                wanted = sum(own, torch.zeros(each.shape, dtype=torch.bool)).bool().any(-1)
                assert torch.equal(cuda.any_rows(each, bad), wanted), (each.shape, dtype)


class OnDevice:
    """A tensor as the native module meets one on a CUDA device."""

    is_cuda = True

    def __init__(self, x: torch.Tensor) -> None:
        self.x = x

    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 0

    def __getattr__(self, name: str) -> object:
        return getattr(self.x, name)


def test_questions_of_the_package(monkeypatch: pytest.MonkeyPatch) -> None:
    ask = cuda._census_of
    monkeypatch.setattr(cuda, "_census_of", lambda x: ask(x.x))
    random = np.random.default_rng(41)
    for _ in range(100):
        x = some_tensor(random)
        for each in (x, x.mT if x.dim() > 1 else x, x[..., 1::2]):
            own, wanted = OnDevice(each), right(each, 7)
            assert nf.all_finite(own) == (not wanted) and nf.any_nan(own) == bool(wanted.nan)
            assert nf.census(own) == wanted
            counts = [wanted.nan.count, wanted.pos_inf.count, wanted.neg_inf.count]
            for predicate, refused in cuda._KINDS.items():
                wanted_count = sum(n for k, n in enumerate(counts) if refused >> k & 1)
                assert nf.count(own, predicate) == wanted_count
            assert nf.count(own, "finite") == each.numel() - sum(counts)


def test_covers() -> None:
    x = torch.arange(120.0).reshape(2, 3, 4, 5)
    channels_last = x.to(memory_format=torch.channels_last)
    dense = [x, x.mT, x.permute(3, 1, 0, 2), channels_last, x[1], x[:, None]]
    repeated = [torch.ones(()).expand(3, 4), x[0].expand(7, 3, 4, 5), x[:1].expand(2, 3, 4, 5)]
    for each in dense + repeated:
        count = cuda._cover(each)
        memory = each.as_strided((count,), (1,))
        assert set(memory.tolist()) == set(each.reshape(-1).tolist())
        for number in range(count):
            assert each[cuda._index_of(number, each.stride(), each.shape)] == memory[number]
    for each in [x[..., :-1], x[:, ::2], x[:, :2], torch.ones(9).as_strided((3, 3), (2, 1))]:
        assert cuda._cover(each) is None and tallies.elements(each) is None


# --- watch ---


class Chain(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(*(nn.Linear(8, 8) for _ in range(5)))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


def step(model: nn.Module, x: torch.Tensor) -> None:
    (model(x) ** 2).mean().backward()


def waits(events: object) -> int:
    """How often the program waited for a number of a device."""
    return sum(event.name == "aten::_local_scalar_dense" for event in events)


def test_launches_and_waits_of_a_step() -> None:
    model, x = Chain(), torch.ones(3, 8)
    with watch(model):
        step(model, x)  # The first one also looks at the weights.
        launches()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as forward:
            loss = (model(x) ** 2).mean()
        # The outputs of five layers, and of pow and mean. A tensor is looked at once.
        assert len(launches()) == 7
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]) as backward:
            loss.backward()
        # The loss, and the gradient of the loss; two nodes, what each gets and gives; the gradient
        # of the output; ten parameters.
        assert len(launches()) == 2 + 2 * 2 + 1 + 10
    assert waits(forward.events()) == 0
    # When backward begins: operations outside, the model, and the loss as a number. When backward
    # ends: nodes outside, gradients. The look at the loss reads memory of the CPU here.
    assert waits(backward.events()) == 3 + 2


def test_streams_have_tallies_of_their_own(double: Double) -> None:
    model = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    class Two(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.parts = model

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            double.stream = 0
            y = self.parts[0](x)
            double.stream = 7 << 33
            z = self.parts[1](x)
            double.stream = 0
            return y + z

    two = Two()
    with watch(two, on_bad="record") as found:
        step(two, torch.ones(3, 4))
        assert {0, 7 << 33} == set(launches())
        assert set(found._later._tallies) == {(None, 0), (None, 7 << 33)}
        with torch.no_grad():
            two.parts[1].weight[2, 1] = NAN
        step(two, torch.ones(3, 4))
    assert found.findings[0].module == "parts.1" and found.findings[0].parameter == "parts.1.weight"


class Flaky(nn.Module):
    """Bad in its first call, and finite when that call runs again."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.calls += 1
        bad = (torch.arange(12).view(3, 4) == 6) & (self.calls == 1)
        return torch.where(bad.mT, NAN, x.mT)


def test_what_the_device_saw_is_shown_where_the_replay_is_finite() -> None:
    model = nn.Sequential(Flaky())
    with watch(model, on_bad="record") as found:
        model(torch.ones(3, 4, requires_grad=True)).sum().backward()
    [finding] = found.findings
    assert (finding.kind, finding.module, finding.phase) == ("unknown", "0", "forward")
    assert finding.coordinate == (2, 1) and finding.outputs[0].nan == 1
    assert finding.outputs[0].name == "output 0" and "finite numbers" in finding.note


def test_bad_gradient_of_a_parameter_is_shown() -> None:
    model = nn.Sequential(nn.Linear(4, 4))
    handle = model[0].weight.register_hook(lambda grad: grad.index_fill(0, torch.tensor(2), INF))
    with watch(model, on_bad="record") as found:
        # The hook of the watch runs behind the hook of the program.
        model(torch.ones(3, 4)).sum().backward()
    handle.remove()
    [finding] = found.findings
    assert finding.outputs[0].name == "gradient of 0.weight"
    assert (finding.coordinate, finding.outputs[0].pos_inf) == ((2, 0), 4)


class Log(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.log(x)  # fault: a log


def model_with_a_log() -> nn.Module:
    model = nn.Sequential(nn.Linear(4, 4), Log())
    with torch.no_grad():
        model[0].weight.copy_(torch.eye(4))
        model[0].bias.zero_()
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
        assert finding.line == line_of("a log", Path(__file__)) and finding.coordinate == (0, 0)


@pytest.mark.parametrize("without", [torch.no_grad, torch.inference_mode])
def test_without_gradients_a_bad_output_is_found_when_the_model_returns(without: object) -> None:
    model = model_with_a_log()
    with watch(model), without():
        for _ in range(2):
            with pytest.raises(BadValueError, match="aten.log.default"):
                model(-torch.ones(3, 4))
            model(torch.ones(3, 4))


def test_masks_and_later_nan() -> None:
    """A module that makes masks is still looked at: a NaN is no mask."""

    class Mask(nn.Module):
        bad = False

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            x = x.masked_fill(torch.ones(4, 4, dtype=torch.bool).triu(1), -INF)
            return x / 0 * 0 if self.bad else x

    class Model(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layer, self.mask = nn.Linear(4, 4), Mask()

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.nan_to_num(self.mask(self.layer(x)).softmax(-1))

    model = Model()
    with watch(model, on_bad="record") as found:
        for _ in range(3):
            step(model, torch.ones(4, 4))
        assert found.findings == []
        model.mask.bad = True
        step(model, torch.ones(4, 4))
    [finding] = found.findings
    assert finding.module == "mask" and finding.outputs[0].nan


def test_without_kernels_torch_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    """One warning, and the same findings."""
    monkeypatch.setattr(_driver, "LIBRARY", "libno-such-driver.so")
    monkeypatch.setattr(_driver, "_driver", None)
    monkeypatch.setattr(_driver, "_loaded", {})
    model = nn.Linear(4, 4)
    with torch.no_grad():
        model.weight[1, 2] = NAN
    launches()
    with pytest.warns(RuntimeWarning, match="by operations of torch: no CUDA driver") as caught:
        with watch(model, on_bad="record") as found:
            step(model, torch.ones(3, 4))
    assert len(caught) == 1 and launches() == []
    assert found.first.parameter == "weight"
    tallies._works.cache_clear()
    monkeypatch.setattr(torch.version, "hip", "7.0")
    with warnings.catch_warnings(), watch(model, on_bad="record") as found:
        warnings.simplefilter("error")
        step(model, torch.ones(3, 4))
    assert found.first.parameter == "weight" and launches() == []


def test_an_image_that_the_driver_refuses(monkeypatch: pytest.MonkeyPatch) -> None:
    driver = _driver._Driver()
    monkeypatch.setattr(_driver.Path, "read_bytes", lambda path: b".version 99.0\n")
    with pytest.raises(cuda.CudaError, match="cuModuleLoadData failed: CUDA_ERROR_INVALID_PTX"):
        _driver.Kernels(driver, 0)
    with pytest.raises(cuda.CudaError, match="cuDeviceGet failed: CUDA_ERROR_INVALID_VALUE"):
        _driver.Kernels(driver, 5)
