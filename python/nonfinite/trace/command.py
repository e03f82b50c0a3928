"""The command `nonfinite trace`."""

import argparse
import sys
from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Runs the command. Returns 0 if nothing bad was found, 1 if so, 2 for an error."""
    parser = argparse.ArgumentParser(
        prog="nonfinite trace",
        description="Runs an ONNX model, and names the node that made the first NaN or infinity.",
        epilog="Exit status: 0 nothing bad was found, 1 something bad was found, 2 an error.",
    )
    parser.add_argument("model", help="the .onnx file")
    parser.add_argument("--input", metavar="X.npz", help="arrays for the inputs, by their names; "
                        "the other inputs are random")
    parser.add_argument("--dim", metavar="NAME=SIZE", action="append", default=[],
                        help="the size of an open dimension, for random inputs")
    parser.add_argument("--shape", metavar="INPUT=1,3,224,224", action="append", default=[],
                        help="the shape of an input, for random inputs")
    parser.add_argument("--value", metavar="INPUT=NUMBER", action="append", default=[],
                        help="the number that fills an input, among random inputs")
    parser.add_argument("--seed", type=int, default=0, help="of random inputs (default: 0)")
    parser.add_argument("--allow", metavar="NAME", action="append", default=[],
                        help="a node or tensor whose infinities are intended; * as in file names")
    parser.add_argument("--threads", type=int,
                        help="threads of the runtime; 0 for all CPUs (default: 0)")
    parser.add_argument("--level", choices=["ALL", "EXTENDED", "BASIC", "ORIGINAL"],
                        help="the optimisation of the graph (default: the first that works)")
    parser.add_argument("--custom-ops", metavar="LIBRARY", action="append", default=[],
                        help="a library of custom operators that the model needs")
    parser.add_argument("--full", action="store_true",
                        help="look at all float tensors even if the model is clean")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    options = parser.parse_args(arguments)
    try:
        dims = {name: int(size) for name, size in (each.split("=") for each in options.dim)}
        pairs = [each.rsplit("=", 1) for each in options.shape]
        shapes = {name: [int(size) for size in sizes.split(",") if size] for name, sizes in pairs}
        numbers = [each.rsplit("=", 1) for each in options.value]
        values = {name: float(number) for name, number in numbers}
    except ValueError:
        parser.error(
            "--dim needs NAME=SIZE, --shape needs INPUT=SIZE,SIZE,..., --value needs INPUT=NUMBER"
        )
    try:
        # First, as its error says which packages are missing.
        from nonfinite.trace.onnx import trace_onnx
        from nonfinite.trace.inputs import read

        report = trace_onnx(
            options.model,
            read(options.input) if options.input else None,
            allow=options.allow,
            dims=dims,
            shapes=shapes,
            values=values,
            seed=options.seed,
            threads=options.threads,
            level=options.level,
            full=options.full,
            custom_ops=options.custom_ops,
        )
    except Exception as error:  # The runtime has no common class of errors.
        notes = getattr(error, "__notes__", [])
        print("\n".join([f"nonfinite trace: {error}", *notes]), file=sys.stderr)
        return 2
    print(report.to_json() if options.json else report)
    return 0 if report.clean else 1
