"""Seeds of read_arrow and read_parquet, by pyarrow.

Small tables with every supported layout, compression and encoding.
"""

import io
import itertools

import pyarrow as pa
import pyarrow.parquet as pq

F32 = [1.0, None, float("nan"), float("inf"), -2.5, None, float("-inf"), 0.0, 3.0, 3.0, 3.0]


def columns():
    """Yields columns, each of a different kind."""
    f32 = pa.array(F32, pa.float32())
    offsets = pa.array([0, 2, None, 2, 5, 11], pa.int32())
    yield pa.array([value if value is not None else 0.5 for value in F32], pa.float32())
    yield f32
    yield f32.cast(pa.float64())
    yield f32.cast(pa.float16())
    yield pa.ListArray.from_arrays(offsets, f32)
    yield pa.FixedSizeListArray.from_arrays(f32[:10], 2)
    yield pa.StructArray.from_arrays(
        [f32, pa.array(["a", None] * 5 + ["b"])],
        ["x", "s"],
        mask=pa.array([False, True] * 5 + [False]),
    )
    yield pa.MapArray.from_arrays([0, 2, 5, 11], pa.array(list("abcdefghijk")), f32)
    yield pa.array(
        [[[1.0, None], [], None], None, [], [[float("nan")]]], pa.list_(pa.list_(pa.float32()))
    )


def arrow_columns():
    """More, that Parquet has not."""
    f32 = pa.array(F32, pa.float32())
    yield f32.dictionary_encode()
    yield pa.LargeListArray.from_arrays(pa.array([0, 2, 2, 11], pa.int64()), f32)
    yield pa.UnionArray.from_sparse(pa.array([0] * 11, pa.int8()), [f32, pa.array(range(11))])
    yield pa.array(["a", "a string of more than twelve bytes", None], pa.string_view())
    yield pa.RunEndEncodedArray.from_arrays(
        pa.array([3, 11], pa.int32()), pa.array([1.0, None], pa.float32())
    )
    starts, lengths = pa.array([3, 0], pa.int32()), pa.array([8, 2], pa.int32())
    yield pa.ListViewArray.from_arrays(starts, lengths, f32)


def arrow_files():
    for column, codec in itertools.product([*columns(), *arrow_columns()], (None, "lz4", "zstd")):
        table = pa.table({"c": column})
        options = pa.ipc.IpcWriteOptions(compression=codec)
        for writer in (pa.ipc.new_file, pa.ipc.new_stream):
            out = io.BytesIO()
            with writer(out, table.schema, options=options) as sink:
                sink.write_table(table, max_chunksize=6)
            yield out.getvalue()


def parquet_files():
    for column, codec in itertools.product(columns(), ("none", "snappy", "gzip", "zstd", "lz4")):
        for version, encoding in itertools.product(
            ("1.0", "2.0"), ("PLAIN", "dictionary", "BYTE_STREAM_SPLIT")
        ):
            # Only plain columns are split: neither nested ones nor text.
            if encoding == "BYTE_STREAM_SPLIT" and not pa.types.is_floating(column.type):
                continue
            plain = (
                {}
                if encoding == "dictionary"
                else {"column_encoding": {"c": encoding}}
                if pa.types.is_floating(column.type)
                else {}
            )
            out = io.BytesIO()
            pq.write_table(
                pa.table({"c": column}),
                out,
                compression=codec,
                data_page_version=version,
                row_group_size=6,
                use_dictionary=encoding == "dictionary",
                write_statistics=False,
                store_schema=False,
                **plain,
            )
            yield out.getvalue()
