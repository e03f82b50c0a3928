"""Tests of the libraries as such: memory, the wheel, functions of a model, float8e8m0."""

import base64
import ctypes
import gc
import hashlib
import importlib.metadata
import os
import unittest

import ml_dtypes
import numpy as np
from onnx import TensorProto

from models import DEFAULT_DOMAIN, LIBRARY, OURS, TYPES, one_node, oracle, patterns, run, session
from test_default_domain import with_function


class Mallinfo(ctypes.Structure):
    _fields_ = [
        (name, ctypes.c_size_t)
        for name in "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks "
        "keepcost".split()
    ]


def heap():
    """Bytes that malloc has given out."""
    mallinfo = ctypes.CDLL(None).mallinfo2
    mallinfo.restype = Mallinfo
    gc.collect()
    info = mallinfo()
    return info.uordblks + info.hblkhd


class Memory(unittest.TestCase):
    def test_sessions_leave_nothing_behind(self):
        """The runtime unloads a library with its last session, and loads it with the next."""

        def each(libraries, domain):
            model = one_node("IsNaN", TensorProto.FLOAT, domain=domain)
            x = np.ones(8, np.float32)

            def sessions(count):
                for _ in range(count):
                    session(model, libraries).run(None, {"x": x})

            sessions(20)
            before = heap()
            sessions(300)
            return (heap() - before) / 300

        theirs = each([], "")
        for library, domain in ((LIBRARY, OURS), (DEFAULT_DOMAIN, "")):
            # Without `-z nodelete`: 5 KiB.
            self.assertLess(each([library], domain), theirs + 500)


class Wheel(unittest.TestCase):
    def test_record(self):
        """The wheel lists each of its files, with the right checksum."""
        files = importlib.metadata.files("nonfinite-onnxruntime")
        named = {file.name for file in files}
        self.assertLessEqual({"LICENSE-MIT", os.path.basename(LIBRARY)}, named)
        for file in files:
            if file.hash and "__pycache__" not in file.parts:
                digest = hashlib.sha256(file.read_binary()).digest()
                digest = base64.urlsafe_b64encode(digest).decode().rstrip("=")
                self.assertEqual((file.hash.mode, file.hash.value), ("sha256", digest), file)


class Functions(unittest.TestCase):
    """fp8 in a function of the model whose first node is ours.

    The runtime takes the types of a function's inputs from the standard operators that they go
    into. For an input without any, the runtime supposes all types except fp8.
    """

    def test_fp8(self):
        type_ = TensorProto.FLOAT8E5M2
        with self.assertRaisesRegex(Exception, "operator .Outer. in node"):
            session(with_function(OURS, type_))
        bits = patterns("f8e5m2")
        got = run(session(with_function(OURS, type_, identity=True)), bits, type_)
        np.testing.assert_array_equal(got, oracle("IsNaN", bits.view(ml_dtypes.float8_e5m2)))

    def test_other_types(self):
        for name in ("f32", "f64", "f16", "bf16"):
            type_, dtype, _ = TYPES[name]
            bits = patterns(name)
            got = run(session(with_function(OURS, type_)), bits, type_)
            np.testing.assert_array_equal(got, oracle("IsNaN", bits.view(dtype)))


class E8m0(unittest.TestCase):
    def test_all_codes(self):
        bits = np.arange(256, dtype=np.uint8)
        nan = bits == 0xFF
        for operator, want in (("IsNaN", nan), ("IsInf", nan & False), ("IsFinite", ~nan)):
            model = one_node(operator, TensorProto.FLOAT8E8M0)
            got = run(session(model), bits, TensorProto.FLOAT8E8M0)
            np.testing.assert_array_equal(got, want)

    def test_neighbours_are_refused(self):
        """The C interface of the runtime and ONNX number these types in another order."""
        for type_ in (TensorProto.FLOAT4E2M1, TensorProto.UINT2, TensorProto.INT2):
            with self.assertRaisesRegex(Exception, "IsNaN"):
                session(one_node("IsNaN", type_))


class Attributes(unittest.TestCase):
    def test_unknown_ones_are_not_seen(self):
        """As README says: the runtime shows an operator only what the operator asks for by name."""
        got = session(one_node("IsInf", TensorProto.FLOAT, detect_negativ=0))
        x = np.array([-np.inf, np.inf], np.float32)
        np.testing.assert_array_equal(got.run(None, {"x": x})[0], [True, True])


if __name__ == "__main__":
    unittest.main()
