"""Writes files of all formats by the reference packages and compares the command's reports with numpy: see ../checker-oracle."""

import os
import subprocess
import sys
import tempfile
from random import Random

import gguf
import ml_dtypes
import numpy as np
import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import safetensors.numpy
from gguf import GGMLQuantizationType as Type

import nested
from expected import compare, of_array, of_report, run

RNG = np.random.default_rng(20261121)
SHAPES = [(), (1,), (63,), (64, 65), (3, 5, 127), (0, 4), (70_001,)]
FLOATS = [np.float16, np.float32, np.float64]
SMALL = [
    ml_dtypes.bfloat16,
    ml_dtypes.float8_e4m3fn,
    ml_dtypes.float8_e5m2,
    ml_dtypes.float8_e4m3fnuz,
    ml_dtypes.float8_e5m2fnuz,
    ml_dtypes.float8_e8m0fnu,
]
failures, compared = [], 0


def random(dtype, shape):
    """Random bits: of 16 bits and fewer many are special; in wider formats some are made so."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape))
    array = np.frombuffer(RNG.bytes(count * dtype.itemsize), dtype=dtype).copy().reshape(shape)
    if dtype.itemsize >= 4 and dtype.kind == "f" and count:
        flat = array.reshape(-1)
        for value in (np.nan, np.inf, -np.inf):
            flat[RNG.integers(0, count, max(1, count // 50))] = value
    return array


def check(what, report, array, order="C"):
    global compared
    compared += 1
    message = compare(what, report, array, order)
    if message:
        failures.append(message)


def npy(folder, program):
    for dtype in FLOATS + [np.dtype(">f2"), np.dtype(">f4"), np.dtype(">f8")]:
        for shape in SHAPES:
            for order in "CF":
                array = np.asarray(random(dtype, shape), order=order)
                path = os.path.join(folder, "x.npy")
                np.save(path, array)
                # numpy writes arrays that are both as C.
                written = "F" if order == "F" and not array.flags.c_contiguous else "C"
                check(f"npy {dtype} {shape} {order}", run(program, path)[None], array, written)
    for dtype in (np.complex64, np.dtype(">c16")):
        parts = random(np.dtype(dtype).newbyteorder("=").type(0).real.dtype, (7, 90, 2))
        array = np.ascontiguousarray(parts).view(parts.dtype.str.replace("f4", "c8").replace("f8", "c16"))[..., 0]
        path = os.path.join(folder, "c.npy")
        np.save(path, array.astype(dtype))
        check(f"npy {dtype}", run(program, path)[None], array.astype(dtype))


def npz(folder, program):
    arrays = {f"a{i}": random(dtype, shape) for i, (dtype, shape) in enumerate(
        (dtype, shape) for dtype in FLOATS for shape in SHAPES)}
    for save in (np.savez, np.savez_compressed):
        path = os.path.join(folder, "x.npz")
        save(path, integers=np.arange(5), **arrays)
        report = run(program, path)
        assert report["integers"]["looked_at"] == "not_float"
        for name, array in arrays.items():
            check(f"{save.__name__} {name}", report[name], array)


def expansion(folder, program):
    """Zeros that are deflated to a hundredth and less: refused only where that is asked for."""
    path = os.path.join(folder, "zeros.npz")
    np.savez_compressed(path, x=np.zeros(1 << 20, np.float32))
    for most, status in (("10", 2), ("10000", 0), ("0", 0)):
        result = subprocess.run([program, "check", "--max-expansion", most, path], capture_output=True, text=True)
        if result.returncode != status or ("claims 4194304 bytes" in result.stderr) != (status == 2):
            failures.append(f"--max-expansion {most}: {result}")


def st(folder, program):
    arrays = {f"{np.dtype(dtype)}-{i}": random(dtype, shape)
              for dtype in FLOATS + SMALL for i, shape in enumerate(SHAPES)}
    path = os.path.join(folder, "x.safetensors")
    safetensors.numpy.save_file(arrays, path)
    report = run(program, path)
    for name, array in arrays.items():
        check(f"safetensors {name}", report[name], array)


def write_gguf(path, tensors, endianess=gguf.GGUFEndian.LITTLE):
    writer = gguf.GGUFWriter(path, "llama", endianess=endianess)
    writer.add_string("general.name", "oracle")
    writer.add_array("tokens", ["a", "", "c"])
    for name, array, kind in tensors:
        writer.add_tensor(name, array, raw_dtype=kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def gguf_floats(folder, program):
    shapes = [shape for shape in SHAPES if shape and 0 not in shape]
    path = os.path.join(folder, "x.gguf")
    for endianess in (gguf.GGUFEndian.LITTLE, gguf.GGUFEndian.BIG):
        arrays = {f"{np.dtype(dtype)}-{i}": random(dtype, shape) for dtype in FLOATS for i, shape in enumerate(shapes)}
        write_gguf(path, [(name, array, None) for name, array in arrays.items()], endianess)
        report = run(program, path)
        for name, array in arrays.items():
            check(f"gguf {endianess} {name}", report[name], array)
    array = random(ml_dtypes.bfloat16, (33, 64))
    write_gguf(path, [("bf16", array.view(np.uint8), Type.BF16)])
    check("gguf bf16", run(program, path)["bf16"], array)


def gguf_scales(folder, program):
    """Random blocks. numpy's answer is that of the package's own dequantisation: a block of which a scale is not finite
    is not finite. MXFP4 is asked for its scale bytes, since the package takes 0xFF for a power of two."""
    global compared
    path = os.path.join(folder, "q.gguf")
    for kind, (elements, size) in gguf.GGML_QUANT_SIZES.items():
        if elements == 1 or kind in (Type.Q8_1, Type.Q8_K):
            continue
        data = np.frombuffer(RNG.bytes(6 * 50 * size), np.uint8).reshape(6, 50 * size)
        write_gguf(path, [("q", data, kind)])
        report = run(program, path)["q"]
        assert report["looked_at"] == "scales" and report["shape"] == [6, 50 * elements], report
        fields = len(report["scales"]["fields"])
        ours = sum(report[key]["count"] for key in ("nan", "pos_inf", "neg_inf"))
        firsts = [report[key]["first"] for key in ("nan", "pos_inf", "neg_inf") if report[key]["first"]]
        first = min((first["coordinate"] for first in firsts), default=None)
        if kind.name == "MXFP4":
            bad = data.reshape(-1, size)[:, 0] == 0xFF
        elif kind.name == "NVFP4":
            bad = (data.reshape(-1, size)[:, :4] & 0x7F == 0x7F).any(axis=1)
        else:
            try:
                with np.errstate(all="ignore"):
                    values = gguf.quants.dequantize(data, kind)
            except NotImplementedError:
                print(f"  {kind.name}: the package cannot dequantise it, not compared")
                continue
            bad = ~np.isfinite(values.reshape(-1, elements)).all(axis=1)
        compared += 1
        blocks = int(bad.sum())
        place = int(bad.argmax()) * elements
        expected = list(np.unravel_index(place, (6, 50 * elements))) if blocks else None
        if first != expected or not blocks <= ours <= fields * blocks or blocks == 0 and kind.name != "MXFP4":
            failures.append(f"gguf {kind.name}: ours {ours} scales, first {first}; numpy {blocks} blocks, first {expected}")


def table(rows):
    """Columns of every float type: without nulls, with nulls whose bytes are NaN, in structs, and in lists; and what numpy
    finds there, by the names of Arrow."""
    columns, expected = {}, {}
    for dtype in FLOATS:
        name = np.dtype(dtype).name
        array = random(dtype, (rows,))
        mask = RNG.random(rows) < 0.3
        nulls = array.copy()
        nulls[mask] = np.nan
        # Under the nulls lie NaN. Where numpy is asked, zeros; but not for the minimum and maximum.
        columns[name] = pa.array(array)
        columns[f"{name}_nulls"] = pa.array(nulls, mask=mask)
        columns[f"{name}_struct"] = pa.StructArray.from_arrays([pa.array(array), pa.array(np.arange(rows))], ["x", "i"])
        fixed = random(dtype, (rows, 3))
        columns[f"{name}_fixed"] = pa.FixedSizeListArray.from_arrays(pa.array(fixed.reshape(-1)), 3)
        lengths = RNG.integers(0, 4, rows)
        values = random(dtype, (int(lengths.sum()),))
        columns[f"{name}_list"] = pa.ListArray.from_arrays(pa.array(np.concatenate([[0], lengths.cumsum()]), pa.int32()),
                                                           pa.array(values))
        expected |= {name: array, f"{name}_struct.x": array, f"{name}_fixed": fixed,
                     f"{name}_nulls": (nulls, np.flatnonzero(~mask)),
                     f"{name}_list": (values, np.repeat(np.arange(rows), lengths))}
    columns["integers"] = pa.array(np.arange(rows))
    columns["text"] = pa.array([str(i) for i in range(rows)])
    return pa.table(columns), expected


def check_rows(what, report, values, rows):
    """Numbers of which the coordinate is a row: `rows` has that of each, for nulls only those that are there."""
    if len(rows) != len(values):
        values = values[rows]
    found = of_array(values)
    for kind in ("nan", "pos_inf", "neg_inf"):
        count, first = found[kind]
        found[kind] = (count, first and ([int(rows[first[0][0]])], first[1]))
    global compared
    compared += 1
    if found != of_report(report):
        failures.append(f"{what}: ours {of_report(report)}, numpy {found}")


def check_table(what, path, program, expected, rename=lambda name: name, fixed_lists=True, stream=False):
    report = run(program, path)
    # Without statistics nulls are looked at with all others first: the counts must be the same.
    bounds = lambda report: {name: {k: v for k, v in tensor.items() if k not in ("min", "max")} for name, tensor in report.items()}
    if bounds(report) != run(program, path, stats=False):
        failures.append(f"{what}: not the same without --stats")
    if stream and report != run(program, "-", stdin=path):
        failures.append(f"{what}: not the same from standard input")
    assert report["integers"]["looked_at"] == report["text"]["looked_at"] == "not_float", what
    for name, array in expected.items():
        tensor = report[rename(name)]
        if isinstance(array, tuple):
            check_rows(f"{what} {name}", tensor, *array)
        elif array.ndim == 2 and not fixed_lists:
            check_rows(f"{what} {name}", tensor, array.reshape(-1), np.repeat(np.arange(len(array)), array.shape[1]))
        else:
            check(f"{what} {name}", tensor, array)


def arrow(folder, program):
    table_of_rows, expected = table(20_001)
    path = os.path.join(folder, "x.arrow")
    for compression in (None, "lz4", "zstd"):
        for new in (pa.ipc.new_file, pa.ipc.new_stream):
            with new(path, table_of_rows.schema, options=pa.ipc.IpcWriteOptions(compression=compression)) as writer:
                writer.write_table(table_of_rows, max_chunksize=7000)
            stream = new is pa.ipc.new_stream
            check_table(f"arrow {new.__name__} {compression}", path, program, expected, stream=stream)
    pa.feather.write_feather(table_of_rows, path)
    check_table("feather", path, program, expected)


def nested_arrow(folder, program):
    global compared
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
                compared += 1
                ((name, tensor),) = run(program, what, stats=stats, stdin=stdin).items()
                found = nested.reported(tensor)
                if found != expected:
                    failures.append(f"nested {number} {column.type} {codec} {what} {stats}: ours {found}, Python {expected}")


def parquet(folder, program):
    table_of_rows, expected = table(20_001)
    path = os.path.join(folder, "x.parquet")
    lists = lambda name: f"{name}.list.element" if name.endswith(("_list", "_fixed")) else name
    for compression in ("none", "snappy", "gzip", "zstd", "lz4"):
        for options in ({"use_dictionary": False}, {"data_page_version": "2.0", "data_page_size": 4096}):
            pa.parquet.write_table(table_of_rows, path, compression=compression, row_group_size=7000, **options)
            check_table(f"parquet {compression} {options}", path, program, expected, lists, fixed_lists=False)


def raw(folder, program):
    """What numpy saves as raw bytes, and what it is called."""
    for dtype, option in ((ml_dtypes.bfloat16, "V2=bf16"), (ml_dtypes.float8_e4m3fn, "V1=f8e4m3fn"),
                          (ml_dtypes.float8_e5m2, "f1=f8e5m2")):
        for save in (np.save, np.savez_compressed):
            array = random(dtype, (64, 65))
            path = os.path.join(folder, f"raw.np{'y' if save is np.save else 'z'}")
            save(path, array)
            (report,) = run(program, "--raw-dtype", option, path).values()
            check(f"{save.__name__} {option}", report, array)


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        for part in (npy, npz, expansion, raw, st, gguf_floats, gguf_scales, arrow, nested_arrow, parquet):
            before = compared
            part(folder, program)
            print(f"{part.__name__}: {compared - before} tensors")
    print("\n".join(failures))
    if failures or compared < 150:
        raise SystemExit(f"{len(failures)} of {compared} tensors differ")
    print(f"{compared} tensors: all equal to numpy")


main(os.path.abspath(sys.argv[1]))
