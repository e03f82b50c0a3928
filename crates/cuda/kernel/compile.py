#!/usr/bin/env python3
"""Compiles nonfinite.cu to PTX with NVRTC, which comes from PyPI: ci/cuda names the version.

    compile.py            writes nonfinite.ptx beside this file
    compile.py --check    ends with 1 if that file is not what NVRTC writes

Needs no GPU, driver or toolkit. The PTX is for Volta (compute_70), and drivers compile it for all
later cards. A newer NVRTC would write a newer version of PTX, which older drivers refuse.
"""

import argparse
import ctypes
import importlib.util
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
OPTIONS = [b"--gpu-architecture=compute_70", b"--std=c++17", b"--restrict"]


def library() -> ctypes.CDLL:
    found = importlib.util.find_spec("nvidia.cuda_nvrtc")
    if found is None or not found.submodule_search_locations:
        sys.exit("no NVRTC: pip install nvidia-cuda-nvrtc-cu12")
    folder = Path(found.submodule_search_locations[0]) / "lib"
    # NVRTC opens this library by its name alone.
    (builtins,) = folder.glob("libnvrtc-builtins.so.*")
    ctypes.CDLL(str(builtins), mode=ctypes.RTLD_GLOBAL)
    (nvrtc,) = folder.glob("libnvrtc.so.*")
    loaded = ctypes.CDLL(str(nvrtc))
    loaded.nvrtcGetErrorString.restype = ctypes.c_char_p
    return loaded


def compiled(source: bytes) -> str:
    nvrtc = library()
    program = ctypes.c_void_p()

    def call(name: str, *arguments: object) -> None:
        code = getattr(nvrtc, name)(*arguments)
        if code != 0:
            sys.exit(f"{name}: {nvrtc.nvrtcGetErrorString(code).decode()}\n{text('ProgramLog')}")

    def text(what: str) -> str:
        size = ctypes.c_size_t()
        if getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)) != 0:
            return ""
        buffer = ctypes.create_string_buffer(size.value)
        getattr(nvrtc, f"nvrtcGet{what}")(program, buffer)
        return buffer.value.decode()

    call("nvrtcCreateProgram", ctypes.byref(program), source, b"nonfinite.cu", 0, None, None)
    options = (ctypes.c_char_p * len(OPTIONS))(*OPTIONS)
    call("nvrtcCompileProgram", program, len(OPTIONS), options)
    log = text("ProgramLog")
    if log.strip():
        sys.exit(f"NVRTC warns:\n{log}")
    return text("PTX")


def main() -> None:
    parser = argparse.ArgumentParser(description="Compiles nonfinite.cu to PTX.")
    parser.add_argument("--check", action="store_true", help="compare with nonfinite.ptx")
    arguments = parser.parse_args()
    ptx = compiled((HERE / "nonfinite.cu").read_bytes())
    target = HERE / "nonfinite.ptx"
    if not arguments.check:
        target.write_text(ptx)
    elif target.read_text() != ptx:
        sys.exit(f"{target} is not what NVRTC makes of nonfinite.cu: run compile.py")
    print(f"{target.name}: {len(ptx)} bytes")


if __name__ == "__main__":
    main()
