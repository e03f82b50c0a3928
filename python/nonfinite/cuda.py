# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Finds NaN and infinity in tensors of torch on CUDA devices, where they are.

Needs the driver of the card and torch, no toolkit. The kernels are those of the crate
`nonfinite-cuda`: compiled and tested on the CPU, not yet run on a GPU.

`Guard` looks at many tensors in one launch on torch's current stream. A launch allocates nothing,
waits for nothing, and may be captured in a CUDA graph:

    guard = nonfinite.cuda.Guard(dict(model.named_parameters()))
    for batch in batches:
        ...
        guard.launch()
        if guard.report().first:  # what the launches so far have found, without waiting
            ...

`nonfinite.all_finite`, `any_nan`, `count` and `census` take tensors on CUDA devices, too: one
launch, whose answer they wait for. `nonfinite.torch.watch` asks the same kernels.
"""

import ctypes
import struct
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from nonfinite._driver import CudaError, current, kernels, pinned, pointers
from nonfinite._native import Census, Occurrences

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torch import Tensor

__all__ = ["CudaError", "Found", "Guard", "GuardReport", "any_rows"]

# The kinds of elements, as bits, in the order of the counts of a tally.
_NAMES = ("nan", "+inf", "-inf")
_KINDS = {
    "nan": 1,
    "inf": 6,
    "+inf": 2,
    "-inf": 4,
    "non-finite": 7,
    "nan or +inf": 3,
    "never": 0,
}
# The formats that torch has, by their numbers in the kernels.
_FORMATS = {
    "float16": 0,
    "bfloat16": 1,
    "float32": 2,
    "float64": 3,
    "float8_e4m3fn": 4,
    "float8_e4m3fnuz": 5,
    "float8_e5m2": 6,
    "float8_e5m2fnuz": 7,
    "float8_e8m0fnu": 11,
    "float4_e2m1fn_x2": 12,
}
_NO_KINDS = 12

# The type of the devices whose memory the kernels read.
_DEVICE = "cuda"
# Constants and structures of the kernels.
_CHUNK = 1 << 16
_PLACE_BITS = 40
_DESCRIPTOR = struct.Struct("=QQQII")
_THREADS = 256
_TALLY = 6  # words
_ALL = (1 << 64) - 1


@dataclass(frozen=True)
class Found:
    """What a launch found: its number, from 0; the name of the first tensor with a bad element; the
    index of the first bad element there; the bad kinds of all tensors ("nan", "+inf", "-inf")."""

    step: int
    name: str
    index: tuple[int, ...]
    kinds: frozenset[str]


@dataclass(frozen=True)
class GuardReport:
    """What the launches of a guard have found since it was made or cleared: how many have ended,
    how many of these found something, and what the first of these found."""

    steps: int
    bad_steps: int
    first: Found | None


# --- tensors ---


def _refused(predicate: str) -> int:
    """The kinds for which a predicate holds."""
    if predicate not in _KINDS:
        raise ValueError(f"{predicate!r} is none of {', '.join(map(repr, _KINDS))}")
    return _KINDS[predicate]


def _check(name: str, x: "Tensor") -> None:
    """TypeError or ValueError if the kernels cannot read this tensor."""
    import torch

    # Other subclasses, such as DTensor, may have no memory of their own.
    if type(x) not in (torch.Tensor, torch.nn.Parameter):
        kind = type(x).__name__
        raise TypeError(f"{name} is a {kind}, and nonfinite.cuda takes torch.Tensor and Parameter")
    if x.device.type != _DEVICE:
        raise ValueError(
            f"{name} is on {x.device.type}, and nonfinite.cuda reads tensors on CUDA devices"
        )
    if x.layout is not torch.strided or x.is_nested:
        raise TypeError(f"{name} is sparse or nested: ask about {name}.values()")
    if x.is_complex():
        raise TypeError(f"{name} is complex: ask about torch.view_as_real({name})")
    if x.is_neg():
        raise TypeError(f"{name} is negated when read: ask about {name}.resolve_neg()")
    if x.is_floating_point() and str(x.dtype).removeprefix("torch.") not in _FORMATS:
        raise TypeError(f"{name} has elements of {x.dtype}, which is unknown to nonfinite.cuda")
    if x.numel() and x.data_ptr() == 0:
        raise TypeError(f"{name} has no memory")


def _format(x: "Tensor") -> int:
    """The number of the format. Integers have neither NaN nor infinity."""
    return _FORMATS.get(str(x.dtype).removeprefix("torch."), _NO_KINDS)


def _table(tensors: Iterable[tuple[int, int, int, int, int]]) -> tuple[bytearray, int]:
    """Descriptors for the kernels, and how many chunks these tensors have together.

    Each tensor has an address, elements, bytes of an element, the number of the format, and the
    refused kinds. ValueError for a tensor that the kernels cannot read.
    """
    table, chunks = bytearray(), 0
    for address, elements, size, number, refused in tensors:
        if address % size:
            raise ValueError(f"{address:#x} is no address of elements of {size} bytes")
        if elements > 1 << _PLACE_BITS:
            raise ValueError(f"{elements} elements, and 2**40 is the most")
        table += _DESCRIPTOR.pack(address, elements, chunks, number, refused)
        chunks += -(-elements * size // _CHUNK)
    if len(table) > _DESCRIPTOR.size << 64 - _PLACE_BITS:
        raise ValueError("more than 2**24 tensors")
    return table, chunks


def _described(x: "Tensor", refused: int) -> tuple[int, int, int, int, int]:
    """What `_table` takes."""
    number = _format(x)
    elements = 0 if number == _NO_KINDS else x.numel()
    return x.data_ptr(), elements, x.element_size(), number, refused


def _coordinate(index: int, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The index of an element, by its row-major number."""
    found = []
    for size in reversed(shape):
        index, rest = divmod(index, size)
        found.append(rest)
    return tuple(reversed(found))


def _kinds(bits: int) -> frozenset[str]:
    return frozenset(name for k, name in enumerate(_NAMES) if bits >> k & 1)


def _census(tally: list[int], shape: tuple[int, ...]) -> Census:
    """From three counts and the complements of three indices, as a kernel writes them."""

    def occurrences(k: int) -> Occurrences:
        if not tally[k]:
            return Occurrences(0, None)
        return Occurrences(tally[k], _coordinate(~tally[3 + k] & _ALL, shape))

    return Census(occurrences(0), occurrences(1), occurrences(2))


def _report(
    record: "list[int] | tuple[int, ...]", names: list[str], shapes: list[tuple[int, ...]]
) -> GuardReport:
    """From a record as a kernel writes it."""
    steps, kinds, bad, step, place = record
    if not kinds:
        return GuardReport(steps, bad, None)
    tensor, index = place >> _PLACE_BITS, place & (1 << _PLACE_BITS) - 1
    found = Found(step, names[tensor], _coordinate(index, shapes[tensor]), _kinds(kinds))
    return GuardReport(steps, bad, found)


# --- one tensor ---

def _cover(x: "Tensor") -> int | None:
    """How many elements a tensor has in memory, if these lie one after another: in any order of the
    axes, and once for an axis along which all elements are the same one. None if there are gaps."""
    if x.is_contiguous():
        return x.numel()
    elements = 1
    for stride, size in sorted(zip(x.stride(), x.shape, strict=True)):
        if size == 1 or stride == 0:
            continue
        if stride != elements:
            return None
        elements *= size
    return elements


def _index_of(
    number: int, strides: tuple[int, ...], shape: tuple[int, ...]
) -> tuple[int, ...]:
    """The index of the element with this number in the memory that `_cover` counts."""
    pairs = zip(strides, shape, strict=True)
    return tuple(number // stride % size if stride else 0 for stride, size in pairs)


def _launch_one(x: "Tensor", elements: int, tally: int) -> None:
    """Look at so many elements from the address of a tensor on, on torch's current stream of its
    device, and add NaN and infinities to the tally at an address: three counts, and the complements
    of three indices."""
    number = _format(x)
    own = (x.data_ptr(), elements, x.element_size(), number, _KINDS["non-finite"])
    table, chunks = _table([own])
    if number == _NO_KINDS or chunks == 0:
        return
    values = (
        (ctypes.c_char * len(table)).from_buffer(table),
        ctypes.c_uint64(chunks),
        ctypes.c_uint64(tally),
    )
    loaded = kernels(x.device.index)
    blocks = min(chunks, loaded.blocks)
    loaded.launch(loaded.one, blocks, _THREADS, current(x.device), pointers(values))


def _counted(x: "Tensor", elements: int) -> list[int]:
    """What `_launch_one` adds to zeros. Waits for the answer."""
    import torch

    memory = torch.zeros(_TALLY, dtype=torch.int64, device=x.device)
    _launch_one(x, elements, memory.data_ptr())
    return memory.tolist()


def _census_of(x: "Tensor") -> Census:
    """The census of a tensor. Waits for the answer. For the native module."""
    _check("x", x)
    x = x.detach().contiguous()
    return _census(_counted(x, x.numel()), tuple(x.shape))


def any_rows(x: "Tensor", predicate: str, /) -> "Tensor":
    """For each row along the last axis, whether the predicate holds for an element: a tensor of
    bool on the device, without that axis. Waits for nothing, and may be captured in a graph."""
    import torch

    _check("x", x)
    refused = _refused(predicate)
    if x.dim() == 0:
        raise ValueError("x has no axis")
    columns = x.shape[-1]
    flags = torch.empty(x.shape[:-1], dtype=torch.bool, device=x.device)
    # A copy, if the rows are not equally far apart or their elements not one after another. The
    # allocator of torch gives the memory of the copy only to later operations of this stream.
    rows = x.detach().reshape(flags.numel(), columns)
    if rows.stride(1) != 1:
        rows = rows.contiguous()
    if flags.numel() == 0:
        return flags
    number = _format(x)
    values = (
        ctypes.c_uint64(rows.data_ptr()),
        ctypes.c_uint64(flags.numel()),
        ctypes.c_uint64(0 if number == _NO_KINDS else columns),
        ctypes.c_uint64(rows.stride(0)),
        ctypes.c_uint32(number),
        ctypes.c_uint32(refused),
        ctypes.c_uint64(flags.data_ptr()),
    )
    loaded = kernels(x.device.index)
    blocks = min(flags.numel(), loaded.blocks * 4)
    loaded.launch(loaded.rows, blocks, 512, current(x.device), pointers(values))
    return flags


# --- many tensors ---


class Guard:
    """Looks at tensors on one CUDA device in one launch, as often as wanted.

    `tensors` is a mapping of names, or an iterable: then the names are "0", "1" and so on. They
    must be contiguous, and are kept. A tensor that is replaced, as `zero_grad(set_to_none=True)`
    replaces gradients, is not looked at any more. `bad` is the predicate that no element may
    fulfil: "nan", "inf", "+inf", "-inf", "non-finite" or "nan or +inf" (for masked logits). With
    `counts`, launches also count NaN and infinities of each tensor.

    Launches of one guard must follow one another: on one stream, or on streams that wait for each
    other. Keep a guard until its launches have ended, and as long as a graph has one.

    Raises TypeError, ValueError, or CudaError if there is no driver.
    """

    def __init__(
        self,
        tensors: "Mapping[str, Tensor] | Iterable[Tensor]",
        bad: str = "non-finite",
        *,
        counts: bool = False,
    ) -> None:
        import torch

        if not isinstance(tensors, Mapping):
            tensors = {str(i): each for i, each in enumerate(tensors)}
        refused = _refused(bad)
        for name, each in tensors.items():
            _check(name, each)
            if not each.is_contiguous():
                raise ValueError(f"{name} is not contiguous")
        devices = {each.device for each in tensors.values()}
        if len(devices) != 1:
            raise ValueError(f"tensors of {len(devices)} devices: a guard is for one")
        (self._device,) = devices
        self._names = list(tensors)
        self._tensors = [each.detach() for each in tensors.values()]
        self._shapes = [tuple(each.shape) for each in self._tensors]
        table, chunks = _table(_described(each, refused) for each in self._tensors)
        self._kernels = kernels(self._device.index)
        self._blocks = max(1, min(chunks, self._kernels.blocks))

        def zeros(words: int) -> "Tensor":
            return torch.zeros(words, dtype=torch.int64, device=self._device)

        self._table = torch.frombuffer(table, dtype=torch.uint8).to(self._device)
        self._scratch = zeros(4)
        self._tallies = zeros(_TALLY * len(self._tensors)) if counts else None
        self._record = pinned(5)
        # As the host sees the record: reading a tensor would go through torch each time.
        self._words = (ctypes.c_uint64 * 5).from_address(self._record.data_ptr())
        self._values = (
            ctypes.c_uint64(self._table.data_ptr()),
            ctypes.c_uint32(len(self._tensors)),
            ctypes.c_uint64(chunks),
            ctypes.c_uint64(self._scratch.data_ptr()),
            ctypes.c_uint64(self._record.data_ptr()),
            ctypes.c_uint64(0 if self._tallies is None else self._tallies.data_ptr()),
        )
        self._arguments = pointers(self._values)
        # The zeros and the table are there before a launch on any stream.
        torch.cuda.synchronize(self._device)

    def launch(self) -> None:
        """Look at all tensors, on torch's current stream. Waits for nothing."""
        loaded, stream = self._kernels, current(self._device)
        loaded.launch(loaded.look, self._blocks, _THREADS, stream, self._arguments)

    def report(self) -> GuardReport:
        """What the launches that have ended found. Waits for nothing."""
        # In this order, as the device writes in the opposite one. Until two reads agree, as `clear`
        # may be under way.
        now, last = [self._words[i] for i in range(5)], None
        while now != last:
            now, last = [self._words[i] for i in range(5)], now
        return _report(now, self._names, self._shapes)

    def counts(self) -> dict[str, Census]:
        """For each tensor, what all launches counted since the guard was made or cleared, and the
        first elements. Waits for the current stream. ValueError without `counts`."""
        if self._tallies is None:
            raise ValueError("the guard was made without counts=True")
        words = self._tallies.tolist()
        return {
            name: _census(words[6 * i : 6 * i + 6], self._shapes[i])
            for i, name in enumerate(self._names)
        }

    def clear(self) -> None:
        """Forget what was found, in the order of the current stream."""
        stream = current(self._device)
        for memory in (self._scratch, self._record, self._tallies):
            if memory is not None:
                self._kernels.clear(memory, stream)
