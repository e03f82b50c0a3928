"""Builds the wheel `nonfinite_onnxruntime`: `pip install ./engines/onnxruntime` calls this.

The wheel holds the Python package and two libraries, which cargo builds. The libraries depend
on the platform and not on the version of Python, so the tag is py3-none-PLATFORM.

PyPI accepts only manylinux tags for Linux. With two variables, cargo-zigbuild of PyPI links against
an old glibc, as in the workflow `wheels`:

    NONFINITE_BUILD="cargo zigbuild --target x86_64-unknown-linux-gnu.2.17"
    NONFINITE_PLATFORM=manylinux_2_17_x86_64

NONFINITE_PROFILE names another profile of cargo: `dev` where only the answers matter.
"""

import base64
import hashlib
import json
import os
import subprocess
import sysconfig
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
PACKAGE = "nonfinite_onnxruntime"
SOURCES = HERE / "python" / PACKAGE
CRATES = ("nonfinite-onnxruntime", "nonfinite-onnxruntime-default-domain")


def libraries():
    """Builds them. Returns the version and the paths."""
    command = os.environ.get("NONFINITE_BUILD", "cargo build").split()
    profile = os.environ.get("NONFINITE_PROFILE", "shipped")
    command += [f"--profile={profile}", "--locked", "--message-format=json"]
    command += [f"-p={crate}" for crate in CRATES]
    built = subprocess.run(command, cwd=HERE, check=True, stdout=subprocess.PIPE, text=True)
    messages = [json.loads(line) for line in built.stdout.splitlines()]
    made = [m for m in messages if "cdylib" in m.get("target", {}).get("kind", [])]
    made = [m for m in made if m["reason"] == "compiler-artifact"]
    version = next(m["package_id"] for m in made).rsplit("#")[-1].rsplit("@")[-1]
    suffixes = (".so", ".dylib", ".dll")
    return version, [Path(f) for m in made for f in m["filenames"] if f.endswith(suffixes)]


def build_wheel(folder, config_settings=None, metadata_directory=None):
    """The hook of PEP 517. Returns the name of the wheel."""
    version, found = libraries()
    if len(found) != len(CRATES):
        raise RuntimeError(f"cargo built {found}")
    platform = os.environ.get("NONFINITE_PLATFORM") or sysconfig.get_platform()
    tag = f"py3-none-{platform.replace('-', '_').replace('.', '_')}"
    info = f"{PACKAGE}-{version}.dist-info"
    files = {f"{PACKAGE}/{path.name}": path.read_bytes() for path in found}
    files |= {f"{PACKAGE}/{path.name}": path.read_bytes() for path in SOURCES.glob("*.py")}
    root = HERE.parents[1]
    files |= {
        f"{info}/licenses/{path.name}": path.read_bytes() for path in root.glob("LICENSE-*")
    }
    files[f"{info}/METADATA"] = (
        f"Metadata-Version: 2.4\nName: nonfinite-onnxruntime\nVersion: {version}\n"
        "Summary: IsNaN, IsInf and IsFinite for ONNX Runtime: libraries of custom operators\n"
        "Requires-Python: >=3.9\nLicense-Expression: MIT OR Apache-2.0\n"
        "License-File: LICENSE-APACHE\nLicense-File: LICENSE-MIT\n"
    ).encode()
    files[f"{info}/WHEEL"] = (
        f"Wheel-Version: 1.0\nGenerator: {PACKAGE}\nRoot-Is-Purelib: false\nTag: {tag}\n"
    ).encode()
    record = f"{info}/RECORD"
    files[record] = "".join(
        [f"{name},sha256={digest(data)},{len(data)}\n" for name, data in files.items()]
        + [f"{record},,\n"]
    ).encode()
    name = f"{PACKAGE}-{version}-{tag}.whl"
    with zipfile.ZipFile(Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for inside, data in files.items():
            wheel.writestr(inside, data)
    return name


def digest(data):
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
