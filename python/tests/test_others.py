"""Arrow, the buffer protocol, DLPack of other libraries, and things that look like arrays."""

from __future__ import annotations

import array
import ctypes

import numpy as np
import pandas
import polars
import pyarrow as pa
import pytest

import nonfinite as nf

NAN, INF = float("nan"), float("inf")


@pytest.mark.parametrize("kind", [pa.float16(), pa.float32(), pa.float64()], ids=str)
def test_arrow(kind: pa.DataType) -> None:
    values = [np.float16(v) if v is not None else None for v in [1, None, NAN, INF, -INF, None, 2]]
    x = pa.array(values, pa.float16()).cast(kind)
    assert nf.all_finite(x) is False and nf.count(x, "finite") == 2
    assert nf.is_nan(x).tolist() == [False, False, True, False, False, False, False]
    assert nf.is_finite(x).tolist() == [True, False, False, False, False, False, True]
    assert nf.position(x, "inf") == (3,)
    assert nf.census(x).total == 3 and nf.stats(x).finite == 2
    assert nf.all_finite(x[5:]) is True and nf.position(x[1:], "nan") == (1,)
    assert nf.is_finite(x[5:]).tolist() == [False, True]
    assert (nf.any(x, "nan", axis=0), nf.all(x[5:], "finite", axis=0)) == (True, True)
    assert (nf.count(x, "finite", axis=0), nf.position(x, "inf", axis=0)) == (2, 3)
    assert nf.census(x, axis=0)["nan"]["count"] == 1 and nf.stats(x, axis=0)["max"]["value"] == 2
    out = np.ones(7, bool)
    assert nf.is_nan(x, out=out) is out and out.tolist() == nf.is_nan(x).tolist()


def test_arrow_nan_under_a_null() -> None:
    data = pa.py_buffer(np.float64([1, NAN, 3]).tobytes())
    x = pa.Array.from_buffers(pa.float64(), 3, [pa.py_buffer(b"\x05"), data])
    assert x.null_count == 1 and nf.all_finite(x) is True
    assert nf.is_nan(x).tolist() == [False, False, False]


def test_polars() -> None:
    assert nf.all_finite(polars.Series([1.0, None], dtype=polars.Float32)) is True
    assert nf.all_finite(polars.Series([1, None])) is True
    frame = polars.DataFrame({"x": [1.0, NAN]})
    ask = polars.col("x").map_batches(lambda x: polars.Series(nf.is_finite(x)))
    assert frame.select(ask)["x"].to_list() == [True, False]
    with pytest.raises(TypeError, match="Arrow format"):
        nf.all_finite(polars.Series(["a"]))


def test_pandas() -> None:
    x = pandas.Series([1.0, None, INF])
    assert nf.is_nan(x).tolist() == [False, True, False]
    assert nf.nan_to_num(x, posinf=2.0).tolist() == [1, 0, 2]
    with pytest.raises(TypeError, match="dtype object|Arrow|column"):
        nf.all_finite(pandas.Series(["a", None], dtype=object))


def test_arrow_others() -> None:
    assert nf.any(pa.array([1.0, NAN]), "nan", axis=0) is True
    assert nf.all_finite(pa.array([1, 2, None])) is True
    assert nf.is_nan(pa.array([True, None])).tolist() == [False, False]
    assert nf.all_finite(pa.array([], pa.float32())) is True
    for wrong in (["a"], [[1.0]], [{"a": 1.0}], pa.array([1.0]).dictionary_encode()):
        with pytest.raises(TypeError, match="Arrow format"):
            nf.all_finite(pa.array(wrong))


@pytest.mark.parametrize("code", "fd")
def test_buffers(code: str) -> None:
    x = array.array(code, [1, NAN, INF, 4])
    assert nf.is_finite(x).tolist() == [True, False, False, True]
    assert nf.position(memoryview(x)[::-1], "nan") == (2,)
    assert nf.position(memoryview(x)[::2], "inf") == (1,)
    # The array cannot be resized while it is read, and can be afterwards.
    x.append(1)
    assert nf.nan_to_num(x, copy=False, nan=9).tolist()[1] == 9 and x[1] == 9
    assert nf.unscale_and_check(x, 2.0) is False and x[0] == 2
    with pytest.raises(ValueError, match="read-only"):
        nf.unscale_and_check(memoryview(x).toreadonly(), 2.0)


def test_other_buffers() -> None:
    assert nf.all_finite(array.array("i", [1, 2])) is True
    matrix = ((ctypes.c_float * 3) * 2)()
    matrix[1][2] = NAN
    assert nf.position(matrix, "nan") == (1, 2)
    matrix = (ctypes.c_double.__ctype_be__ * 2)(1, INF)
    assert nf.position(matrix, "inf") == (1,)
    halves = memoryview(np.float16([1, NAN]))
    assert nf.is_nan(halves).tolist() == [False, True]
    for wrong in (array.array("B", [1]), memoryview(b"ab"), memoryview(np.zeros(2, complex))):
        with pytest.raises(TypeError):
            nf.all_finite(wrong)


class Exported:
    """An object of another library, with DLPack alone."""

    def __init__(self, x: np.ndarray, device: tuple[int, int] = (1, 0), old: bool = False) -> None:
        self.x, self.device, self.old, self.exports = x, device, old, 0

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, **arguments: object) -> object:
        if self.old and arguments:
            raise TypeError("unexpected argument")
        self.exports += 1
        return self.x.__dlpack__(**arguments)


#: Whether numpy says in its capsules what may be written to, and has the argument `copy`.
SAYS_MORE = np.lib.NumpyVersion(np.__version__) >= "2.1.0"


@pytest.mark.parametrize("old", [False, True])
def test_dlpack(old: bool) -> None:
    import sys

    x = np.float32([[1, NAN, 2], [3, 4, INF]])
    before = sys.getrefcount(x)
    for view in (x, x[:, ::-1], x.T, x[1, 1:2], x[:0]):
        assert np.array_equal(nf.is_nan(Exported(view, old=old)), np.isnan(view))
    del view
    assert sys.getrefcount(x) == before
    assert nf.nan_to_num(Exported(x, old=old)).tolist()[0] == [1, 0, 2]
    own = Exported(x, old=old)
    if old or not SAYS_MORE:
        with pytest.raises(ValueError, match="read-only"):
            nf.unscale_and_check(own, 2.0)
    else:
        assert nf.unscale_and_check(own, 2.0) is True and x[0, 0] == 2


@pytest.mark.skipif(not SAYS_MORE, reason="numpy before 2.1 exports no copies")
def test_dlpack_copy() -> None:
    class Copied(Exported):
        def __dlpack__(self, **arguments: object) -> object:
            return self.x.__dlpack__(**arguments, copy=True)

    x = np.float32([1, NAN])
    assert nf.is_nan(Copied(x)).tolist() == [False, True]
    with pytest.raises(ValueError, match="read-only"):
        nf.unscale_and_check(Copied(x), 2.0)
    assert x[0] == 1


@pytest.mark.parametrize(
    ("device", "name"), [((2, 1), "CUDA"), ((8, 0), "Metal"), ((10, 0), "ROCm"), ((7, 0), "type 7")]
)
def test_elsewhere(device: tuple[int, int], name: str) -> None:
    x = Exported(np.ones(3), device)
    with pytest.raises(TypeError, match=f"device {device[1]}.*{name}.*cpu"):
        nf.all_finite(x)
    assert x.exports == 0, "nothing is exported from a device that cannot be read"


def test_cuda_array() -> None:
    class OnGpu:
        __cuda_array_interface__ = {"shape": (1,), "typestr": "<f4", "data": (16, False)}

    with pytest.raises(TypeError, match="GPU"):
        nf.all_finite(OnGpu())


def test_array_method() -> None:
    class Series:
        def __array__(self, dtype: object = None, copy: object = None) -> np.ndarray:
            return np.float32([1, NAN])

    assert nf.is_nan(Series()).tolist() == [False, True]


def test_errors_of_the_owner_pass() -> None:
    class Broken:
        def __dlpack__(self, **_: object) -> object:
            raise RuntimeError("lost")

    with pytest.raises(TypeError, match="lost") as error:
        nf.all_finite(Broken())
    assert repr(error.value.__cause__) == "RuntimeError('lost')"

    class Deep:
        def __dlpack__(self, **_: object) -> object:
            raise RecursionError("deep")

    with pytest.raises(RecursionError, match="deep") as other:
        nf.all_finite(Deep())
    assert not hasattr(other.value, "__notes__")

    class Fake:
        def __dlpack__(self, **_: object) -> object:
            return object()

    with pytest.raises(TypeError, match="__dlpack__.. is no capsule"):
        nf.all_finite(Fake())

    class Nowhere(Fake):
        def __dlpack_device__(self) -> object:
            return None

    with pytest.raises(TypeError, match="__dlpack_device__.. is no pair"):
        nf.all_finite(Nowhere())
