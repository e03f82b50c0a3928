# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Looks at every operation of torch, and names those that make a NaN or an infinity."""

import math
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any

import torch
from torch import Tensor

from nonfinite._native import Stats, stats
from nonfinite.findings import ENTRY, INTENDED, NAN_FROM_INF, ORIGIN, Look
from nonfinite.torch import frames, private
from nonfinite.torch.look import finite, is_away, is_plain, look, number, tensors, unknown
from nonfinite.torch.report import FORWARD
from nonfinite.torch.storages import Named, Storages, fills, name_of

Before = Look | Stats
"""What a tensor held: a look, or the statistics, of which few become a look."""

@dataclass(eq=False)
class Cause:
    """An operation whose output is bad, and whose inputs do not explain that."""

    kind: str
    operator: str
    place: frames.Line | None
    inputs: tuple[Look, ...]
    outputs: tuple[Look, ...]
    module: Any
    """The module that ran. None outside of the model."""
    number: int
    """How many were found before."""
    phase: str
    parameter: str | None = None
    unseen: bool = False
    """Whether the operation reads a bad tensor that none of the operations before has made."""

    @property
    def is_allowed(self) -> bool:
        """Whether a NaN is meant."""
        return self.kind == INTENDED and any(each.nan for each in self.outputs)

    @property
    def is_mask_from_outside(self) -> bool:
        """Whether the -Inf is that of an input of the model, which may be a mask."""
        return self.kind == INTENDED and self.parameter is not None


class Operations(private.TorchDispatchMode):
    """Looks at the outputs of every operation while the mode is on.

    An output is *explained* if an input is bad in the same way: NaN comes from NaN, infinities from
    infinities. -Inf from an operation that got -Inf as a number (masked_fill, full) is a mask.
    `causes` has the operations that are left, and the masks, for the tensors that they made bad.

    `named` gives names to parameters and buffers, and `inputs` to what the model got. -Inf of such
    an input is a mask as long as nothing but -Inf comes of it. `where` says which module is
    running. Operations of a backward pass are not looked at. `whole`: the mode sees
    the program from the start, or the replay of a call with good inputs. A bad tensor that no
    operation made comes from outside then, as the targets of a loss do, and the first operation
    that reads it is an entry. What is bad in the modules and inputs `allowed` is meant.
    """

    def __init__(
        self,
        named: Named,
        where: Callable[[], Any],
        *,
        whole: bool = False,
        allowed: Collection[Any] = (),
    ) -> None:
        super().__init__()
        self._whole = whole
        self._allowed = allowed
        self.inputs: Named = {}
        """The inputs of the model, while it is called."""
        self._named = named
        self._where = where
        self.causes = Storages[Cause]()
        self._found = 0
        if private.dynamo_is_loaded():
            # In a model that calls a compiled function Dynamo would compile the frame of
            # `__torch_dispatch__` for each of 8 operations: seconds, and a warning.
            private.skip(Operations.__torch_dispatch__.__code__)
            # Inside of a compiled function it would be compiled itself.
            self._uncompiled  # noqa: B018

    @classmethod
    def _should_skip_dynamo(cls) -> bool:
        """Asked by torch. `True` would load Dynamo and sympy at the first operation: 150 MB, and
        more than a second."""
        return False

    supports_higher_order_operators = True

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        # Inside of a compiled function Dynamo would compile the look.
        run = self._run if private.callback() is None else self._uncompiled
        return run(func, args, kwargs or {})

    @cached_property
    def _uncompiled(self) -> Any:
        """`_run`, wrapped once for all operations."""
        return torch.compiler.disable(self._run)

    def _run(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Runs an operation, and looks at its outputs."""
        of = _OPERATORS.get(id(func)) or _operator(func)
        if of.is_view or private.current_node() is not None:
            return func(*args, **kwargs)
        # What the operation changes is gone afterwards.
        before = [(each, _look_before(each)) for each in of.changed(args, kwargs)]
        result = func(*args, **kwargs)
        if of.overwrites and fills(args[0]):
            self.causes.pop(args[0])
        self._look_at(func, args, kwargs, result, before)
        return result

    def _look_at(
        self, func: Any, args: Any, kwargs: Any, result: Any, before: list[tuple[Tensor, Before]]
    ) -> None:
        if type(result) is Tensor and finite(result):
            return
        if _name(func).startswith(_OF_LISTS) and isinstance(args[0], (list, tuple)):
            # A step of an optimizer: the first tensors, the second ones, and so on. What changes
            # them returns none.
            looks = {id(each): (each, found) for each, found in before}
            for number in range(many := len(args[0])):
                row = tuple(_element(each, number, many) for each in args)
                named = {name: _element(each, number, many) for name, each in kwargs.items()}
                own = [looks[id(each)] for each in tensors((row, named)) if id(each) in looks]
                made = result[number] if result else [each for each, _ in own]
                self._look_at(func, row, named, made, own)
            return
        outputs = tensors(result) or [each for each, _ in before]
        bad = [each for each in outputs if not finite(each)]
        if bad:
            held = [(each, found if isinstance(found, Look) else look("input", each, found))
                    for each, found in before]  # fmt: skip
            self._judge(func, args, kwargs, bad, held, frames.caller())

    def _looks(
        self, operands: list[tuple[str, Tensor | float]], before: list[tuple[Tensor, Look]]
    ) -> tuple[Look, ...]:
        """What an operation read. For tensors that the operation changed: what they held before."""
        kept = {id(each): found for each, found in before}
        shown = []
        for place, each in operands:
            if not isinstance(each, Tensor):
                shown.append(number(place, each))
                continue
            name, own = name_of(each, self.inputs, self._named) or (place, each)
            found = kept.get(id(each))
            shown.append(look(name, own) if found is None else replace(found, name=name))
        return tuple(shown)

    def _judge(
        self,
        func: Any,
        args: Any,
        kwargs: Any,
        bad: list[Tensor],
        before: list[tuple[Tensor, Look]],
        place: frames.Line | None,
    ) -> None:
        unchanged = [each for each in read(func, args, kwargs, False) if not finite(each)]
        inputs = [(each, found) for each, found in before if found.bad]
        inputs += [(each, look("input", each)) for each in unchanged]
        outputs = tuple(look(f"output {n}", each) for n, each in enumerate(bad))
        operands = _operands(func, args, kwargs)
        kind, parameter = self._kind(func, operands, kwargs, outputs, inputs)
        if kind == ORIGIN and _name(func) == "aten::scalar_tensor":
            # `where` is named, which gets the number.
            return
        causes = (self.causes.get(each) for each, _ in inputs)
        cause = next((each for each in causes if each is not None), None)
        outside = None
        if kind in (None, NAN_FROM_INF) and cause is None and self._whole:
            others = (pair for pair in inputs if not pair[1].only_minus_inf)
            others = (pair for pair in others if not self._is_meant(pair[0]))
            outside, seen = next(others, (None, None))
            whole = seen is not None and seen.pos_inf + seen.neg_inf == seen.elements
            if whole and self._where() is not None:
                # A constant of the model, such as `torch.tensor(math.inf)`.
                kind = kind or INTENDED
            elif outside is not None:
                kind, parameter = ENTRY, _place_of(outside, operands)
        is_number = kind == ENTRY and _name(func) == "aten::where" and _is_number(outside)
        if is_number:
            kind, parameter, outside = ORIGIN, None, None
        if kind is not None and self._where() in self._allowed:
            kind, parameter = INTENDED, None
        elif kind == INTENDED and any(self._is_meant(each) for each, _ in inputs):
            cause = None
        only_minus_inf = all(each.only_minus_inf for each in outputs)
        if kind is None and cause is not None and cause.is_mask_from_outside and not only_minus_inf:
            cause = replace(cause, kind=ENTRY, number=self._found)
            self._found += 1
        known = cause is not None and cause.kind != INTENDED
        if kind == ENTRY or kind is not None and not known:
            operator = str(func)
            if kind == INTENDED:
                # A look at the tensors of each mask would cost time in each step.
                operands = [pair for pair in operands if not isinstance(pair[1], Tensor)]
            shown = self._looks(operands, before)
            if is_number and (node := args[2].grad_fn) and node.name() == "LinalgSlogdetBackward0":
                # Torch calls it `where(sign == -1, nan, logarithm)`.
                matrix = dict(private.saved(node))["A"]
                operator, shown = "aten.logdet.default", (look("0", matrix),)
            cause = Cause(
                kind, operator, place, shown, outputs, self._where(), self._found, FORWARD,
                parameter, kind == ENTRY and outside is not None,
            )  # fmt: skip
            self._found += kind != INTENDED
        if cause is not None:
            for each in bad if outside is None else [*bad, outside]:
                self.causes.set(each, cause)

    def _kind(
        self,
        func: Any,
        operands: list[tuple[str, Tensor | float]],
        kwargs: Any,
        outputs: tuple[Look, ...],
        inputs: list[tuple[Tensor, Look]],
    ) -> tuple[str | None, str | None]:
        """The kind, and the name of a bad parameter. None: explained."""
        meant = False
        for tensor, found in inputs:
            named = name_of(tensor, self.inputs, self._named)
            # The mode may have seen what made the parameter bad, as a step of the optimizer.
            known = self.causes.get(tensor) is not None
            if self._is_meant(tensor):
                meant = True
            elif named is not None and not known and not found.only_minus_inf:
                return ENTRY, named[0]
        nan = any(each.nan for each in outputs)
        numbers = [each for _, each in operands if not isinstance(each, Tensor)]
        masks = any(math.isinf(each) for each in numbers)
        if nan and not any(found.nan for _, found in inputs):
            if any(map(math.isnan, numbers)):
                return ORIGIN, None
            if inputs or masks:
                return NAN_FROM_INF, None
        if meant:
            return INTENDED, None
        if inputs:
            # The +Inf is of other elements than the -Inf of a mask.
            overflows = any(each.pos_inf for each in outputs) and not masks
            factor = kwargs.get("alpha", 1)
            keeps = _name(func) in _KEEP_SIGNS and factor == abs(factor)
            if overflows and keeps and all(found.only_minus_inf for _, found in inputs):
                return ORIGIN, None
            unseen = (tensor for tensor, _ in inputs if self.causes.get(tensor) is None)
            names = (name_of(tensor, self.inputs) for tensor in unseen)
            given = [each[0] for each in names if each is not None]
            if given and all(found.only_minus_inf for _, found in inputs):
                mask = all(each.only_minus_inf for each in outputs)
                return INTENDED if mask else ENTRY, given[0]
            return None, None
        if masks:
            return INTENDED, None
        # That includes `empty`, whose memory may hold anything. The operation becomes a finding
        # only if the tensor is still bad when another operation reads it.
        return ORIGIN, None

    def _is_meant(self, tensor: Tensor) -> bool:
        """Whether a tensor is an input of the model that may be bad."""
        name, _ = name_of(tensor, self.inputs) or ("", tensor)
        names = (each for each in self._allowed if isinstance(each, str))
        return any(fnmatchcase(name, f"{each} of the model") for each in names)

    def cause_of(self, outputs: Any, *, masks: bool = False) -> Cause | None:
        """The operation behind bad tensors: the first in time, if there are several. With `masks`
        also one that is meant, if nothing else is bad."""
        bad = [each for each in tensors(outputs) if not finite(each)]
        causes = [(each, self.causes.get(each)) for each in bad]
        real = [cause for _, cause in causes if cause is not None and cause.kind != INTENDED]
        if real or not masks:
            return min(real, key=lambda cause: cause.number, default=None)
        if any(cause is None and not look("", each).only_minus_inf for each, cause in causes):
            return None
        meant = [cause for _, cause in causes if cause is not None]
        return max(meant, key=lambda cause: cause.is_allowed, default=None)


_OVERWRITES = {"aten::fill_", "aten::copy_", "aten::zero_", "aten::normal_", "aten::uniform_"}

# No -Inf becomes +Inf here.
_KEEP_SIGNS = {
    "aten::exp", "aten::exp_", "aten::exp2", "aten::expm1", "aten::add", "aten::add_",
    "aten::softplus", "aten::cumsum", "aten::sum", "aten::mean", "aten::logsumexp",
    "aten::logcumsumexp", "aten::_to_copy", "aten::copy_",
}  # fmt: skip


# They get a list of tensors for each of their arguments.
_OF_LISTS = ("aten::_foreach_", "aten::_fused_adam", "aten::_fused_sgd", "aten::_fused_adagrad")


RUNNING = ("running_mean", "running_var")


def _place_of(tensor: Tensor, operands: list[tuple[str, Tensor | float]]) -> str:
    """The name of a tensor that no operation before has made, and that is no input of the model."""
    number = next((name for name, each in operands if each is tensor), "?")
    node: Any = tensor.grad_fn
    by = ""
    if node is not None:
        place = getattr(node.metadata.get(private.STACK), "place", None)
        where = "" if place is None else f" in {place[0]}:{place[1]}"
        by = f", made by the forward of {node.name()}{where}"
    return f"tensor {number} of the operation{by}, which was bad when first looked at"


def _is_number(tensor: Tensor | None) -> bool:
    """Whether torch may have made a tensor of NaN, as in `torch.where(x > 0, x, math.nan)`."""
    if tensor is None or tensor.dim() or tensor.grad_fn is not None:
        return False
    return bool(tensor.isnan())


def _look_before(tensor: Tensor) -> Before:
    """What a tensor holds that an operation will change. A good tensor on a device gets no
    statistics: they would cost a copy of the tensor."""
    if is_plain(tensor):
        return stats(tensor)
    take = unknown if is_away(tensor) and finite(tensor) else look
    return take("input", tensor)


class _Operator:
    """What does not depend on the arguments. Kept, since every operation asks for it."""

    def __init__(self, func: Any) -> None:
        # Kept, so that no other operator gets its `id`.
        self._func = func
        self.is_view = getattr(func, "is_view", False)
        # Operators of higher order, such as `torch.cond`, have no schema, and change nothing.
        schema = private.schema(func) if isinstance(func, private.OpOverload) else None
        self.changes = schema is not None and schema.is_mutable
        self.overwrites = self.changes and _name(func) in _OVERWRITES
        self.arguments = [(each.name, each.alias_info is not None and each.alias_info.is_write)
                          for each in (schema.arguments if schema else ())]  # fmt: skip
        """The names of the arguments, and whether the operation changes them."""
        # "add_" and others like it change their first argument, and no other one.
        self._first = [name for name, writes in self.arguments if writes] == ["self"]
        self._first = self._first and self.arguments[0][0] == "self"

    def changed(self, args: Any, kwargs: Any) -> list[Tensor]:
        """The tensors that the operation changes."""
        if not self.changes or self.overwrites:
            return []
        if self._first and args and type(args[0]) is not list:
            return [args[0]]
        return read(self._func, args, kwargs, True)


_OPERATORS: dict[int, _Operator] = {}


def _operator(func: Any) -> _Operator:
    if id(func) not in _OPERATORS:
        _OPERATORS[id(func)] = _Operator(func)
    return _OPERATORS[id(func)]


def mutates(func: Any) -> bool:
    """Whether an operation changes a tensor."""
    return _operator(func).changes


def _name(func: Any) -> str:
    return private.schema(func).name if isinstance(func, private.OpOverload) else ""


def read(func: Any, args: Any, kwargs: Any, changed: bool) -> list[Tensor]:
    """The tensors that an operation reads: those that it changes, or the others. What `out=`,
    `fill_` or `copy_` overwrite is not read.

    The running statistics of a batch normalisation that trains are written and not read: a NaN in
    the batch is in them, too, when the operation has run, and when the call runs again. The
    schemas of some of the operations do not say that.
    """
    if not isinstance(func, private.OpOverload):
        return [] if changed else tensors((args, kwargs))
    names = _operator(func).arguments
    given = {**dict(zip((name for name, _ in names), args, strict=False)), **kwargs}
    if RUNNING[0] in given:
        reads = _name(func).endswith(("no_training", "no_update"))
        if given.get("training", given.get("train", not reads)):
            given = {name: each for name, each in given.items() if name not in RUNNING}
    if changed and _name(func) in _OVERWRITES:
        return []
    return tensors([given[name] for name, writes in names
                    if writes is changed and name in given and name != "out"])


def _element(value: Any, number: int, many: int) -> Any:
    """What belongs to one of many tensors, of a list for all of them."""
    return value[number] if isinstance(value, (list, tuple)) and len(value) == many else value


def _operands(func: Any, args: Any, kwargs: Any) -> list[tuple[str, Tensor | float]]:
    """The tensors and numbers that an operation reads, in the order of its arguments, with their
    places. A number that is an option, such as `eps`, has its name instead."""
    known = {id(each) for changed in (True, False) for each in read(func, args, kwargs, changed)}
    if not isinstance(func, private.OpOverload):
        return [(f"{n}", each) for n, each in enumerate(tensors((args, kwargs)))]
    found: list[tuple[str, Tensor | float]] = []
    place = 0
    for n, argument in enumerate(private.schema(func).arguments):
        value = args[n] if n < len(args) else kwargs.get(argument.name)
        kind = str(argument.type)
        if "Tensor" not in kind and "number" not in kind and "float" not in kind:
            continue
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if isinstance(each, Tensor):
                if id(each) in known:
                    found.append((f"{place}", each))
                place += 1
            elif isinstance(each, (int, float)):
                option = argument.kwarg_only or "float" in kind
                found.append((argument.name if option else f"{place}", each))
                place += not option
    return found
