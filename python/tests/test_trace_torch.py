"""Tests of `nonfinite.torch.watch`."""

import copy
import dataclasses
import gc
import os
import subprocess
import sys
from collections import OrderedDict
from pathlib import Path

import pytest
import torch
from torch import nn
from torch_faults import (
    FAULTS, INF, MODES, NAN, SOURCE, SUSPECTS, Blocks, Embedded, Faulty, Logarithm, Norm, Of,
    Random, Root, WithLayer, finding_of, line_of,
)  # fmt: skip

from nonfinite.torch import UnsupportedError, watch
from nonfinite.torch.look import look
from nonfinite.torch.replay import Call

HERE = Path(__file__)


def run(model, x=None, **options):
    call = lambda: model(torch.randn(3, 4) if x is None else x)
    return finding_of(model, call, **options)


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("name,block,module,operator,kind", FAULTS, ids=lambda each: str(each))
def test_forward_fault_is_named(name, block, module, operator, kind, options):
    finding = run(Faulty(block()), **options)
    assert (finding.kind, finding.phase) == (kind, "forward"), str(finding)
    assert finding.module == module, str(finding)
    assert finding.operator == operator
    assert (finding.file, finding.line) == (str(SOURCE), line_of(name)), str(finding)
    assert finding.outputs[0].bad


@pytest.mark.parametrize("seed", range(6))
def test_dropout_is_the_same_in_the_replay(seed):
    model = Faulty(Random())
    torch.manual_seed(seed)
    x = torch.randn(3, 4)
    state = torch.get_rng_state()
    bad = not model(x).isfinite().all()
    torch.set_rng_state(state)
    with watch(model, on_bad="record") as found:
        model(x)
    after = torch.get_rng_state()
    assert bool(found.findings) == bad
    if bad:
        assert (found.first.operator, found.first.line) == ("aten.log.default", line_of("random"))
    torch.set_rng_state(state)
    model(x)
    assert torch.equal(torch.get_rng_state(), after)


def test_bad_row_of_an_embedding():
    model = Embedded()
    with torch.no_grad():
        model.embedding.weight[7, 1] = NAN
    with watch(model):
        model(torch.tensor([1, 2]))
    finding = run(model, torch.tensor([[1, 7]]))
    assert (finding.kind, finding.parameter) == ("entry", "embedding.weight")
    assert (finding.module, finding.coordinate) == ("embedding", (0, 1, 1))
    assert finding.line == line_of("embedding")


def test_autocast():
    model = Faulty(nn.Linear(4, 4)).eval()
    with torch.no_grad():
        model.block.weight.fill_(1e38)
        model.before.weight.fill_(1e3)
    with torch.autocast("cpu", torch.bfloat16):
        finding = run(model, torch.full((3, 4), 1.0))
    assert (finding.module, finding.outputs[0].dtype) == ("block", "bfloat16")


@pytest.mark.parametrize("options", MODES, ids=str)
def test_backward_after_autocast(options):
    model = nn.Sequential(nn.Linear(4, 4), Root(), nn.Linear(4, 4))

    def train():
        with torch.autocast("cpu", torch.bfloat16):
            y = model(torch.randn(3, 4))
        assert y.dtype == torch.bfloat16
        y.sum().backward()

    finding = finding_of(model, train, **options)
    assert (finding.phase, finding.line) == ("backward", line_of("sqrt backward"))
    # Where the answers stay on the device, the gradient of the weight is shown.
    shown = finding.outputs[0]
    assert shown.dtype == ("bfloat16" if shown.name == "output 0" else "float32")


@pytest.fixture
def one_rank(tmp_path):
    torch.distributed.init_process_group("gloo", f"file://{tmp_path}/s", rank=0, world_size=1)
    yield
    torch.distributed.destroy_process_group()


def test_distributed_data_parallel(one_rank):
    """Backward ends before there is a finding, so that the next steps work."""
    inner = Faulty(Root())
    model = nn.parallel.DistributedDataParallel(inner)
    with watch(model, on_bad="record") as found:
        for _ in range(3):
            model(torch.randn(3, 4)).sum().backward()
    assert found.calls == 3
    assert [each.call for each in found.findings] == [0, 1, 2]
    for each in found.findings:
        assert (each.rank, each.module) == (0, "module.block")
        assert each.line == line_of("sqrt backward")
    assert run(nn.parallel.DistributedDataParallel(Faulty(Logarithm()))).line == line_of("log")


@pytest.mark.parametrize("options", [{}, {"once_a_step": True}], ids=str)
def test_inputs_inside_the_model_are_not_kept(options):
    """Kept tensors cost a training step more than all looks: memory that autograd frees in backward
    is not there for the next gradients."""
    model = nn.Sequential(nn.Linear(4, 4), nn.Sequential(nn.GELU(), nn.Linear(4, 4)))
    with watch(model, **options) as found:
        loss = model(torch.randn(3, 4)).sum()
        [outer] = found._forward.waiting
        assert outer.module is model and len(outer.inputs()) == 1
        kept = [each for each in gc.get_objects() if type(each) is Call and each.inputs()]
        assert [each for each in kept if each.outermost() is outer] == [outer]
        loss.backward()


@dataclasses.dataclass
class Output:
    logits: torch.Tensor
    states: tuple = ()


class SubOfOrdered(OrderedDict):
    pass


@pytest.mark.parametrize(
    "make",
    [
        lambda x: (torch.ones(2), [x]),
        lambda x: {"a": None, "b": {"c": x}},
        lambda x: Output(torch.ones(2), (x,)),
        lambda x: SubOfOrdered(x=x),
    ],
)
def test_structured_outputs(make):
    finding = run(Of(lambda x: make(torch.log(x * 0))))  # fault: structured
    assert (finding.module, finding.line) == ("", line_of("structured", HERE))


def test_record_and_functions():
    model = Faulty(Logarithm())
    seen = []
    with watch(model, on_bad=seen.append) as found:
        model(torch.ones(3, 4))
        model(torch.ones(3, 4))
    assert found.findings == seen and len(seen) == 2
    assert [each.call for each in seen] == [0, 1]
    with pytest.raises(ValueError, match="on_bad"), watch(model, on_bad="stop"):
        pass


class Counting(nn.Module):
    """It replaces its buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x):
        self.calls = self.calls + 1
        return torch.log(x - 1e3 * self.calls)


@pytest.mark.parametrize("norm,last", [
    (nn.BatchNorm1d(4), Logarithm()), (nn.Identity(), Counting()),
])  # fmt: skip
def test_buffers_are_left_as_they_were(norm, last):
    model = nn.Sequential(norm, last)
    other = copy.deepcopy(model)
    x = torch.randn(8, 4)
    other(x)
    with watch(model, on_bad="record") as found:
        model(x)
    assert found.first.operator == "aten.log.default"
    for mine, theirs in zip(model.buffers(), other.buffers(), strict=True):
        assert torch.equal(mine, theirs)


def test_hooks_are_removed_and_results_are_the_same():
    torch.manual_seed(0)
    model = Faulty(nn.Sequential(nn.Linear(4, 4), nn.Dropout(0.5), nn.LayerNorm(4)))
    x = torch.randn(3, 4)

    def step():
        torch.manual_seed(1)
        model.zero_grad()
        y = model(x)
        y.square().mean().backward()
        return [y.detach(), *[each.grad.clone() for each in model.parameters()]]

    plain = step()
    for options in ({}, {"operations": True}, {"backward": False}):
        with watch(model, **options):
            watched = step()
        assert all(torch.equal(a, b) for a, b in zip(plain, watched, strict=True))
    assert not any(each._forward_hooks or each._forward_pre_hooks for each in model.modules())


def test_texts():
    finding = run(Faulty(Logarithm()))
    assert "origin in forward: aten.log.default in model.block (Logarithm)" in str(finding)
    assert '"line": %d' % line_of("log") in finding.to_json()
    x = torch.ones(3, 4)
    x[2, 1] = INF
    lines = str(run(Faulty(nn.Identity()), x)).splitlines()
    assert lines[0].startswith("entry: before any operation input 0 of the model had 1 +Inf, first")
    assert lines[1] == "  first read in forward by aten.addmm.default in model.before (Linear)"
    assert lines[4].startswith("  input 0 of the model: float32[3, 4], 1 +Inf, first at [2, 1]")

    model = nn.Sequential()
    model.add_module("input_projection", nn.Linear(4, 4))
    with torch.no_grad():
        model.input_projection.weight[2, 3] = NAN
    lines = str(run(model, torch.ones(3, 4))).splitlines()
    assert any(line.startswith("  input input_projection.weight: ") for line in lines)


def test_checkpoint():
    assert run(Blocks(Logarithm(), True)).line == line_of("log")
    model = Blocks(Norm(), True)
    finding = finding_of(model, lambda: model(torch.randn(3, 4)).sum().backward())
    assert (finding.phase, finding.module) == ("backward", "blocks.1")


def test_parts_of_the_model_called_one_by_one():
    model = Blocks(Norm(), False)
    with watch(model, on_bad="record") as found:
        x = torch.randn(3, 4)
        for block in model.blocks:
            x = block(x)
        x.sum().backward()
    assert found.calls == 1
    assert (found.first.module, found.first.line) == ("blocks.1", line_of("norm backward"))


def test_input_that_was_changed_in_place():
    def change(x):
        x.mul_(0)
        return x / x  # fault: changed

    finding = run(Of(change))
    assert (finding.kind, finding.module) == ("unknown", "")
    assert "in place" in finding.note
    finding = run(Of(change), operations=True)
    assert (finding.kind, finding.line) == ("origin", line_of("changed", HERE))


def test_transformer_of_torch():
    layer = nn.TransformerEncoderLayer(8, 2, 16, dropout=0.1, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    x = torch.randn(2, 5, 8)
    with watch(model) as found:
        model(x).sum().backward()
        model.eval()(x)
    assert found.findings == []
    with torch.no_grad():
        model.layers[1].linear1.bias[3] = INF
    finding = run(model.train(), x)
    assert (finding.kind, finding.module) == ("entry", "layers.1.linear1")
    assert finding.parameter == "layers.1.linear1.bias"


@pytest.mark.parametrize(
    "name,make,x,gradient,module,operator", SUSPECTS, ids=lambda each: str(each)[:20]
)
def test_gradients_with_several_suspects(name, make, x, gradient, module, operator):
    torch.manual_seed(0)
    model = make()

    def train():
        y = model(x)
        y.backward(torch.full_like(y, gradient))

    finding = finding_of(model, train)
    assert (finding.kind, finding.phase, finding.module) == ("origin", "backward", module)
    assert finding.operator.startswith(operator)
    # The line of the forward pass, also where all frames of the operation are those of torch.
    assert (finding.file, finding.line) == (str(SOURCE), line_of(name))


def test_wrong_arguments():
    for wrong in (None, torch.ones(2), lambda x: x):
        with pytest.raises(TypeError, match=r"needs a torch.nn.Module, and got a"):
            watch(wrong)
    with pytest.raises(UnsupportedError, match="meta"):
        watch(nn.Linear(2, 2, device="meta"))
    with pytest.raises(TypeError, match="scaler is a float"):
        watch(nn.Linear(2, 2), scaler=2.0)
    found = watch(nn.Linear(2, 2))
    with found, pytest.raises(RuntimeError, match="in use"), found:
        pass
    with found:
        pass


class Made(WithLayer):
    """An output made by a function of the output of a layer."""

    def __init__(self, make):
        super().__init__()
        self.make = make

    def forward(self, x):
        return self.make(self.layer(x) * self.factor)  # fault: made

    factor = 1.0


KINDS = {
    "coo": lambda x: x.to_sparse(),
    "csr": lambda x: x.to_sparse_csr(),
    "nested": lambda x: torch.nested.as_nested_tensor([x[0], x[1, :2]]),
    "jagged": lambda x: torch.nested.as_nested_tensor([x[0], x[1, :2]], layout=torch.jagged),
    "mkldnn": lambda x: x.to_mkldnn(),
    "complex": lambda x: torch.complex(x, x).conj(),
    "f8": lambda x: x.to(torch.float8_e5m2),
    "expanded": lambda x: x[:1].expand(5, 4),
    "none": lambda x: x[:0],
    "vmap": lambda x: torch.vmap(lambda row: row * 2)(x),
}


@pytest.mark.filterwarnings("ignore:.*[Nn]ested.*", "ignore:Sparse CSR")
@pytest.mark.parametrize("name", KINDS)
def test_kinds_of_tensors(name):
    model = Made(KINDS[name])
    with torch.no_grad(), watch(model) as found:
        model(torch.ones(3, 4))
    assert found.findings == []
    model.factor = NAN
    with torch.no_grad(), watch(model, on_bad="record") as found:
        model(torch.ones(3, 4))
    assert [each.line for each in found.findings] == [line_of("made", HERE)] * (name != "none")
    for each in found.findings:
        assert each.operator == "aten.mul.Tensor" and '"kind": "origin"' in each.to_json()


def test_fp4_is_always_finite():
    bits = torch.zeros(2, dtype=torch.uint8)
    with watch(Made(lambda x: bits.view(torch.float4_e2m1fn_x2))) as found:
        found._model(torch.ones(3, 4))
    assert found.findings == []


def test_index_of_a_sparse_tensor_is_that_of_its_values():
    x = torch.zeros(5, 5)
    x[1, 2], x[3, 4] = 1, NAN
    found = look("x", x.to_sparse())
    assert (found.shape, found.coordinate, found.nan) == ((2,), (1,), 1)


def test_inference_mode():
    with torch.inference_mode():
        finding = run(Faulty(Logarithm()))
        assert (finding.operator, finding.line) == ("aten.log.default", line_of("log"))
        with watch(Faulty(nn.BatchNorm1d(4))) as found:
            found._model(torch.randn(3, 4))
        assert found.findings == []


class Mapped(nn.Module):
    """A transform runs a module, whose tensors have no numbers of their own."""

    def __init__(self):
        super().__init__()
        self.inner = nn.Sequential(nn.Linear(4, 4), Logarithm())

    def forward(self, x):
        return torch.vmap(self.inner)(x)


def test_modules_in_transforms():
    """The module around the transform is looked at, and the replay names the operation."""
    finding = run(Mapped())
    assert (finding.operator, finding.line) == ("aten.log.default", line_of("log"))
    model = nn.Linear(4, 4)
    with watch(model) as found:
        torch.func.grad(lambda x: model(x).sum())(torch.ones(4))
    assert found.findings == []


class Sometimes(WithLayer):
    def forward(self, x, bad):
        x = self.layer(x)
        if bad:
            return x + (x * 0).sqrt()  # fault: sometimes
        return x


def product(model, flags):
    one, two = (model(torch.ones(2, 4), flag) for flag in flags)
    (one * two).sum().backward()


def sum_of_losses(model, flags):
    sum(model(torch.ones(2, 4), flag).square().sum() for flag in flags).backward()


@pytest.mark.parametrize("options", [{}, {"once_a_step": True}], ids=str)
@pytest.mark.parametrize("flags", [(True, False), (False, True)])
@pytest.mark.parametrize("train", [product, sum_of_losses])
def test_several_calls_before_backward(train, flags, options):
    model = Sometimes()
    with watch(model, on_bad="record", **options) as found:
        train(model, flags)
    assert [each.line for each in found.findings] == [line_of("sometimes", HERE)]
    assert found.first.operator == "SqrtBackward0"


def test_calls_without_backward_are_released():
    model = Sometimes()
    with watch(model) as found:
        for _ in range(9):
            model(torch.ones(2, 4), False)
        assert len(found._forward.waiting) == 1
    assert found._forward.waiting == []


LOADED = """
import sys, torch
from torch_faults import Faulty, Logarithm
from nonfinite.torch import watch
with watch(Faulty(Logarithm()), on_bad="record") as found:
    found._model(torch.ones(3, 4))
assert found.first.operator == "aten.log.default"
assert "torch._dynamo" not in sys.modules
"""


def test_a_finding_does_not_load_dynamo():
    """Loading takes more than a second and 150 MB."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, "-c", LOADED], check=True, env=environment)
