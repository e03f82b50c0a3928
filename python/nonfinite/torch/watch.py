# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""`watch`: looks at the outputs and gradients of all modules of a model."""

import contextlib
import dataclasses
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from types import TracebackType
from typing import Any

import torch
from torch import Tensor, nn
from torch.optim.optimizer import register_optimizer_step_post_hook

from nonfinite.findings import ENTRY, INTENDED, Look
from nonfinite.torch import frames, notes, replay
from nonfinite.torch.called import Called
from nonfinite.torch.flags import Flags
from nonfinite.torch.history import History
from nonfinite.torch.hooked import (
    allowed,
    attach,
    eager,
    gets_hooks,
    inside_compiled,
    inside_parallel,
    paths,
    written,
)
from nonfinite.torch.look import finite, in_transform, is_away, is_batched, look, tensors, version
from nonfinite.torch.operations import Cause, Operations
from nonfinite.torch.outside import in_backward, outside
from nonfinite.torch.refuse import refuse
from nonfinite.torch.replay import Call, Calls, PerThread, Running
from nonfinite.torch.replays import Replays
from nonfinite.torch.report import BACKWARD, FORWARD, BadOperation, BadValueError, made
from nonfinite.torch.scaler import Scaler
from nonfinite.torch.storages import Named, by_storage, named


class Watch:
    """A watch of a model, for a `with` statement: names the operation that made the first NaN or
    infinity.

    model: the model. It may be compiled by torch.compile, or have parts that are.

    A step ends when an optimizer has changed the model, or with a call of `step()`. Calls without
    gradients or in eval mode, such as those of a validation, belong to the step before.

    on_bad: "raise" raises BadValueError. "record" collects findings in `findings`, one for each
    call of the model. A function is called with each finding.

    backward: whether to look at gradients and at the loss, too.

    operations: whether to look at the output of every operation, and not only of every module. It
    takes 1.2 to 2.6 times the step, most where the model is small. It names faults in modules that
    change their inputs in place, and faults of the optimizer.

    scaler: the GradScaler of the program. A bad gradient is counted in `overflows` as long as the
    scale is more than 1, and is no finding.

    once_a_step: whether the answers stay on the device until backward begins, and then until
    backward ends; without gradients until the model returns. None: on all devices except the CPU.
    A bad output is a finding of `loss.backward()` then, or of the next call of the model, or of the
    end of the watch, if there is no backward.

    allow: what may be bad: modules, or paths of modules, with `*` as in file names. The modules
    inside of these are meant, too. NaN and infinities that these modules make are intended. "input
    x" means the input x of the model, as findings name it, such as "input 0". A loss or a gradient
    of a parameter that becomes bad by these values is a finding all the same.

    The loss is looked at when backward begins, and so are the operations between the end of the
    model's call and backward. Raises UnsupportedError for models that a watch does not cover.

    A bad gradient inside of the model is no finding if a hook of the program mends it
    (`output.register_hook(torch.nan_to_num)`) before it reaches a parameter, an input or an output
    of the model.
    """

    def __init__(
        self,
        model: nn.Module,
        *,
        on_bad: str | Callable[[BadOperation], None] = "raise",
        backward: bool = True,
        operations: bool = False,
        scaler: Any = None,
        once_a_step: bool | None = None,
        allow: Sequence[str | nn.Module] = (),
    ) -> None:
        if on_bad not in ("raise", "record") and not callable(on_bad):
            raise ValueError("on_bad must be 'raise', 'record' or a function")
        refuse(model)
        self.findings: list[BadOperation] = []
        """One finding for each call of the model in which there was one."""
        self.steps = 0
        """The steps of training that have begun."""
        self.calls = 0
        """The calls of the model, also those that train nothing."""
        self._step_ended = False
        self._model, self._on_bad, self._scaler = model, on_bad, Scaler(scaler)
        self._top = inside_parallel(model)
        self._backward, self._operations = backward, operations
        self._exits = contextlib.ExitStack()
        self._mode: Operations | None = None
        self._running = Running(None)
        self._stack = PerThread()
        self._calls = Calls()
        self._allowed = allowed(model, allow)
        self._replays = Replays(model, self._allowed)
        self._found_in: int | None = None
        # Modules that make infinities as told: how many +Inf, and the operation, if known.
        self._masks: dict[nn.Module, dict[int, Cause | None]] = {}
        self._devices = {each.device.type for each in model.parameters()} | {"cpu"}
        self._paths: dict[nn.Module, str] = {}
        self._parameters: set[int] = set()
        self.names: Named = {}
        self._history = History(model)
        self._entered = False
        self._called = Called(model, self._top)
        self._ended = True
        # Whether the backward pass that runs has come to this model.
        self._reached = False
        self._once_a_step = once_a_step
        self._flags = Flags()
        self._seen: tuple[weakref.ref[Tensor], int, Call] | None = None

    @property
    def first(self) -> BadOperation | None:
        """The first finding."""
        return self.findings[0] if self.findings else None

    @property
    def overflows(self) -> int:
        """How often a gradient overflowed under the GradScaler, as expected."""
        return self._scaler.overflows

    def step(self) -> None:
        """Ends a step, in a program that has no optimizer of torch."""
        self.steps += 1
        self._step_ended = False

    def __enter__(self) -> "Watch":
        if self._entered:
            raise RuntimeError("this watch is in use: make another one for an inner `with`")
        self._called.clear()
        self.names = named(self._model)
        self._paths = paths(self._model)
        self._parameters = {id(each) for each in self._model.parameters()}
        inside = inside_compiled(self._model)
        # An error below removes what has been added to the model and to torch.
        with contextlib.ExitStack() as exits:
            for module in self._paths:
                if module is self._top or gets_hooks(module) and module not in inside:
                    exits.callback(attach(module, self._before, self._after))
            if self._backward:
                for name, parameter in self._model.named_parameters():
                    if parameter.requires_grad:
                        hook = partial(self._see, f"gradient of {written(name)}", None, parameter)
                        exits.callback(parameter.register_hook(hook).remove)
                outside.join(self)
                exits.callback(outside.leave, self)
            exits.callback(register_optimizer_step_post_hook(self._stepped).remove)
            if self._operations:
                where = self._running.module
                self._mode = Operations(
                    self.names, where, in_backward, whole=True, allowed=self._allowed
                )
                exits.enter_context(self._mode)
            self._exits = exits.pop_all()
        self._entered = True
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            # The program may end because of what the device has not been asked for yet.
            if not self._stack.open and (kind is None or issubclass(kind, Exception)):
                self._flags.answer()
        finally:
            self._exits.close()
            # Torch calls no hook of a module that ends by KeyboardInterrupt.
            self._stack = PerThread()
            self._running = Running(None)
            self._release()
            self._entered = False
        if isinstance(error, BadValueError):
            error.__traceback__ = frames.of_user(trace)
        if kind is None:
            self._called.warn()

    # Forward.

    def _before(self, module: nn.Module, args: Any, kwargs: Any) -> None:
        if torch.compiler.is_compiling() or in_transform():
            return
        path = self._paths.get(module)
        if path is None:
            # A replica of DataParallel, on one of several devices, has the hooks, too.
            return
        if self._replays.running is not None:
            self._replays.running.enter(module)
            return
        self._called.add(module)
        if module is self._top:
            self._drop_interrupted(module)
        stack = self._stack.open
        parent = stack[-1] if stack else None
        if parent is None:
            was_open = outside.close()
            if not in_backward():
                self._begin(module)
        call = Call(
            module,
            path,
            parent,
            args,
            kwargs,
            torch.get_rng_state(),
            [version(each) for each in tensors((args, kwargs))],
            frames.caller() if self._backward or self._once_a_step else None,
            replay.autocasts(self._devices) if parent is None else [],
        )
        stack.append(call)
        if parent is None:
            call.reopens = was_open
        if self._mode is not None:
            self._running.enter(module)
            if parent is None:
                self._mode.inputs = by_storage(call.given())
        if self._backward and torch.is_grad_enabled():
            self._calls.append(call)

    def _begin(self, module: nn.Module) -> None:
        """Begins a step, if this call is one. Programs may also call parts of the model one after
        the other, and a checkpoint calls modules again in backward."""
        again = bool(self._calls) and self._calls[0].module is module
        if module is self._top or again or self._ended:
            self._flags.answer()
            if self._ended:
                self._release()
                outside.forget()
            else:
                self._calls.release_dead()
                if not self._calls:
                    self._forget()
            self._ended = False
            self.calls += 1
            self.steps = self.steps or 1
            if torch.is_grad_enabled() and self._model.training:
                self._trains()

    def _trains(self) -> None:
        """Training goes on: in a new step, if the one before has ended."""
        if self._step_ended or self._scaler.skipped():
            self._step_ended = False
            self.steps += 1

    def _stepped(self, optimizer: torch.optim.Optimizer, args: Any, kwargs: Any) -> None:
        """An optimizer has made a step."""
        changed = {id(each) for group in optimizer.param_groups for each in group["params"][:1]}
        self._step_ended |= not changed.isdisjoint(self._parameters)

    def _after(self, module: nn.Module, args: Any, kwargs: Any, output: Any) -> None:
        if torch.compiler.is_compiling() or in_transform():
            return
        if self._replays.running is not None:
            if module in self._paths:
                self._replays.running.leave(output)
            return
        stack = self._stack.open
        if not stack or stack[-1].module is not module:
            numbers = [number for number, each in enumerate(stack) if each.module is module]
            if not numbers:
                # `_before` raised the finding of the call before, or the module is a replica.
                return
            # Torch calls no hook of a module that an interrupt ends, which the caller caught.
            self._drop(numbers[-1] + 1)
        call = stack.pop()
        if self._mode is not None:
            self._running.leave(output)
            if not stack:
                self._mode.inputs = {}
        if output is not None and self._found_in != self.calls:
            self._look(call, output)
        if call.parent is not None:
            call.release_inputs()
        if not stack and not in_backward():
            if call.reopens or self._backward and torch.is_grad_enabled():
                outside.open()

    def _drop(self, kept: int) -> None:
        """Drops the calls that an interrupt has ended."""
        while len(self._stack.open) > kept:
            self._stack.open.pop()
            if self._mode is not None:
                self._running.leave(None)

    def _drop_interrupted(self, *begun: nn.Module) -> None:
        """Drops all calls, if the outermost one is not on the stack of Python: the program caught
        its KeyboardInterrupt. `begun`: a module whose call begins."""
        calls = self._stack.open
        if calls and not frames.called([*begun, calls[0].module]):
            self._drop(0)

    def _look(self, call: Call, output: Any) -> None:
        """Looks at the output of a call, or asks the device, and waits for gradients."""
        now = list[Tensor]()
        outputs = tensors(output)
        if call.module in self._allowed:
            # It is known what makes the values that are meant.
            call.mask = next(iter(self._masks.get(call.module, {}).values()), None)
        for each in outputs:
            # A container often returns the output of its last child.
            if self._seen is not None and self._seen[0]() is each:
                # In inference mode nothing tells a change in place.
                if self._seen[1] == version(each) != -1:
                    call.returns = self._seen[2]
                    continue
            if call.mask is not None:
                pass
            elif self.is_later(each):
                self._flags.ask(each, partial(self._bad_output, call, None), self._bad_of(call))
            elif not finite(each):
                now.append(each)
                continue
            self._seen = weakref.ref(each), version(each), call
        if now and not self._only_masks(call, [look("", each) for each in now]):
            self._bad_output(call, output)
        if call.mask is not None and self._backward:
            outside.explain(now or outputs, call.mask)
        if call.parent is None:
            self._seen = None
            gradients = self._backward and torch.is_grad_enabled()
            if gradients:
                call.outputs = [weakref.ref(each) for each in outputs if each.requires_grad]
                self._hook_gradients(call, outputs)
            if not (gradients and call.outputs):
                self._flags.answer()

    def _only_masks(self, call: Call, bad: list[Look]) -> bool:
        """Whether the bad outputs of a call are as those of a call before, which were as told."""
        known = self._masks.get(call.module, {})
        infinities = sum(each.pos_inf for each in bad)
        if infinities not in known or any(each.nan for each in bad):
            return False
        call.mask = known[infinities]
        return True

    def is_later(self, tensor: Tensor) -> bool:
        """Whether the answer about a tensor stays on the device."""
        if self._operations:
            return False
        return is_away(tensor) if self._once_a_step is None else self._once_a_step

    def _bad_of(self, call: Call) -> str:
        """What the device is asked about an output: not about the infinities that the module makes
        as told."""
        known = self._masks.get(call.module)
        return "non-finite" if known is None else "nan" if any(known) else "nan or +inf"

    def _bad_output(self, call: Call, output: Any) -> bool:
        """Names the operation behind a bad output, which may be gone. Returns whether there is a
        finding."""
        if self._found_in == self.calls:
            return True
        innermost, note = call, None
        outputs = replay.bad_looks(output)
        if self._mode is not None:
            found = self._mode.cause_of(output, masks=True)
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
            innermost.mask = found
            if not nan or innermost.module in self._allowed:
                infinities = sum(each.pos_inf for each in outputs)
                self._masks.setdefault(innermost.module, {})[infinities] = found
            return False
        self._report(FORWARD, call, found, outputs, note)
        return True

    # Backward.

    def _hook_gradients(self, call: Call, outputs: list[Tensor]) -> None:
        """Looks at the gradients that the outermost call gets and gives. A bad gradient inside
        reaches those, or a parameter, if it matters."""
        for number, each in enumerate(outputs):
            if each.requires_grad:
                handle = each.register_hook(partial(self._gradient, call, number))
                if each.is_leaf:
                    # A parameter, which stays.
                    call.hooks.append(handle)
        for name, each in zip(call.names(), call.inputs(), strict=True):
            if each.requires_grad:
                # A program may call its model with one tensor in many steps.
                hook = partial(self._see, f"gradient of {name}", call, None)
                call.hooks.append(each.register_hook(hook))

    def _gradient(self, call: Call, number: int, grad: Tensor) -> None:
        """An output of the outermost call has a gradient."""
        if self._replays.running is None and not call.released and not is_batched(grad):
            # A replay drops the bad ones.
            call.grads[number] = grad
            self._see(f"gradient of output {number}", call, None, grad)

    def _see(self, title: str, call: Call | None, parameter: Tensor | None, grad: Tensor) -> None:
        """Looks at a gradient."""
        if self._replays.running is not None or is_batched(grad):
            return
        self._reached = True
        if self._found_in == self.calls:
            return
        bad = partial(self._bad_gradient, title, call, parameter)
        if not self.is_later(grad):
            if not finite(grad):
                bad(grad)
        else:
            # A gradient of a parameter that is kept here would be copied into the parameter.
            self._flags.ask(grad, partial(bad, grad if parameter is None else None))

    def _bad_gradient(
        self, title: str, call: Call | None, parameter: Tensor | None, grad: Tensor | None
    ) -> bool:
        """Names the operation behind a bad gradient. Returns True: the step is judged."""
        if self._found_in == self.calls or self._is_expected(self._scaler.expects()):
            return True
        if parameter is not None:
            call = self._calls.owner(parameter)
        at, note = call, None
        if self._mode is not None:
            found = self._mode.cause_of(grad, masks=True)
        else:
            at, found, note = self._replays.backward(self._calls)
            if found is None and call is not None and call.released:
                note = notes.RELEASED
        if grad is None and parameter is not None:
            grad = parameter.grad
        looks = () if grad is None else (look(title, grad),)
        self._report(BACKWARD, at or call, found, looks, note, note == notes.LOSS)
        return True

    def _is_expected(self, expected: bool) -> bool:
        """If so, the step is judged."""
        if expected:
            self._found_in = self.calls
        return expected

    # Outside of the model.

    def is_busy(self) -> bool:
        """Whether a call of a module runs, or a replay."""
        self._drop_interrupted()
        return bool(self._stack.open) or self._replays.running is not None

    def is_idle(self) -> bool:
        """Whether no call of a module waits for backward."""
        return self._ended or not self._calls.wait()

    def backward_begins(
        self, roots: list[Tensor], bad: list[Tensor], seen: Operations | None
    ) -> None:
        """Backward begins with `roots`, of which some may be bad. `seen`: the operations outside of
        the model."""
        self._reached = False
        if not self.is_idle():
            self._trains()
        self._flags.answer()
        self._history.add(self._step(), roots)
        if not bad or self._found_in == self.calls:
            return
        seen = self._mode or seen
        found = seen.cause_of(bad, masks=True) if seen is not None else None
        if found is None or found.unseen:
            # Of outputs on a device the operations outside do not know that they are meant.
            masks = (call.given_mask() for call in reversed(self._calls))
            known = (each for each in masks if each and (found is None or each.is_allowed))
            found = next(known, found)
        if self._is_expected(self._scaler.expects_loss(found)):
            return
        note = notes.LOSS_IS_BAD if found is None else None
        if found is not None and found.is_mask_from_outside:
            found = dataclasses.replace(found, kind=ENTRY)
        looks = tuple(look(f"loss {n}" if n else "loss", each) for n, each in enumerate(bad))
        self._report(FORWARD, None, found, looks, note, outside=True)

    def bad_outside(self, found: Cause) -> None:
        """An operation outside of the model made a bad gradient of a loss that is finite."""
        if self._found_in != self.calls and not self._is_expected(self._scaler.expects()):
            self._report(BACKWARD, None, found, found.outputs, None, outside=True)

    def backward_ends(self, ran: bool, keeps: bool, creates: bool) -> None:
        """Backward ends. `ran`: without an error. `keeps`: the graph. `creates`: a graph of the
        gradients, which are a part of the step then."""
        if creates or not self._reached:
            self._history.drop()
        if not self._reached and not self.is_idle():
            # It is one of another model, and this one waits for another backward.
            return
        self._ended = not creates
        try:
            if ran:
                self._flags.answer()
        finally:
            if not keeps and not creates:
                self._release()

    def _release(self) -> None:
        self._flags.forget()
        self._calls.release()
        self._forget()

    def _forget(self) -> None:
        """There will be no backward through the operations so far."""
        self._running.forget()
        if self._mode is not None:
            self._mode.forget_graph()

    # Both.

    def _report(
        self,
        phase: str,
        call: Call | None,
        found: Cause | None,
        outputs: Any,
        note: str | None,
        outside: bool = False,
    ) -> None:
        """Makes a finding. `outside`: the operation is not one of the model."""
        module: nn.Module | None = None if outside else call.module if call else self._model
        place = found.place if found is not None else None
        if found is not None:
            module, phase = found.module, found.phase
        if place is None and call is not None and not outside:
            place = call.place
        if place is None and (outside or phase == FORWARD):
            # For a bad gradient from outside: the line that calls backward.
            place = frames.caller()
        if found is not None and found.kind == INTENDED:
            note = notes.MASK.format(outputs[0].name if outputs else "gradients")
        elif found is not None and self._mode is None:
            note = note or notes.of_entry(found, self._step())
        if note is not None and self._mode is not None:
            note = note.removesuffix(notes.ADVICE)
        scaled = self._scaler.note(phase, found)
        finding = made(
            found,
            given=self._bad_inputs(call),
            phase=phase,
            module=None if module is None else self._paths.get(module, "?"),
            module_type="" if module is None else type(eager(module)).__name__,
            place=place,
            outputs=outputs,
            step=self._step(),
            call=max(self.calls - 1, 0),
            note="; ".join(filter(None, (note, scaled))) or None,
            history=self._history.diverging(self._step()),
        )
        self._found_in = self.calls
        self.findings.append(finding)
        if callable(self._on_bad):
            self._on_bad(finding)
        elif self._on_bad == "raise":
            raise BadValueError(finding)

    def _bad_inputs(self, call: Call | None) -> tuple[Look, ...]:
        """What the model got that was bad: in the call, or in all calls of the step."""
        calls = [each for each in self._calls if each.parent is None] if call is None else [call]
        return tuple(
            look(name, each) for some in calls for name, each in some.given() if not finite(each)
        )

    def _step(self) -> int:
        """How many steps came before this one."""
        return max(self.steps - 1, 0)
