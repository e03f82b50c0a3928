# mypy: disable-error-code="import-not-found,import-untyped,no-untyped-call,no-any-return,misc"
"""The CUDA driver, and the kernels of the crate `nonfinite-cuda` as the driver launches them."""

import ctypes
import sys
import threading
from pathlib import Path

TYPE_CHECKING = False
if TYPE_CHECKING:
    from torch import Tensor, device

LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"

_int, _uint, _pointer = ctypes.c_int, ctypes.c_uint, ctypes.c_void_p
_to_pointer = ctypes.POINTER(ctypes.c_void_p)
# The functions that are called, and the types of their arguments, as in cuda.h. Handles are
# pointers, and addresses in device memory are numbers of 64 bits. All return a number of 32 bits.
_ARGUMENTS: "dict[str, tuple[object, ...]]" = {
    "cuInit": (_uint,),
    "cuGetErrorName": (_int, ctypes.POINTER(ctypes.c_char_p)),
    "cuDeviceGet": (ctypes.POINTER(_int), _int),
    "cuDeviceGetAttribute": (ctypes.POINTER(_int), _int, _int),
    "cuDevicePrimaryCtxRetain": (_to_pointer, _int),
    "cuCtxPushCurrent_v2": (_pointer,),
    "cuCtxPopCurrent_v2": (_to_pointer,),
    "cuModuleLoadData": (_to_pointer, ctypes.c_char_p),
    "cuModuleGetFunction": (_to_pointer, _pointer, ctypes.c_char_p),
    "cuLaunchKernel": (_pointer, *[_uint] * 7, _pointer, _to_pointer, _to_pointer),
    "cuMemsetD8Async": (ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t, _pointer),
}
_MULTIPROCESSOR_COUNT = 16  # of CUdevice_attribute
_BLOCKS = 8  # for each multiprocessor


class CudaError(RuntimeError):
    """There is no CUDA driver, or a function of the driver failed."""


CudaError.__module__ = "nonfinite.cuda"


class _Driver:
    """The functions of the driver, with errors as exceptions."""

    def __init__(self) -> None:
        try:
            self.library = ctypes.CDLL(LIBRARY)
            for name, types in _ARGUMENTS.items():
                getattr(self.library, name).argtypes = types
        except (OSError, AttributeError) as error:
            raise CudaError(f"no CUDA driver: {error}") from error
        self.call("cuInit", 0)

    def call(self, name: str, *arguments: object) -> None:
        code = getattr(self.library, name)(*arguments)
        if code != 0:
            text = ctypes.c_char_p()
            self.library.cuGetErrorName(code, ctypes.byref(text))
            raise CudaError(f"{name} failed: {(text.value or b'unknown error').decode()}")


class Kernels:
    """The kernels, loaded into the context that torch uses on a device."""

    def __init__(self, driver: _Driver, device: int) -> None:
        self.driver = driver
        number, self.context, module = ctypes.c_int(), ctypes.c_void_p(), ctypes.c_void_p()
        driver.call("cuDeviceGet", ctypes.byref(number), device)
        # Kept until the program ends, as the kernels are.
        driver.call("cuDevicePrimaryCtxRetain", ctypes.byref(self.context), number)
        count = ctypes.c_int()
        driver.call("cuDeviceGetAttribute", ctypes.byref(count), _MULTIPROCESSOR_COUNT, number)
        self.blocks = count.value * _BLOCKS
        ptx = Path(__file__).with_name("nonfinite.ptx").read_bytes()
        self.call("cuModuleLoadData", ctypes.byref(module), ptx)

        def kernel(name: bytes) -> ctypes.c_void_p:
            function = ctypes.c_void_p()
            self.call("cuModuleGetFunction", ctypes.byref(function), module, name)
            return function

        self.look, self.one = kernel(b"nonfinite_look"), kernel(b"nonfinite_one")
        self.rows = kernel(b"nonfinite_rows")

    def call(self, name: str, *arguments: object) -> None:
        """Call a function of the driver with this context as the current one of the thread."""
        self.driver.call("cuCtxPushCurrent_v2", self.context)
        try:
            self.driver.call(name, *arguments)
        finally:
            self.driver.call("cuCtxPopCurrent_v2", ctypes.byref(ctypes.c_void_p()))

    def launch(
        self,
        function: ctypes.c_void_p,
        blocks: int,
        threads: int,
        stream: int,
        arguments: "ctypes.Array[ctypes.c_void_p]",
    ) -> None:
        """Launch a kernel. The driver copies the arguments."""
        shape = (blocks, 1, 1, threads, 1, 1, 0)
        self.call("cuLaunchKernel", function, *shape, stream, arguments, None)

    def clear(self, x: "Tensor", stream: int) -> None:
        """Set all bytes of a tensor to 0, in the order of a stream."""
        self.call("cuMemsetD8Async", x.data_ptr(), 0, x.nbytes, stream)


_lock = threading.Lock()
_driver: _Driver | None = None
_loaded: dict[int, Kernels] = {}


def kernels(device: int) -> Kernels:
    """The kernels on a device, loaded at the first use. CudaError if that fails."""
    global _driver
    with _lock:
        if _driver is None:
            _driver = _Driver()
        if device not in _loaded:
            _loaded[device] = Kernels(_driver, device)
        return _loaded[device]


def pointers(values: "tuple[ctypes._CData, ...]") -> "ctypes.Array[ctypes.c_void_p]":
    """The arguments of a kernel. The values must live as long."""
    addresses = [ctypes.addressof(value) for value in values]
    return (ctypes.c_void_p * len(values))(*addresses)


def pinned(words: int) -> "Tensor":
    """Zeros in memory of the host that a device can write to."""
    import torch

    return torch.zeros(words, dtype=torch.int64, pin_memory=True)


def current(device: "device") -> int:
    """The current stream of torch on a device. 0 is the default one."""
    import torch

    return int(torch.cuda.current_stream(device).cuda_stream)
