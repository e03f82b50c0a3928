"""Compares the command with numpy on files of the reference packages."""

import os
import subprocess
import sys
import tempfile

import gguf
import ml_dtypes
import numpy as np
import safetensors.numpy
from gguf import GGMLQuantizationType as Type

import shared
from expected import run
from shared import FLOATS, RNG, SHAPES, SMALL, check, failures, random


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
        array = np.ascontiguousarray(parts).view(
            parts.dtype.str.replace("f4", "c8").replace("f8", "c16")
        )[..., 0]
        path = os.path.join(folder, "c.npy")
        np.save(path, array.astype(dtype))
        check(f"npy {dtype}", run(program, path)[None], array.astype(dtype))


def npz(folder, program):
    arrays = {
        f"a{i}": random(dtype, shape)
        for i, (dtype, shape) in enumerate((dtype, shape) for dtype in FLOATS for shape in SHAPES)
    }
    for save in (np.savez, np.savez_compressed):
        path = os.path.join(folder, "x.npz")
        save(path, integers=np.arange(5), **arrays)
        report = run(program, path)
        assert report["integers"]["looked_at"] == "not_float"
        for name, array in arrays.items():
            check(f"{save.__name__} {name}", report[name], array)


def structured(folder, program):
    """Structured arrays are named, and never taken for clean."""
    array = np.ones(3, np.dtype([("a", "<f4"), ("b", "<i4")]))
    for name, save in (("s.npy", np.save), ("s.npz", np.savez), ("c.npz", np.savez_compressed)):
        path = os.path.join(folder, name)
        save(path, array)
        result = subprocess.run([program, "check", path], capture_output=True, text=True)
        shared.compared += 1
        if result.returncode != 2 or "structured dtype" not in result.stderr:
            failures.append(f"{name}: {result}")


def checksums(folder, program):
    """A flipped bit in a stored member: numpy and the command refuse the same archives."""
    path = os.path.join(folder, "sums.npz")
    np.savez(path, a=np.zeros(3000, np.float32), i=np.arange(5_000))
    good = open(path, "rb").read()
    for at in [*range(0, len(good), 997), len(good) - 30]:
        with open(path, "wb") as file:
            file.write(good[:at] + bytes([good[at] ^ 16]) + good[at + 1 :])
        try:
            with np.load(path) as archive:
                numpys = [archive[name] is None for name in archive.files] == [False, False]
        except Exception:
            numpys = False
        ours = subprocess.run([program, "check", path], capture_output=True).returncode != 2
        shared.compared += 1
        if ours and not numpys:
            failures.append(f"bit of byte {at}: numpy refuses it, the command does not")


def expansion(folder, program):
    """Zeros that deflate to a hundredth or less: refused only with a low --max-bytes."""
    path = os.path.join(folder, "zeros.npz")
    np.savez_compressed(path, x=np.zeros(1 << 20, np.float32))
    for most, status in (("4194303", 2), ("4194304", 0)):
        result = subprocess.run(
            [program, "check", "--max-bytes", most, path], capture_output=True, text=True
        )
        if result.returncode != status or ("claims 4194304 bytes" in result.stderr) != (
            status == 2
        ):
            failures.append(f"--max-bytes {most}: {result}")


def st(folder, program):
    arrays = {
        f"{np.dtype(dtype)}-{i}": random(dtype, shape)
        for dtype in FLOATS + SMALL
        for i, shape in enumerate(SHAPES)
    }
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
        arrays = {
            f"{np.dtype(dtype)}-{i}": random(dtype, shape)
            for dtype in FLOATS
            for i, shape in enumerate(shapes)
        }
        write_gguf(path, [(name, array, None) for name, array in arrays.items()], endianess)
        report = run(program, path)
        for name, array in arrays.items():
            check(f"gguf {endianess} {name}", report[name], array)
    array = random(ml_dtypes.bfloat16, (33, 64))
    write_gguf(path, [("bf16", array.view(np.uint8), Type.BF16)])
    check("gguf bf16", run(program, path)["bf16"], array)


def gguf_scales(folder, program):
    """Random blocks, dequantised by the package: a scale that is not finite makes its block so.

    MXFP4 is asked for its scale bytes, since the package takes 0xFF for a power of two.
    """
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
        firsts = [
            report[key]["first"] for key in ("nan", "pos_inf", "neg_inf") if report[key]["first"]
        ]
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
        shared.compared += 1
        blocks = int(bad.sum())
        place = int(bad.argmax()) * elements
        expected = list(np.unravel_index(place, (6, 50 * elements))) if blocks else None
        if (
            first != expected
            or not blocks <= ours <= fields * blocks
            or blocks == 0
            and kind.name != "MXFP4"
        ):
            failures.append(
                f"gguf {kind.name}: ours {ours} scales, first {first}; "
                f"numpy {blocks} blocks, first {expected}"
            )


def metadata(folder, program):
    """Floats in the metadata of GGUF."""
    path = os.path.join(folder, "metadata.gguf")
    for endianess in (gguf.GGUFEndian.LITTLE, gguf.GGUFEndian.BIG):
        writer = gguf.GGUFWriter(path, "llama", endianess=endianess)
        values = random(np.float32, (50,))
        writer.add_array("scores", [float(value) for value in values])
        writer.add_float32("one", float("nan"))
        writer.add_float64("two", float("-inf"))
        writer.add_array("integers", [1, 2])
        writer.write_header_to_file()
        writer.write_kv_data_to_file()
        writer.write_tensors_to_file()
        writer.close()
        report = run(program, path)
        assert sorted(report) == ["metadata.one", "metadata.scores", "metadata.two"], report
        counts = {kind: report["metadata.scores"][kind]["count"] for kind in ("nan", "pos_inf")}
        want = {"nan": int(np.isnan(values).sum()), "pos_inf": int(np.isposinf(values).sum())}
        if counts != want:
            failures.append(f"gguf metadata: ours {counts}, numpy {want}")
        check("gguf metadata f64", report["metadata.two"], np.array(-np.inf))


def raw(folder, program):
    """Types that numpy saves as raw bytes are named, with what checks them."""
    for dtype, advice in (
        (ml_dtypes.bfloat16, "array.view(ml_dtypes.bfloat16)"),
        (ml_dtypes.float8_e4m3fn, "array.view(ml_dtypes.float8_e4m3fn)"),
        (ml_dtypes.float8_e5m2, "numpy cannot load"),
    ):
        for save in (np.save, np.savez_compressed):
            path = os.path.join(folder, f"raw.np{'y' if save is np.save else 'z'}")
            save(path, random(dtype, (64, 65)))
            result = subprocess.run([program, "check", path], capture_output=True, text=True)
            shared.compared += 1
            if result.returncode != 2 or advice not in result.stderr:
                failures.append(f"{save.__name__} {dtype}: {result}")


def main(program):
    with tempfile.TemporaryDirectory() as folder:
        parts = (
            npy,
            npz,
            structured,
            checksums,
            expansion,
            raw,
            st,
            gguf_floats,
            gguf_scales,
            metadata,
        )
        for part in parts:
            before = shared.compared
            part(folder, program)
            print(f"{part.__name__}: {shared.compared - before} tensors")
    print("\n".join(failures))
    if failures or shared.compared < 150:
        raise SystemExit(f"{len(failures)} of {shared.compared} tensors differ")
    print(f"{shared.compared} tensors: all equal to numpy")


main(os.path.abspath(sys.argv[1]))
