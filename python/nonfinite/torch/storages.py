# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""What is known of the memory of tensors: names, and values as long as the memory is in use."""

import weakref
from collections.abc import Callable, Iterable, Mapping
from typing import Generic, TypeVar

from torch import Tensor, nn

from nonfinite.torch.hooked import written
from nonfinite.torch.look import finite
from nonfinite.torch.private import StorageWeakRef

Value = TypeVar("Value")


def storage(tensor: Tensor) -> int:
    """The address of the memory of a tensor, or its id if the tensor has none."""
    return _key(tensor)[0]


def _key(tensor: Tensor) -> tuple[int, Callable[[], bool]]:
    """The address, and what says whether another tensor may have got the address since."""
    if tensor.is_nested:
        tensor = tensor.values()
    try:
        found = tensor.untyped_storage()
        if found.data_ptr():
            return found.data_ptr(), StorageWeakRef(found).expired
    except (NotImplementedError, RuntimeError):
        # A sparse tensor has no memory of its own.
        pass
    ref = weakref.ref(tensor)
    return id(tensor), lambda: ref() is None


def fills(tensor: Tensor) -> bool:
    """Whether a tensor is all of its memory."""
    try:
        return tensor.numel() * tensor.itemsize >= tensor.untyped_storage().nbytes()
    except (NotImplementedError, RuntimeError):
        return True


class Storages(Generic[Value]):
    """A value for each memory. Views of one memory have the same value. Keeps no tensor, so that a
    program with a mask in each step needs no more memory in each step."""

    def __init__(self) -> None:
        self._values: dict[int, tuple[Value, Callable[[], bool]]] = {}

    def __len__(self) -> int:
        return len(self._values)

    def get(self, tensor: Tensor) -> Value | None:
        """The value of a tensor, if there is one."""
        value, is_dead = self._values.get(storage(tensor), (None, None))
        return None if is_dead is None or is_dead() else value

    def set(self, tensor: Tensor, value: Value) -> None:
        """Sets the value of a tensor."""
        key, is_dead = _key(tensor)
        self._values[key] = value, is_dead

    def pop(self, tensor: Tensor) -> None:
        """The tensor has no value any longer."""
        self._values.pop(storage(tensor), None)

    def clear(self) -> None:
        """No tensor has a value any longer."""
        self._values.clear()

    def forget_dead(self) -> None:
        """Drops the values of memory that no tensor uses."""
        self._values = {key: each for key, each in self._values.items() if not each[1]()}


Named = Mapping[int, list[tuple[str, Tensor]]]
"""Names of tensors, by their `storage`: views have the same. Each with the tensor of the model."""


def by_storage(pairs: Iterable[tuple[str, Tensor]]) -> dict[int, list[tuple[str, Tensor]]]:
    """Names of tensors, of which several may share their memory."""
    found: dict[int, list[tuple[str, Tensor]]] = {}
    for name, tensor in pairs:
        found.setdefault(storage(tensor), []).append((name, tensor))
    return found


def name_of(tensor: Tensor, *names: Named) -> tuple[str, Tensor] | None:
    """The name of a tensor or of what it is a view of, and the tensor of the model."""
    key = storage(tensor)
    known = [each for some in names for each in some.get(key, ())]
    if len(known) < 2:
        return known[0] if known else None

    def rank(pair: tuple[str, Tensor]) -> tuple[bool, bool, bool]:
        own = pair[1]
        after = int(tensor.storage_offset()) - int(own.storage_offset())
        is_apart = after >= own.numel() or -after >= tensor.numel()
        # A view of several tensors is bad because of the one that is.
        return is_apart, after != 0 or own.numel() != tensor.numel(), finite(own)

    return min(known, key=rank)


def named(model: nn.Module) -> dict[int, list[tuple[str, Tensor]]]:
    """The names of parameters and buffers."""
    pairs = [*model.named_parameters(), *model.named_buffers()]
    return by_storage((written(name), tensor) for name, tensor in pairs)
