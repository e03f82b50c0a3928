# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""`watch`: puts together what looks at the calls of a model, at its loss and its gradients."""

import contextlib
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any

from torch import nn
from torch.optim.optimizer import register_optimizer_step_post_hook

from nonfinite.torch import frames
from nonfinite.torch.forward import Forward
from nonfinite.torch.found import Found
from nonfinite.torch.gradients import Gradients
from nonfinite.torch.history import Steps
from nonfinite.torch.hooked import allowed, attach, gets_hooks, inside_compiled, inside_parallel
from nonfinite.torch.operations import Operations
from nonfinite.torch.outside import outside
from nonfinite.torch.refuse import refuse
from nonfinite.torch.report import BadOperation, BadValueError
from nonfinite.torch.scaler import Scaler


class Watch:
    """A watch of a model, for a `with` statement: names the operation that made the first NaN or
    infinity.

    model: the model. It may be compiled by torch.compile, or have parts that are.

    A step ends when an optimizer has changed the model, or with a call of `step()`. Calls without
    gradients or in eval mode, such as those of a validation, belong to the step before.

    on_bad: "raise" raises BadValueError. "record" collects findings in `findings`, one for each
    call of the model. A function is called with each finding.

    backward: whether to look at gradients and at the loss, too.

    operations: whether to look at the output of every operation, and not only of every module. A
    step takes 1.5 to 2.5 of its time, most where the model is small. The option names
    faults in modules that change their inputs in place, and faults of the optimizer.

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

    Backward is bad when a gradient is bad that the program wanted: that of a parameter or of
    another leaf, one that `retain_grad` keeps, or one that `torch.autograd.grad` returns. Then the
    first node of autograd is named that made a bad gradient on the way there. A gradient that is
    bad inside, and that a later node or a hook of the program mends, is no finding.
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
        refuse(model)
        self._model, self._top = model, inside_parallel(model)
        self._backward, self._operations = backward, operations
        self._allowed = allowed(model, allow)
        self._scaler = Scaler(scaler)
        self._steps = Steps(model, self._scaler)
        self._found = Found(model, on_bad, self._steps, self._scaler, advises=not operations)
        self._forward = Forward(
            model, self._top, self._steps, self._found, False if operations else once_a_step,
            backward, self._allowed,
        )  # fmt: skip
        self._gradients = Gradients(model, self._forward, self._steps, self._found, self._scaler)
        self._exits = contextlib.ExitStack()
        self._entered = False

    @property
    def findings(self) -> list[BadOperation]:
        """One finding for each call of the model in which there was one."""
        return self._found.all

    @property
    def first(self) -> BadOperation | None:
        """The first finding."""
        return self.findings[0] if self.findings else None

    @property
    def steps(self) -> int:
        """The steps of training that have begun."""
        return self._steps.begun

    @property
    def calls(self) -> int:
        """The calls of the model, also those that train nothing."""
        return self._steps.calls

    @property
    def overflows(self) -> int:
        """How often a gradient overflowed under the GradScaler, as expected."""
        return self._scaler.overflows

    def step(self) -> None:
        """Ends a step, in a program that has no optimizer of torch."""
        self._steps.end()

    def __enter__(self) -> "Watch":
        if self._entered:
            raise RuntimeError("this watch is in use: make another one for an inner `with`")
        forward, gradients = self._forward, self._gradients
        for each in (self._steps, self._found, gradients, forward):
            each.enter()
        inside = inside_compiled(self._model)
        # An error below removes what has been added to the model and to torch.
        with contextlib.ExitStack() as exits:
            for module in self._found.paths:
                if module is self._top or gets_hooks(module) and module not in inside:
                    exits.callback(attach(module, forward.before, forward.after))
            if self._backward:
                outside.join(gradients)
                exits.callback(outside.leave, gradients)
            exits.callback(register_optimizer_step_post_hook(self._steps.changed).remove)
            if self._operations:
                forward.mode = Operations(
                    gradients.names, forward.module, whole=True, allowed=self._allowed
                )
                exits.enter_context(forward.mode)
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
            if self._forward.module() is None and (kind is None or issubclass(kind, Exception)):
                self._forward.flags.answer()
        finally:
            self._exits.close()
            self._forward.leave()
            self._entered = False
        if isinstance(error, BadValueError):
            error.__traceback__ = frames.of_user(trace)
        if kind is None:
            self._forward.called.warn()
