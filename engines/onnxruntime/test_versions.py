"""Answers of both libraries, with every ONNX Runtime from 1.17 on: `./test versions 1.17.0`.

The input is a tensor of the model, because old runtimes take no bf16 and no fp8 from Python.
"""

import itertools
import unittest

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

from models import DEFAULT_DOMAIN, LIBRARY, OURS, TYPES, model_of, oracle, patterns, session

# Old runtimes do not know the newest opsets.
OPSETS = range(9, 24 if int(ort.__version__.split(".")[1]) >= 24 else 21)
# Any number except 0 is on.
SIGNS = [
    {"detect_negative": negative, "detect_positive": positive}
    for negative, positive in itertools.product((0, 1, -3), (0, 1, 5))
]


class EveryVersion(unittest.TestCase):
    def check(self, library, domain, name, operator, opset, **attributes):
        type_, dtype, _ = TYPES[name]
        bits = patterns(name)[:70_000]
        node = helper.make_node(operator, ["x"], ["y"], domain=domain, **attributes)
        model = model_of([node], type_, opset=opset)
        del model.graph.input[:]
        x = TensorProto(name="x", data_type=type_, dims=[bits.size], raw_data=bits.tobytes())
        model.graph.initializer.append(x)
        with self.subTest(name=name, operator=operator, opset=opset, **attributes):
            got = session(model, [library]).run(None, {})[0]
            self.assertGreater(got.size, 255)
            np.testing.assert_array_equal(got, oracle(operator, bits.view(dtype), **attributes))

    def test_own_domain(self):
        for name in TYPES:
            for operator in ("IsNaN", "IsInf", "IsFinite"):
                self.check(LIBRARY, OURS, name, operator, 20)
            for signs in SIGNS:
                self.check(LIBRARY, OURS, name, "IsInf", 20, **signs)

    def test_default_domain(self):
        for name, opset in itertools.product(TYPES, OPSETS):
            self.check(DEFAULT_DOMAIN, "", name, "IsNaN", opset)
            # IsInf exists from opset 10 on.
            for signs in SIGNS if opset in (10, 20) else [{}] if opset > 10 else []:
                self.check(DEFAULT_DOMAIN, "", name, "IsInf", opset, **signs)

    def test_shapes(self):
        for library, domain in ((LIBRARY, OURS), (DEFAULT_DOMAIN, "")):
            node = helper.make_node("IsNaN", ["x"], ["y"], domain=domain)
            made = session(model_of([node], TensorProto.FLOAT), [library])
            for shape in [(), (0,), (0, 3), (1,), (2, 3), (1, 1, 7, 65), (2,) * 9]:
                x = np.zeros(shape, np.float32)
                if x.size:
                    x.flat[-1] = np.nan
                got = made.run(None, {"x": x})[0]
                self.assertEqual(got.shape, shape)
                np.testing.assert_array_equal(got, np.isnan(x))


if __name__ == "__main__":
    print("onnxruntime", ort.__version__)
    unittest.main()
