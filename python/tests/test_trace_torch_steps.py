"""`nonfinite.torch.watch` over many steps: what a watch keeps, other models, and how it ends."""

import gc
import threading
from pathlib import Path

import pytest
import torch
from torch import nn
from torch_faults import MODES, Of, Root, WithLayer, X, line_of

from nonfinite.torch import watch

HERE = Path(__file__)


def modes():
    return torch._C._len_torch_dispatch_stack()


def backward_of_torch():
    return torch.autograd._engine_run_backward


def masked(y):
    return y.masked_fill(torch.ones(3, 4).triu(1) > 0, -torch.inf).softmax(-1)


def divided(y):
    return y / 0


def of_masks(model):
    model(X).sum().backward()


def without_gradients(model):
    with torch.no_grad():
        model(X)


def masks_of_the_program(model):
    """The loss has a mask, and there is no backward."""
    (model(X) + torch.full((3, 4), -torch.inf)).softmax(-1)


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("step", [of_masks, without_gradients, masks_of_the_program])
@pytest.mark.parametrize("make", [masked, divided])
def test_bad_tensors_are_let_go(make, step, options):
    def alive():
        gc.collect()
        return sum(issubclass(type(each), torch.Tensor) for each in gc.get_objects())

    model, counts = nn.Sequential(nn.Linear(4, 4), Of(make)), []
    with watch(model, on_bad="record", **options) as found:
        for number in range(6):
            step(model)
            model.zero_grad()
            if number in (2, 5):
                counts.append(alive())
    assert counts[1] <= counts[0], counts
    assert bool(found.findings) == (make is divided), found.first


def test_a_mask_that_the_program_keeps_is_still_known():
    model = nn.Linear(4, 4)
    mask = []
    with watch(model, on_bad="record", operations=True) as found:
        for step in range(3):
            y = model(X)
            if not mask:
                mask.append(torch.full((3, 4), -torch.inf))  # fault: kept mask
            (y.sum() if step < 2 else (y + mask[0]).sum()).backward()
    [finding] = found.findings
    assert (finding.call, finding.kind, finding.line) == (2, "intended", line_of("kept mask", HERE))


class Deep(WithLayer):
    """A model with a bad gradient inside."""

    def __init__(self):
        super().__init__()
        self.root = Root()

    def forward(self, x):
        return self.root(self.layer(x) * 0) + self.layer(x)


def loss_of(fault, fake, other):
    judged = other(fake)
    if fault == "other model":
        return (judged / 0).mean()  # fault: other model
    if fault == "gradient of other model":
        return (judged * 0).sqrt().mean()  # fault: gradient of other model
    return judged.mean()


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("fault", ["other model", "gradient of other model", "model"])
def test_a_backward_pass_of_another_model_first(fault, options):
    """A generator and a discriminator, of which only the generator is watched."""
    torch.manual_seed(0)
    model = Deep() if fault == "model" else nn.Linear(4, 4)
    other = nn.Linear(4, 4)
    with watch(model, on_bad="record", **options) as found:
        fake = model(X)
        other(fake.detach()).mean().backward()
        loss_of(fault, fake, other).backward()
    assert modes() == 0
    [finding] = found.findings
    assert finding.step == 0 and finding.operator is not None, str(finding)
    if fault == "model":
        assert finding.operator.startswith("Sqrt"), str(finding)
        assert finding.module == "root"
    else:
        assert (finding.module, finding.line) == (None, line_of(fault, HERE)), str(finding)


def in_a_thread(function):
    errors = []

    def run():
        try:
            function()
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert errors == []


def test_a_watch_in_a_second_thread():
    """The first thread waits for backward meanwhile."""
    model, other, before = nn.Linear(4, 4), nn.Linear(4, 4), backward_of_torch()

    def work():
        with watch(other) as found:
            other(X).sum().backward()
        assert found.findings == [] and modes() == 0

    with watch(model, on_bad="record") as found:
        loss = (model(X) * 0).log().sum()  # fault: thread
        in_a_thread(work)
        loss.backward()
        assert modes() == 0
    assert found.first.line == line_of("thread", HERE)
    assert modes() == 0 and backward_of_torch() is before


def test_a_watch_that_a_second_thread_leaves():
    model, before = nn.Linear(4, 4), backward_of_torch()
    found = watch(model).__enter__()
    loss = model(X).sum()
    in_a_thread(lambda: found.__exit__(None, None, None))
    loss.backward()
    assert modes() == 0 and backward_of_torch() is before


def test_a_loss_that_was_nan_before_the_scale():
    """Scaling is the first operation that the watch sees."""
    model = nn.Linear(4, 4)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**16)
    loss = (model(X) - 100).log().sum()
    with watch(model, scaler=scaler, on_bad="record") as found:
        model(X)
        scaler.scale(loss).backward()
    assert (found.overflows, found.first.kind) == (0, "entry"), str(found.first)


class Interrupted(nn.Module):
    def __init__(self):
        super().__init__()
        self.now = True

    def forward(self, x):
        if self.now:
            raise KeyboardInterrupt
        return x.log()  # fault: after an interrupt


@pytest.mark.parametrize("options", MODES, ids=str)
def test_a_watch_after_an_interrupt(options):
    """Torch calls no hooks when a module is interrupted."""
    inner = Interrupted()
    model = nn.Sequential(nn.Linear(4, 4), inner)
    found = watch(model, on_bad="record", **options)
    with pytest.raises(KeyboardInterrupt), found:
        model(X)
    inner.now = False
    nn.init.zeros_(model[0].weight)
    nn.init.constant_(model[0].bias, -1)
    with found:
        model(X)
        model(X)
    assert found.calls == 3
    assert [each.module for each in found.findings] == ["1", "1"]
    assert found.first.line == line_of("after an interrupt", HERE)


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("whole", [True, False])
def test_an_interrupt_that_the_program_catches(whole, options):
    """What comes after is looked at as before."""
    model, x = nn.Sequential(Interrupted()), X.clone().requires_grad_()
    with watch(model, on_bad="record", **options) as found:
        with pytest.raises(KeyboardInterrupt):
            model(x) if whole else model[0](x)
        model[0].now = False
        for _ in range(2):
            (model(x).sum() / 0).backward()  # fault: after a caught interrupt
    assert [each.module for each in found.findings] == [None, None]
    assert found.first.line == line_of("after a caught interrupt", HERE)


@pytest.mark.parametrize("options", MODES, ids=str)
def test_calls_in_two_threads(options):
    """One begins before the other, and ends later."""
    begun, go, model = threading.Event(), threading.Event(), Of(lambda x, wait: (wait(), x)[1])
    with watch(model, on_bad="record", **options) as found:
        thread = threading.Thread(target=lambda: model(X, lambda: begun.set() or go.wait(60)))
        thread.start()
        assert begun.wait(60)
        x = X.clone().requires_grad_()
        (model(x, lambda: None).sum() / 0).backward()  # fault: beside a thread
        go.set()
        thread.join()
    [finding] = found.findings
    assert (finding.module, finding.line) == (None, line_of("beside a thread", HERE)), str(finding)


def test_the_history_has_the_loss_of_the_model_only():
    model, other = nn.Linear(4, 4), nn.Linear(4, 4)
    with watch(model, on_bad="record") as found:
        for divisor in (1, 0):
            other(X).sum().backward()
            (model(X).sum() * 0 + 1).div(divisor).backward()
            model.weight.data.fill_(1e9)
    assert [each.loss for each in found.first.history] == [1, torch.inf]


class NoHooks(nn.Linear):
    def register_forward_hook(self, *args, **named):
        raise RuntimeError("no hooks")


@pytest.mark.parametrize("options", MODES, ids=str)
def test_a_watch_that_cannot_begin(options):
    before = backward_of_torch()
    model = nn.Sequential(nn.Linear(4, 4), NoHooks(4, 4))
    with pytest.raises(RuntimeError, match="no hooks"):
        watch(model, **options).__enter__()
    assert not any(each._forward_hooks for each in model.modules())
    assert modes() == 0 and backward_of_torch() is before
    model[1] = nn.Linear(4, 4)
    with watch(model, **options):
        model(X).sum().backward()


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("root", [
    lambda y: (y.sum() * (1 + 1j), torch.ones((), dtype=torch.complex64)),
    lambda y: (y.sum().reshape(1).to_sparse(), torch.ones(1).to_sparse()),
], ids=["complex", "sparse"])  # fmt: skip
def test_backward_begins_with_another_kind_of_tensor(root, options):
    model = nn.Linear(4, 4)
    with watch(model, on_bad="record", **options) as found:
        loss, gradient = root(model(X))
        loss.backward(gradient)
    assert found.findings == [] and model.weight.grad is not None


def test_another_package_wraps_the_function_of_torch():
    """The wrapper stays when the watch ends, and still calls the function of that watch."""
    model, before = nn.Linear(4, 4), backward_of_torch()
    calls = []

    def wrapper(*given, **named):
        return inner(*given, **named)

    try:
        with watch(model):
            inner = backward_of_torch()
            torch.autograd._engine_run_backward = wrapper
            model(X).sum().backward()
        found = watch(model)
        begins = found._gradients.begins
        found._gradients.begins = lambda *given: (calls.append(1), begins(*given))
        with found:
            model(X).sum().backward()
    finally:
        torch.autograd._engine_run_backward = before
    assert calls == [1]


class Turning(WithLayer):
    """Bad when told so."""

    bad = False

    def forward(self, x):
        return self.layer(x) / (0 if self.bad else 1)


def with_validation(model, optimizers, number):
    with torch.no_grad():
        for _ in range(10):
            model.eval()(X)
    model.train()


def with_validation_that_has_gradients(model, optimizers, number):
    for _ in range(10):
        model.eval()(X)
    model.train()


def with_accumulation(model, optimizers, number):
    for _ in range(3):
        model(X).sum().backward()


def with_two_optimizers(model, optimizers, number):
    if not optimizers[1:]:
        optimizers.append(torch.optim.SGD([model.layer.bias], lr=0.1))


def with_another_model(model, optimizers, number):
    other = nn.Linear(4, 4)
    optimizer = torch.optim.SGD(other.parameters(), lr=0.1)
    other(model(X)).sum().backward()
    optimizer.step()


@pytest.mark.parametrize("options", MODES, ids=str)
@pytest.mark.parametrize("between", [
    with_validation, with_validation_that_has_gradients, with_accumulation, with_two_optimizers,
    with_another_model,
])  # fmt: skip
def test_steps_are_those_of_the_program(between, options):
    model = Turning()
    optimizers = [torch.optim.SGD([model.layer.weight], lr=0.1)]
    with watch(model, on_bad="record", **options) as found:
        for number in range(4):
            between(model, optimizers, number)
            model.bad = number == 3
            loss = model(X).sum()
            if not model.bad:
                loss.backward()
            for each in optimizers:
                each.step()
    assert (found.first.step, found.steps) == (3, 4)
    assert found.first.call == found.calls - 1
    call = "" if found.first.call == 3 else f", call {found.first.call} of the model"
    assert str(found.first).splitlines()[0].endswith(f"(Turning), step 3{call}")


def test_a_validation_belongs_to_the_step_before():
    model = Turning()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    with watch(model, on_bad="record") as found:
        for number in range(4):
            model(X).sum().backward()
            optimizer.step()
            with torch.no_grad():
                model.bad = number == 2
                model(X)
                model.bad = False
    assert [each.step for each in found.findings] == [2]


def test_steps_that_the_program_ends_itself():
    """It has no optimizer, or trains nothing."""
    model = Turning()
    with watch(model, on_bad="record") as found, torch.no_grad():
        for number in range(4):
            for _ in range(2):
                model(X)
                model.bad = number == 1
            found.step()
    assert [each.step for each in found.findings] == [1, 2]
    assert [each.call for each in found.findings] == [3, 4]
