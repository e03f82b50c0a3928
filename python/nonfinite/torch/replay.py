# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""The calls of modules, and how calls run again, until one of them names the operation."""

import threading
import weakref
from collections.abc import Collection, Iterable
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from nonfinite.findings import INTENDED, Look
from nonfinite.torch import notes, private
from nonfinite.torch.frames import Line
from nonfinite.torch.hooked import attach, inside_compiled
from nonfinite.torch.look import finite, look, paths, tensors, version
from nonfinite.torch.operations import RUNNING, Cause, Operations
from nonfinite.torch.storages import by_storage, named


@dataclass(eq=False, slots=True)
class Told:
    """What is known of the infinities in the outputs of a call. Does not know the call: a call
    that knew the call inside would end with the garbage collector of Python only."""

    mask: Cause | None = None
    """What made the infinities, if these are as told."""
    returns: "Told | None" = None
    """That of the call inside whose output is an output of this call, too."""


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
    told: Told = field(default_factory=Told)

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
        told: Told | None = self.outermost().told
        while told is not None and told.mask is None:
            told = told.returns
        return None if told is None else told.mask

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


def bad_looks(output: Any) -> tuple[Look, ...]:
    """The statistics of the bad tensors of an output."""
    pairs = enumerate(tensors(output))
    return tuple(look(f"output {n}", each) for n, each in pairs if not finite(each))


class Replays:
    """Runs calls of the modules of a model again, until one of them names the operation."""

    def __init__(self, model: nn.Module, allowed: Collection[Any]) -> None:
        self._model, self._allowed = model, allowed
        self.running: list[nn.Module] = []
        """The modules that run in a replay, the innermost one last. Empty without a replay. The
        hooks of the watch add and remove modules."""

    def forward(
        self, call: Call
    ) -> tuple[Call, Cause | None, tuple[Look, ...], str | None]:
        """Runs a call with a bad output again. If the inputs were bad already, runs the caller
        again, which has not ended yet, and so on."""
        child = None
        if call.args is None:
            # The inputs are gone: the outermost call runs again.
            outermost = call.outermost()
            if outermost.inputs_changed():
                return call, None, (), notes.CHANGED
            return call, *self._again(outermost, call.module, ended=True)
        while True:
            if call.inputs_changed():
                return call, None, (), notes.CHANGED
            found, outputs, note = self._again(call, child)
            if found is None and child is not None and call.parent is None and call.inputs_bad():
                found, outputs, note = self._again(call, None)
            if found is not None or call.parent is None or not call.inputs_bad():
                return call, found and self._maker(call, found), outputs, note
            child, call = call.module, call.parent

    def _maker(self, call: Call, found: Cause) -> Cause:
        """The operation behind a tensor that `found` reads and that is no input of the module: the
        modules around may show it, which have not ended."""
        child = call.module
        while found.unseen and (around := call.parent) is not None and not around.inputs_changed():
            call = around
            found = self._again(call, child, ended=True)[0] or found
        return found

    def _again(
        self, call: Call, child: nn.Module | None, ended: bool = False
    ) -> tuple[Cause | None, tuple[Look, ...], str | None]:
        """Runs a call again: until its child gets bad inputs, until its child makes bad outputs
        that are no mask, if the call has `ended`, or to the end. Returns the operation behind what
        is bad, and the outputs that are bad."""
        found: Cause | None = None
        outputs: tuple[Look, ...] = ()

        def see(_: Any, args: Any, kwargs: Any, *output: Any) -> None:
            nonlocal found, outputs
            cause = mode.cause_of(output or (args, kwargs), masks=True)
            found = cause if output else cause or found
            outputs = bad_looks(output) or outputs
            unknown = cause is None and not all(each.only_minus_inf for each in outputs)
            if unknown or cause is not None and cause.kind != INTENDED:
                raise _EnoughError

        self.running.append(call.module)
        try:
            mode = Operations(
                named(self._model), lambda: self.running[-1], whole=not call.inputs_bad(),
                allowed=self._allowed,
            )  # fmt: skip
            mode.inputs = by_storage(call.given())
            with ExitStack() as exits:
                if child is not None:
                    hook = child.register_forward_hook if ended else child.register_forward_pre_hook
                    exits.callback(hook(see, with_kwargs=True).remove)
                # The replay sees the modules inside compiled ones, where the watch has no hooks.
                for each in inside_compiled(call.module):
                    exits.callback(attach(each, self.enter, self.leave))
                exits.enter_context(as_before(call))
                exits.enter_context(mode)
                output = call.module.forward(*call.args, **call.kwargs)
            if child is None:
                see(None, (), {}, output)
        except _EnoughError:
            pass
        except Exception as error:
            return None, (), notes.failed(error)
        finally:
            self.running.clear()
        is_finite = not found and not outputs and (child is None or ended)
        return found, outputs, "the replay gave finite numbers" if is_finite else None

    def enter(self, module: nn.Module, *_: Any) -> None:
        """A module begins."""
        self.running.append(module)

    def leave(self, *_: Any) -> None:
        """The module that began last ends. Those inside have ended before."""
        self.running.pop()


class _EnoughError(Exception):
    """Ends a replay."""
