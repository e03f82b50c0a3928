"""Runs a WASI program: wasm32.py PROGRAM ARGS...  It gets the environment, and /tmp as its root."""

import sys

import wasmtime

wasi = wasmtime.WasiConfig()
wasi.argv = sys.argv[1:]
wasi.inherit_env()
wasi.inherit_stdout()
wasi.inherit_stderr()
wasi.preopen_dir("/tmp", "/")

engine = wasmtime.Engine()
store = wasmtime.Store(engine)
store.set_wasi(wasi)
linker = wasmtime.Linker(engine)
linker.define_wasi()
program = linker.instantiate(store, wasmtime.Module.from_file(engine, sys.argv[1]))
try:
    program.exports(store)["_start"](store)
except wasmtime.ExitTrap as end:
    sys.exit(end.code)
