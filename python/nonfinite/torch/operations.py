# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Looks at every operation of torch, and names those that make a NaN or an infinity."""

import math
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode

from nonfinite.torch import frames
from nonfinite.torch.look import finite, look, tensors
from nonfinite.torch.report import BACKWARD, FORWARD
from nonfinite.trace.results import ENTRY, NAN_FROM_INF, ORIGIN, Look


@dataclass(eq=False)
class Found:
    """An operation whose output is bad, and whose inputs do not explain that."""

    kind: str
    operator: str
    place: frames.Place | None
    inputs: tuple[Look, ...]
    outputs: tuple[Look, ...]
    module: Any
    """The module that ran. None outside of the model."""
    number: int
    """How many were found before."""
    phase: str
    parameter: str | None = None


class Operations(TorchDispatchMode):
    """Looks at the outputs of every operation while the mode is on.

    An output is *explained* if an input is bad in the same way: NaN comes from NaN, infinities from
    infinities. -Inf from an operation that got -Inf as a number (masked_fill, full) is a mask.
    `causes` has the operations that are left, by the storage of the tensors that they made bad.

    `named` gives names to parameters and buffers. `where` says which module is running, and
    `backward` whether the operation belongs to a backward pass. `whole`: the mode sees the whole
    program, and not the replay of a call. A tensor with a NaN that no operation made comes from
    outside then, as the targets of a loss do, and the first operation that reads it is an entry.
    """

    def __init__(
        self,
        named: Mapping[int, str],
        where: Callable[[], Any],
        backward: Callable[[], bool],
        whole: bool = False,
    ) -> None:
        super().__init__()
        self._whole = whole
        self.inputs: dict[int, str] = {}
        """Names of the inputs of the model, while it is called."""
        self._named = named
        self._where = where
        self._backward = backward
        self.causes: dict[int, Found] = {}
        self._found = 0
        # Storage of bad tensors. While the tensors are kept, no other tensor gets their address.
        self._kept: list[Tensor] = []
        if "torch._dynamo" in sys.modules:
            # In a model that calls a compiled function Dynamo would compile the frame of
            # `__torch_dispatch__` for each of 8 operations: seconds, and a warning.
            torch._dynamo.eval_frame.skip_code(Operations.__torch_dispatch__.__code__)

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Asked by torch. `True` would load Dynamo and sympy at the first operation: 150 MB, and
        more than a second."""
        return False

    def __torch_dispatch__(
        self, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        # A program that compiles functions has loaded Dynamo, which must not compile the look.
        run = self._uncompiled if "torch._dynamo" in sys.modules else self._run
        return run(func, args, kwargs or {})

    @cached_property
    def _uncompiled(self) -> Any:
        """`_run`, wrapped once for all operations."""
        return torch.compiler.disable(self._run)

    def _run(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Runs an operation, and looks at its outputs."""
        mutable = func._schema.is_mutable
        before = self._bad_inputs(func, args, kwargs) if mutable else None
        looks_before = self._looks(func, args, kwargs) if before == [] else None
        result = func(*args, **kwargs)
        if func.is_view:
            return result
        if mutable and func._schema.name in _OVERWRITES:
            self.causes.pop(storage(args[0]), None)
        bad = [each for each in tensors(result) if not finite(each)]
        if bad:
            inputs = self._bad_inputs(func, args, kwargs) if before is None else before
            self._judge(func, args, kwargs, bad, inputs, looks_before)
        return result

    def _bad_inputs(self, func: Any, args: Any, kwargs: Any) -> list[tuple[Tensor, Look]]:
        """The bad tensors that the operation reads. `out=` and what `fill_` or `copy_` overwrite
        are not read."""
        args, kwargs = without_statistics(func, args, kwargs)
        overwrites = func._schema.name in _OVERWRITES
        read = {key: value for key, value in kwargs.items() if key != "out"}
        found = tensors((args[1:] if overwrites else args, read))
        return [(each, look("input", each)) for each in found if not finite(each)]

    def _looks(self, func: Any, args: Any, kwargs: Any) -> tuple[Look, ...]:
        args, kwargs = without_statistics(func, args, kwargs)
        found = [each for each in tensors((args, kwargs)) if each.is_floating_point()]
        names = [self._named.get(storage(each), f"{n}") for n, each in enumerate(found)]
        return tuple(map(look, names, found))

    def _judge(
        self,
        func: Any,
        args: Any,
        kwargs: Any,
        bad: list[Tensor],
        inputs: list[tuple[Tensor, Look]],
        looks_before: tuple[Look, ...] | None,
    ) -> None:
        outputs = tuple(look(f"output {n}", each) for n, each in enumerate(bad))
        kind, parameter = self._kind(func, args, kwargs, outputs, inputs)
        cause = next((self.causes[key] for each, _ in inputs
                      if (key := storage(each)) in self.causes), None)
        outside = None
        if kind is None and cause is None and self._whole:
            outside = next((each for each, found in inputs if found.nan), None)
            if outside is not None:
                kind, parameter = ENTRY, self._name_of(outside, args, kwargs)
        if kind is not None and (cause is None or kind != NAN_FROM_INF):
            operator, place = str(func), frames.caller()
            node = torch._C._current_autograd_node() if self._backward() else None
            if node is not None:
                operator += f" in {node.name()}"
                metadata: Any = node.metadata
                place = frames.of_traceback(metadata.get("traceback_", []))
            looks = self._looks(func, args, kwargs) if looks_before is None else looks_before
            module, number = self._where(), self._found
            self._found += 1
            phase = BACKWARD if self._backward() else FORWARD
            cause = Found(kind, operator, place, looks, outputs, module, number, phase, parameter)
        if cause is not None:
            for each in bad if outside is None else [*bad, outside]:
                self._kept.append(each)
                self.causes[storage(each)] = cause

    def _name_of(self, tensor: Tensor, args: Any, kwargs: Any) -> str:
        """The name of a tensor from outside."""
        number = [each is tensor for each in tensors((args, kwargs))].index(True)
        name = f"tensor {number} of the operation, which no operation in the watch made"
        return self.inputs.get(storage(tensor), name)

    def _kind(
        self,
        func: Any,
        args: Any,
        kwargs: Any,
        outputs: tuple[Look, ...],
        inputs: list[tuple[Tensor, Look]],
    ) -> tuple[str | None, str | None]:
        """The kind, and the name of a bad parameter. None: explained or intended."""
        for tensor, found in inputs:
            name = self._named.get(storage(tensor))
            # The mode may have seen what made the parameter bad, as a step of the optimizer.
            known = storage(tensor) in self.causes
            if name is not None and not known and not found.only_minus_inf:
                return ENTRY, name
        nan = any(each.nan for each in outputs)
        if inputs:
            explained = not nan or any(found.nan for _, found in inputs)
            return (None if explained else NAN_FROM_INF), None
        masks = [each for each in _numbers((args, kwargs)) if not math.isfinite(each)]
        if masks and not nan:
            return None, None
        # That includes `empty`, whose memory may hold anything. The operation becomes a finding
        # only if the tensor is still bad when another operation reads it.
        return ORIGIN, None

    def cause_of(self, outputs: Any) -> Found | None:
        """The operation behind bad outputs of a module: the first in time, if there are several."""
        found = [
            cause for each in tensors(outputs)
            if (cause := self.causes.get(storage(each))) is not None and not finite(each)
        ]  # fmt: skip
        return min(found, key=lambda cause: cause.number, default=None)


_OVERWRITES = {"aten::fill_", "aten::copy_", "aten::zero_", "aten::normal_", "aten::uniform_"}


_RUNNING = ("running_mean", "running_var")


@cache
def _argument_names(func: Any) -> tuple[str, ...]:
    """The names of an operation's arguments. Kept, since every operation asks for them."""
    return tuple(each.name for each in func._schema.arguments)


def without_statistics(func: Any, args: Any, kwargs: Any) -> tuple[Any, Any]:
    """The arguments without the running statistics of a batch normalisation that trains. These are
    written and not read: a NaN in the batch is in them, too, when the operation has run, and when
    the call runs again. The schemas of some of the operations do not say that."""
    names = _argument_names(func)
    if _RUNNING[0] not in names:
        return args, kwargs
    given = {**dict(zip(names, args, strict=False)), **kwargs}
    reads = func._schema.name.endswith(("no_training", "no_update"))
    if not given.get("training", given.get("train", not reads)):
        return args, kwargs
    kept = [None if name in _RUNNING else each for name, each in zip(names, args, strict=False)]
    return tuple(kept), {name: each for name, each in kwargs.items() if name not in _RUNNING}


def _numbers(value: Any) -> list[float]:
    if isinstance(value, float):
        return [value]
    if isinstance(value, (tuple, list)):
        return [found for each in value for found in _numbers(each)]
    if isinstance(value, dict):
        return _numbers(list(value.values()))
    return []


def storage(tensor: Tensor) -> int:
    """The address of the memory of a tensor, or its id if the tensor has none."""
    if tensor.is_nested:
        tensor = tensor.values()
    try:
        return tensor.untyped_storage().data_ptr() or id(tensor)
    except (NotImplementedError, RuntimeError):
        return id(tensor)


def named(model: torch.nn.Module) -> dict[int, str]:
    """The names of parameters and buffers, by [`storage`]: views have the same."""
    pairs = [*model.named_parameters(), *model.named_buffers()]
    return {storage(tensor): name for name, tensor in pairs}
