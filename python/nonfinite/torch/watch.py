# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""`watch`: looks at the outputs and gradients of all modules of a model."""

import contextlib
import weakref
from collections.abc import Callable
from functools import partial
from types import TracebackType
from typing import Any

import torch
from torch import Tensor, nn

from nonfinite.torch import frames, notes, replay
from nonfinite.torch.called import Called
from nonfinite.torch.hooked import gets_hooks, inside_parallel, owns
from nonfinite.torch.later import Later
from nonfinite.torch.look import finite, in_transform, look, tensors, version
from nonfinite.torch.operations import Found, Operations, named
from nonfinite.torch.refuse import refuse
from nonfinite.torch.replay import Call, Running
from nonfinite.torch.replays import Replays
from nonfinite.torch.report import BACKWARD, FORWARD, UNKNOWN, Finding, BadValueError
from nonfinite.torch.waiting import Waiting, carrier


def in_backward() -> bool:
    """Whether this thread runs a backward pass."""
    return torch._C._current_autograd_node() is not None


class Watch:
    """The watch of a model. `watch` makes one.

    A hook that mends the gradient of the output of an `nn.Linear` or `nn.LayerNorm`
    (`output.register_hook(torch.nan_to_num)`) hides that the gradient was bad: the watch looks at
    the gradient of the weight, which is finite then.
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        on_bad: str | Callable[[Finding], None] = "raise",
        backward: bool = True,
        operations: bool = False,
        scaler: Any = None,
        once_a_step: bool | None = None,
    ) -> None:
        if on_bad not in ("raise", "record") and not callable(on_bad):
            raise ValueError("on_bad must be 'raise', 'record' or a function")
        if scaler is not None and not hasattr(scaler, "get_scale"):
            raise TypeError(f"scaler is a {type(scaler).__name__}, and must be a GradScaler")
        refuse(model)
        self.findings: list[Finding] = []
        """One finding for each step in which there was one."""
        self.overflows = 0
        """How often a gradient overflowed under the GradScaler, as expected."""
        self.steps = 0
        self._model, self._on_bad, self._scaler = model, on_bad, scaler
        self._top = inside_parallel(model)
        self._backward, self._operations = backward, operations
        self._exits = contextlib.ExitStack()
        self._mode: Operations | None = None
        self._running = Running(None)
        self._stack: list[Call] = []
        self._calls: list[Call] = []
        self._replays = Replays(model)
        self._found_in: int | None = None
        self._masks: set[nn.Module] = set()
        self._devices = {each.device.type for each in model.parameters()} | {"cpu"}
        self._paths: dict[nn.Module, str] = {}
        self._entered = False
        self._called = Called(model, self._top)
        self._ending = False
        self._ended = True
        self._once_a_step = once_a_step
        self._later = Later()
        self._waiting = Waiting()
        self._seen: tuple[weakref.ref[Tensor], int] | None = None
        self._seen_gradient: weakref.ref[Tensor] | None = None

    @property
    def first(self) -> Finding | None:
        """The first finding."""
        return self.findings[0] if self.findings else None

    def __enter__(self) -> "Watch":
        if self._entered:
            raise RuntimeError("this watch is in use: make another one for an inner `with`")
        self._entered = True
        self._called.clear()
        for path, module in self._model.named_modules():
            self._paths[module] = path
            if module is not self._top and not gets_hooks(module):
                continue
            before = module.register_forward_pre_hook(self._before, with_kwargs=True)
            after = module.register_forward_hook(self._after, with_kwargs=True, always_call=True)
            self._exits.callback(before.remove)
            self._exits.callback(after.remove)
        if self._backward:
            for name, parameter in self._model.named_parameters():
                if parameter.requires_grad:
                    handle = parameter.register_post_accumulate_grad_hook(self._parameter(name))
                    self._exits.callback(handle.remove)
        if self._operations:
            self._exits.enter_context(torch.autograd.set_detect_anomaly(True, False))
            names, where = named(self._model), self._running.module
            self._mode = Operations(names, where, in_backward, whole=True)
            self._exits.enter_context(self._mode)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._exits.close()
        self._release()
        self._entered = False
        if kind is None:
            self._called.warn()

    # Forward.

    def _before(self, module: nn.Module, args: Any, kwargs: Any) -> None:
        if torch.compiler.is_compiling() or in_transform():
            return
        if self._replays.running is not None:
            self._replays.running.enter(module)
            return
        self._called.add(module)
        parent = self._stack[-1] if self._stack else None
        if parent is None and not in_backward():
            self._begin(module)
        call = Call(
            module,
            self._paths[module],
            parent,
            args,
            kwargs,
            torch.get_rng_state(),
            [version(each) for each in tensors((args, kwargs))],
            frames.caller() if self._backward or self._once_a_step else None,
            replay.autocasts(self._devices) if parent is None else [],
        )
        self._stack.append(call)
        if self._mode is not None:
            self._running.enter(module)
            if parent is None:
                self._mode.inputs = replay.names_of(call)
        if self._backward and torch.is_grad_enabled():
            self._calls.append(call)

    def _begin(self, module: nn.Module) -> None:
        """Begins a step, if this call is one. Programs may also call parts of the model one after
        the other, and a checkpoint calls modules again in backward."""
        again = bool(self._calls) and self._calls[0].module is module
        if module is self._top or again or self._ended:
            if self._ended or self._ending:
                self._release()
            else:
                self._release_dead()
            self._ending = self._ended = False
            self.steps += 1

    def _release_dead(self) -> None:
        """Releases the calls of models whose outputs are gone. Outputs that are left may have a
        backward pass: a program may call the model several times, and add up the losses."""
        kept, calls = [], self._calls
        for call in calls:
            if any(ref() is not None for ref in call.outermost().outputs):
                kept.append(call)
            else:
                call.release()
        self._calls = kept
        if not kept:
            self._running.forget()

    def _after(self, module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        if torch.compiler.is_compiling() or in_transform():
            return
        if self._replays.running is not None:
            self._replays.running.leave(output)
            return
        call = self._stack.pop()
        if self._mode is not None:
            self._running.leave(output)
            if not self._stack:
                self._mode.inputs = {}
        if output is not None and self._found_in != self.steps:
            self._look(call, output)
        if call.parent is not None and not self._later.asked:
            call.release_inputs()

    def _look(self, call: Call, output: Any) -> None:
        """Looks at the output of a call, or asks the device, and waits for gradients."""
        module, now = call.module, list[Tensor]()
        outputs = tensors(output)
        for each in outputs:
            # A container often returns the output of its last child.
            if self._seen is not None and self._seen[0]() is each:
                if self._seen[1] == version(each):
                    continue
            if self._is_later(each):
                if module not in self._masks:
                    self._later.ask(each, partial(self._bad_output, call, None))
            elif not finite(each):
                now.append(each)
                continue
            self._seen = weakref.ref(each), version(each)
        if now and not self._only_a_mask(module, now):
            self._bad_output(call, output)
        if not self._stack and self._later.asked:
            self._later.answer()
            for inner in reversed(self._calls):
                if inner.parent is None:
                    break
                inner.release_inputs()
        if self._backward and torch.is_grad_enabled():
            if call.parent is None:
                call.outputs = [weakref.ref(each) for each in outputs]
            for number, each in enumerate(outputs):
                if each.requires_grad:
                    each.register_hook(self._gradient(call, number))

    def _only_a_mask(self, module: nn.Module, bad: list[Tensor]) -> bool:
        return module in self._masks and all(look("", each).only_minus_inf for each in bad)

    def _is_later(self, tensor: Tensor) -> bool:
        return not tensor.is_cpu if self._once_a_step is None else self._once_a_step

    def _bad_output(self, call: Call, output: Any) -> bool:
        """Names the operation behind a bad output. Returns whether there is a finding."""
        if self._found_in == self.steps:
            return True
        innermost, note = call, None
        outputs = replay.bad_looks(output)
        if self._mode is not None:
            found = self._mode.cause_of(output)
        else:
            call, found, again, note = self._replays.forward(call)
            outputs = outputs or again
        if found is None and note is None and all(each.only_minus_inf for each in outputs):
            # No operation made the -Inf of other numbers: a mask.
            self._masks.add(innermost.module)
            return False
        self._report(FORWARD, call, found, outputs, note)
        return True

    # Backward.

    def _gradient(self, call: Call, number: int) -> Callable[[Tensor], None]:
        def hook(grad: Tensor) -> None:
            if self._replays.running is not None or self._found_in == self.steps:
                return
            if not self._ending:
                self._ending = True
                engine = torch.autograd.Variable._execution_engine
                engine.queue_callback(self._end_of_backward)
            # `_bad_gradient` drops the bad ones.
            if call.parent is None and not call.released:
                call.grads[number] = grad
            if self._is_later(grad):
                self._later.ask(grad, partial(self._bad_gradient, grad, call, number))
            elif self._seen_gradient is None or self._seen_gradient() is not grad:
                weight = carrier(call.module)
                if weight is not None:
                    bad = partial(self._bad_gradient, grad, call, number)
                    self._waiting.add(weight, grad, bad)
                elif not finite(grad):
                    self._waiting.look()
                    self._bad_gradient(grad, call, number)
                self._seen_gradient = weakref.ref(grad)

        return hook

    def _parameter(self, name: str) -> Callable[[Tensor], None]:
        def hook(parameter: Tensor) -> None:
            grad = parameter.grad
            if self._replays.running is not None or self._found_in == self.steps or grad is None:
                return
            bad = partial(self._bad_gradient, grad, None, 0, name, parameter)
            if self._is_later(grad):
                self._later.ask(grad, bad)
            elif finite(grad):
                self._waiting.settle(parameter)
            else:
                self._waiting.look()
                bad()

        return hook

    def _bad_gradient(
        self,
        grad: Tensor,
        call: Call | None,
        number: int,
        name: str | None = None,
        parameter: Tensor | None = None,
    ) -> bool:
        """Names the operation behind the bad gradient of an output of `call`, or of a parameter.
        Returns True: the step is judged."""
        if self._found_in == self.steps:
            return True
        scale = None
        if self._scaler is not None and self._scaler.is_enabled():
            scale = self._scaler.get_scale()
            if scale > 1:
                self.overflows += 1
                self._found_in = self.steps
                return True
        if parameter is not None:
            call = next((each for each in self._calls if owns(each.module, parameter)), None)
        at, note = call, None
        if self._mode is not None:
            found = self._mode.cause_of(grad)
        else:
            at, found, note = self._replays.backward(self._calls)
            if found is None and call is not None and call.released:
                note = notes.RELEASED
        outside = note == notes.LOSS
        if scale is not None:
            note = "; ".join(filter(None, (note, notes.scaled(scale, self.overflows))))
        path = f"model.{call.path}" if call and call.path else "model"
        title = f"gradient of {name}" if name else f"gradient of output {number} of {path}"
        self._report(BACKWARD, at or call, found, (look(title, grad),), note, outside)
        return True

    def _end_of_backward(self) -> None:
        self._ending, self._ended = False, True
        self._later.answer()
        self._waiting.look()
        self._release()

    def _release(self) -> None:
        self._later.forget()
        self._waiting.forget()
        self._seen_gradient = None
        for call in self._calls:
            call.release()
        self._calls.clear()
        self._running.forget()

    # Both.

    def _report(
        self,
        phase: str,
        call: Call | None,
        found: Found | None,
        outputs: Any,
        note: str | None,
        outside: bool = False,
    ) -> None:
        """Makes a finding. `outside`: the bad gradient came from outside of the model."""
        module: nn.Module | None = call.module if call else self._model
        place = call.place if call else None
        if outside:
            # The line that calls backward: no other one is known.
            module, place = None, frames.caller()
        elif found is not None:
            module, phase, place = found.module, found.phase, found.place or place
        if place is None and phase == FORWARD:
            place = frames.caller()
        distributed = torch.distributed.is_available() and torch.distributed.is_initialized()
        finding = Finding(
            kind=found.kind if found else UNKNOWN,
            phase=phase,
            module=None if module is None else self._paths.get(module, "?"),
            module_type="" if module is None else type(module).__name__,
            operator=found.operator if found else None,
            file=place[0] if place else None,
            line=place[1] if place else None,
            code=frames.code_of(place),
            inputs=found.inputs if found else (),
            outputs=found.outputs if found else outputs,
            step=self.steps - 1,
            rank=torch.distributed.get_rank() if distributed else None,
            parameter=found.parameter if found else None,
            note=note,
        )
        self._found_in = self.steps
        self.findings.append(finding)
        if callable(self._on_bad):
            self._on_bad(finding)
        elif self._on_bad == "raise":
            raise BadValueError(finding)
