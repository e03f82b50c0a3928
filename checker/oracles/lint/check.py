#!/usr/bin/env python3
"""Runs `nonfinite lint` on what exported.py wrote: check.py PROGRAM OUT.

The models in OUT/exported must have no error and no warning. The copies that faults.py puts into
OUT/faults must have the error of their fault, and no error or warning about another module.
"""

import json
import subprocess
import sys
from pathlib import Path

from faults import planted


def run(program, folder):
    command = [program, "lint", "--json", str(folder)]
    result = subprocess.run(command, capture_output=True, text=True)
    try:
        findings = json.loads(result.stdout)["findings"]
    except (json.JSONDecodeError, KeyError):
        findings = []
    return result.returncode, findings, result.stderr.strip()


def shown(finding):
    keys = ("severity", "rule", "tensor", "coordinate", "message")
    return " ".join(str(finding.get(key)) for key in keys)[:300]


def of_sound(program, folder):
    """What is wrong with the answer about a model without faults."""
    code, findings, error = run(program, folder)
    wrong = [f"false alarm: {shown(finding)}" for finding in findings]
    if code != 0 and not findings:
        wrong.append(f"exit code {code}: {error[-300:]}")
    return wrong


def of_bad(program, folder, fault):
    """What is wrong with the answer about a model with a fault."""
    code, findings, error = run(program, folder)
    module = fault.tensor.rpartition(".")[0] or fault.tensor
    # The scale that one expert lacks is named as that of another expert, too.
    others = [f for f in findings if f["rule"] != "expert-sibling-missing"]
    wrong = [f"one more: {shown(f)}" for f in others if not f["tensor"].startswith(module)]
    wanted = ("error", fault.rule)
    of_rule = [f for f in findings if (f["severity"], f["rule"]) == wanted]
    if not any(f["tensor"].startswith(fault.tensor) for f in of_rule):
        wrong.append(f"missed {fault.rule} of {fault.tensor}: {error[-300:]}")
    if code != 1:
        wrong.append(f"exit code {code}: {error[-300:]}")
    return wrong


def main():
    program, out = sys.argv[1], Path(sys.argv[2])
    models, faults, different = 0, 0, 0
    for folder in sorted(path for path in (out / "exported").iterdir() if path.is_dir()):
        models += 1
        answers = {folder.name: of_sound(program, folder)}
        for fault, copy in planted(folder, out / "faults"):
            faults += 1
            answers[copy.name] = of_bad(program, copy, fault)
        for name, wrong in answers.items():
            different += bool(wrong)
            for line in wrong:
                print(f"{name}: {line}")
    print(f"{models} models, {faults} copies with a fault: {different} differ")
    sys.exit(different > 0 or faults == 0)


if __name__ == "__main__":
    main()
