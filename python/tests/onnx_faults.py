"""ONNX models with one fault each. Every case knows its node by construction."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import GraphProto, ModelProto, NodeProto, helper, numpy_helper
from onnx import TensorProto as T

NAN, INF = float("nan"), float("inf")


@dataclass
class Case:
    """A model with a fault, and what the trace must say."""

    model: ModelProto
    inputs: dict[str, Any]
    node: str
    kind: str
    graph: str = ""
    call: int = 0
    coordinate: tuple[int, ...] | None = None
    more: dict[str, str] = field(default_factory=dict)
    """Other findings: kinds by names of nodes."""


def node(operator: str, inputs: str, outputs: str, name: str, **attributes: Any) -> NodeProto:
    return helper.make_node(operator, inputs.split(), outputs.split(), name, **attributes)


def value(name: str, type_: int = T.FLOAT, shape: Any = None) -> Any:
    return helper.make_tensor_value_info(name, type_, shape)


def f32(*values: Any) -> np.ndarray:
    return np.array(values, np.float32)


def graph_of(
    nodes: list[NodeProto],
    inputs: list[Any],
    outputs: list[Any],
    weights: dict[str, np.ndarray] | None = None,
) -> GraphProto:
    tensors = [numpy_helper.from_array(array, name) for name, array in (weights or {}).items()]
    return helper.make_graph(nodes, "graph", inputs, outputs, tensors)


def model_of(
    nodes: list[NodeProto],
    weights: dict[str, np.ndarray] | None = None,
    inputs: list[Any] | None = None,
    outputs: list[Any] | None = None,
) -> ModelProto:
    graph = graph_of(nodes, inputs or [value("x")], outputs or [value("y")], weights)
    opsets = [helper.make_opsetid("", 20)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9)


def body_of(nodes: list[NodeProto], carried: Any, outputs: list[Any]) -> GraphProto:
    """The body of a Loop that goes on. `carried` is an input of each iteration."""
    go_on = node("Identity", "go", "again", "keep_going")
    inputs = [value("i", T.INT64, []), value("go", T.BOOL, []), carried]
    return graph_of([go_on, *nodes], inputs, [value("again", T.BOOL, []), *outputs])


def masked_softmax() -> Case:
    nodes = [
        node("MatMul", "x w", "scores", "scores"),
        node("Where", "keep scores minus_inf", "masked", "mask"),
        node("Softmax", "masked", "weights", "softmax", axis=-1),
        node("MatMul", "weights v", "y", "values"),
    ]
    weights = {"w": np.eye(4, dtype=np.float32), "minus_inf": f32(-INF), "v": np.ones((4, 3), "f")}
    keep = np.array([[1, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 0]], bool)
    made = model_of(nodes, weights, [value("x"), value("keep", T.BOOL)])
    inputs = {"x": np.ones((3, 4), np.float32), "keep": keep}
    return Case(made, inputs, "softmax", "NaN from Inf", coordinate=(1, 0),
                more={"mask": "intended"})  # fmt: skip


def zero_by_zero() -> Case:
    nodes = [
        node("ReduceSum", "x axis", "sum", "sum", keepdims=1),
        node("Div", "x sum", "share", "normalise"),
        node("MatMul", "share w", "y", "project"),
    ]
    weights = {"axis": np.array([1]), "w": np.ones((3, 2), np.float32)}
    return Case(model_of(nodes, weights), {"x": f32([1, 2, 3], [0, 0, 0])}, "normalise",
                "origin", coordinate=(1, 0))  # fmt: skip


def log_of_negative() -> Case:
    nodes = [node("Add", "x b", "a", "add"), node("Log", "a", "l", "log"),
             node("Tanh", "l", "y", "tanh")]  # fmt: skip
    return Case(model_of(nodes, {"b": f32(-1)}), {"x": f32(2, 0.5, 3)}, "log", "origin",
                coordinate=(1,))  # fmt: skip


def inf_minus_inf() -> Case:
    nodes = [
        node("Exp", "x", "a", "exp_a"),
        node("Mul", "a two", "b", "double"),
        node("Sub", "b a", "c", "difference"),
        node("Sigmoid", "c", "y", "sigmoid"),
    ]
    return Case(model_of(nodes, {"two": f32(2)}), {"x": f32(1, 100)}, "exp_a", "origin",
                coordinate=(1,), more={"difference": "NaN from Inf"})  # fmt: skip


def half_overflow() -> Case:
    """ONNX Runtime computes most f16 operators in f32. An output keeps its type."""
    nodes = [
        node("MatMul", "x w", "scores", "scores"),
        node("Cast", "scores", "half", "to_half", to=T.FLOAT16),
        node("Concat", "half half", "y", "concat", axis=0),
    ]
    made = model_of(nodes, {"w": 100 * np.ones((4, 4), "f")}, outputs=[value("y", T.FLOAT16)])
    x = np.array([[1, 1, 1, 1], [300, 300, 300, 300]], np.float32)
    return Case(made, {"x": x}, "to_half", "origin", coordinate=(1, 0))


def bad_weight() -> Case:
    weight = np.ones((4, 4), np.float32)
    weight[2, 3] = NAN
    nodes = [node("Add", "x x", "d", "add"), node("MatMul", "d w", "h", "matmul"),
             node("Softmax", "h", "y", "softmax")]  # fmt: skip
    return Case(model_of(nodes, {"w": weight}), {"x": np.ones((2, 4), "f")}, "matmul", "entry",
                coordinate=(0, 3))  # fmt: skip


def bad_input() -> Case:
    nodes = [node("Neg", "m", "n", "negate"), node("Mul", "n x", "p", "mul"),
             node("Exp", "p", "y", "exp")]  # fmt: skip
    made = model_of(nodes, inputs=[value("m"), value("x")])
    return Case(made, {"m": f32(1, 2, 3), "x": f32(1, NAN, 3)}, "mul", "entry", coordinate=(1,))


def embedding_row() -> Case:
    table = np.ones((10, 4), np.float32)
    table[7, 2] = NAN
    nodes = [node("Gather", "table x", "rows", "embedding"), node("Mul", "rows rows", "y", "mul")]
    made = model_of(nodes, {"table": table}, [value("x", T.INT64)])
    return Case(made, {"x": np.array([1, 7, 2])}, "embedding", "entry", coordinate=(1, 2))


def in_loop() -> Case:
    body = body_of(
        [node("Sub", "carried step", "next", "decrease"),
         node("Log", "next", "logged", "log_inside")],
        value("carried", T.FLOAT, [2]),
        [value("next", T.FLOAT, [2]), value("logged", T.FLOAT, [2])],
    )  # fmt: skip
    nodes = [
        node("Add", "x x", "start", "start"),
        node("Loop", "trips yes start", "last y", "loop", body=body),
    ]
    weights = {"trips": np.array(6), "yes": np.array(True), "step": f32(1)}
    return Case(model_of(nodes, weights), {"x": f32(5, 1.75)}, "log_inside", "origin",
                "loop.body", 3, (1,))  # fmt: skip


def in_if() -> Case:
    yes = graph_of([node("Div", "x zeros", "t", "divide_inside")], [], [value("t", T.FLOAT, [2])])
    no = graph_of([node("Mul", "x zeros", "e", "multiply_inside")], [], [value("e", T.FLOAT, [2])])
    nodes = [
        node("If", "flag", "branch", "choose", then_branch=yes, else_branch=no),
        node("Add", "branch x", "y", "add"),
    ]
    made = model_of(nodes, {}, [value("x", T.FLOAT, [2]), value("zeros", T.FLOAT, [2]),
                                value("flag", T.BOOL, [])])  # fmt: skip
    inputs = {"x": f32(1, 0), "zeros": f32(1, 0), "flag": np.array(True)}
    return Case(made, inputs, "divide_inside", "origin", "choose.then_branch", 0, (1,))


def in_scan() -> Case:
    body = graph_of(
        [node("Sub", "state row", "less", "less"), node("Sqrt", "less", "root", "root_inside")],
        [value("state", T.FLOAT, [2]), value("row", T.FLOAT, [2])],
        [value("less", T.FLOAT, [2]), value("root", T.FLOAT, [2])],
    )
    nodes = [node("Scan", "start x", "last y", "scan", body=body, num_scan_inputs=1)]
    made = model_of(nodes, {"start": f32(3, 3)}, [value("x", T.FLOAT, [4, 2])],
                    [value("y", T.FLOAT, [4, 2])])  # fmt: skip
    x = f32([1, 1], [1, 1], [1, 2], [1, 1])
    return Case(made, {"x": x}, "root_inside", "origin", "scan.body", 2, (1,))


def zero_deviation() -> Case:
    nodes = [
        node("ReduceMean", "x axis", "mean", "mean"),
        node("Sub", "x mean", "centred", "centre"),
        node("Mul", "centred centred", "squares", "square"),
        node("ReduceMean", "squares axis", "variance", "variance"),
        node("Sqrt", "variance", "deviation", "deviation"),
        node("Div", "centred deviation", "z", "standardise"),
        node("Relu", "z", "y", "relu"),
    ]
    return Case(model_of(nodes, {"axis": np.array([1])}), {"x": f32([1, 2, 3], [4, 4, 4])},
                "standardise", "origin", coordinate=(1, 0))  # fmt: skip


def fp8_overflow() -> Case:
    nodes = [
        node("Mul", "x big", "scaled", "scale"),
        node("Cast", "scaled", "small", "to_fp8", to=T.FLOAT8E4M3FN, saturate=0),
        node("Cast", "small", "y", "back", to=T.FLOAT),
    ]
    return Case(model_of(nodes, {"big": f32(100)}), {"x": f32(1, 2, 7)}, "to_fp8", "origin",
                coordinate=(2,))  # fmt: skip


def folded_constant() -> Case:
    nodes = [
        node("Sub", "one two", "negative", "subtract"),
        node("Sqrt", "negative", "root", "root_of_constant"),
        node("Add", "root one", "shifted", "shift"),
        node("Mul", "x shifted", "y", "mul"),
    ]
    return Case(model_of(nodes, {"one": f32(1), "two": f32(2)}), {"x": f32(1, 2)},
                "root_of_constant", "origin", coordinate=(0,))  # fmt: skip


def fused_product() -> Case:
    nodes = [
        node("MatMul", "x w", "product", "matmul"),
        node("Add", "product bias", "biased", "bias"),
        node("Relu", "biased", "y", "relu"),
    ]
    weights = {"w": np.full((4, 4), 1e30, np.float32), "bias": np.ones(4, np.float32)}
    made = model_of(nodes, weights, [value("x", T.FLOAT, [2, 4])], [value("y", T.FLOAT, [2, 4])])
    return Case(made, {"x": np.full((2, 4), 1e20, np.float32)}, "matmul", "origin",
                coordinate=(0, 0))  # fmt: skip


def negative_variance() -> Case:
    nodes = [
        node("Conv", "x w", "c", "conv"),
        node("BatchNormalization", "c scale shift mean variance", "n", "norm", epsilon=1e-5),
        node("Relu", "n", "y", "relu"),
    ]
    weights = {
        "w": np.ones((2, 1, 3, 3), np.float32),
        "scale": f32(1, 1), "shift": f32(0, 0), "mean": f32(0, 0), "variance": f32(1, -1),
    }  # fmt: skip
    made = model_of(nodes, weights, [value("x", T.FLOAT, [1, 1, 8, 8])],
                    [value("y", T.FLOAT, [1, 2, 6, 6])])  # fmt: skip
    return Case(made, {"x": np.ones((1, 1, 8, 8), "f")}, "norm", "origin", coordinate=(0, 1, 0, 0))


def power_of_negative() -> Case:
    nodes = [node("Pow", "x half", "p", "power"), node("ReduceSum", "p", "y", "sum")]
    return Case(model_of(nodes, {"half": f32(0.5)}), {"x": f32(4, 9, -4)}, "power", "origin",
                coordinate=(2,))  # fmt: skip


def reciprocal_of_zero() -> Case:
    nodes = [node("Reciprocal", "x", "r", "reciprocal"), node("Mul", "r x", "y", "mul")]
    return Case(model_of(nodes), {"x": f32(2, 0)}, "reciprocal", "origin", coordinate=(1,),
                more={"mul": "NaN from Inf"})  # fmt: skip


def uninitialised_buffer() -> Case:
    """Bytes of other data as floats: finite, and far too large."""
    buffer = np.array([0x7F7F_FF00, 0x3F80_0000, 0x7F00_0001], np.uint32).view(np.float32)
    nodes = [node("Mul", "x buffer", "p", "scale"), node("Add", "p x", "y", "add")]
    return Case(model_of(nodes, {"buffer": buffer}), {"x": f32(5, 5, 5)}, "scale", "origin",
                coordinate=(0,))  # fmt: skip


def arccosine_beyond_one() -> Case:
    nodes = [
        node("Mul", "x x", "square", "square"),
        node("Acos", "square", "angle", "angle"),
        node("ArgMax", "angle", "y", "choose", axis=0),
    ]
    made = model_of(nodes, outputs=[value("y", T.INT64)])
    return Case(made, {"x": f32(0.5, 1.01)}, "angle", "origin", coordinate=(1,))


def half_weight() -> Case:
    weight = np.ones(4, np.float16)
    weight[1] = INF
    nodes = [
        node("Cast", "x", "h", "to_half", to=T.FLOAT16),
        node("Mul", "h w", "p", "scale"),
        node("Sub", "p p", "y", "difference"),
    ]
    made = model_of(nodes, {"w": weight}, outputs=[value("y", T.FLOAT16)])
    return Case(made, {"x": f32(1, 2, 3, 4)}, "scale", "entry", coordinate=(1,),
                more={"difference": "NaN from Inf"})  # fmt: skip


def loop_in_if() -> Case:
    nodes = [node("Mul", "carried carried", "next", "square_inside")]
    body = body_of(nodes, value("carried", T.FLOAT, [1]), [value("next", T.FLOAT, [1])])
    yes = graph_of([node("Loop", "trips go_on x", "t", "loop", body=body)], [], [value("t")])
    no = graph_of([node("Neg", "x", "e", "negate")], [], [value("e")])
    nodes = [node("If", "flag", "y", "choose", then_branch=yes, else_branch=no)]
    made = model_of(nodes, {"trips": np.array(9), "go_on": np.array(True)},
                    [value("x", T.FLOAT, [1]), value("flag", T.BOOL, [])])  # fmt: skip
    # 10 squared: 1e2, 1e4, 1e8, 1e16, 1e32, then more than 3.4e38.
    return Case(made, {"x": f32(10), "flag": np.array(True)}, "square_inside", "origin",
                "choose.then_branch.loop.body", 5, (0,))  # fmt: skip


def hidden_half_overflow() -> Case:
    """ONNX Runtime computes in float32, so that all values of the run are finite."""
    nodes = [
        node("Mul", "x x", "y", "square"), node("ReduceMean", "y", "z", "mean", keepdims=0),
        node("Sqrt", "z", "w", "root"),
    ]  # fmt: skip
    made = model_of(nodes, {}, [value("x", T.FLOAT16, [4])], [value("w", T.FLOAT16)])
    return Case(made, {"x": np.full(4, 1000, np.float16)}, "square", "hidden overflow")


CASES: list[Callable[[], Case]] = [
    masked_softmax, zero_by_zero, log_of_negative, inf_minus_inf, half_overflow, bad_weight,
    bad_input, embedding_row, in_loop, in_if, in_scan, zero_deviation, fp8_overflow,
    folded_constant, fused_product, negative_variance, power_of_negative, reciprocal_of_zero,
    uninitialised_buffer, arccosine_beyond_one, half_weight, loop_in_if,
    hidden_half_overflow,
]  # fmt: skip


def blocked_layout() -> Case:
    """Convolutions that the runtime fuses, and computes in blocks of channels."""
    nodes = [
        node("Conv", "x w b", "c1", "conv_1"), node("Relu", "c1", "r1", "relu_1"),
        node("Conv", "r1 w2", "c2", "conv_2"), node("Add", "c2 r1", "a", "add"),
        node("Relu", "a", "r2", "relu_2"), node("MaxPool", "r2", "m", "pool", kernel_shape=[2, 2]),
        node("GlobalAveragePool", "m", "g", "mean"), node("Log", "g", "y", "log"),
    ]  # fmt: skip
    bias = np.ones(16, np.float32)
    bias[3] = NAN
    weights = {"w": np.ones((16, 3, 3, 3), "f"), "b": bias, "w2": np.ones((16, 16, 1, 1), "f")}
    made = model_of(nodes, weights, [value("x", T.FLOAT, [1, 3, 16, 16])])
    return Case(made, {"x": np.ones((1, 3, 16, 16), "f")}, "conv_1", "entry",
                coordinate=(0, 3, 0, 0))  # fmt: skip


def moved_transposes() -> Case:
    """The runtime moves the Transpose through all nodes behind it, and renames the tensors."""
    nodes = [
        node("Transpose", "x", "t", "Transpose13", perm=[0, 2, 3, 1]),
        node("Neg", "t", "n", "negate"), node("Add", "n c", "a", "add"),
        node("Div", "a c", "d", "divide"), node("Log", "d", "l", "log"),
        node("Mul", "l c", "e", "mul"),
        node("Transpose", "e", "y", "Transpose14", perm=[0, 3, 1, 2]),
    ]  # fmt: skip
    made = model_of(nodes, {"c": f32(2)}, [value("x", T.FLOAT, [1, 3, 4, 5])],
                    [value("y", T.FLOAT, [1, 3, 4, 5])])  # fmt: skip
    x = np.ones((1, 3, 4, 5), np.float32)
    x[0, 2, 3, 4] = 5
    return Case(made, {"x": x}, "log", "origin", coordinate=(0, 3, 4, 2))


def half_convolution() -> Case:
    nodes = [
        node("Mul", "x x", "p", "square"), node("Conv", "p w", "q", "conv"),
        node("Relu", "q", "r", "relu"), node("Add", "r one", "s", "add"),
        node("Sqrt", "s", "t", "root"), node("Log", "minus", "u", "log"),
        node("Sub", "t u", "y", "difference"),
    ]  # fmt: skip
    weights = {"w": np.ones((2, 1, 3, 3), np.float16), "one": np.ones(1, np.float16)}
    inputs = [value("x", T.FLOAT16, [1, 1, 8, 8]), value("minus", T.FLOAT16, [1])]
    made = model_of(nodes, weights, inputs, [value("y", T.FLOAT16)])
    arrays = {"x": np.ones((1, 1, 8, 8), np.float16), "minus": np.array([-1], np.float16)}
    return Case(made, arrays, "log", "origin", coordinate=(0,))


def bad_half_input() -> Case:
    nodes = [node("Neg", "x", "n", "negate"), node("MatMul", "n w", "y", "product")]
    made = model_of(nodes, {"w": np.ones((2, 2), np.float16)}, [value("x", T.FLOAT16, [2, 2])],
                    [value("y", T.FLOAT16)])  # fmt: skip
    return Case(made, {"x": np.array([[1, INF], [1, 1]], np.float16)}, "negate", "entry")


def constant_branch() -> Case:
    """The runtime puts the nodes of the branch into the main graph."""
    yes = graph_of([node("Sub", "x two", "s", "subtract"), node("Log", "s", "t", "log")],
                   [], [value("t", T.FLOAT, [2])])  # fmt: skip
    no = graph_of([node("Mul", "x two", "e", "double")], [], [value("e", T.FLOAT, [2])])
    nodes = [node("If", "flag", "branch", "choose", then_branch=yes, else_branch=no),
             node("Add", "branch x", "y", "add")]  # fmt: skip
    made = model_of(nodes, {"flag": np.array(True), "two": f32(2)}, [value("x", T.FLOAT, [2])])
    return Case(made, {"x": f32(3, 1)}, "log", "origin", "choose.then_branch", coordinate=(1,))


def split_operator() -> Case:
    """The runtime has no kernel of Mish, and computes it with several nodes."""
    nodes = [node("Mul", "x x", "p", "square"), node("Mish", "p", "m", "mish"),
             node("Sqrt", "m", "y", "root")]  # fmt: skip
    return Case(model_of(nodes), {"x": f32(1, 1e30)}, "square", "origin", coordinate=(1,))


def function_of_the_model() -> Case:
    inside = [node("Sub", "a a", "t", "inside_1"), node("Log", "t", "u", "inside_2"),
              node("Add", "u a", "b", "inside_3")]  # fmt: skip
    opset = helper.make_opsetid("", 20)
    function = helper.make_function("own", "Act", ["a"], ["b"], inside, [opset])
    nodes = [node("Neg", "x", "n", "negate"), node("Act", "n", "f", "call", domain="own"),
             node("Mul", "f n", "y", "mul")]  # fmt: skip
    made = model_of(nodes)
    made.functions.append(function)
    made.opset_import.append(helper.make_opsetid("own", 1))
    return Case(made, {"x": f32(1, 2)}, "call", "origin")


def fused_normalisation() -> Case:
    """LayerNorm in its parts, with a bad scale, and a gate behind it."""
    nodes = [
        node("ReduceMean", "x axis", "mean", "mean"), node("Sub", "x mean", "centred", "centre"),
        node("Pow", "centred two", "squares", "square"),
        node("ReduceMean", "squares axis", "variance", "variance"),
        node("Add", "variance eps", "safe", "safe"), node("Sqrt", "safe", "deviation", "deviation"),
        node("Div", "centred deviation", "n", "divide"), node("Mul", "n scale", "m", "scale"),
        node("Add", "m shift", "o", "shift"), node("Sigmoid", "o", "s", "sigmoid"),
        node("Mul", "o s", "y", "gate"),
    ]  # fmt: skip
    scale = np.ones(4, np.float32)
    scale[2] = INF
    weights = {"axis": np.array([-1]), "two": f32(2).reshape(()), "eps": f32(1e-5).reshape(()),
               "scale": scale, "shift": np.zeros(4, np.float32)}  # fmt: skip
    made = model_of(nodes, weights, [value("x", T.FLOAT, [2, 4])], [value("y", T.FLOAT, [2, 4])])
    x = np.array([[1, 2, 3, 4], [4, 3, 2, 1]], np.float32)
    return Case(made, {"x": x}, "scale", "entry", coordinate=(0, 2))


MADE_BY_THE_RUNTIME: list[Callable[[], Case]] = [
    blocked_layout, moved_transposes, half_convolution, bad_half_input, constant_branch,
    split_operator, function_of_the_model, fused_normalisation,
]  # fmt: skip
