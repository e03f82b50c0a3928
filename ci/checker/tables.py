"""The part of the oracle that writes tables: Arrow IPC and Parquet."""

import os
from random import Random

import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

import nested
import shared
from expected import STATS, of_array, of_report, run
from shared import FLOATS, RNG, check, failures, random


def table(rows):
    """Columns of every float type, and the findings of numpy.

    Without nulls, with nulls whose bytes are NaN, in structs, and in lists.
    """
    columns, expected = {}, {}
    for dtype in FLOATS:
        name = np.dtype(dtype).name
        array = random(dtype, (rows,))
        mask = RNG.random(rows) < 0.3
        nulls = array.copy()
        nulls[mask] = np.nan
        # The places of nulls hold NaN. For numpy they hold zeros, except for the minimum and
        # maximum.
        columns[name] = pa.array(array)
        columns[f"{name}_nulls"] = pa.array(nulls, mask=mask)
        columns[f"{name}_struct"] = pa.StructArray.from_arrays(
            [pa.array(array), pa.array(np.arange(rows))], ["x", "i"]
        )
        fixed = random(dtype, (rows, 3))
        columns[f"{name}_fixed"] = pa.FixedSizeListArray.from_arrays(pa.array(fixed.reshape(-1)), 3)
        lengths = RNG.integers(0, 4, rows)
        values = random(dtype, (int(lengths.sum()),))
        columns[f"{name}_list"] = pa.ListArray.from_arrays(
            pa.array(np.concatenate([[0], lengths.cumsum()]), pa.int32()), pa.array(values)
        )
        expected |= {
            name: array,
            f"{name}_struct.x": array,
            f"{name}_fixed": fixed,
            f"{name}_nulls": (nulls, np.flatnonzero(~mask)),
            f"{name}_list": (values, np.repeat(np.arange(rows), lengths)),
        }
    columns["integers"] = pa.array(np.arange(rows))
    columns["text"] = pa.array([str(i) for i in range(rows)])
    return pa.table(columns), expected


def check_rows(what, report, values, rows):
    """Checks numbers whose coordinate is a row. `rows` has the row of each non-null number."""
    if len(rows) != len(values):
        values = values[rows]
    found = of_array(values)
    for kind in ("nan", "pos_inf", "neg_inf"):
        count, first = found[kind]
        found[kind] = (count, first and ([int(rows[first[0][0]])], first[1]))
    for bound in ("min", "max", "max_abs"):
        if bound in found:
            value, at = found[bound]
            found[bound] = (value, [int(rows[at[0]])])
    shared.compared += 1
    if found != of_report(report):
        failures.append(f"{what}: ours {of_report(report)}, numpy {found}")


def check_table(
    what, path, program, expected, rename=lambda name: name, fixed_lists=True, stream=False
):
    report = run(program, path)
    # Without statistics nulls are looked at with all others first: the counts must be the same.
    without = lambda report, *keys: {
        name: {k: v for k, v in tensor.items() if k not in keys} for name, tensor in report.items()
    }
    if without(report, *STATS) != run(program, path, stats=False):
        failures.append(f"{what}: not the same without --stats")
    if stream and report != run(program, "-", stdin=path):
        failures.append(f"{what}: not the same from standard input")
    assert report["integers"]["looked_at"] == report["text"]["looked_at"] == "not_float", what
    for name, array in expected.items():
        tensor = report[rename(name)]
        if isinstance(array, tuple):
            check_rows(f"{what} {name}", tensor, *array)
        elif array.ndim == 2 and not fixed_lists:
            check_rows(
                f"{what} {name}",
                tensor,
                array.reshape(-1),
                np.repeat(np.arange(len(array)), array.shape[1]),
            )
        else:
            check(f"{what} {name}", tensor, array)


def check_arrow(what, path, program, rows, expected):
    """Writes a table as a file and as a stream, with every compression, and checks each."""
    for compression in (None, "lz4", "zstd"):
        options = pa.ipc.IpcWriteOptions(compression=compression)
        for new in (pa.ipc.new_file, pa.ipc.new_stream):
            with new(path, rows.schema, options=options) as writer:
                writer.write_table(rows, max_chunksize=7000)
            stream = new is pa.ipc.new_stream
            check_table(
                f"{what} {new.__name__} {compression}", path, program, expected, stream=stream
            )


def arrow(folder, program):
    table_of_rows, expected = table(20_001)
    path = os.path.join(folder, "x.arrow")
    check_arrow("arrow", path, program, table_of_rows, expected)
    pa.feather.write_feather(table_of_rows, path)
    check_table("feather", path, program, expected)


def nested_arrow(folder, program):
    path = os.path.join(folder, "nested.arrow")
    rng = Random(20261121)
    for number in range(40):
        column, counts = nested.column(rng.choice([1, 9, 100, 3000]), rng.choice([0, 1, 2, 3]), rng)
        batch = pa.record_batch([column], ["c"])
        codec, file = rng.choice([None, "lz4", "zstd"]), rng.random() < 0.5
        new = pa.ipc.new_file if file else pa.ipc.new_stream
        with new(path, batch.schema, options=pa.ipc.IpcWriteOptions(compression=codec)) as writer:
            writer.write_batch(batch)
            writer.write_batch(batch)
        expected = nested.expected(counts + counts)
        for stats in (False, True):
            for what, stdin in ((path, None), ("-", path))[: 1 if file else 2]:
                shared.compared += 1
                ((name, tensor),) = run(program, what, stats=stats, stdin=stdin).items()
                found = nested.reported(tensor)
                if found != expected:
                    failures.append(
                        f"nested {number} {column.type} {codec} {what} {stats}: "
                        f"ours {found}, Python {expected}"
                    )


def parquet(folder, program):
    table_of_rows, expected = table(20_001)
    path = os.path.join(folder, "x.parquet")
    lists = lambda name: f"{name}.list.element" if name.endswith(("_list", "_fixed")) else name
    for compression in ("none", "snappy", "gzip", "zstd", "lz4"):
        for options in (
            {"use_dictionary": False},
            {"data_page_version": "2.0", "data_page_size": 4096},
        ):
            pa.parquet.write_table(
                table_of_rows, path, compression=compression, row_group_size=7000, **options
            )
            check_table(
                f"parquet {compression} {options}",
                path,
                program,
                expected,
                lists,
                fixed_lists=False,
            )


def dictionaries(folder, program):
    """Columns that refer to dictionaries of floats. numpy computes the rows."""
    rows = 20_001
    columns, expected = {}, {}
    for dtype in FLOATS:
        for index in (np.int8, np.uint16, np.int64):
            entries = random(dtype, (100,))
            entries[-1] = np.nan
            indices = RNG.integers(0, 99, rows).astype(index)
            null = RNG.random(rows) < 0.3
            lost = RNG.random(100) < 0.1
            name = f"{np.dtype(dtype)}-{np.dtype(index)}"
            array = pa.DictionaryArray.from_arrays(
                pa.array(indices, mask=null), pa.array(entries, mask=lost)
            )
            columns[name] = array
            expected[name] = (entries[indices], np.flatnonzero(~(null | lost[indices])))
    columns |= {
        "integers": pa.array(np.arange(rows)),
        "text": pa.array(["x"] * rows).dictionary_encode(),
    }
    batch = pa.table(columns)
    path = os.path.join(folder, "dictionaries.arrow")
    check_arrow("dictionaries", path, program, batch, expected)
    # Entries that are added, and, in a stream, replaced.
    for new, delta in (
        (pa.ipc.new_file, True),
        (pa.ipc.new_stream, True),
        (pa.ipc.new_stream, False),
    ):
        options = pa.ipc.IpcWriteOptions(emit_dictionary_deltas=delta)
        values, parts = random(np.float32, (90,)), []
        schema = pa.schema([("d", pa.dictionary(pa.int32(), pa.float32()))])
        with new(path, schema, options=options) as writer:
            for end in (30, 60, 90):
                entries = values[:end] if delta else values[end - 30 : end]
                indices = RNG.integers(0, len(entries), 1000).astype(np.int32)
                array = pa.DictionaryArray.from_arrays(pa.array(indices), pa.array(entries))
                writer.write_batch(pa.record_batch([array], schema=schema))
                parts.append(entries[indices])
        check(f"deltas {new.__name__} {delta}", run(program, path)["d"], np.concatenate(parts))
    # Parquet makes its own dictionaries.
    plain = pa.table(
        {
            name: column.dictionary_decode() if isinstance(column, pa.DictionaryArray) else column
            for name, column in columns.items()
        }
    )
    path = os.path.join(folder, "dictionaries.parquet")
    pa.parquet.write_table(plain, path, row_group_size=7000)
    check_table("dictionaries parquet", path, program, expected)


def empty_groups(folder, program):
    """Row groups of no rows among others."""
    path = os.path.join(folder, "empty.parquet")
    parts = [random(np.float32, (count,)) for count in (0, 7, 0, 0, 300, 0)]
    with pa.parquet.ParquetWriter(path, pa.schema([("x", pa.float32())])) as writer:
        for part in parts:
            writer.write_table(pa.table({"x": part}))
    check("empty row groups", run(program, path)["x"], np.concatenate(parts))
