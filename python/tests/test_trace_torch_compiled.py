"""`nonfinite.torch.watch` of models that torch.compile has compiled, or parts of them."""

import pytest
import torch
from torch import nn
from torch.utils._python_dispatch import _disable_current_modes
from torch_faults import NAN, SOURCE as FAULTS, Faulty, Logarithm, Root, X, finding_of, line_of
from torch_losses import SOURCE, squared_error

from nonfinite.torch import watch


def whole(model, backend):
    return torch.compile(model, backend=backend)


def in_place(model, backend):
    model.compile(backend=backend)
    return model


def a_part(model, backend):
    model.block = torch.compile(model.block, backend=backend)
    return model


def a_part_in_place(model, backend):
    model.block.compile(backend=backend)
    return model


WAYS = [
    (whole, "inductor"),
    (whole, "aot_eager"),
    (in_place, "aot_eager"),
    (a_part, "aot_eager"),
    (a_part_in_place, "inductor"),
]


@pytest.fixture(autouse=True)
def anew():
    torch._dynamo.reset()
    torch.manual_seed(0)


@pytest.mark.parametrize("how,backend", WAYS)
def test_faults_inside_compiled_code(how, backend):
    """In forward the eager module runs again, and names the operation and its line. Compiled code
    is one node of autograd."""
    model = how(Faulty(Logarithm()), backend)
    finding = finding_of(model, lambda: model(X))
    assert (finding.kind, finding.phase) == ("origin", "forward"), str(finding)
    assert (finding.operator, finding.line) == ("aten.log.default", line_of("log"))
    assert (finding.module, finding.module_type) == ("block", "Logarithm")

    model = how(Faulty(Root()), backend)
    finding = finding_of(model, lambda: model(X).sum().backward())
    assert (finding.kind, finding.phase) == ("origin", "backward"), str(finding)
    assert finding.operator == "CompiledFunctionBackward"
    part = how in (a_part, a_part_in_place)
    assert (finding.file, finding.module) == (str(FAULTS), "block" * part)


@pytest.mark.parametrize("how,backend", WAYS[1:4])
def test_names_are_those_of_the_program(how, backend):
    model = Faulty(nn.Sequential(nn.Linear(4, 4)))
    with torch.no_grad():
        model.block[0].weight[2, 1] = NAN
    model = how(model, backend)
    finding = finding_of(model, lambda: model(X))
    assert (finding.kind, finding.parameter) == ("entry", "block.0.weight")
    assert finding.module == "block.0"


@pytest.mark.parametrize("how,backend", WAYS[1:4])
def test_the_compiled_code_stays_as_it_is(how, backend):
    model = how(Faulty(nn.Sequential(nn.Linear(4, 4), nn.GELU())), backend)
    model(X).sum().backward()
    counters = torch._dynamo.utils.counters
    frames, breaks = dict(counters["frames"]), dict(counters["graph_break"])
    with watch(model) as found:
        for _ in range(2):
            model(X).sum().backward()
    model(X).sum().backward()
    assert dict(counters["frames"]) == frames and dict(counters["graph_break"]) == breaks
    assert found.calls == 2 and found.findings == []


def test_a_compiled_loss():
    """It stays compiled. What is not seen is said, and backward is not blamed."""

    def runs_unseen(graph, _):
        def run(*given):
            with _disable_current_modes():
                return graph(*given)

        return run

    model, loss = nn.Linear(4, 4), torch.compile(squared_error, backend=runs_unseen)
    loss(model(X)).backward()
    frames = dict(torch._dynamo.utils.counters["frames"])
    finding = finding_of(model, lambda: loss(model(X)).backward())
    assert (finding.kind, finding.phase, finding.module) == ("unknown", "forward", None)
    assert "the loss was bad before backward began" in finding.note
    assert dict(torch._dynamo.utils.counters["frames"]) == frames
    finding = finding_of(model, lambda: loss(model(X)).backward(), operations=True)
    assert finding.operator == "aten.pow.Tensor_Scalar"
    assert finding.line == line_of("squares", SOURCE)
