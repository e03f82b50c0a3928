# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Runs one call of a module again, to name the operation."""

import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from nonfinite.torch.frames import Place
from nonfinite.torch.look import finite, look, mapped, tensors, version
from nonfinite.torch.operations import Found, Operations, storage
from nonfinite.trace.report import Look


@dataclass(eq=False, slots=True)
class Call:
    """One call of a module in a step."""

    module: nn.Module
    path: str
    parent: "Call | None"
    args: Any
    kwargs: Any
    random: Tensor
    """The state of the random numbers before the call."""
    versions: list[int]
    """How often the inputs had been changed in place before the call."""
    place: Place | None
    """The line of the user's code that made the call."""
    depth: int = 0
    outputs: list[weakref.ref[Tensor]] = field(default_factory=list)
    grads: dict[int, Tensor] = field(default_factory=dict)
    """The gradients of the outputs, by the number of the output: all finite."""
    released: bool = False

    def inputs(self) -> list[Tensor]:
        """The tensors that the module got."""
        return tensors((self.args, self.kwargs))

    def callers(self) -> "Iterator[Call]":
        """The calls around this one, from the inside out."""
        call = self.parent
        while call is not None:
            yield call
            call = call.parent

    def inputs_changed(self) -> bool:
        """Whether an input was changed in place since the call."""
        return [version(each) for each in self.inputs()] != self.versions

    def inputs_bad(self) -> bool:
        """Whether an input has a NaN or an infinity."""
        return any(not finite(each) for each in self.inputs())

    def release(self) -> None:
        """Lets go of all tensors."""
        self.args = self.kwargs = None
        self.grads.clear()
        self.released = True


def suspects(calls: list[Call], call: Call | None, parameter: Tensor | None) -> list[Call]:
    """Those of `calls` that may have made a bad gradient from finite ones, the likeliest first.

    For a parameter: the calls of all modules that have the parameter, from the inside out. A
    shared module has several calls. For an output of `call`: the modules that read the
    output, and then the callers of `call`, whose own operations may read the output too.
    """
    if call is None:
        users = [
            each for each in calls if any(own is parameter for own in each.module.parameters())
        ]
        callers: list[Call] = []
    else:
        outputs = {id(each) for ref in call.outputs if (each := ref()) is not None}
        users = [each for each in calls if outputs & {id(tensor) for tensor in each.inputs()}]
        callers = list(call.callers())
    # Of one depth the last call first: backward comes to that call first.
    users = sorted(reversed(users), key=lambda each: -each.depth)
    return [each for each in dict.fromkeys([*users, *callers]) if each.grads]


@contextmanager
def as_before(call: Call) -> Any:
    """The replay draws the random numbers of the call. Afterwards the state of the random numbers
    and the buffers are what they are now, also buffers that the replay replaces by other tensors.
    """
    now = torch.get_rng_state()
    buffers = [
        (module._buffers, name, each, version(each), each.detach().clone())
        for module in call.module.modules()
        for name, each in module._buffers.items()
        if each is not None
    ]
    torch.set_rng_state(call.random)
    try:
        yield
    finally:
        torch.set_rng_state(now)
        with torch.no_grad():
            for owner, name, buffer, before, kept in buffers:
                owner[name] = buffer
                if version(buffer) != before:
                    buffer.copy_(kept)


def forward(
    call: Call, named: dict[int, str], where: Callable[[], Any]
) -> tuple[Found | None, tuple[Look, ...]]:
    """The operation behind the first bad output, and the outputs that were bad again."""
    mode = Operations(named | names_of(call), where, lambda: False)
    with as_before(call), mode:
        output = call.module.forward(*call.args, **call.kwargs)
    return mode.cause_of(output), bad_looks(output)


def bad_looks(output: Any) -> tuple[Look, ...]:
    """The statistics of the bad tensors of an output."""
    pairs = enumerate(tensors(output))
    return tuple(look(f"output {n}", each) for n, each in pairs if not finite(each))


def until_bad_input(
    call: Call, child: nn.Module, named: dict[int, str], where: Callable[[], Any]
) -> Found | None:
    """The operation in `call` that made an input of its child bad.

    Runs while `call` itself has not ended. The replay ends where the child gets a bad input.
    """
    mode = Operations(named | names_of(call), where, lambda: False)
    found: list[Found] = []

    def look(_: Any, args: Any, kwargs: Any) -> None:
        cause = mode.cause_of((args, kwargs))
        if cause is not None:
            found.append(cause)
            raise _EnoughError

    handle = child.register_forward_pre_hook(look, with_kwargs=True)
    try:
        with as_before(call), mode:
            call.module.forward(*call.args, **call.kwargs)
    except _EnoughError:
        pass
    finally:
        handle.remove()
    return found[0] if found else None


class _EnoughError(Exception):
    """Ends a replay."""


def backward(call: Call, named: dict[int, str], where: Callable[[], Any]) -> Found | None:
    """The operation that makes a bad gradient from the finite gradients of the outputs."""
    leaves: list[Tensor] = []

    def leaf(tensor: Tensor) -> Tensor:
        if not tensor.requires_grad:
            return tensor
        leaves.append(tensor.detach().requires_grad_())
        return leaves[-1]

    # The metadata of anomaly mode: the line of the forward operation, for each node.
    with as_before(call), torch.enable_grad(), torch.autograd.set_detect_anomaly(True, False):
        args, kwargs = mapped(call.args, leaf), mapped(call.kwargs, leaf)
        outputs = tensors(call.module.forward(*args, **kwargs))
        pairs = [(outputs[n], grad) for n, grad in call.grads.items() if n < len(outputs)]
        wanted = [*leaves, *[each for each in call.module.parameters() if each.requires_grad]]
        if not pairs or not wanted:
            return None
        mode = Operations(named, where, lambda: True)
        with mode:
            made = torch.autograd.grad(
                [output for output, _ in pairs], wanted, [grad for _, grad in pairs],
                allow_unused=True,
            )  # fmt: skip
    return mode.cause_of([each for each in made if each is not None])


def names_of(call: Call) -> dict[int, str]:
    """Names for the inputs of the model itself, so that the first operation that reads a bad one
    is an entry."""
    if call.parent is not None:
        return {}
    return {storage(each): f"input {n} of the model" for n, each in enumerate(call.inputs())}
