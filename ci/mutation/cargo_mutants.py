"""The mutants of cargo-mutants, as it lists them: what it would do, built and judged as our own are."""

import json
import subprocess
import sys

from edits import mutant_at, parse, read
from place import ROOT


def listed(packages):
    """By file: where cargo-mutants edits it, and how."""
    command = ["cargo", "mutants", *packages, "--list", "--json"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: is cargo-mutants installed?\n{done.stderr}")
    files = {}
    for entry in json.loads(done.stdout):
        files.setdefault(entry["file"], []).append(entry)
    return files


def mutants_of(group, file, entries):
    text = read(ROOT / file)
    root, lines = parse(text), text.splitlines(keepends=True)
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line))

    def offset(place):
        """In bytes, of a line and a column of characters, both from 1."""
        before = lines[place["line"] - 1].encode("latin-1").decode()[: place["column"] - 1]
        return starts[place["line"] - 1] + len(before.encode())

    found, seen = [], {}
    for entry in entries:
        begin, end = (offset(entry["span"][which]) for which in ("start", "end"))
        new, genre = entry["replacement"], entry["genre"]
        if genre == "FnValue":
            node = root.descendant_for_byte_range(begin, end)
            while node.type != "function_item":
                node = node.parent
            body = node.child_by_field_name("body")
            begin = end = body.start_byte + 1
            what = f"answers {new if new != '()' else 'at once'}"
            returns = node.child_by_field_name("return_type")
            if returns and "impl " in text[returns.start_byte : returns.end_byte]:
                # `impl Trait` is one type: what is returned early would have to be of the body's.
                end, new = body.end_byte - 1, f" {new} "
            else:
                new = f" return {new};" if new != "()" else " return;"
        else:
            what = f"{' '.join(text[begin:end].encode('latin-1').decode().split())} to {new}" if new else f"{genre} dropped"
        found.append(mutant_at(group, file, root, text, seen, (begin, end, new.encode().decode("latin-1"), what)))
    return found
