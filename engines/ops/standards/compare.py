"""Compares our facts on operators with the packages onnx and openvino.

Our facts are the output of `cargo run -p nonfinite-ops --example operator_types`. Both sides must
have the same facts.
"""

import sys

import numpy as np
import onnx
import openvino as ov
from openvino import opset10
from openvino.passes import ConstantFolding, Manager

# NaN codes and infinite codes of the 8-bit formats that both sides have, by our definitions.
FP8 = {
    "f8e4m3fn": ({0x7F, 0xFF}, set()),
    "f8e5m2": ({0x7D, 0x7E, 0x7F, 0xFD, 0xFE, 0xFF}, {0x7C, 0xFC}),
    "f8e8m0fnu": ({0xFF}, set()),
}
OPSETS = 64
OPS = {"IsFinite": opset10.is_finite, "IsInf": opset10.is_inf, "IsNaN": opset10.is_nan}
IR = """<?xml version="1.0"?><net name="m" version="11"><layers>
<layer id="0" name="x" type="Parameter" version="opset1"><data shape="2" element_type="f32"/>
<output><port id="0" precision="FP32"><dim>2</dim></port></output></layer>
<layer id="1" name="y" type="IsInf" version="opset10"><data detect_negative="{}"/>
<input><port id="0" precision="FP32"><dim>2</dim></port></input>
<output><port id="1" precision="BOOL"><dim>2</dim></port></output></layer>
<layer id="2" name="r" type="Result" version="opset1">
<input><port id="0" precision="BOOL"><dim>2</dim></port></input></layer></layers>
<edges><edge from-layer="0" from-port="0" to-layer="1" to-port="0"/>
<edge from-layer="1" from-port="1" to-layer="2" to-port="0"/></edges></net>"""


def of_onnx():
    """The facts of onnx, in our fields, without formats, which onnx does not have."""
    for name, code in onnx.TensorProto.DataType.items():
        yield ("onnx", "type", str(code), name, "undefined" if code == 0 else type_string(code))
    for op in ("IsNaN", "IsInf"):
        for opset in range(1, OPSETS):
            since, types = "-", "-"
            # Opsets that are not there yet mean the newest, as in onnx.defs.
            if onnx.defs.has(op, max_inclusive_version=opset):
                schema = onnx.defs.get_schema(op, max_inclusive_version=opset)
                constraints = {c.type_param_str: c for c in schema.type_constraints}
                since = str(schema.since_version)
                types = ",".join(sorted(constraints["T1"].allowed_type_strs))
                assert constraints["T2"].allowed_type_strs == ["tensor(bool)"], op
                expected = {"detect_negative", "detect_positive"} if op == "IsInf" else set()
                assert set(schema.attributes) == expected, op
            yield ("onnx", "opset", op, str(opset), since, types)
    for name, attribute in onnx.defs.get_schema("IsInf").attributes.items():
        assert attribute.type == onnx.defs.OpSchema.AttrType.INT and not attribute.required
        yield ("onnx", "attribute", "IsInf", name, str(attribute.default_value.i))


def type_string(code):
    """The spelling of a type in type lists."""
    names = {"FLOAT": "float", "DOUBLE": "double"}
    name = onnx.TensorProto.DataType.Name(code)
    return f"tensor({names.get(name, name.lower())})"


def of_openvino():
    """The facts of openvino, in our fields, without formats and codes, which Python hides."""
    types = [t for t in (getattr(ov.Type, n) for n in dir(ov.Type)) if isinstance(t, ov.Type)]
    for element_type in types:
        name = element_type.get_type_name()
        yield ("openvino", "type", name, str(element_type.bitwidth), element_type.is_real())
        for op, make in OPS.items():
            yield ("openvino", "op", op, name, refusal(make, element_type))


def refusal(make, element_type):
    """None, or the sentence with which openvino refuses the type."""
    parameter = opset10.parameter(ov.PartialShape("?,2..4,37"), element_type)
    try:
        node = make(parameter)
    except RuntimeError as error:
        return str(error).strip().splitlines()[-1]
    assert node.get_output_element_type(0) == ov.Type.boolean
    assert str(node.get_output_partial_shape(0)) == "[?,2..4,37]"
    return None


def codes_of_the_header():
    """Names in the order of `enum class Type_t`."""
    header = open(
        f"{ov.__path__[0]}/include/openvino/core/type/element_type.hpp", encoding="utf-8"
    ).read()
    body = header.split("enum class Type_t {")[1].split("}")[0]
    return [line.split(",")[0].strip() for line in body.splitlines() if line.strip()]


def boolean(text):
    """How openvino reads an attribute of an IR file whose default is true."""
    model = ov.Core().read_model(IR.format(text).encode(), b"")
    return next(op for op in model.get_ops() if op.get_type_name() == "IsInf").get_attributes()[
        "detect_negative"
    ]


def special_codes(name):
    """NaN and infinite codes of an 8-bit type, by openvino's conversion of each code."""
    data = np.arange(256, dtype=np.uint8)
    constant = ov.op.Constant(ov.Tensor(data, [256], getattr(ov.Type, name)))
    model = ov.Model([opset10.convert(constant, "f32")], [])
    manager = Manager()
    manager.register_pass(ConstantFolding())
    manager.run_passes(model)
    folded = model.get_results()[0].input_value(0).get_node()
    assert folded.get_type_name() == "Constant", f"{name} is not folded"
    values = folded.data
    return set(np.flatnonzero(np.isnan(values)).tolist()), set(
        np.flatnonzero(np.isinf(values)).tolist()
    )


def cpu_plugin_clamps_f64():
    """Whether the CPU plugin still takes infinite f64 for finite, as our documentation says."""
    answers = []
    for op in OPS.values():
        x = opset10.parameter([3], ov.Type.f64)
        model = ov.compile_model(ov.Model([op(x)], [x]), "CPU")
        answers.append(list(model([np.array([np.inf, -np.inf, np.nan])])[0]))
    return answers == [[True, True, False], [False, False, False], [False, False, True]]


def main(path):
    wrong = []

    def expect(ours, theirs, what):
        if ours != theirs:
            wrong.append(f"{what}: ours {ours!r}, theirs {theirs!r}")

    facts = [line.rstrip("\n").split("\t") for line in open(path, encoding="utf-8")]
    ours = {tuple(fact[:5] if fact[1] == "type" else fact) for fact in facts if fact[0] == "onnx"}
    theirs = set(of_onnx())
    for fact in sorted(ours ^ theirs):
        wrong.append(f"{'ours only' if fact in ours else 'theirs only'}: {fact}")
    compared = len(theirs)

    types = {fact[3]: fact for fact in facts if fact[:2] == ["openvino", "type"]}
    expect([types[name][2] for name in types], [str(i) for i in range(len(types))], "codes")
    expect(list(types), codes_of_the_header(), "names in the order of the header")
    answers = {tuple(fact[2:4]): fact[4] for fact in facts if fact[:2] == ["openvino", "op"]}
    seen = set()
    for kind, *fact in (fact[1:] for fact in of_openvino()):
        compared += 1
        if kind == "type":
            name, bits, real = fact
            seen.add(name)
            expect(types[name][4], bits, f"bits of {name}")
            expect(types[name][5] != "-", real, f"whether {name} is real")
        else:
            op, name, sentence = fact
            answer = answers[op, name]
            fits = answer == "taken" if sentence is None else sentence in answer
            if not fits:
                wrong.append(f"{op} of {name}: ours {answer!r}, theirs {sentence!r}")
    expect(seen, set(types), "element types")
    for fact in (fact for fact in facts if fact[:2] == ["openvino", "boolean"]):
        compared += 1
        # What openvino does not know leaves the default, true.
        expect(
            {"true": True, "false": False, "refused": True}[fact[3]],
            boolean(fact[2]),
            f"boolean {fact[2]!r}",
        )
    for name in ("f8e4m3", "f8e5m2", "f8e8m0"):
        compared += 1
        expect(FP8[types[name][5]], special_codes(name), f"special codes of {name}")
    expect(cpu_plugin_clamps_f64(), True, "the documented fault of the CPU plugin with f64")

    print(
        f"onnx {onnx.__version__}, openvino {ov.__version__}: "
        f"{compared} facts compared, {len(wrong)} wrong"
    )
    print("\n".join(wrong))
    return 1 if wrong else 0


sys.exit(main(sys.argv[1]))
