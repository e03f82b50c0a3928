"""Compares the speed of our operators with that of ONNX Runtime's own: `./test times`."""

import random
import time

import numpy as np
import onnxruntime as ort
from onnx import TensorProto, helper

from models import DEFAULT_DOMAIN, LIBRARY, OURS, TYPES, model_of, one_node, session

def large():
    """Median milliseconds of session.run for 1 Mi elements: ours and the runtime's, in turns."""
    print(
        f"onnxruntime {ort.__version__}, 1 Mi elements, one thread, "
        "median of 101 runs in turns, microseconds"
    )
    print(f"{'':12} {'IsNaN':>16} {'IsInf':>16} {'IsFinite':>16}   ours / theirs")
    composed = [
        helper.make_node("IsNaN", ["x"], ["nan"]),
        helper.make_node("IsInf", ["x"], ["inf"]),
        helper.make_node("Or", ["nan", "inf"], ["either"]),
        helper.make_node("Not", ["either"], ["y"]),
    ]
    for name, (type_, _, unsigned) in TYPES.items():
        value = ort.OrtValue.ortvalue_from_numpy_with_onnx_type(np.zeros(1 << 20, unsigned), type_)
        cells = []
        for operator in ("IsNaN", "IsInf", "IsFinite"):
            theirs = (
                model_of(composed, type_)
                if operator == "IsFinite"
                else one_node(operator, type_, domain="")
            )
            pair = [session(one_node(operator, type_)), session(theirs)]
            taken = [[], []]
            for _ in range(101):
                for made, into in zip(pair, taken):
                    begin = time.perf_counter()
                    made.run_with_ort_values(["y"], {"x": value})
                    into.append(time.perf_counter() - begin)
            cells.append(" / ".join(f"{1e6 * np.median(into):.0f}" for into in taken))
        print(f"{name:12} " + " ".join(f"{cell:>16}" for cell in cells))


def small():
    """Nanoseconds of a node of 8 floats, the runtime's own work included.

    200 nodes in a session without graph optimisations. The median of 2000 runs in random turns.
    """

    def bound(domain, libraries):
        options = ort.SessionOptions()
        options.log_severity_level = 4
        options.intra_op_num_threads = 1
        options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
        for library in libraries:
            options.register_custom_ops_library(library)
        nodes = [helper.make_node("IsNaN", ["x"], [f"y{i}"], domain=domain) for i in range(200)]
        model = model_of(nodes, TensorProto.FLOAT, [8], outputs=("y0",))
        made = ort.InferenceSession(model.SerializeToString(), options)
        binding = made.io_binding()
        for name, bind, dtype in (
            ("x", binding.bind_ortvalue_input, np.float32),
            ("y0", binding.bind_ortvalue_output, np.bool_),
        ):
            bind(name, ort.OrtValue.ortvalue_from_numpy(np.zeros(8, dtype)))
        return lambda: made.run_with_iobinding(binding)

    runs = {
        "the runtime's own": bound("", []),
        "ours": bound(OURS, [LIBRARY]),
        "ours in ONNX's domain": bound("", [DEFAULT_DOMAIN]),
    }
    taken = {name: [] for name in runs}
    for _ in range(2000):
        for name in random.sample(list(runs), len(runs)):
            begin = time.perf_counter_ns()
            runs[name]()
            taken[name].append(time.perf_counter_ns() - begin)
    print("IsNaN of 8 floats, nanoseconds a node")
    for name, times in taken.items():
        print(f"  {np.median(times) / 200:.0f}  {name}")


if __name__ == "__main__":
    large()
    small()
