"""A copy of the repository in which mutants are built and run."""

import json
import os
import re
import resource
import select
import signal
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from edits import read, write

ROOT = Path(__file__).resolve().parent.parent.parent
WORK = ROOT / "target" / "mutants"

# Read before anything else runs: `mutant` then is a load and a comparison.
SWITCH = """
pub use switch::mutant;
mod switch {
    static mut ACTIVE: u32 = 0;
    #[used]
    #[unsafe(link_section = ".init_array")]
    static INIT: unsafe extern "C" fn(i32, *const *const u8, *const *const u8) = init;

    unsafe extern "C" fn init(_: i32, _: *const *const u8, mut variable: *const *const u8) {
        unsafe {
            while !(*variable).is_null() {
                let text = core::ffi::CStr::from_ptr((*variable).cast()).to_bytes();
                if let Some(number) = text.strip_prefix(b"NONFINITE_MUTANT=") {
                    ACTIVE = core::str::from_utf8(number).unwrap().parse().unwrap();
                    assert!(ACTIVE != u32::MAX, "the switch works");
                }
                variable = variable.add(1);
            }
        }
    }

    #[inline(always)]
    pub fn mutant(number: u32) -> bool {
        unsafe { ACTIVE == number }
    }
}
"""
PROBE = 2**32 - 1
# A test of the tests, which takes long.
SKIPPED = ["--skip", "known_bad"]
# Seconds without a line of output after which threads must be waiting for each other.
ASLEEP = 3600


@dataclass
class Emulator:
    """What is built for, the program that runs tests on it, and what of them is left out, as ci/emulate does."""

    flags: str
    runner: str
    environment: dict = field(default_factory=dict)
    skipped: tuple = ()


EMULATORS = {
    "arm64": Emulator("", "{emu}/run-aarch64"),
    "avx512": Emulator(
        " -C target-cpu=cannonlake",
        "{root}/ci/emulate/bochs/run",
        # A target that is named keeps the flags from what the host runs. Bochs takes longer than the compiler.
        {"CARGO_BUILD_TARGET": "x86_64-unknown-linux-gnu", "CARGO_PROFILE_TEST_OPT_LEVEL": "3"},
        ("--skip", "scale::rounds_to_f16"),
    ),
}


class Place:
    def __init__(self, emulate):
        self.emulate, self.emulator = emulate, EMULATORS.get(emulate)
        self.root = WORK / f"copy-{emulate or 'native'}"
        self.target = WORK / f"build-{emulate or 'native'}"
        self.environment = dict(
            os.environ, CARGO_TARGET_DIR=str(self.target), CARGO_TERM_COLOR="never", CARGO_INCREMENTAL="0",
            CARGO_PROFILE_TEST_DEBUG="0", CARGO_PROFILE_TEST_OPT_LEVEL="1", CARGO_PROFILE_TEST_CODEGEN_UNITS="16",
            NONFINITE_REDUCED="1", RUST_BACKTRACE="0",
            # A mutant may shift by too much: that is for the tests to find.
            RUSTFLAGS="--cap-lints=allow" + (self.emulator.flags if emulate else " -C target-cpu=native"),
            BOCHS_SECONDS=str(ASLEEP),
        )  # fmt: skip
        if emulate:
            self.environment |= self.emulator.environment
        for name in ("NONFINITE_BACKEND", "NONFINITE_REQUIRE", "NONFINITE_ONLY", "NONFINITE_MUTANT"):
            self.environment.pop(name, None)

    def prepare(self, path):
        """Makes the copy like the repository, but for the switch, and with no other hand-written path than `path`.

        Nothing must be inlined in it: all functions are compiled for the features of this CPU. Blocks inlined into every loop would
        bring their mutants along, and those of each layer times those of the next were more than a compiler can hold.
        """
        known = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
        files = subprocess.run(known, cwd=ROOT, check=True, capture_output=True).stdout.decode().split("\0")
        files = [name for name in files if name and (ROOT / name).is_file()]
        for name in files:
            copy = self.root / name
            copy.parent.mkdir(parents=True, exist_ok=True)
            if name in ("kernels/src/lib.rs", "src/lib.rs", "kernels/src/backend.rs"):
                continue
            write(copy, self.plain(name, read(ROOT / name)))
            copy.chmod((ROOT / name).stat().st_mode)
        for old in self.root.rglob("*.rs"):
            if str(old.relative_to(self.root)) not in files:
                old.unlink()
        (self.root / ".git").mkdir(exist_ok=True)
        write(self.root / "kernels/src/lib.rs", read(ROOT / "kernels/src/lib.rs") + SWITCH)
        write(self.root / "src/lib.rs", read(ROOT / "src/lib.rs") + "\nextern crate std;\n#[doc(hidden)]\npub use nonfinite_kernels::mutant;\n")
        write(self.root / "kernels/src/backend.rs", self.plain("kernels/src/backend.rs", self.only(path, read(ROOT / "kernels/src/backend.rs"))))

    def plain(self, name, text):
        """Without the command to inline, in kernels; blanks, so that places stay."""
        return text.replace("#[inline(always)]", "#[inline]        ") if name.startswith("kernels/src/") else text

    def require(self, paths):
        """The tests fail if one of these paths does not run, as they do in CI; in an emulator they try no other."""
        self.environment["NONFINITE_REQUIRE"] = ",".join(paths)
        if self.emulate:
            self.environment["NONFINITE_ONLY"] = ",".join(paths)

    def only(self, path, text):
        """The table of paths with one row: a build takes a quarter of the time, and what one path's tests notice is noticed."""
        begin = text.index("\npaths! {") + len("\npaths! {")
        end = text.index("\n}\n", begin)
        rows = list(re.finditer(r'#\[cfg\([^\]]*\)\]\s*"(\w+)" [^;]*;', text[begin:end]))
        if path not in [row.group(1) for row in rows]:
            return text
        table = text[begin:end]
        for row in rows:
            if row.group(1) != path:
                # Blanks, so that places stay.
                table = table[: row.start()] + re.sub(r"[^\n]", " ", row.group()) + table[row.end() :]
        return text[:begin] + table + text[end:]

    def cargo(self, command, suite):
        """Runs cargo; gives its exit code (124 if it took 20 minutes), the compiler's errors, and the programs it built."""
        tool = ["timeout", "1200", str(self.root / "ci" / "emulate" / self.emulate) if self.emulate else "cargo"]
        flags = ["--message-format", "json", *(["--no-run"] if command == "test" else [])]
        done = subprocess.run(
            [*tool, command, *flags, *suite], cwd=self.root, env=self.environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        )  # fmt: skip
        errors, programs = [], []
        for line in done.stdout.splitlines():
            if not line.startswith("{"):
                continue
            note = json.loads(line)
            if note.get("reason") == "compiler-message" and note["message"]["level"].startswith("error"):
                errors.append(note["message"])
            if note.get("reason") == "compiler-artifact" and note.get("executable"):
                programs.append((note["target"]["name"], note["executable"]))
        return done.returncode, errors, programs, done.stderr

    def run(self, programs, number, seconds, tests=()):
        """Runs the tests until one fails: what failed (None if all pass), and the seconds of CPU time. `seconds` limits each program."""
        environment, used = dict(self.environment), 0
        if number:
            environment["NONFINITE_MUTANT"] = str(number)
        for _, program in programs:
            command = [program, *tests, *SKIPPED]
            if self.emulate:
                command = [self.emulator.runner.format(emu=os.environ["EMU"], root=ROOT), *command, *self.emulator.skipped]
            verdict, more = watch(command, environment, self.root, seconds)
            used += more
            if verdict:
                return verdict, used
        return None, used


def watch(command, environment, folder, seconds):
    """Runs a test program, ends it at the first failure, and tells which it was, and the CPU time. A program that needs more CPU time
    than `seconds` is endless: time on the clock says nothing on a busy machine."""

    def limits():
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))

    process = subprocess.Popen(
        command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
        start_new_session=True, preexec_fn=limits,
    )  # fmt: skip
    output, verdict = b"", None
    try:
        while verdict is None:
            if not select.select([process.stdout], [], [], ASLEEP)[0]:
                verdict = "asleep"
                break
            piece = os.read(process.stdout.fileno(), 65536)
            output += piece
            failed = re.search(rb"^test (\S+)(?: - should panic)? \.\.\. FAILED", output, re.M)
            if failed:
                verdict = failed.group(1).decode()
            elif not piece:
                break
    finally:
        if verdict:
            try:
                os.killpg(process.pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        process.stdout.close()
    if verdict is None and process.returncode != 0:
        verdict = "endless" if process.returncode == -signal.SIGXCPU else "crash"
    return verdict, usage.ru_utime + usage.ru_stime
