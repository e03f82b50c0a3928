#!/usr/bin/env python3
"""Runs `nonfinite lint` on what exported.py and cases.py wrote: check.py PROGRAM OUT.

OUT/exported and OUT/cases/*/good must have no error and no warning; OUT/cases/*/bad the finding of
its expected.json, and no other rule's but those it lists.
"""

import json
import subprocess
import sys
from pathlib import Path


def run(program, folder):
    command = [program, "lint", "--json", "--warnings", "notes", str(folder)]
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
    alarms = [finding for finding in findings if finding["severity"] != "note"]
    wrong = [f"false alarm: {shown(finding)}" for finding in alarms]
    if code != 0 and not alarms:
        wrong.append(f"exit code {code}: {error[-300:]}")
    return wrong


def of_bad(program, folder, want):
    """What is wrong with the answer about a model with a fault."""
    code, findings, error = run(program, folder)
    if want["rule"] is None:
        return [] if code == 2 else [f"exit code {code}, want 2; {len(findings)} findings"]
    of_rule = [f for f in findings if f["rule"] == want["rule"]]
    found = [f for f in of_rule if (f.get("tensor") or "").startswith(want["tensor"])]
    wrong = []
    if not found:
        others = "; ".join(shown(f) for f in findings) or error[-300:] or "nothing"
        return [f"missed {want['rule']} of {want['tensor']}: found {others}"]
    if all(f["severity"] != want["severity"] for f in found):
        wrong.append(f"not {want['severity']}: {shown(found[0])}")
    if want["coordinate"] and all(f.get("coordinate") != want["coordinate"] for f in found):
        wrong.append(f"coordinate is not {want['coordinate']}: {shown(found[0])}")
    allowed = [want["rule"], *want["also"]]
    extra = [f for f in findings if f["rule"] not in allowed and f["severity"] != "note"]
    wrong += [f"one more: {shown(finding)}" for finding in extra]
    errors = any(finding["severity"] == "error" for finding in findings)
    if code != (errors if want["code"] is None else want["code"]):
        wrong.append(f"exit code {code} with {'an' if errors else 'no'} error: {error[-200:]}")
    return wrong


def main():
    program, out = sys.argv[1], Path(sys.argv[2])
    count, different, rules = 0, 0, set()

    def report(name, wrong):
        nonlocal count, different
        count, different = count + 1, different + bool(wrong)
        for line in wrong:
            print(f"{name}: {line}")

    for folder in sorted(path for path in (out / "exported").iterdir() if path.is_dir()):
        report(f"exported/{folder.name}", of_sound(program, folder))
    for place in sorted((out / "cases").iterdir()):
        want = json.loads((place / "expected.json").read_text())
        rules.add(want["rule"])
        report(f"{place.name}/good", of_sound(program, place / "good"))
        report(f"{place.name}/bad", of_bad(program, place / "bad", want))
    print(f"{count} models of {len(rules - {None})} rules: {different} differ")
    sys.exit(different > 0 or count == 0)


if __name__ == "__main__":
    main()
