"""The faults outside of modules of tests/torch_losses.py: what each tool names. Used by faults.py.

A tool is right if it names the line of the fault, and nonfinite also has to name the operation, the
kind, and that no module is at fault. Times are not measured: the models are tiny.
"""

from collections.abc import Iterator

import torch_losses
import torch_tools
from torch_tools import NOTHING, Answer

TOOLS = ["nonfinite", "detect_anomaly", "DebugMode", "transformers"]


def nonfinite(scenario: torch_losses.Scenario) -> Answer:
    found = torch_tools.nonfinite(*scenario.make())
    if found is None:
        return Answer(NOTHING, False)
    place = (found.file, found.line) == (str(torch_losses.SOURCE), scenario.line)
    said = f"{found.operator}, line {found.line}" + ", diverges" * bool(found.history)
    wanted = (scenario.kind, scenario.phase, scenario.module)
    right = place and wanted == (found.kind, found.phase, found.module)
    right = right and (found.operator or "").startswith(scenario.operator)
    return Answer(said, right and bool(found.history) == scenario.name.startswith("diverges"))


def rows(only: str) -> Iterator[tuple[str, list[Answer]]]:
    """The answers of all tools on each scenario."""
    for scenario in torch_losses.SCENARIOS:
        if only not in scenario.name:
            continue
        place = (str(torch_losses.SOURCE), scenario.line)
        answers = [nonfinite(scenario)]
        for tool in (torch_tools.detect_anomaly, torch_tools.debug_mode):
            answers.append(tool(scenario.make()[1], place))
        if torch_tools.DebugUnderflowOverflow is not None:
            answers.append(torch_tools.transformers(*scenario.make(), scenario.module))
        yield scenario.name, answers


def table(only: str) -> None:
    """Prints what the tools name, and how often they are right."""
    print(f"\n| fault | {' | '.join(TOOLS)} |\n|---|{'---|' * len(TOOLS)}")
    right = [0] * len(TOOLS)
    count = 0
    for name, answers in rows(only):
        cells = [str(each) for each in answers] + ["not installed"] * (len(TOOLS) - len(answers))
        print(f"| {name} | {' | '.join(cells)} |", flush=True)
        count += 1
        for number, each in enumerate(answers):
            right[number] += each.right is True
    print()
    for tool, number in zip(TOOLS, right, strict=True):
        print(f"- {tool}: names {number} of {count}")
