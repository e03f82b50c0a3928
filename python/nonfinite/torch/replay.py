# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Runs one call of a module again, to name the operation."""

import threading
import weakref
from collections.abc import Callable, Collection, Iterable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from nonfinite.findings import INTENDED, Look
from nonfinite.torch import private
from nonfinite.torch.frames import Line
from nonfinite.torch.look import finite, look, paths, tensors, version
from nonfinite.torch.operations import RUNNING, Cause, Operations
from nonfinite.torch.storages import Named, by_storage


@dataclass(eq=False, slots=True)
class Call:
    """One call of a module in a step.

    A call inside another one lets go of its inputs when it ends. The outermost call keeps its
    inputs until backward ends, and may run again from these. Tensors that are kept longer than
    autograd keeps them cost time: backward gets new pages of the system instead of memory that it
    has freed.
    """

    module: nn.Module
    parent: "Call | None"
    args: Any
    kwargs: Any
    random: Tensor
    """The state of the random numbers before the call."""
    versions: list[int]
    """How often the inputs had been changed in place before the call."""
    place: Line | None
    """The line of the user's code that made the call."""
    autocast: list[tuple[str, torch.dtype, bool]]
    """Of the outermost call, for each type of device: the type of autocast, and whether it is on.
    """
    reopens: bool
    """Of the outermost call: whether the look at operations outside of the model goes on."""
    outputs: list[weakref.ref[Tensor]] = field(default_factory=list)
    """The outputs of the outermost call that have gradients."""
    made: Any = None
    """Where the nodes of autograd are made that this call makes, if all have one line."""
    mask: Cause | None = None
    """What made the infinities in the outputs, if these are as told."""
    returns: "Call | None" = None
    """The call inside whose output is an output of this call, too."""

    def inputs(self) -> list[Tensor]:
        """The tensors that the module got."""
        return tensors((self.args, self.kwargs))

    def names(self) -> list[str]:
        """The names of the inputs of an outermost call: an input that was passed by keyword has its
        own name."""
        found = (*paths(self.args or ()), *paths(self.kwargs or {}))
        return [f"input {name} of the model" for name in found]

    def given(self) -> list[tuple[str, Tensor]]:
        """The tensors that the model got, with their names. An input that was changed in place
        since is not what the model got."""
        call = self.outermost()
        inputs = zip(call.names(), call.inputs(), call.versions, strict=False)
        return [(name, each) for name, each, before in inputs if version(each) == before]

    def given_mask(self) -> Cause | None:
        """What made the infinities that the program got, if these are as told."""
        call: Call | None = self.outermost()
        while call is not None and call.mask is None:
            call = call.returns
        return None if call is None else call.mask

    def outermost(self) -> "Call":
        """The call that the program itself made."""
        call = self
        while call.parent is not None:
            call = call.parent
        return call

    def inputs_changed(self) -> bool:
        """Whether an input was changed in place since the call."""
        return [version(each) for each in self.inputs()] != self.versions

    def inputs_bad(self) -> bool:
        """Whether an input has a NaN or an infinity."""
        return any(not finite(each) for each in self.inputs())

    def release_inputs(self) -> None:
        """Lets go of the inputs."""
        self.args = self.kwargs = None


def autocasts(devices: Iterable[str]) -> list[tuple[str, torch.dtype, bool]]:
    """The state of autocast, as a call keeps it."""
    return [
        (each, torch.get_autocast_dtype(each), torch.is_autocast_enabled(each))
        for each in devices
        if torch.amp.is_autocast_available(each)
    ]


class PerThread(threading.local):
    """What has begun and not ended, of each thread by itself."""

    def __init__(self) -> None:
        self.open: list[Any] = []


class Running:
    """Which module runs in a replay: `root`, or a module inside that has begun."""

    def __init__(self, root: nn.Module) -> None:
        self._begun = [root]

    def enter(self, module: nn.Module) -> None:
        """A module begins."""
        self._begun.append(module)

    def leave(self) -> None:
        """The module that began last ends. Those inside have ended before."""
        self._begun.pop()

    def module(self) -> nn.Module:
        """The innermost module that runs."""
        return self._begun[-1]


@contextmanager
def as_before(call: Call) -> Any:
    """The replay draws the random numbers of the call, under the autocast of the call, and runs no
    compiled code. Afterwards the random numbers and the buffers are as they are now, also buffers
    that the replay replaces by other tensors.
    """
    now = torch.get_rng_state()
    buffers = [
        (private.buffers_of(module), name, each, version(each), each.detach().clone())
        for module in call.module.modules()
        for name, each in private.buffers_of(module).items()
        if each is not None
    ]
    torch.set_rng_state(call.random)
    try:
        with ExitStack() as autocast:
            # Before torch 2.6 compiled functions stay so, and what they compute is not seen.
            if private.dynamo_is_loaded() and hasattr(torch.compiler, "set_stance"):
                autocast.enter_context(torch.compiler.set_stance("force_eager"))
            for device, dtype, enabled in call.autocast:
                autocast.enter_context(torch.autocast(device, dtype, enabled))
            yield
    finally:
        torch.set_rng_state(now)
        with torch.no_grad():
            for owner, name, buffer, before, kept in buffers:
                owner[name] = buffer
                # Batch normalisation changes its statistics without a new version.
                if version(buffer) != before or name in RUNNING:
                    buffer.data.copy_(kept)


def mode_of(
    call: Call, named: Named, where: Callable[[], Any], allowed: Collection[Any]
) -> Operations:
    """For a replay in forward."""
    whole = not call.inputs_bad()
    mode = Operations(named, where, whole=whole, allowed=allowed)
    mode.inputs = by_storage(call.given())
    return mode


def forward(call: Call, mode: Operations) -> tuple[Cause | None, tuple[Look, ...]]:
    """The operation behind the first bad output, and the outputs that were bad again."""
    with as_before(call), mode:
        output = call.module.forward(*call.args, **call.kwargs)
    return mode.cause_of(output, masks=True), bad_looks(output)


def bad_looks(output: Any) -> tuple[Look, ...]:
    """The statistics of the bad tensors of an output."""
    pairs = enumerate(tensors(output))
    return tuple(look(f"output {n}", each) for n, each in pairs if not finite(each))


def until_bad_input(call: Call, child: nn.Module, mode: Operations) -> Cause | None:
    """The operation in `call` that made an input of its child bad.

    Runs while `call` itself has not ended. The replay ends where the child gets a bad input.
    """
    found: list[Cause] = []

    def look(_: Any, args: Any, kwargs: Any) -> None:
        cause = mode.cause_of((args, kwargs), masks=True)
        if cause is not None:
            found.append(cause)
            if cause.kind != INTENDED:
                raise _EnoughError

    _run(call, mode, child.register_forward_pre_hook(look, with_kwargs=True))
    return found[-1] if found else None


def until_bad_output(
    call: Call, child: nn.Module, mode: Operations
) -> tuple[Cause | None, tuple[Look, ...]]:
    """The operation in `call` that made an output of a module inside bad, and the bad outputs. The
    replay ends there, unless the output is a mask."""
    found, looks = list[Cause | None](), tuple[Look, ...]()

    def look(_: Any, args: Any, kwargs: Any, output: Any) -> None:
        nonlocal looks
        looks = bad_looks(output) or looks
        cause = mode.cause_of(output, masks=True)
        found.append(cause)
        unknown = cause is None and not all(each.only_minus_inf for each in looks)
        if unknown or cause is not None and cause.kind != INTENDED:
            raise _EnoughError

    _run(call, mode, child.register_forward_hook(look, with_kwargs=True))
    return (found[-1] if found else None), looks


def _run(call: Call, mode: Operations, hook: Any) -> None:
    """Runs a call again until the hook has seen enough."""
    try:
        with as_before(call), mode:
            call.module.forward(*call.args, **call.kwargs)
    except _EnoughError:
        pass
    finally:
        hook.remove()


class _EnoughError(Exception):
    """Ends a replay."""
