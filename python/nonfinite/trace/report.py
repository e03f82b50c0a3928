"""What a trace found, as data and text."""

from nonfinite.findings import INTENDED, ORIGIN, WORDS
from nonfinite.trace.results import BadNode, Results

PEAKS = 5
# From this share of the limit on, a tensor is close to the largest number of its type.
CLOSE = 1e-3


def text(report: Results) -> str:
    """The report as lines for a terminal."""
    lines = [f"{report.model}: {report.sinks} tensors looked at, graph at level {report.level}"]
    first = report.first
    if first is None:
        lines.append(without_finding(report))
    else:
        lines += finding(first)
        if report.reached:
            more = f" and {len(report.reached) - 8} more" if len(report.reached) > 8 else ""
            lines.append(f"  reached: {', '.join(report.reached[:8])}{more}")
        if report.bad_outputs:
            lines.append(f"  bad outputs of the model: {', '.join(report.bad_outputs)}")
    lines += [f"bad weight {look}" for look in report.weights]
    lines += [f"bad input {look}" for look in report.bad_inputs]
    others = [each for each in report.findings if each is not first]
    if others:
        lines.append("also:")
        for each in others[:20]:
            end = "" if each.reaches or each.kind == INTENDED else ", reaches no output"
            lines.append(f"  {heading(each)}{end}")
        if len(others) > 20:
            lines.append(f"  and {len(others) - 20} more")
    close = [peak for peak in report.peaks[:PEAKS] if peak.share >= CLOSE]
    if close:
        lines.append("closest to the largest number of their type:")
        lines += [
            f"  {peak.name}: {peak.largest:.6g} of {peak.dtype}, {peak.share:.2g} of the limit"
            for peak in close
        ]
    return "\n".join([*lines, *[f"note: {note}" for note in report.notes]])


def without_finding(report: Results) -> str:
    """The line for a report that names no node."""
    if report.bad_outputs:
        outputs = ", ".join(report.bad_outputs)
        known = report.weights or report.bad_inputs
        source = "the values are those of an input or a weight" if known else "no node is known"
        return f"bad outputs of the model: {outputs}; {source}"
    if report.clean:
        return "clean; -Inf in weights is taken for a mask" if report.weights else "clean"
    return "no output is bad"


def heading(each: BadNode) -> str:
    """The kind and the node."""
    return f"{kind(each)}: {each.node} ({each.operator}){place_of(each)}"


def place_of(each: BadNode) -> str:
    """The graph in which a node is, and the iterations of the loops around, if any."""
    if not each.graph:
        return ""
    owner = each.graph.rpartition(".")[0]
    own = any(loop.loop == owner for loop in each.loops) or each.overflow is not None
    call = "" if own else f", call {each.call}"
    loops = "".join(f", iteration {loop.number} of {loop.loop}" for loop in each.loops)
    return f" in {each.graph}{call}{loops}"


def kind(each: BadNode) -> str:
    """The kind, with the type of an overflow and the value."""
    over = each.overflow
    if over is None:
        return each.kind
    limit = f"{over.dtype} ends at {over.largest / over.share:.6g}"
    hidden = f"overflow of {over.dtype}, hidden by onnxruntime's CPU"
    return f"{hidden}: {over.name} is {over.largest:.6g}, {limit}"


def finding(each: BadNode) -> list[str]:
    """One finding in full."""
    known = each.node in [node.name for node in each.covers]
    where = f"{'node ' if known else ''}{each.node} ({each.operator})"
    if each.overflow is None:
        place = place_of(each)
        masked = each.kind == ORIGIN and any(look.bad for look in each.inputs)
        words = "the inputs have no +Inf, the output has" if masked else WORDS[each.kind]
        lines = [f"{each.kind}: {where}{place}: {words}"]
    else:
        lines = [f"{kind(each)}", f"  made by {where}{place_of(each)}"]
    if len(each.covers) > 1:
        names = ", ".join(f"{node.name} ({node.operator})" for node in each.covers)
        lines.append(f"  ran as one {each.ran_as} for: {names}")
    for node in each.covers:
        if node.name == each.node and node.source:
            lines += ["  made by:", *[f"    {line}" for line in node.source.splitlines()]]
    lines += [f"  reads bad {look}" for look in each.sources]
    lines += [f"  input {look}" for look in each.inputs]
    lines += [f"  output {look}" for look in each.outputs]
    return lines


class Trace(Results):
    """The result of a trace of an ONNX model."""

    def __str__(self) -> str:
        return text(self)
