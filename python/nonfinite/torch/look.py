# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""Looks at tensors of torch."""

import dataclasses
import math
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import torch
from torch import Tensor
from torch.nn import Parameter

from nonfinite._native import Stats, all_finite, stats
from nonfinite.findings import Look
from nonfinite.torch import private
from nonfinite.torch.refuse import refuse_distributed

# How deep structures of structures are walked.
DEPTH = 8

_LOW = {torch.float16, torch.bfloat16}
# What our kernels read as the tensor is.
_PLAIN = {torch.float64, torch.float32, *_LOW}
_WHOLE = {torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64}
_TYPES = {Tensor, Parameter}
_STRIDED = torch.strided
# The type of the device whose memory the program itself reads.
_HERE = "cpu"
_FP4 = getattr(torch, "float4_e2m1fn_x2", None)


def tensors(value: Any) -> list[Tensor]:
    """The tensors in tuples, lists, mappings (transformers' ModelOutput) and dataclasses.

    `torch.utils._pytree` passes over dataclasses and subclasses of OrderedDict.
    """
    # Hooks ask this for each module: most outputs are one tensor.
    if isinstance(value, Tensor):
        return [value]
    return [each for _, each in _walk(value, "", DEPTH)]


def paths(value: Any) -> list[str]:
    """Where each of the `tensors` is in a structure, in the same order: "0", "mask", "batch.x"."""
    return [path for path, _ in _walk(value, "", DEPTH)]


def _walk(value: Any, path: str, depth: int) -> Iterator[tuple[str, Tensor]]:
    if isinstance(value, Tensor):
        yield path, value
    elif depth and value is not None and not isinstance(value, (str, bytes, int, float)):
        for name, each in _parts(value):
            yield from _walk(each, f"{path}.{name}" if path else f"{name}", depth - 1)


def _parts(value: Any) -> Iterable[tuple[Any, Any]]:
    """What a structure holds, with the places or names of the parts."""
    if isinstance(value, (tuple, list)):
        return enumerate(value)
    if isinstance(value, (dict, Mapping)):
        return value.items()
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = [field.name for field in dataclasses.fields(value)]
        return [(name, getattr(value, name, None)) for name in names]
    return ()


def version(tensor: Tensor) -> int:
    """How often a tensor was changed in place. -1 in inference mode, which does not count."""
    return -1 if tensor.is_inference() else private.version(tensor)


def is_away(tensor: Tensor) -> bool:
    """Whether the program would have to wait for the numbers of a tensor."""
    # The name of the device would take four times as long.
    return not tensor.is_cpu or _HERE != "cpu"


def is_plain(tensor: Tensor) -> bool:
    """Whether our functions read a tensor as it is. Asked of most tensors first: the questions of
    `plain` take longer than 16 KiB of numbers."""
    return (
        type(tensor) in _TYPES and tensor.is_cpu and tensor.dtype in _PLAIN and _HERE == "cpu"
        and tensor.layout is _STRIDED and tensor.is_contiguous() and not tensor.is_nested
    )  # fmt: skip


def in_transform() -> bool:
    """Whether a transform such as torch.vmap runs. Tensors have no numbers of their own then."""
    return private.transform() is not None


def values(tensor: Tensor) -> Tensor:
    """A dense tensor with the numbers of a tensor, without gradient: the values of a sparse tensor,
    and all elements of a nested one. Raises UnsupportedError for a DTensor."""
    refuse_distributed("an input or output of a module", tensor)
    tensor, layout = tensor.detach(), tensor.layout
    if layout is torch.strided and not tensor.is_nested:
        return tensor
    if layout is torch.sparse_coo:
        tensor = tensor.coalesce()
    return tensor.to_dense() if tensor.is_mkldnn else tensor.values()


def real(tensor: Tensor) -> Tensor | None:
    """The numbers of a tensor as a dense real tensor without gradient. None if the tensor has no
    floating-point numbers, no NaN and no infinity (FP4), or no memory (device meta)."""
    tensor = values(tensor)
    if tensor.is_complex():
        tensor = torch.view_as_real(tensor.resolve_conj().resolve_neg())
    if not tensor.is_floating_point() or tensor.numel() == 0 or tensor.is_meta:
        return None
    return None if tensor.dtype is _FP4 else tensor


def plain(tensor: Tensor) -> Tensor | None:
    """As `real`, with formats of 8 bits as float32, since torch computes little with them."""
    numbers = real(tensor)
    return numbers.float() if numbers is not None and numbers.itemsize == 1 else numbers


def finite(tensor: Tensor) -> bool:
    """Whether all numbers of a tensor are finite."""
    if is_plain(tensor):
        return all_finite(tensor)
    if type(tensor) in _TYPES and tensor.dtype in _WHOLE:
        return True
    numbers = real(tensor)
    if numbers is None:
        return True
    numbers = numbers.float() if numbers.itemsize == 1 else numbers
    if numbers.is_cpu:
        return all_finite(numbers)
    # The sum is finite only if all numbers are. One that is not may have overflowed.
    sum_of = numbers.sum(dtype=torch.float32) if numbers.dtype in _LOW else numbers.sum()
    return math.isfinite(sum_of.item()) or bool(torch.isfinite(numbers).all())


def extremes(numbers: Tensor) -> tuple[Tensor, Tensor]:
    """The least and the greatest one of the `real` numbers, as tensors on the device: without
    waiting for the device. Both are NaN if a number is."""
    low, high = torch.aminmax(numbers.float() if numbers.itemsize == 1 else numbers)
    return low, high


def look(name: str, tensor: Tensor, found: Stats | None = None) -> Look:
    """The statistics of a tensor, in one pass on the CPU, or those that were `found` before.

    Of a sparse or nested tensor: those of its `values`, also the shape and the index.
    """
    tensor = values(tensor)
    kind = str(tensor.dtype).removeprefix("torch.")
    whole = tensor.dtype in _WHOLE and not tensor.is_meta and tensor.numel() > 0
    numbers = tensor.double() if whole else plain(tensor)
    shape = tuple(tensor.shape)
    if numbers is None:
        return unknown(name, tensor)
    if found is None:
        found = stats(numbers.cpu().resolve_neg())
    counts = (found.census.nan, found.census.pos_inf, found.census.neg_inf)
    firsts = [_index(each.first, shape) for each in counts if each.first is not None]
    return Look(
        name=name,
        dtype=kind,
        shape=shape,
        elements=tensor.numel(),
        nan=counts[0].count,
        pos_inf=counts[1].count,
        neg_inf=counts[2].count,
        zeros=found.zeros,
        first=min(firsts, default=None),
        min=found.min.value if found.min else None,
        max=found.max.value if found.max else None,
        max_abs=found.max_abs.value if found.max_abs else None,
        limit=None if whole else torch.finfo(tensor.dtype).max,
    )


def number(name: str, value: float) -> Look:
    """The same of a number of Python."""
    found = look(name, torch.tensor(value, dtype=torch.float64))
    return dataclasses.replace(found, dtype=type(value).__name__)


def unknown(name: str, tensor: Tensor) -> Look:
    """A tensor whose numbers are finite, and otherwise not looked at."""
    tensor = values(tensor)
    kind, shape = str(tensor.dtype).removeprefix("torch."), tuple(tensor.shape)
    return Look(name, kind, shape, tensor.numel(), 0, 0, 0, 0, None, None, None, None, None)


def _index(coordinate: tuple[int, ...], shape: tuple[int, ...]) -> int:
    """The row-major index. Coordinates in complex numbers also say which part is meant."""
    index = 0
    for position, size in zip(coordinate, shape, strict=False):
        index = index * size + position
    return index


def largest(tensor: Tensor) -> float:
    """The largest magnitude of the numbers that are finite. 0 without any."""
    numbers = plain(tensor)
    if numbers is None:
        return 0.0
    if not numbers.is_cpu:
        return float(torch.where(numbers.isfinite(), numbers, 0).abs().max())
    found = stats(numbers).max_abs
    return found.value if found else 0.0
