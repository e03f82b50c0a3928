"""`nonfinite.torch.watch` where the data, the loss or the training is at fault."""

from functools import partial
from pathlib import Path

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torch_faults import (
    INF, MODES, NAN, SOURCE, Faulty, Of, Regression, WithLayer, finding_of, line_of, train,
)  # fmt: skip

from nonfinite.torch import watch

HERE = Path(__file__)


NORMS = {
    "batch norm": (lambda: nn.BatchNorm1d(4), (3, 4)),
    "without affine": (lambda: nn.BatchNorm1d(4, affine=False), (3, 4)),
    "cumulative": (lambda: nn.BatchNorm1d(4, momentum=None), (3, 4)),
    "instance norm": (lambda: nn.InstanceNorm1d(4, track_running_stats=True), (3, 4, 4)),
}


@pytest.mark.parametrize("options", [{}, {"once_a_step": True}], ids=str)
@pytest.mark.parametrize("value", [NAN, INF])
@pytest.mark.parametrize("norm", NORMS)
@pytest.mark.parametrize("first", [False, True])
def test_a_bad_input_of_a_model_with_running_statistics(norm, value, first, options):
    """The input is at fault, not the buffers, which the bad batch has changed before the watch
    looks at the output."""
    make, shape = NORMS[norm]
    model = Faulty(make())
    if first:
        model.before = nn.Identity()
    x = torch.randn(shape)
    x[1, 2] = value
    with watch(model, on_bad="record", **options) as found:
        for _ in range(2):
            model(x)
    assert not model.block.running_mean.isfinite().all()
    for each in found.findings:
        assert (each.kind, each.parameter) == ("entry", "input 0 of the model"), str(each)
        assert each.module == ("block" if first else "before")
    assert len(found.findings) == 2


def test_bad_running_statistics():
    """In eval mode batch normalisation reads the buffers."""
    model = Faulty(nn.BatchNorm1d(4)).eval()
    model.block.running_var[1] = NAN
    with watch(model, on_bad="record") as found:
        model(torch.randn(3, 4))
    assert (found.first.kind, found.first.parameter) == ("entry", "block.running_var")


def test_an_infinity_in_the_input_that_a_module_inside_makes_nan():
    with watch(nn.Sequential(nn.Identity(), nn.Softmax(-1)), on_bad="record") as found:
        found._model(torch.full((3, 4), INF))
    assert (found.first.kind, found.first.parameter) == ("entry", "input 0 of the model")
    assert (found.first.module, found.first.operator) == ("1", "aten._softmax.default")


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16], ids=str)
@pytest.mark.parametrize("size,real", [(2e37, False), (1e39, True)])
def test_an_overflow_that_does_not_end_with_the_scale(size, real, dtype):
    """The scale falls from 64 to 1. Gradients of 2e37 are finite there, those of 1e39 are not."""
    model = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(model.parameters(), lr=0)
    scaler = torch.amp.GradScaler("cpu", init_scale=64, growth_interval=1000)
    with watch(model, on_bad="record", scaler=scaler) as found:
        for _ in range(8):
            optimizer.zero_grad()
            with torch.autocast("cpu", torch.bfloat16, enabled=dtype is torch.bfloat16):
                y = model(torch.full((4, 4), size / 1e10))
            # The loss is 0, and its slope is not.
            scaler.scale(((y - y.detach()).float() * 2.5e9).sum()).backward()
            scaler.step(optimizer)
            scaler.update()
    if not real:
        assert found.findings == [] and 0 < found.overflows < 6
        return
    assert (found.overflows, found.first.step, scaler.get_scale()) == (6, 6, 0.25)
    assert (found.first.phase, found.first.operator) == ("backward", "AddmmBackward0")
    assert "GradScaler's scale is 1, so scaling is not the cause" in found.first.note
    assert "6 bad gradients before were counted as overflows" in str(found.first)


MODELS = {
    "ends with a carrier": lambda: nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)),
    "ends with another module": lambda: nn.Sequential(nn.Linear(4, 4), nn.GELU()),
    "one module": lambda: nn.Linear(4, 4),
}


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("value", [NAN, INF])
@pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)
def test_bad_targets(make, value, options):
    """No module is blamed, and the loss, which reads the targets, is named."""
    targets = torch.zeros(3, 4)
    targets[2, 1] = value
    with watch(make(), on_bad="record", **options) as found:
        y = found._model(torch.randn(3, 4))
        loss = F.mse_loss(y, targets)  # fault: targets
        loss.backward()
    [finding] = found.findings
    assert (finding.module, finding.module_type) == (None, "")
    assert finding.file == str(HERE)
    assert (finding.kind, finding.phase) == ("entry", "forward"), str(finding)
    assert finding.operator == "aten.mse_loss.default"
    assert finding.line == line_of("targets", HERE)
    assert finding.parameter.startswith("tensor 1 of the operation")
    assert "aten.mse_loss.default outside of the model, step 0" in str(finding)
    assert '"module": null' in finding.to_json()


# The rate, the factor of the input, and what overflows first: a product in the model, the squares
# of its outputs, or the new weights.
RATES = [
    (1e6, 1, 2, "origin", "layers.2", "aten.addmm.default", None),
    (10, 1, 5, "origin", None, "aten.pow.Tensor_Scalar", None),
    (1e38, 1e3, 1, "entry", "layers.0", "aten.addmm.default", "layers.0.bias"),
]


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("rate,factor,step,kind,module,operator,parameter", RATES)
def test_exploding_learning_rate(rate, factor, step, kind, module, operator, parameter, options):
    torch.manual_seed(2)
    model, x = Regression(), torch.randn(16, 4) * factor
    finding = finding_of(model, lambda: train(model, x, rate, 100), **options)
    line = "learning rate" if module else "squared outputs"
    if "operations" in options and parameter:
        # It saw what made the weights bad.
        kind, module, operator, parameter = "origin", None, "aten.add_.Tensor", None
        line = "optimizer"
    assert finding.step == step, str(finding)
    assert (finding.kind, finding.phase, finding.module) == (kind, "forward", module), str(finding)
    assert (finding.operator, finding.parameter) == (operator, parameter), str(finding)
    assert (finding.file, finding.line) == (str(SOURCE), line_of(line))


@pytest.mark.parametrize("make,operator", [
    (partial(torch.optim.SGD, foreach=True), "aten._foreach_add_.List"),
    (partial(torch.optim.Adam, fused=True), "aten._fused_adam_.default"),
])  # fmt: skip
def test_optimizers_that_change_all_weights_at_once(make, operator):
    model, x = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4)), torch.ones(3, 4)
    with torch.no_grad():
        model[1].bias[2] = 3.3e38
    optimizer = make(model.parameters(), lr=3e37)
    with watch(model, on_bad="record", operations=True) as found:
        (-model(x)[0, 2]).backward()
        optimizer.step()  # fault: all at once
        model(x)
    assert (found.first.kind, found.first.operator) == ("origin", operator), str(found.first)
    assert (found.first.module, found.first.line) == (None, line_of("all at once", HERE))
    # Those of other weights are not told.
    names = {each.name for each in found.first.inputs}
    assert "1.bias" in names and not names & {"0.weight", "0.bias", "1.weight"}


class Inside(WithLayer):
    """What `make` computes. The factor is neither a parameter nor a buffer."""

    def __init__(self, make):
        super().__init__()
        self.factor, self.make = torch.tensor(NAN), make

    def forward(self, x):
        return self.make(self, x)


# The output of the last module inside, which has changed since. A bad tensor of the model's own.
INSIDE = [
    (lambda model, x: model.layer(x).sub_(1e9).log_(), "origin", "aten.log_.default"),
    (lambda model, x: model.layer(x) * model.factor, "entry", "aten.mul.Tensor"),
    (lambda model, x: model.layer(x * model.factor), "entry", "aten.mul.Tensor"),
]


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("context", [torch.enable_grad, torch.inference_mode])
@pytest.mark.parametrize("make,kind,operator", INSIDE)
def test_faults_inside(make, kind, operator, context, options):
    with watch(Inside(make), on_bad="record", **options) as found, context():
        found._model(torch.ones(3, 4))
    [finding] = found.findings
    assert (finding.kind, finding.operator) == (kind, operator), str(finding)
    assert (finding.parameter is None) == (kind == "origin") and finding.module == ""


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("bad", [0, 1])
def test_tensors_that_share_their_memory(bad, options):
    """Inputs, and parameters, as those of cuDNN's LSTM."""
    x = torch.ones(3, 2)
    x[1, bad] = NAN
    with watch(Of(lambda one, two: one * two), on_bad="record", **options) as found:
        found._model(x[:, 0], x[:, 1])
    assert found.first.parameter == f"input {bad} of the model"
    model = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    flat = nn.utils.parameters_to_vector(model.parameters()).detach()
    nn.utils.vector_to_parameters(flat, model.parameters())
    with torch.no_grad():
        model[bad].weight[1] = NAN
    with watch(model, on_bad="record", **options) as found:
        model(torch.ones(3, 4))
    assert found.first.parameter == f"{bad}.weight", str(found.first)
    assert [each.bad for each in found.first.inputs if each.name == f"{bad}.weight"] == [4]


class Positive(nn.Linear):
    """-Inf stays -Inf."""

    def forward(self, x):
        return F.linear(x, self.weight.abs(), self.bias)


class Features(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x, mask=None):
        y = self.layer(x)
        return y if mask is None else (y + mask).softmax(-1)


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("value", [-INF, NAN, INF])
@pytest.mark.parametrize("layer", [nn.Linear, Positive])
def test_bad_data_is_named_before_any_operation(layer, value, options):
    """A logarithm of zero in the features, also where only the loss makes more of it."""
    torch.manual_seed(0)
    x = torch.ones(3, 4)
    x[2, 1] = value
    with watch(Features(layer(4, 4)), on_bad="record", **options) as found:
        F.mse_loss(found._model(x), torch.zeros(3, 4)).backward()
    [finding] = found.findings
    what = {-INF: "1 -Inf", INF: "1 +Inf"}.get(value, "1 NaN")
    told = f"entry: before any operation input 0 of the model had {what}, first at [2, 1], step 0"
    assert str(finding).splitlines()[0] == told
    assert (finding.kind, finding.parameter) == ("entry", "input 0 of the model")
    assert [each.coordinate for each in finding.bad_inputs] == [(2, 1)]
    assert finding.operator == "aten.addmm.default" and "operations=True" not in str(finding)


def test_bad_data_that_the_watch_saw_made():
    """The operation that made it says more than the input does."""
    with watch(Features(nn.Linear(4, 4)), on_bad="record", operations=True) as found:
        found._model(torch.zeros(3, 4).log())  # fault: features
    assert (found.first.kind, found.first.line) == ("origin", line_of("features", HERE))
    assert "cause: the logarithm of zero: input 0 has 12 zeros" in str(found.first)


@pytest.mark.parametrize("options", MODES, ids=str)
def test_a_mask_among_the_inputs_is_no_bad_data(options):
    mask = torch.zeros(3, 4)
    mask[:, 2] = -INF
    with watch(Features(nn.Linear(4, 4)), on_bad="record", **options) as found:
        for _ in range(2):
            found._model(torch.ones(3, 4), mask).sum().backward()
        assert found.findings == []
        mask[1] = -INF
        found._model(torch.ones(3, 4), mask=mask).sum().backward()
    assert (found.first.kind, found.first.operator) == ("NaN from Inf", "aten._softmax.default")
    told = "  before any operation input mask of the model had 6 -Inf, first at [0, 2]"
    assert str(found.first).splitlines()[1] == told
    # A finding that has other causes does not tell of the mask.
    with watch(Features(nn.Linear(4, 4)), on_bad="record", **options) as found:
        found._model(torch.ones(3, 4), mask[:1]).log().mean().backward()
    assert found.first.kind == "origin" and "before any operation" not in str(found.first)


class Captions(WithLayer):
    def forward(self, scale, pixel_values=None, batch=None):
        x = pixel_values if batch is None else batch["pixel_values"]
        return (self.layer(x) * scale).square().sqrt()


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("give,name", [
    (lambda x: ((1, x), {}), "1"),
    (lambda x: ((1,), {"pixel_values": x}), "pixel_values"),
    (lambda x: ((1,), {"batch": {"pixel_values": x}}), "batch.pixel_values"),
    (lambda x: ((1, None, {"pixel_values": x}), {}), "2.pixel_values"),
])  # fmt: skip
def test_names_of_inputs(give, name, options):
    """By keyword the name, otherwise the place among the arguments."""
    x = torch.ones(3, 4)
    x[1, 2] = NAN
    args, kwargs = give(x)
    with watch(Captions(), on_bad="record", **options) as found:
        found._model(*args, **kwargs)
    assert found.first.parameter == f"input {name} of the model"
