# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""What a watch does when a module of the model is called, and when the module returns."""

import weakref
from collections.abc import Collection
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from nonfinite.findings import INTENDED, Look
from nonfinite.torch import frames, replay
from nonfinite.torch.called import Called
from nonfinite.torch.flags import Flags
from nonfinite.torch.found import Found
from nonfinite.torch.history import Steps
from nonfinite.torch.look import finite, in_transform, is_away, look, tensors, version
from nonfinite.torch.operations import Cause, Operations
from nonfinite.torch.outside import in_backward, outside
from nonfinite.torch.replay import Call, PerThread, Replays
from nonfinite.torch.report import FORWARD
from nonfinite.torch.storages import by_storage


class Forward:
    """Looks at the outputs of modules, and keeps the calls of the model until backward. `later`:
    whether the answers stay on the device. None: on all devices except the CPU. `gradients`:
    whether the watch looks at backward, too."""

    def __init__(
        self,
        model: nn.Module,
        top: nn.Module,
        steps: Steps,
        found: Found,
        later: bool | None,
        gradients: bool,
        allowed: Collection[Any],
    ) -> None:
        self._model, self._top = model, top
        self._steps, self._found = steps, found
        self._later, self._gradients = later, gradients
        self._places = bool(later)
        self._devices = {each.device.type for each in model.parameters()} | {"cpu"}
        self.mode: Operations | None = None
        """The mode that looks at every operation."""
        self.called = Called(model, top)
        self.flags = Flags()
        self.waiting: list[Call] = []
        """The outermost calls with gradients since the last backward, the first one first."""
        self.ended = True
        """Whether backward has ended since the model was called."""
        self._stack = PerThread()
        self._allowed = allowed
        self._replays = Replays(model, allowed)
        # Modules that make infinities as told: how many +Inf, and the operation, if known.
        self._masks: dict[nn.Module, dict[int, Cause | None]] = {}
        self._seen: tuple[weakref.ref[Tensor], int, Call] | None = None

    def enter(self) -> None:
        """The watch is entered."""
        self.called.clear()
        some = self._model.parameters()
        self._places = bool(self._later) or any(map(self.is_later, some))

    def leave(self) -> None:
        """The watch is left. Torch calls no hook of a module that ends by KeyboardInterrupt."""
        self._stack = PerThread()
        self.release()

    def is_later(self, tensor: Tensor) -> bool:
        """Whether the answer about a tensor stays on the device."""
        return is_away(tensor) if self._later is None else self._later

    def call(self) -> Call | None:
        """The innermost call of a module that runs in this thread."""
        stack = self._stack.open
        return stack[-1] if stack else None

    def module(self) -> nn.Module | None:
        """The innermost module that runs in this thread."""
        call = self.call()
        return None if call is None else call.module

    def is_busy(self) -> bool:
        """Whether a call of a module runs, or a replay."""
        self._drop_interrupted()
        return bool(self._stack.open or self._replays.running)

    def is_idle(self) -> bool:
        """Whether no call of a module waits for backward."""
        return self.ended or not any(call.outputs for call in self.waiting)

    def release(self) -> None:
        """There will be no backward through the calls so far."""
        self.flags.forget()
        self.waiting.clear()
        if self.mode is not None:
            # What made a tensor bad that still exists is kept: a parameter, or a mask that the
            # program uses again.
            self.mode.causes.forget_dead()

    def before(self, module: nn.Module, args: Any, kwargs: Any) -> None:
        """A module is called."""
        if torch.compiler.is_compiling() or in_transform():
            return
        if module not in self._found.paths:
            # A replica of DataParallel, on one of several devices, has the hooks, too.
            return
        if self._replays.running:
            self._replays.enter(module)
            return
        self.called.add(module)
        if module is self._top:
            self._drop_interrupted(module)
        stack = self._stack.open
        parent = stack[-1] if stack else None
        reopens = False
        if parent is None:
            reopens = outside.close()
            if not in_backward():
                self._begin(module)
        call = Call(
            module,
            parent,
            args,
            kwargs,
            torch.get_rng_state(),
            [version(each) for each in tensors((args, kwargs))],
            frames.caller() if self._places else None,
            replay.autocasts(self._devices) if parent is None else [],
            reopens,
        )
        stack.append(call)
        if parent is None:
            if self.mode is not None:
                self.mode.inputs = by_storage(call.given())
            if self._gradients and torch.is_grad_enabled():
                self.waiting.append(call)

    def _begin(self, module: nn.Module) -> None:
        """Begins a step, if this call is one. Programs may also call parts of the model one after
        the other, and a checkpoint calls modules again in backward."""
        again = bool(self.waiting) and self.waiting[0].module is module
        if module is self._top or again or self.ended:
            self.flags.answer()
            if self.ended:
                self.release()
                outside.forget()
            else:
                # Outputs that are left may have a backward pass: a program may call the model
                # several times, and add up the losses.
                self.waiting[:] = [call for call in self.waiting
                                   if any(ref() is not None for ref in call.outputs)]  # fmt: skip
                if not self.waiting:
                    self.release()
            self.ended = False
            self._steps.called()

    def after(self, module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        """A module returns."""
        if torch.compiler.is_compiling() or in_transform():
            return
        if self._replays.running:
            if module in self._found.paths:
                self._replays.leave()
            return
        stack = self._stack.open
        if not stack or stack[-1].module is not module:
            numbers = [number for number, each in enumerate(stack) if each.module is module]
            if not numbers:
                # `before` raised the finding of the call before, or the module is a replica.
                return
            # Torch calls no hook of a module that an interrupt ends, which the caller caught.
            del stack[numbers[-1] + 1 :]
        call = stack.pop()
        if self.mode is not None and not stack:
            self.mode.inputs = {}
        if output is not None and not self._found.is_judged:
            self._look(call, output)
        if call.parent is not None:
            call.release_inputs()
        elif not in_backward():
            if call.reopens or self._gradients and torch.is_grad_enabled():
                outside.open()

    def _drop_interrupted(self, *begun: nn.Module) -> None:
        """Drops all calls, if the outermost one is not on the stack of Python: the program caught
        its KeyboardInterrupt. `begun`: a module whose call begins."""
        calls = self._stack.open
        if calls and not frames.called([*begun, calls[0].module]):
            calls.clear()

    def _look(self, call: Call, output: Any) -> None:
        """Looks at the output of a call, or asks the device."""
        now = list[Tensor]()
        outputs = tensors(output)
        if call.module in self._allowed:
            # It is known what makes the values that are meant.
            call.told.mask = next(iter(self._masks.get(call.module, {}).values()), None)
        for each in outputs:
            # A container often returns the output of its last child.
            if self._seen is not None and self._seen[0]() is each:
                # In inference mode nothing tells a change in place.
                if self._seen[1] == version(each) != -1:
                    call.told.returns = self._seen[2].told
                    continue
            if call.told.mask is not None:
                pass
            elif self.is_later(each):
                self.flags.ask(each, partial(self._bad_output, call, None), self._bad_of(call))
            elif not finite(each):
                now.append(each)
                continue
            self._seen = weakref.ref(each), version(each), call
        if now and not self._only_masks(call, [look("", each) for each in now]):
            self._bad_output(call, output)
        if call.told.mask is not None and self._gradients:
            outside.explain(now or outputs, call.told.mask)
        if call.parent is None:
            self._seen = None
            if self._gradients and torch.is_grad_enabled():
                call.outputs = [weakref.ref(each) for each in outputs if each.requires_grad]
            if not call.outputs:
                self.flags.answer()

    def _only_masks(self, call: Call, bad: list[Look]) -> bool:
        """Whether the bad outputs of a call are as those of a call before, which were as told."""
        known = self._masks.get(call.module, {})
        infinities = sum(each.pos_inf for each in bad)
        if infinities not in known or any(each.nan for each in bad):
            return False
        call.told.mask = known[infinities]
        return True

    def _bad_of(self, call: Call) -> str:
        """What the device is asked about an output: not about the infinities that the module makes
        as told."""
        known = self._masks.get(call.module)
        return "non-finite" if known is None else "nan" if any(known) else "nan or +inf"

    def _bad_output(self, call: Call, output: Any) -> bool:
        """Names the operation behind a bad output, which may be gone. Returns whether there is a
        finding."""
        if self._found.is_judged:
            return True
        innermost, note = call, None
        outputs = replay.bad_looks(output)
        if self.mode is not None:
            found = self.mode.cause_of(output, masks=True)
        else:
            call, found, again, note = self._replays.forward(call)
            outputs = outputs or again
        if found is None and note is None:
            # No operation made the -Inf of other numbers: a mask.
            intended = all(each.only_minus_inf for each in outputs)
        else:
            intended = found is not None and found.kind == INTENDED
        nan = any(each.nan for each in outputs)
        if intended and (not nan or found is not None and found.is_allowed):
            innermost.told.mask = found
            if not nan or innermost.module in self._allowed:
                infinities = sum(each.pos_inf for each in outputs)
                self._masks.setdefault(innermost.module, {})[infinities] = found
            return False
        self._found.add(FORWARD, call, found, outputs, note, [call])
        return True
