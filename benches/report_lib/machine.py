"""Where and when a run took place."""

import os
import re
import subprocess
import time
from pathlib import Path


def cpu():
    """The name of the CPU, with family and model where the name does not tell."""
    fields = {}
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    # On arm64 there are only numbers.
    name = (
        fields.get("model name")
        or f"arm {fields.get('CPU implementer')} part {fields.get('CPU part')}"
    )
    name = re.sub(r"\((R|TM)\)|\b(CPU|Processor)\b|@.*", " ", name)
    name = " ".join(name.split())
    if "cpu family" in fields and not re.search(r"\d{3}", name):
        name += f" family {fields['cpu family']} model {fields['model']}"
    return name


def slug(name):
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def output(root, *command):
    return subprocess.run(
        command, cwd=root, text=True, capture_output=True, check=True
    ).stdout.strip()


def commit(root):
    """The commit, and whether the measured code differs from it."""
    changed = output(
        root,
        "git",
        "status",
        "--porcelain",
        "--",
        "src",
        "kernels",
        "benches/*.rs",
        "benches/common",
    )
    return output(root, "git", "rev-parse", "--short=12", "HEAD") + (
        " with changes" if changed else ""
    )


def load():
    return f"{os.getloadavg()[0]:.2f}"


def utc(seconds):
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))
