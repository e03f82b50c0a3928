"""Validates SARIF and JUnit XML of the command: ci/services"""

import copy
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import jsonschema
import xmlschema

# What is special in one of the forms, in names of files and of tensors.
FILE = "a: 100%, <b>&\n'c' \x1b[2Jü"
TENSOR = '<a href="x">&amp;]]>%0A\n::error::,\x00\x1b\uffff\r'


def safetensors(tensors):
    """A .safetensors file of vectors: name, dtype, length, bytes."""
    header, data = {}, b""
    for name, dtype, length, content in tensors:
        offsets = [len(data), len(data) + len(content)]
        header[name] = {"dtype": dtype, "shape": [length], "data_offsets": offsets}
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def files(folder):
    """Every kind of outcome: bad, large, clean, without floats, unknown, damaged, unreadable."""
    f32 = struct.pack
    names = [
        (TENSOR, "F32", 2, f32("<2f", float("nan"), float("-inf"))),
        ("large", "F32", 1, f32("<f", 1e30)),
        ("clean", "F32", 1, f32("<f", 1)),
        ("integers", "I64", 1, bytes(8)),
        ("unknown", "F99", 1, b"\xff"),
    ]
    (folder / f"{FILE}.safetensors").write_bytes(safetensors(names))
    (folder / "cut.npy").write_bytes(b"\x93NUMPY")
    (folder / "clean.safetensors").write_bytes(safetensors(names[2:3]))
    index = {"weight_map": {"clean": "clean.safetensors", "gone": "gone.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))
    (folder / "unknown.bin").write_bytes(b"\xff" * 100)


def output(program, folder, form, *options):
    done = subprocess.run(
        [program, "check", "--format", form, *options],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=False,
    )
    assert done.returncode < 3, done
    return done.stdout.decode()


def refused(validate, what):
    """A validator that accepts everything would prove nothing."""
    try:
        validate(what)
    except (jsonschema.ValidationError, xmlschema.XMLSchemaValidationError):
        return
    sys.exit(f"the validator accepts what is wrong: {what!r}")


def main():
    program, sarif_schema, junit_schema = sys.argv[1:]
    schema = json.loads(Path(sarif_schema).read_text())
    sarif = jsonschema.Draft7Validator(schema, format_checker=jsonschema.FormatChecker())
    junit = xmlschema.XMLSchema10(junit_schema)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        files(folder)
        runs = [
            (".",),
            (folder, "--skip-unknown"),
            (".", "--max-abs", "65504", "--stats"),
            (".", "--bad-only", "--allow", "*:nan"),
            ("clean.safetensors",),
            ("missing.npy",),
        ]
        for options in runs:
            document = json.loads(output(program, folder, "sarif", *options))
            sarif.validate(document)
            results = len(document["runs"][0]["results"])
            text = output(program, folder, "junit", *options)
            junit.validate(text)
            cases = text.count("<testcase ")
            print(f"{options}: SARIF with {results} results, JUnit with {cases} cases")
    wrong = copy.deepcopy(document)
    wrong["runs"][0]["results"][0]["level"] = "bad"
    refused(sarif.validate, wrong)
    wrong = copy.deepcopy(document)
    location = wrong["runs"][0]["results"][0]["locations"][0]["physicalLocation"]
    location["artifactLocation"]["uri"] = "a b"
    refused(sarif.validate, wrong)
    refused(junit.validate, text.replace("<error ", "<fault ").replace("</error>", "</fault>"))
    refused(junit.validate, text.replace('errors="', 'error="'))


main()
