"""Breaks the code on purpose, one place at a time, and sees whether the tests notice.

    ci/mutants list [GROUP..]              what would be broken
    ci/mutants run [GROUP..]               break, build, test; what has a verdict, or a reason in ci/mutants.tsv, is not run
    ci/mutants run --survivors [GROUP..]   those that have no reason, once more and with all input
    ci/mutants run GROUP/4 [GROUP..]       about every fourth of a group, the same ones whenever asked
    ci/mutants run --path avx512 stream    in a build with this path instead of the group's
    ci/mutants run --emulate arm64 neon    under ci/emulate/arm64; without it the paths of this CPU are tested
    ci/mutants report [GROUP..]            what came out, survivors last

Many mutants are compiled into one build, and the variable NONFINITE_MUTANT picks one (schema.py). What the compiler evaluates is
built alone. Sources stay as they are: builds are of copies below target/mutants. A survivor must stand in ci/mutants.tsv with the
reason why no test can notice it, else the exit code is 1. What does not compile is no mutant.
"""

import argparse
import fcntl
import fnmatch
import os
import re
import subprocess
import sys
import time
from dataclasses import dataclass, replace

import cargo_mutants
import verdicts
from edits import mutants_of, parse, read, write
from place import PROBE, ROOT, WORK, Place
from schema import Schema, candidates
from thaw import Thawed

ALL = ["-p", "nonfinite", "-p", "nonfinite-kernels", "-p", "nonfinite-ops"]


# All tests but those of guard pages around slices, and of what is built on the crate.
TESTS = [*ALL, "--all-features", "--lib"]
for name in ("backends", "rules", "sources", "stream", "activate", "texts", "ops", "par", "ndarray", "guard_views"):
    TESTS += ["--test", name]
# Under emulators. Bochs has no files, which those of kernels want, and no time.
FEW = {
    "arm64": ["-p", "nonfinite", "-p", "nonfinite-kernels", "--lib", "--test", "backends", "--test", "rules"],
    "avx512": ["-p", "nonfinite", "--all-features", "--test", "backends"],
}
# Programs to begin with, by the beginning of a file's name.
PREFERRED = {"ops/src/": "ops", "src/par": "par", "src/ndarray": "ndarray", "src/view": "backends", "kernels/src/strided/": "sources", "kernels/src/stream.rs": "stream"}
# Tests of `backends` to begin with, by the end of a file's name: what they notice need not wait for the others.
FIRST = {"replace.rs": "replace::", "scale.rs": "scale::", "view.rs": "views::r"}


@dataclass
class Group:
    """Files; the one hand-written path that is built, which is enough to notice."""

    files: list
    path: str = "avx2"


GROUPS = {
    "table": Group(["src/format.rs", "src/predicate.rs"]),
    "rule": Group(["kernels/src/rule.rs", "kernels/src/lane.rs"]),
    "loops": Group(["kernels/src/loops/*.rs", "kernels/src/simd.rs", "kernels/src/registers/mod.rs"]),
    "entry": Group(["kernels/src/entry.rs", "kernels/src/backend.rs", "kernels/src/out.rs", "kernels/src/bytes.rs", "kernels/src/plain.rs"]),
    "scalar": Group(["kernels/src/scalar/*.rs"]),
    "portable": Group(["kernels/src/portable/*.rs"], "portable"),
    "avx2": Group(["kernels/src/avx2/*.rs"]),
    "avx512": Group(["kernels/src/avx512/*.rs"], "avx512"),
    "neon": Group(["kernels/src/neon/*.rs"], "neon"),
    "replace": Group(["kernels/src/replace.rs", "kernels/src/codes.rs", "kernels/src/registers/replace.rs"]),
    "scale": Group(["kernels/src/scale.rs", "kernels/src/float/*.rs", "kernels/src/registers/scale.rs"]),
    "strided": Group(["kernels/src/strided/*.rs"]),
    "stream": Group(["kernels/src/stream.rs", "kernels/src/cache.rs", "kernels/src/cpuid.rs"]),
    "front": Group(["src/*.rs", "src/view/*.rs", "src/par/*.rs", "ops/src/*.rs", "ops/src/*/*.rs"]),
}
# A place that the compiler refuses is widened so often; then the mutant is built alone.
WIDEN = 4


def mutants(groups, of_cargo_mutants=False):
    listed = cargo_mutants.listed(ALL) if of_cargo_mutants else {}
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()
    found, seen = [], set()
    for group in groups:
        for file in tracked:
            matches = any(fnmatch.fnmatch(file, p) and file.count("/") == p.count("/") for p in GROUPS[group].files)
            if matches and (group != "front" or file not in ("src/format.rs", "src/predicate.rs")) and file not in seen:
                seen.add(file)
                ours = mutants_of(group, file, read(ROOT / file))
                if of_cargo_mutants:
                    # Those that we make too are among ours.
                    places = {(m.begin, m.end, m.new) for m in ours}
                    found += [m for m in cargo_mutants.mutants_of(group, file, listed.get(file, [])) if (m.begin, m.end, m.new) not in places]
                else:
                    found += ours
    return found


def preferred(mutant):
    return next((name for begin, name in PREFERRED.items() if mutant.file.startswith(begin)), None)


class Refused(Exception):
    """The compiler's errors, which tell no place."""


class Run:
    """The mutants of groups of one path."""

    def __init__(self, path, options):
        self.path, self.options = path, options
        self.place = Place(options.emulate)
        self.place.prepare(self.path)
        self.place.require([self.path])
        if options.survivors:
            del self.place.environment["NONFINITE_REDUCED"]
        self.suite = FEW.get(options.emulate, TESTS)
        self.texts = {}
        self.seconds = None

    def source(self, file):
        """A file of the copy without mutants: as it stands, and thawed."""
        if file not in self.texts:
            text = read(self.place.root / file)
            self.texts[file] = text, Thawed(file, text)
        return self.texts[file]

    def places(self, mutant):
        """What may be wrapped for a mutant: nothing if it can only be built alone."""
        _, thawed = self.source(mutant.file)
        moved = thawed.moved(mutant.begin, mutant.end)
        if moved is None:
            return None, []
        mutant = replace(mutant, begin=moved[0], end=moved[1])
        return mutant, list(candidates(thawed.text, thawed.root, mutant))[:WIDEN]

    def owner(self, text):
        return next((name for name in ("Avx2", "Avx512", "Neon") if f"impl {name} {{ $(" in text), None)

    def batch(self, chosen):
        """Builds the mutants into one program. What cannot be there is judged alone."""
        numbers = {mutant: number for number, mutant in enumerate(chosen, 1)}
        by_number = {number: mutant for mutant, number in numbers.items()}
        thawed, places = {}, {}
        for m in chosen:
            thawed[m], places[m] = self.places(m)
        alone, absent = [m for m in chosen if not places[m]], []
        sources = [path for top in ("kernels/src", "src") for path in (self.place.root / top).rglob("*.rs")]
        files = [str(path.relative_to(self.place.root)) for path in sources]
        command = "check"
        while True:
            present = [m for m in chosen if places[m] and m not in absent]
            schemas = {}
            for file in files:
                text = self.source(file)[1].text
                mine = [(numbers[m], thawed[m], places[m][0]) for m in present if m.file == file]
                schemas[file] = Schema(text, mine, self.owner(text))
                write(self.place.root / file, schemas[file].out)
            code, errors, programs, output = self.place.cargo(command, self.suite)
            if code == 0 and command == "check" and chosen:
                command = "test"
                continue
            if code == 0:
                present = [m for m in present if places[m]]
                return [(numbers[m], m) for m in present], alone, absent, programs
            refused = {}
            for error in errors:
                for number, broken in self.blamed(error, schemas):
                    unknown = (error.get("code") or {}).get("code") in ("E0425", "E0433", "E0080")
                    answer = by_number[number].begin == by_number[number].end
                    refused[number] = refused.get(number, False) or (broken and (unknown or answer))
            if not errors:
                sys.exit(f"cargo failed, and not for an error in the code:\n{output[-3000:]}")
            if not refused:
                raise Refused("\n".join(e["rendered"] for e in errors) + output[-3000:])
            for number, unknown in refused.items():
                mutant = by_number[number]
                if unknown:
                    absent.append(mutant)
                    continue
                places[mutant].pop(0)
                if not places[mutant]:
                    alone.append(mutant)
            print(f"  {command}: {len(refused)} refused, {len(alone)} alone, {len(absent)} unknown names", flush=True)

    def blamed(self, error, schemas):
        """The mutants that an error of the compiler is about."""
        notes = [error, *error["children"]]
        spans = [s for n in notes for s in n["spans"]]
        for span in sorted(spans, key=lambda s: not s["is_primary"]):
            while span:
                schema = schemas.get(span["file_name"])
                numbers, broken = schema.at_offset(span["byte_start"]) if schema else ([], False)
                if numbers:
                    return [(number, broken) for number in numbers]
                span = (span.get("expansion") or {}).get("span")
        # Immediates of intrinsics are judged late, and without a place.
        for name, value in re.findall(r"(\w+)::<(\d+)>::\{constant", error["rendered"]):
            numbers = [n for schema in schemas.values() for n in schema.calling(name, int(value))]
            if numbers:
                return [(number, True) for number in numbers]
        return []

    def whole(self):
        for file in self.texts:
            write(self.place.root / file, self.source(file)[0])

    def judge(self, programs, number, mutant):
        first = next((tests for end, tests in FIRST.items() if mutant.file.endswith(end)), None)
        likely = preferred(mutant)
        programs = sorted(programs, key=lambda p: p[0] != likely)
        paths = [p for p in programs if p[0] == "backends"]
        failed = self.place.run(paths, number, self.seconds, [first])[0] if first else None
        failed = failed or self.place.run(programs, number, self.seconds)[0]
        return f"killed: {failed}" if failed else "SURVIVED"

    def ordered(self, programs):
        # The first two take no time; the third notices most.
        first = ["activate", "nonfinite_kernels", "backends"]
        return sorted(programs, key=lambda p: (first.index(p[0]) if p[0] in first else len(first), p[0]))

    def time_it(self, programs):
        """How long the tests run without a mutant; they must pass, and the switch must work."""
        all_input = self.place.environment.pop("NONFINITE_REDUCED", None) is None
        self.place.environment["NONFINITE_REDUCED"] = "1"
        failed, used = self.place.run(programs, 0, 3600)
        if failed:
            sys.exit(f"the tests fail without a mutant: {failed}")
        self.seconds = int(5 + (1.5 if self.options.emulate == "avx512" else 4) * used)
        print(f"  {used:.0f} s of CPU time without a mutant, with reduced input", flush=True)
        if all_input:
            # Ten times as much, and more.
            self.seconds *= 15
            del self.place.environment["NONFINITE_REDUCED"]
        if not self.place.run(programs[:1], PROBE, 60)[0]:
            sys.exit("NONFINITE_MUTANT switches nothing")

    def alone(self, mutant):
        """Builds one mutant as it stands."""
        text, _ = self.source(mutant.file)
        write(self.place.root / mutant.file, text[: mutant.begin] + mutant.new + text[mutant.end :])
        try:
            # The likely program first, as others take their time to build; what it spends in `nonfinite` itself is little.
            first = ["--config", "profile.test.package.nonfinite.opt-level=0", *ALL, "--all-features", "--test", preferred(mutant) or "backends"]
            for suite in [first, self.suite]:
                code, errors, programs, output = self.place.cargo("test", suite)
                # 124: what is to be evaluated has no end.
                if errors or code == 124:
                    return "does not compile"
                if code != 0:
                    sys.exit(f"cargo failed, and not for an error in the code:\n{output[-3000:]}")
                verdict = self.judge(self.ordered(programs), 0, mutant)
                if verdict != "SURVIVED":
                    break
            return verdict
        finally:
            write(self.place.root / mutant.file, text)

    def all(self, todo):
        later, count = [], 0

        def tell(mutant, verdict):
            nonlocal count
            count += 1
            verdicts.note(mutant, verdict)
            print(f"{count:5}/{len(todo)} {verdict:40} {mutant}", flush=True)

        if self.options.alone:
            todo = [m for m in todo if not self.places(m)[1]]
        try:
            self.batch([])
        except Refused as errors:
            sys.exit(f"the copy does not compile without a mutant:\n{errors}")
        batches = [todo[first : first + self.options.batch] for first in range(0, len(todo), self.options.batch)]
        while batches:
            begin, chosen = time.monotonic(), batches.pop(0)
            try:
                built, alone, absent, programs = self.batch(chosen)
            except Refused as errors:
                if len(chosen) == 1:
                    tell(chosen[0], "does not compile")
                else:
                    print(f"{errors}\n  refused without a place: in two halves", flush=True)
                    batches[:0] = [chosen[: len(chosen) // 2], chosen[len(chosen) // 2 :]]
                continue
            programs = self.ordered(programs)
            print(f"  built {len(built)} in {time.monotonic() - begin:.0f} s, {len(alone)} to be built alone", flush=True)
            later += alone
            for mutant in absent:
                tell(mutant, "does not compile")
            if built:
                self.time_it(programs)
                for number, mutant in built:
                    tell(mutant, self.judge(programs, number, mutant))
        self.whole()
        if self.options.skip_alone:
            print(f"  {len(later)} left out, which are to be built alone")
            return
        if later and self.seconds is None:
            code, _, programs, output = self.place.cargo("test", self.suite)
            if code != 0:
                sys.exit(f"the copy does not compile without a mutant:\n{output[-3000:]}")
            self.time_it(self.ordered(programs))
        for mutant in later:
            tell(mutant, self.alone(mutant))


def main():
    options = argparse.ArgumentParser(prog="ci/mutants", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("command", choices=["list", "run", "report"])
    options.add_argument("groups", nargs="*", help=f"of {', '.join(GROUPS)}; all but neon without --emulate arm64; /K: one of K")
    options.add_argument("--survivors", action="store_true", help="those without a reason only, with all input")
    options.add_argument("--batch", type=int, default=150, help="most mutants of a build")
    options.add_argument("--skip-alone", action="store_true", help="leave out what must be built alone")
    options.add_argument("--alone", action="store_true", help="only what cannot be switched")
    options.add_argument("--cargo-mutants", action="store_true", help="what cargo-mutants (which must be installed) lists and we do not")
    options.add_argument("--path", choices=["avx2", "avx512", "portable"], help="the hand-written path of the build, if not that of the group")
    options.add_argument("--emulate", choices=list(FEW), help="run the tests under this emulator")
    options = options.parse_intermixed_args()
    native = [group for group in GROUPS if group != "neon"]
    groups = options.groups or ([options.emulate.replace("arm64", "neon")] if options.emulate else list(GROUPS) if options.command == "report" else native)
    steps = {group: int(step or 1) for group, _, step in (name.partition("/") for name in groups)}
    groups = list(steps)
    unknown = set(groups) - set(GROUPS)
    if unknown:
        sys.exit(f"mutants: no group {', '.join(sorted(unknown))}")
    WORK.mkdir(parents=True, exist_ok=True)
    os.environ.setdefault("EMU", str(ROOT / ".emu"))
    found = mutants(groups, options.cargo_mutants)
    if options.command == "list":
        for mutant in found:
            print(f"{mutant.group:9} {mutant}\n          {mutant.line}")
        print(f"{len(found)} mutants")
        return 0
    if options.command == "run":
        # Two at a time would build into each other's copy.
        lock = (WORK / "lock").open("w")
        fcntl.flock(lock, fcntl.LOCK_EX)
        done, explained, alike = verdicts.known(), verdicts.reasons(), {}
        for group in groups:
            mine = [m for m in found if m.group == group]
            wanted = [m for m in mine if not verdicts.reason(m, explained)]
            if options.survivors:
                todo = [m for m in wanted if done.get(m.key) == "SURVIVED"]
            else:
                todo = [m for m in wanted if m.key not in done and m.checksum % steps[group] == 0]
            print(f"{group}: {len(mine)} mutants, {len(todo)} to run", flush=True)
            if todo:
                alike.setdefault(options.path or GROUPS[group].path, []).extend(todo)
        for path, todo in alike.items():
            # Mixed, so that whoever stops early has seen something of all.
            Run(path, options).all(sorted(todo, key=lambda m: m.checksum))
    return verdicts.report(found)


if __name__ == "__main__":
    sys.exit(main())
