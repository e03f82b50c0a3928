"""Random nested columns of Arrow, and the findings of Python. Nulls are NaN on every level."""

import math

import numpy as np
import pyarrow as pa

KINDS = {
    "nan": math.isnan,
    "pos_inf": lambda value: value == math.inf,
    "neg_inf": lambda value: value == -math.inf,
}


def column(rows, depth, rng):
    """An array with this number of rows, and for each row the numbers that count."""
    kinds = ["struct", "list", "large_list", "fixed", "view", "large_view"]
    kind = rng.choice(kinds if depth else ["leaf", "leaf", "runs"])
    if kind == "runs" and rows:
        return runs(rows, rng)
    share = rng.choice([0, 0, 0.1, 0.5, 0.9])
    null = np.array([rng.random() < share for _ in range(rows)], bool)
    bits = pa.py_buffer(np.packbits(~null, bitorder="little")) if null.any() else None

    def array(of, buffers, children=None):
        return pa.Array.from_buffers(
            of, rows, [bits, *buffers], null_count=int(null.sum()), children=children
        )

    if kind in ("leaf", "runs"):
        values = np.ones(rows, rng.choice([np.float16, np.float32, np.float64]))
        often = rng.choice([0, 0.001, 0.3])
        for row in range(rows):
            if null[row]:
                values[row] = np.nan
            elif rng.random() < often:
                values[row] = rng.choice([np.nan, np.inf, -np.inf])
        counts = [[] if null[row] else [float(values[row])] for row in range(rows)]
        return array(pa.from_numpy_dtype(values.dtype), [pa.py_buffer(values)]), counts
    if kind == "struct":
        starts, ends = np.arange(rows), np.arange(1, rows + 1)
        child, inner = column(rows, depth - 1, rng)
        whole = array(pa.struct([pa.field("x", child.type)]), [], [child])
    elif kind == "fixed":
        size = rng.choice([1, 2, 5])
        starts = size * np.arange(rows)
        ends = starts + size
        child, inner = column(rows * size, depth - 1, rng)
        whole = array(pa.list_(child.type, size), [], [child])
    elif kind in ("view", "large_view"):
        # In any order. Some elements belong to no list, and some to several.
        number, of = (
            (np.int32, pa.list_view) if kind == "view" else (np.int64, pa.large_list_view)
        )
        child, inner = column(2 * rows, depth - 1, rng)
        lengths = np.array([rng.choice([0, 0, 1, 2, 7]) for _ in range(rows)], number)
        lengths = np.minimum(lengths, 2 * rows).astype(number)
        starts = np.array([rng.randint(0, 2 * rows - length) for length in lengths], number)
        ends = starts + lengths
        whole = array(of(child.type), [pa.py_buffer(starts), pa.py_buffer(lengths)], [child])
    else:
        lengths = [rng.choice([0, 0, 1, 2, 7]) for _ in range(rows)]
        # Elements before the first list and behind the last belong to none.
        offsets = np.cumsum([rng.choice([0, 3]), *lengths]).astype(
            np.int64 if kind == "large_list" else np.int32
        )
        starts, ends = offsets[:-1], offsets[1:]
        child, inner = column(int(offsets[-1]) + rng.choice([0, 2]), depth - 1, rng)
        of = pa.large_list if kind == "large_list" else pa.list_
        whole = array(of(child.type), [pa.py_buffer(offsets)], [child])
    return whole, [
        [] if null[row] else sum(inner[starts[row] : ends[row]], []) for row in range(rows)
    ]


def runs(rows, rng):
    """A run-end encoded array. Each number of a run counts once for each row."""
    ends = sorted({rows, *(rng.randint(1, rows) for _ in range(rng.choice([0, 1, 30])))})
    values = [rng.choice([1.0, 1.0, None, math.nan, math.inf]) for _ in ends]
    array = pa.RunEndEncodedArray.from_arrays(pa.array(ends, pa.int32()), pa.array(values))
    counts = []
    for end, value in zip(ends, values):
        counts += [[] if value is None else [value]] * (end - len(counts))
    return array, counts


def expected(counts):
    """How many of each kind, and the row of the first."""
    found = {}
    for kind, holds in KINDS.items():
        rows = [row for row, values in enumerate(counts) for value in values if holds(value)]
        found[kind] = (len(rows), rows[0] if rows else None)
    return found


def reported(tensor):
    """The same by a report."""
    first = {kind: tensor[kind]["first"] for kind in KINDS}
    return {
        kind: (tensor[kind]["count"], first[kind] and first[kind]["coordinate"][0])
        for kind in KINDS
    }
