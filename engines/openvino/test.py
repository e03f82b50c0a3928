"""Tests of the operators of extension.cpp in OpenVINO's CPU plugin and reference evaluation.

The oracle is numpy with ml_dtypes. The answers are also compared with OpenVINO's own operators.
Run by the script `test` in this folder. `test.py LIBRARY time` measures.
"""

import itertools
import sys
import time
import unittest

import ml_dtypes
import numpy as np
import openvino as ov

LIBRARY = sys.argv[1]
OURS, THEIRS = "nonfinite", "opset10"
CORE = ov.Core()
CORE.add_extension(LIBRARY)
# Else the plugin may take f32 for bf16 on CPUs that compute with bf16.
EXACT = {"INFERENCE_PRECISION_HINT": "f32"}

DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f64": np.float64,
    "f8e4m3": ml_dtypes.float8_e4m3fn,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e8m0": ml_dtypes.float8_e8m0fnu,
}
SIGNS = [("true", "true"), ("true", "false"), ("false", "true"), ("false", "false")]
OPERATORS = [
    ("IsFinite", None),
    ("IsNaN", None),
    ("IsInf", None),
    *(("IsInf", signs) for signs in SIGNS),
]


def layer(number, kind, version, inputs=0, outputs=1, data=""):
    """One layer of an IR model. Types and shapes are inferred, but the reader needs a precision."""

    def ports(name, numbers):
        inner = "".join(f'<port id="{i}" precision="FP32"/>' for i in numbers)
        return f"<{name}>{inner}</{name}>" if inner else ""

    return (
        f'<layer id="{number}" name="{kind}_{number}" type="{kind}" version="{version}">{data}'
        + ports("input", range(inputs))
        + ports("output", range(inputs, inputs + outputs))
        + "</layer>"
    )


def net(layers, edges, weights=b""):
    edges = "".join(
        f'<edge from-layer="{a}" from-port="{p}" to-layer="{b}" to-port="{q}"/>'
        for a, p, b, q in edges
    )
    xml = (
        f'<net name="test" version="11"><layers>{"".join(layers)}</layers>'
        f"<edges>{edges}</edges></net>"
    )
    return CORE.read_model(xml.encode(), weights)


def model(operator, signs, element_type, shape, version):
    """Input, operator, output. `signs` is None, a pair of texts, or all attributes as a text."""
    if isinstance(signs, tuple):
        signs = f'detect_negative="{signs[0]}" detect_positive="{signs[1]}"'
    attributes = f"<data {signs}/>" if signs else ""
    return net(
        [
            layer(
                0,
                "Parameter",
                "opset1",
                data=f'<data shape="{shape}" element_type="{element_type}"/>',
            ),
            layer(1, operator, version, inputs=1, data=attributes),
            layer(2, "Result", "opset1", inputs=1, outputs=0),
        ],
        [(0, 0, 1, 0), (1, 1, 2, 0)],
    )


def tensor(array, element_type):
    result = ov.Tensor(getattr(ov.Type, element_type), ov.Shape(array.shape))
    result.data[...] = array.view(result.data.dtype)
    return result


def compiled(operator, signs, element_type, shape, version, config=EXACT):
    return CORE.compile_model(model(operator, signs, element_type, shape, version), "CPU", config)


def infer(network, x):
    request = network.create_infer_request()
    request.infer({0: x})
    return np.array(request.get_output_tensor(0).data)


def right(operator, signs, x):
    """What numpy says. Warnings are its own: it compares signalling NaNs as floats."""
    with np.errstate(invalid="ignore"):
        if operator == "IsFinite":
            return np.isfinite(x)
        if operator == "IsNaN":
            return np.isnan(x)
        if x.dtype == DTYPES["f8e8m0"]:  # numpy has no signbit for it
            return np.zeros(x.shape, bool)
        negative, positive = (sign == "true" for sign in signs or ("true", "true"))
        inf, sign = np.isinf(x), np.signbit(x)
        return inf & ((sign & negative) | (~sign & positive))


def codes(element_type):
    """All codes, or for wide formats the edges and a million at random."""
    dtype = np.dtype(DTYPES[element_type])
    if dtype.itemsize < 4:
        return np.arange(1 << (8 * dtype.itemsize), dtype=f"u{dtype.itemsize}").view(dtype)
    word = np.dtype(f"u{dtype.itemsize}")
    exponent = 8 if dtype.itemsize == 4 else 11
    mantissa = 8 * dtype.itemsize - 1 - exponent
    exponents = [0, 1, (1 << exponent) // 2, (1 << exponent) - 2, (1 << exponent) - 1]
    mantissas = [0, (1 << mantissa) - 1, *(1 << bit for bit in range(mantissa))]
    edges = [
        sign << (exponent + mantissa) | e << mantissa | m
        for sign, e, m in itertools.product((0, 1), exponents, mantissas)
    ]
    random = np.random.default_rng(1).integers(
        0, 1 << (8 * dtype.itemsize), 1 << 20, dtype=word, endpoint=False
    )
    return np.concatenate([np.array(edges, word), random]).view(dtype)


def subnormal(x):
    magnitude = x.view(f"u{x.itemsize}") & np.array(
        (1 << (8 * x.itemsize - 1)) - 1, f"u{x.itemsize}"
    )
    limit = np.finfo(x.dtype) if x.dtype != ml_dtypes.bfloat16 else ml_dtypes.finfo(x.dtype)
    return (magnitude != 0) & (magnitude < limit.smallest_normal.view(magnitude.dtype))


class OnTheCpuPlugin(unittest.TestCase):
    def test_every_code_in_static_and_dynamic_shapes(self):
        for element_type in (name for name in DTYPES if name != "f64"):
            x = codes(element_type)
            for operator, signs in OPERATORS:
                want = right(operator, signs, x)
                for shape in (str(x.size), "?", f"1..{x.size}"):
                    with self.subTest(
                        operator=operator, signs=signs, element_type=element_type, shape=shape
                    ):
                        got = infer(
                            compiled(operator, signs, element_type, shape, OURS),
                            tensor(x, element_type),
                        )
                        self.assertEqual(got.dtype, np.bool_)
                        np.testing.assert_array_equal(got, want)

    def test_against_openvino(self):
        """Equal except for subnormals, which OpenVINO's IsFinite calls non-finite with AVX-512."""
        for element_type in ("f16", "bf16", "f32"):
            x = codes(element_type)
            for operator, signs in OPERATORS:
                with self.subTest(operator=operator, signs=signs, element_type=element_type):
                    ours, theirs = (
                        infer(
                            compiled(operator, signs, element_type, "?", version),
                            tensor(x, element_type),
                        )
                        for version in (OURS, THEIRS)
                    )
                    differ = ours != theirs
                    if differ.any():
                        print(
                            f"{operator} {element_type}: "
                            f"OpenVINO is wrong for {differ.sum()} of {x.size} elements"
                        )
                        self.assertEqual(operator, "IsFinite")
                        np.testing.assert_array_equal(differ, subnormal(x))
                    np.testing.assert_array_equal(ours, right(operator, signs, x))

    def test_own_operators_have_no_fp8(self):
        for element_type in ("f8e4m3", "f8e5m2", "f8e8m0"):
            with self.assertRaisesRegex(RuntimeError, f"unsupported src_prc: {element_type}"):
                compiled("IsNaN", None, element_type, "4", THEIRS)

    def test_no_dynamic_rank(self):
        """The plugin refuses the Parameter of such a model, whatever its operators are."""
        for version in (OURS, THEIRS):
            with self.assertRaisesRegex(RuntimeError, "doesn't support Parameter .* dynamic rank"):
                compiled("IsNaN", None, "f32", "...", version)

    def test_unknown_attributes_pass(self):
        """OpenVINO gives an operator the attributes that it asks for, and the default for a value
        that is no boolean."""
        x = np.array([-np.inf, np.inf], np.float32)
        for given in ('detect_negativ="false"', 'axis="1"', 'detect_negative="no"'):
            for version in (OURS, THEIRS):
                got = infer(compiled("IsInf", given, "f32", "2", version), tensor(x, "f32"))
                np.testing.assert_array_equal(got, [True, True])

    def test_f64_is_narrowed_before_operators_see_it(self):
        """The plugin converts f64 to f32 first, and clamps infinities to the largest f32.

        NaN stays. An operator of an extension cannot change this.
        """
        x = codes("f64")
        nan = np.isnan(x)
        for operator, version in itertools.product(("IsFinite", "IsInf", "IsNaN"), (OURS, THEIRS)):
            with self.subTest(operator=operator, version=version):
                got = infer(compiled(operator, None, "f64", "?", version), tensor(x, "f64"))
                want = {"IsFinite": ~nan, "IsInf": np.zeros_like(nan), "IsNaN": nan}[operator]
                differ = got != want
                if version == THEIRS and operator == "IsFinite":
                    differ &= np.abs(x) > np.finfo(np.float32).tiny
                self.assertFalse(differ.any(), x[differ][:5])

    def test_shapes(self):
        for shape in ((), (0,), (2, 0, 3), (1,), (3, 5), (2, 3, 4, 5), (2, 1, 2, 1, 2, 1, 2, 3)):
            x = np.resize(codes("bf16")[0x7F70:0x7F90], shape)
            static = ",".join(map(str, shape))
            for text in (static, ",".join("?" for _ in shape)):
                with self.subTest(shape=shape, text=text):
                    got = infer(compiled("IsInf", None, "bf16", text, OURS), tensor(x, "bf16"))
                    self.assertEqual(got.shape, shape)
                    np.testing.assert_array_equal(got, right("IsInf", None, x))

    def test_one_network_many_shapes(self):
        network = compiled("IsFinite", None, "f32", "?,1..200", OURS)
        request = network.create_infer_request()
        for shape in ((1, 1), (700, 200), (0, 3), (5, 77), (64, 64)):
            x = np.resize(codes("f32"), shape)
            request.infer({0: tensor(x, "f32")})
            np.testing.assert_array_equal(request.get_output_tensor(0).data, np.isfinite(x))

    def test_inside_a_model(self):
        """Relu(where(IsFinite(x), x, 0)), as in a model that guards itself.

        The plugin needs a pair of Converts between an operator of an extension and a built-in
        operator that takes booleans.
        """
        zero = np.zeros(1, np.float32)
        guarded = net(
            [
                layer(0, "Parameter", "opset1", data='<data shape="?,?" element_type="f32"/>'),
                layer(1, "IsFinite", OURS, inputs=1),
                layer(2, "Convert", "opset1", inputs=1, data='<data destination_type="f32"/>'),
                layer(3, "Convert", "opset1", inputs=1, data='<data destination_type="boolean"/>'),
                layer(4, "Const", "opset1",
                      data='<data element_type="f32" shape="1" offset="0" size="4"/>'),
                layer(5, "Select", "opset1", inputs=3, data='<data auto_broadcast="numpy"/>'),
                layer(6, "ReLU", "opset1", inputs=1),
                layer(7, "Result", "opset1", inputs=1, outputs=0),
            ],
            [
                (0, 0, 1, 0), (1, 1, 2, 0), (2, 1, 3, 0), (3, 1, 5, 0), (0, 0, 5, 1), (4, 0, 5, 2),
                (5, 3, 6, 0), (6, 1, 7, 0),
            ],
            zero.tobytes(),
        )  # fmt: skip
        x = codes("f32")[:1200].reshape(30, 40)
        x = np.where(subnormal(x), np.float32(2), x)
        got = infer(CORE.compile_model(guarded, "CPU", EXACT), tensor(x, "f32"))
        np.testing.assert_array_equal(got, np.maximum(np.where(np.isfinite(x), x, 0), 0))


class InReferenceEvaluation(unittest.TestCase):
    """What constant folding uses: every format in its own width, f64 and fp8 too."""

    def evaluate(self, operator, signs, element_type, x, out):
        self.assertTrue(model(operator, signs, element_type, "...", OURS).evaluate([out], [x]))
        return np.array(out.data)

    def test_every_code(self):
        for element_type in DTYPES:
            x = codes(element_type)
            for operator, signs in OPERATORS:
                want = right(operator, signs, x)
                with self.subTest(operator=operator, signs=signs, element_type=element_type):
                    out = ov.Tensor(ov.Type.boolean, ov.Shape(x.shape))
                    got = self.evaluate(operator, signs, element_type, tensor(x, element_type), out)
                    np.testing.assert_array_equal(got, want)

    def test_part_of_a_tensor(self):
        """An input that is a part of a tensor is read by its strides.

        Outputs that are a part are not tested: OpenVINO 2026.4.1 treats them as packed.
        """
        whole = np.resize(codes("f32")[::7], (20, 30, 70))
        part = ov.Tensor(
            tensor(whole, "f32"), ov.Coordinate([3, 5, 2]), ov.Coordinate([17, 29, 69])
        )
        self.assertFalse(part.is_continuous())
        out = ov.Tensor(ov.Type.boolean, ov.Shape([14, 24, 67]))
        got = self.evaluate("IsNaN", None, "f32", part, out)
        np.testing.assert_array_equal(got, np.isnan(whole[3:17, 5:29, 2:69]))


class Validation(unittest.TestCase):
    def test_output_keeps_the_partial_shape(self):
        for shape in ("4,2", "?,21,37", "2..4,73,12", "?,?,?,?,?", "..."):
            for operator, signs in OPERATORS:
                ours, theirs = (
                    model(operator, signs, "f16", shape, version) for version in (OURS, THEIRS)
                )
                self.assertEqual(ours.output(0).partial_shape, theirs.output(0).partial_shape)
                self.assertEqual(ours.output(0).element_type, ov.Type.boolean)

    def test_types_that_are_not_floats_are_refused(self):
        for element_type in ("i32", "u8", "boolean", "i64"):
            for operator, signs in OPERATORS:
                with self.subTest(operator=operator, element_type=element_type):
                    message = "The element type of the input tensor must be a floating point number"
                    with self.assertRaisesRegex(RuntimeError, message):
                        model(operator, signs, element_type, "4", OURS)

    def test_two_elements_a_byte_are_refused(self):
        with self.assertRaisesRegex(RuntimeError, "f4e2m1 has two elements in a byte"):
            model("IsNaN", None, "f4e2m1", "4", OURS)


def measure():
    """Microseconds of one inference of 1 Mi elements: the fastest of 60 in turns, in one process.

    (A run takes less than a time slice of the scheduler, so medians would measure other load.)
    """
    print(f"OpenVINO {ov.get_version()}, {CORE.get_property('CPU', 'FULL_DEVICE_NAME')}")
    print(
        "| 1 Mi elements | threads | ours, us | OpenVINO's own, us | own / ours |\n"
        "|---|---|---|---|---|"
    )
    for element_type, threads in itertools.product(("f32", "f16", "bf16"), (1, 2)):
        x = np.resize(np.array([0.5, -2, 3], DTYPES[element_type]), 1 << 20)
        for operator in ("IsFinite", "IsInf", "IsNaN"):
            config = {**EXACT, "INFERENCE_NUM_THREADS": threads}
            requests, times = [], ([], [])
            for version in (OURS, THEIRS):
                network = compiled(operator, None, element_type, str(x.size), version, config)
                requests.append(network.create_infer_request())
                requests[-1].set_input_tensor(0, tensor(x, element_type))
            for _ in range(60):
                for request, taken in zip(requests, times):
                    start = time.perf_counter()
                    request.infer()
                    taken.append((time.perf_counter() - start) * 1e6)
            ours, theirs = (min(taken) for taken in times)
            print(
                f"| {operator} {element_type} | {threads} | {ours:.0f} | {theirs:.0f} "
                f"| {theirs / ours:.1f} |"
            )


if __name__ == "__main__":
    if sys.argv[2:] == ["time"]:
        measure()
    else:
        unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2)
