"""`nonfinite.torch.watch`: a gradient is bad if the program wanted it."""

from pathlib import Path

import pytest
import torch
from torch import nn
from torch_backward import FAULTY, HEALTHY, HOW, SOURCE, dead, inside, mlp, outside
from torch_faults import INF, MODES, NAN, X, line_of

from nonfinite.torch import watch

HERE = Path(__file__)


def gradients_are_finite(model):
    return all(each.grad is None or each.grad.isfinite().all() for each in model.parameters())


@pytest.mark.filterwarnings("ignore:.*use_reentrant", "ignore:Using backward.. with create_graph")
@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("name", HEALTHY)
def test_healthy_programs(name, options):
    torch.manual_seed(0)
    model, step = HEALTHY[name]()
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    torch.manual_seed(1)
    with watch(model, on_bad="record", **options) as found:
        for _ in range(3):
            optimizer.zero_grad()
            step(model)
            assert gradients_are_finite(model), "the program is not healthy"
            optimizer.step()
    assert found.findings == [], str(found.first)
    assert found.steps >= 3 or found.calls >= 3


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("where", [inside, outside])
@pytest.mark.parametrize("how", HOW)
@pytest.mark.parametrize("fault", FAULTY)
def test_the_first_node_on_the_way_is_named(fault, how, where, options):
    torch.manual_seed(0)
    make, node = FAULTY[fault]
    model, step = where(HOW[how](make))
    random = torch.get_rng_state()
    with watch(model, on_bad="record", **options) as found:
        step(model)
    assert not gradients_are_finite(model)
    [finding] = found.findings
    assert (finding.phase, finding.kind, finding.operator) == ("backward", "origin", node), finding
    assert (finding.file, finding.line) == (str(SOURCE), line_of(fault, SOURCE)), str(finding)
    assert finding.module == ("3" if where is inside else None)
    # The program has drawn the numbers of one call.
    drawn = torch.get_rng_state()
    torch.set_rng_state(random)
    torch.randn(3, 4)
    assert torch.equal(torch.get_rng_state(), drawn)


def bad(gradient):
    return gradient * NAN


def by_a_hook_inside(model):
    y = model(X) * 2  # fault: hooked
    y.register_hook(bad)
    (y * 3).sum().backward()


def by_a_hook_of_the_loss(model):
    loss = model(X).sum()  # fault: hooked loss
    loss.register_hook(bad)
    loss.backward()


def by_a_hook_of_a_parameter(model):
    handle = model[0].weight.register_hook(bad)
    model(X).sum().backward()
    handle.remove()


def by_the_program(model):
    y = model(X)
    y.backward(torch.full_like(y, INF))  # fault: given


def by_a_sum(model):
    y = model(X)
    y = (y - y.detach()).sum()  # fault: sum
    (y * 3e38 + y * 3e38).backward()


def by_a_sum_before_a_nan(model):
    y = model(X).sum() * 0
    y = y * 0  # fault: sum before
    (y * 3e38 + y * 3e38).backward()


def by_accumulation(model):
    x = X.clone().requires_grad_()
    for _ in range(2):
        y = (x - x.detach()) * 2e38  # fault: accumulated
        (y.sum() + model(X).sum()).backward()


def by_two_roots(model):
    y = model(X) * 1  # fault: roots
    more = (y - y.detach()) * 3e38
    torch.autograd.backward([y, more], [torch.full_like(y, 3e38), torch.ones_like(y)])


def by_a_hook_of_a_module(model):
    model[1].register_full_backward_hook(lambda module, gradients, given: (given[0] * NAN,))
    model(X).sum().backward()


SUM = "each gradient is finite that comes in here, and their sum, or what a hook made of it, is not"
HOOKED = "a hook of the program ({}) made the gradient{}; the line is that of {}".format
OF_A_MODULE = "register_full_backward_hook"
FORWARD = "its forward operation"
CAUSES = {
    by_a_hook_inside: ("register_hook", "origin", "hooked",
                       HOOKED("register_hook", " of the output of MulBackward0", FORWARD)),
    by_a_hook_of_the_loss: ("register_hook", "origin", "hooked loss",
                            HOOKED("register_hook", " of the output of SumBackward0", FORWARD)),
    by_a_hook_of_a_parameter: ("register_hook", "origin", None,
                               HOOKED("register_hook", " of 0.weight", "the hook")),
    by_a_hook_of_a_module: (OF_A_MODULE, "origin", None,
                            HOOKED(f"{OF_A_MODULE} or register_full_backward_pre_hook", "",
                                   "the module's call")),
    by_the_program: ("AddmmBackward0", "entry", "given", None),
    by_a_sum: ("SumBackward0", "origin", "sum", SUM),
    by_accumulation: ("torch::autograd::AccumulateGrad", "origin", "accumulated", SUM),
    by_a_sum_before_a_nan: ("MulBackward0", "origin", "sum before", SUM),
    by_two_roots: ("MulBackward0", "origin", "roots", SUM),
}  # fmt: skip


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("train", CAUSES)
def test_no_call_is_blamed_for_what_the_program_did(train, options):
    torch.manual_seed(0)
    with watch(mlp(), on_bad="record", **options) as found:
        train(found._model)
    [finding] = found.findings
    operator, kind, fault, note = CAUSES[train]
    assert (finding.operator, finding.kind) == (operator, kind), str(finding)
    assert finding.note == note and finding.module is None
    assert ("that comes in is finite" in str(finding)) == (note is None and kind == "origin")
    if fault is not None:
        assert (finding.file, finding.line) == (str(HERE), line_of(fault, HERE))


@pytest.mark.parametrize("options", MODES, ids=str)
def test_a_node_that_was_made_before_the_watch(options):
    model = mlp()
    loss = (model(X) * 0).sqrt().sum()
    with watch(model, on_bad="record", **options) as found:
        model(X)
        loss.backward()  # fault: made before
    assert found.first.operator == "SqrtBackward0"
    assert found.first.line == line_of("made before", HERE)
    assert found.first.note.endswith("the line is that of backward")
    assert "outside of the model" not in str(found.first)


def of_an_input(model):
    x = X.clone().requires_grad_()
    torch.autograd.grad((model(x) * 0).sqrt().sum(), x)


def of_a_kept_gradient(model):
    y = dead(model(X))
    y.retain_grad()
    y.sqrt().sum().backward()


def of_an_output(model):
    y = dead(model(X))
    y.sqrt().sum().backward(inputs=[y])


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("train", [of_an_input, of_a_kept_gradient, of_an_output])
def test_gradients_that_the_program_wanted(train, options):
    """No gradient of a parameter is bad, and one that the program asked for is."""
    with watch(mlp(), on_bad="record", **options) as found:
        train(found._model)
    assert [each.operator for each in found.findings] == ["SqrtBackward0"]
    assert gradients_are_finite(found._model)


def test_torch_is_left_as_it_was():
    before = torch.fx.traceback.format_stack, torch.Tensor.retain_grad
    with torch.autograd.set_detect_anomaly(True, check_nan=True):
        with watch(nn.Linear(4, 4)) as found:
            assert torch.is_anomaly_check_nan_enabled()
            found._model(X).sum().backward()
        assert torch.is_anomaly_enabled() and torch.is_anomaly_check_nan_enabled()
    assert not torch.is_anomaly_enabled()
    assert before == (torch.fx.traceback.format_stack, torch.Tensor.retain_grad)
    assert "retain_grad" not in vars(torch.Tensor)
