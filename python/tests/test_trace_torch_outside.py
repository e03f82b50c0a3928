"""`nonfinite.torch.watch`: what the program computes outside of the model, and training that
diverges."""

import copy
import inspect
import io
import re
import runpy
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch.utils._python_dispatch import TorchDispatchMode
from torch_faults import INF, MODES, NAN, Of, X, finding_of, line_of
from torch_losses import SCENARIOS, SOURCE, regression

import nonfinite.torch.look
import nonfinite.torch.operations
from nonfinite.torch import BadValueError, watch

HERE = Path(__file__)


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda each: each.name)
def test_the_operation_is_named(scenario, options):
    finding = finding_of(*scenario.make(), **options)
    line = line_of(scenario.fault, SOURCE)
    assert finding.operator is not None, str(finding)
    assert finding.operator.startswith(scenario.operator), str(finding)
    assert (finding.kind, finding.phase) == (scenario.kind, "forward"), str(finding)
    assert (finding.module, finding.line) == (scenario.module, line), str(finding)
    assert finding.file == str(SOURCE)
    beside = "-Inf, the output has +Inf" in str(finding)
    assert beside == (scenario.fault == "beside a mask"), str(finding)
    assert bool(finding.history) == scenario.name.startswith("diverges"), str(finding)
    if finding.history:
        first, *_, last = finding.history
        assert first.step == 0 and last.step == finding.step > 0
        assert last.largest_weight > 1e3 > first.largest_weight and last.loss == INF
        assert "the training diverges" in str(finding) and last.weight in str(finding)


def test_weights_that_are_well_are_no_history():
    model = nn.Linear(4, 4)
    with torch.no_grad():
        model.weight.mul_(1e6)
    with watch(model, on_bad="record") as found:
        for divisor in (1, 1, 0):
            (model(torch.ones(3, 4)).mean() / divisor).backward()
    assert found.first.operator == "aten.div.Tensor" and found.first.history == ()
    assert found.first.call == 2


@pytest.mark.parametrize("start", [
    lambda loss, model: loss.backward(),
    lambda loss, model: torch.autograd.backward(tensors=[loss]),
    lambda loss, model: torch.autograd.grad(inputs=list(model.parameters()), outputs=loss),
])  # fmt: skip
def test_a_loss_that_is_bad_with_finite_gradients(start):
    model = nn.Linear(4, 4)
    finding = finding_of(
        model,
        lambda: start(F.cross_entropy(model(torch.randn(3, 4)), torch.full((3,), -100)), model),
    )
    assert finding.operator == "aten.nll_loss_forward.default"


def test_a_loss_whose_operation_was_not_seen():
    """The loss was computed before the watch began. Backward is not blamed."""
    model = nn.Linear(4, 4)
    loss = torch.log(model(torch.ones(3, 4)) - 100).mean()
    with pytest.warns(RuntimeWarning, match="saw no call"), watch(model, on_bad="record") as found:
        loss.backward()  # fault: not seen
    [finding] = found.findings
    assert (finding.kind, finding.phase, finding.step) == ("unknown", "forward", 0)
    assert (finding.file, finding.line) == (str(HERE), line_of("not seen", HERE))
    assert "the loss was bad before backward began" in finding.note
    assert finding.outputs[0].name == "loss" and finding.outputs[0].nan == 1


def test_what_is_before_the_model_or_after_backward_is_not_looked_at():
    model = nn.Linear(4, 4)
    with watch(model) as found:
        for _ in range(2):
            (torch.zeros(2) / 0).isnan()
            model(torch.ones(3, 4)).mean().backward()
            (torch.zeros(2) / 0).isnan()
    assert found.findings == []


def test_watches_of_two_models_with_one_loss():
    one, two, x = nn.Linear(4, 4), nn.Linear(4, 4), torch.ones(3, 4)
    with watch(two, on_bad="record") as second, watch(one, on_bad="record") as first:
        between = (one(x) - 100).log()  # fault: between two models
        (between * two(x)).sum().backward()
    for each in (first, second):
        assert (each.first.line, each.first.module) == (line_of("between two models", HERE), None)


@pytest.mark.usefixtures("away")
def test_a_change_in_place_copies_nothing_from_a_device(monkeypatch):
    """Statistics of what was changed are taken of bad tensors only."""
    take, names = nonfinite.torch.operations.look, []
    monkeypatch.setattr(nonfinite.torch.operations, "look",
                        lambda name, each: (names.append(name), take(name, each))[1])
    model = nn.Linear(4, 4)
    y = torch.ones(3, 4)
    finding = finding_of(model, lambda: model(y).mul_(0).add_(2e38).mul_(2).mean().backward())
    assert names[0] == "output 0"
    assert finding.operator == "aten.mul_.Tensor" and finding.inputs[0].bad == 0


class Energy(nn.Module):
    """The model itself asks for gradients."""

    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 1)

    def forward(self, x):
        x = x.requires_grad_()
        energy = self.layer(x).log().sum()  # fault: energy
        return torch.autograd.grad(energy, x, create_graph=True)[0]


def test_a_model_that_runs_backward_inside():
    model = Energy()
    with torch.no_grad():
        model.layer.weight.fill_(1)
    with watch(model) as found:
        model(torch.ones(3, 4)).sum().backward()
    assert found.findings == []
    model.layer.bias.data.fill_(NAN)
    assert finding_of(model, lambda: model(torch.ones(3, 4))).parameter == "layer.bias"


class Counting(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.count = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.count += 1
        return func(*args, **(kwargs or {}))


@pytest.mark.parametrize("where", ["around the call", "around backward", "around all"])
def test_dispatch_modes_of_the_program(where):
    """The stack of modes is left as the program expects."""
    model, modes = nn.Linear(4, 4), torch._C._len_torch_dispatch_stack
    with watch(model, on_bad="record") as found:
        if where == "around all":
            with Counting() as counting:
                model(torch.ones(3, 4)).mean().backward()
                assert modes() == 1
        elif where == "around the call":
            with Counting() as counting:
                y = model(torch.ones(3, 4))
            assert modes() == 0
            y[0, 0].backward()
        else:
            y = model(torch.ones(3, 4))
            with Counting() as counting:
                y[0, 0].backward()
                assert modes() == 1
        assert modes() == 0 and counting.count
        y = model(torch.ones(3, 4))
    assert modes() == 0 and found.findings == []
    assert torch.autograd.backward.__module__ == "torch.autograd"


def test_copies_and_files_during_a_watch():
    """They have no hooks, and are not looked at."""
    model = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4)))
    called = []
    model[0].register_forward_hook(lambda *_: called.append(1))
    with watch(model) as found:
        model(torch.ones(3, 4))
        deep = copy.deepcopy(model)
        average = torch.optim.swa_utils.AveragedModel(model)
        file = io.BytesIO()
        model[0]._forward_hooks.popitem(last=False)
        torch.save(model, file)
        torch.save(copy.deepcopy(model), io.BytesIO())
        file.seek(0)
        loaded = torch.load(file, weights_only=False)
        average.update_parameters(model)
        for each in (deep, average, loaded):
            with torch.no_grad():
                for parameter in each.parameters():
                    parameter.fill_(NAN)
            assert each(torch.ones(3, 4)).isnan().all()
    assert found.findings == []
    for each in (*deep.modules(), *average.modules(), *loaded.modules(), *model.modules()):
        assert "__getstate__" not in each.__dict__
        assert not each._forward_pre_hooks and not each._forward_pre_hooks_with_kwargs
        assert len(each._forward_hooks) == (each in (deep[0], average.module[0]))
        assert not each._forward_hooks_always_called and not each._forward_hooks_with_kwargs


@pytest.mark.parametrize("options", MODES, ids=str)
def test_coordinates_are_those_of_the_parameter(options):
    """`addmm` gets a transposed view."""
    model = nn.Linear(4, 3)
    with torch.no_grad():
        model.weight[2, 1] = NAN
    finding = finding_of(model, lambda: model(torch.ones(5, 4)), **options)
    [weight] = [each for each in finding.inputs if each.name == "weight"]
    assert (finding.parameter, weight.shape, weight.coordinate) == ("weight", (3, 4), (2, 1))


@pytest.mark.parametrize("options", MODES, ids=str)
def test_nothing_is_printed(options, capfd, recwarn):
    model, x, y = regression(nn.Tanh)
    finding_of(model, lambda: ((model(x) * 0).sqrt() - y).sum().backward(), **options)
    assert capfd.readouterr() == ("", "") and not recwarn.list


def test_an_overflow_by_the_scale_is_no_finding():
    model = nn.Linear(4, 4)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16)
    with watch(model, scaler=scaler) as found:
        scaler.scale(model(torch.ones(3, 4)).sum() + 1e37).backward()
    assert (found.overflows, found.findings) == (1, [])
    with watch(model, scaler=scaler, on_bad="record") as found:
        loss = (model(torch.ones(3, 4)) - 100).log().sum()  # fault: scaled
        scaler.scale(loss).backward()
    assert (found.overflows, found.first.line) == (0, line_of("scaled", HERE))


def test_the_first_example_of_the_documentation(tmp_path):
    """The numbers, and with them the operation, may differ on another processor."""
    text = HERE.parent.with_name("docs").joinpath("trace.md").read_text(encoding="utf-8")
    program, _, rest = text.partition("```python\n")[2].partition("```\n")
    path = tmp_path / "train.py"
    path.write_text(program)
    with pytest.raises(BadValueError) as error:
        runpy.run_path(str(path))

    def shape_of(report):
        report = re.sub(r"aten\.\w+\.\w+", "OPERATION", report)
        lines = re.sub(r"[\d.]+(e\+\d+)?", "#", report).splitlines()
        return [*lines[:3], lines[-7], lines[-1]]

    printed = textwrap.dedent(rest.partition("\n\n")[0]).removeprefix("BadValueError: ")
    assert shape_of(str(error.value).replace(f"{tmp_path}/", "")) == shape_of(printed)


def test_help_explains_the_parameters():
    for name in inspect.signature(watch).parameters:
        assert f"    {name}: " in watch.__doc__, name


def test_errors_of_torch_have_no_frames_of_its_own():
    def fails(x):
        if torch.utils._python_dispatch._get_current_dispatch_mode() is not None:
            raise RuntimeError("it failed\nException raised from here\nframe #0: there")
        return x.log()

    with watch(Of(fails), on_bad="record") as found:
        found._model(-torch.ones(2))
    assert found.first.note == "the replay failed: RuntimeError: it failed"


PROGRAM = """
import torch
from torch import nn
from nonfinite.torch import watch

class Root(nn.Module):
    def forward(self, x):
        return ROOT

model = nn.Sequential(nn.Linear(4, 4), nn.Sequential(Root()))
with watch(model, OPTIONS):
    model(torch.ones(3, 4)).sum().backward()
"""


@pytest.mark.parametrize("options", ["", "operations=True", "once_a_step=True"])
@pytest.mark.parametrize("root", ["(x * 0).log()", "(x * 0).sqrt()"])
def test_a_finding_is_the_last_that_a_reader_sees(root, options, tmp_path):
    """In forward and in backward. Around the finding stand the lines of the program only."""
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.replace("ROOT", root).replace("OPTIONS", options))
    ran = subprocess.run([sys.executable, path], capture_output=True, text=True, check=False)
    head, _, report = ran.stderr.partition("nonfinite.torch.BadValueError: ")
    files = re.findall('File "(.*)", line (.*), in', head)
    assert files == [(str(path), "12")] and len(head.splitlines()) <= 4, ran.stderr
    assert report.startswith("origin in ")
    assert report.splitlines()[-1].startswith(("  output 0: ", "  gradient of "))


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("loss", [
    lambda y: (y - y.detach()).sum() * 1e35,  # Overflows in backward,
    lambda y: y.sum() + 1e37,  # and in the scale.
])  # fmt: skip
def test_a_scaler_of_which_the_watch_was_not_told(loss, options):
    model = nn.Linear(4, 4)
    # One that has scaled another loss, and whose scale is 1 now.
    other = torch.amp.GradScaler("cpu", init_scale=1.0)
    other.scale(torch.ones(1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16)
    with watch(model, on_bad="record", **options) as found:
        for number in range(3):
            scaler.scale(loss(model(X)) if number == 1 else model(X).mean()).backward()
            scaler.step(optimizer)
            scaler.update()
            optimizer.zero_grad()
    [finding] = found.findings
    assert "a GradScaler has scaled the loss by 65536, and skips steps" in finding.note
    assert "watch(model, scaler=scaler)" in str(finding).splitlines()[-1]
    # The step that the scaler has skipped is one of the program.
    assert (finding.step, found.steps) == (1, 3)


def test_a_fault_that_scaling_has_not_made_says_nothing_of_a_scaler():
    model = nn.Linear(4, 4)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16)
    with watch(model, on_bad="record") as found:
        scaler.scale(model(X).mean()).backward()
        scaler.scale((model(X) * 0 - 1).log().mean()).backward()
    assert found.first.note is None, found.first.note
    with watch(model, on_bad="record") as found:
        (model(X).sum() * 1e35 * 65536).backward()
    assert found.first.note is None, found.first.note
