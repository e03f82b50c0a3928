"""What came out: a file of verdicts that later runs go on from, the reasons of ci/mutants.tsv, and the table."""

import csv
import sys

from place import ROOT, WORK

EXPLAINED = ROOT / "ci" / "mutants.tsv"
VERDICTS = WORK / "verdicts.tsv"
COLUMNS = ["killed", "SURVIVED", "explained", "no mutant"]


def rows(file):
    with file.open() as lines:
        yield from csv.reader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)


def known():
    """Verdicts by key; the last one counts."""
    if not VERDICTS.exists():
        return {}
    return {tuple(row[1:]): row[0] for row in rows(VERDICTS) if len(row) == 7}


def note(mutant, verdict):
    with VERDICTS.open("a") as out:
        out.write("\t".join([verdict, *mutant.key]) + "\n")


def reasons():
    """Rows of ci/mutants.tsv: file, the line or its beginning and *, mutations or their beginnings and * (or @ and the column), reason."""
    found = []
    for row in rows(EXPLAINED):
        if row and not row[0].startswith("#"):
            if len(row) != 4 or not row[3].strip():
                sys.exit(f"{EXPLAINED}: four columns a row, the last a reason: {row}")
            found.append(row)
    return found


def fits(pattern, text):
    return text.startswith(pattern[:-1]) if pattern.endswith("*") else text == pattern


def reason(mutant, explained):
    kinds = mutant.what, f"{mutant.what}@{mutant.column}"
    for file, line, what, why in explained:
        if file in (mutant.file, f"{mutant.file} {mutant.scope}") and fits(line, mutant.line) and any(fits(w, kind) for w in what.split(", ") for kind in kinds):
            return why
    return None


def report(found):
    done, explained = known(), reasons()
    table, survivors = {}, []
    for mutant in found:
        counts = table.setdefault(mutant.group, [0] * 5)
        verdict = done.get(mutant.key)
        if verdict and verdict.startswith("killed"):
            counts[0] += 1
        elif verdict == "does not compile":
            counts[3] += 1
        elif reason(mutant, explained):
            counts[2] += 1
        elif verdict is None:
            counts[4] += 1
        else:
            counts[1] += 1
            survivors.append(mutant)
    print(f"\n{'group':10}" + "".join(f"{name:>11}" for name in [*COLUMNS, "not run"]))
    for group, counts in table.items():
        print(f"{group:10}" + "".join(f"{count:11}" for count in counts))
    for mutant in survivors:
        print(f"SURVIVED {mutant}\n    {mutant.scope}\n    {mutant.line}")
    return 1 if survivors else 0
